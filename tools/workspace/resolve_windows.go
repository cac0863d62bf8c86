package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
)

// checkForeign refuses what Windows reads otherwise than it looks: other
// machines and devices, paths relative to a drive, alternate streams, reserved
// names and variables (policy 10.7).
func checkForeign(path string) error {
	slashed := filepath.ToSlash(path)
	vol := filepath.VolumeName(path)
	switch {
	case strings.HasPrefix(slashed, "//"), strings.HasPrefix(slashed, "/??/"):
		return fmt.Errorf("%q names a share or a device: give a path on a drive", path)
	case vol != "" && !filepath.IsAbs(path):
		return fmt.Errorf("%q is relative to a drive: give an absolute path", path)
	case vol == "" && strings.HasPrefix(slashed, "/"):
		return fmt.Errorf("%q has no drive: give an absolute path", path)
	case strings.Contains(path[len(vol):], ":"):
		return fmt.Errorf("%q names an alternate stream, which the tools do not open", path)
	case strings.Count(path, "%") > 1:
		return fmt.Errorf("%q names a variable, which is not expanded", path)
	}
	for rest := path[len(vol):]; ; {
		name, more, ok := component(rest)
		if !ok {
			return nil
		}
		if name != ".." && !filepath.IsLocal(name) {
			return fmt.Errorf("%q has the reserved name %q in it", path, name)
		}
		rest = more
	}
}
