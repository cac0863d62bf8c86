package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// RebuildPath takes out of a PATH what a project or anybody could put programs
// into: entries that are empty, relative, writable by everybody, or in one of
// the roots once links are resolved (policy section 4). Commands run with what is
// kept.
func RebuildPath(value string, roots *workspace.Roots) (kept, removed []string) {
	for _, dir := range filepath.SplitList(value) {
		if stableDir(dir, roots) {
			kept = append(kept, dir)
		} else {
			removed = append(removed, dir)
		}
	}
	return kept, removed
}

func stableDir(dir string, roots *workspace.Roots) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true // nothing is found there
	}
	info, err := os.Stat(real)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
		return false
	}
	if roots == nil {
		return true
	}
	p, err := roots.Resolve(real)
	return err == nil && !p.Inside
}

// identity says why a program is not the one of its name, if it is not: only a
// bare name that is found in the rebuilt PATH and not shadowed, and a path in a
// system folder, are (policy section 4).
func (s *shell) identity(program string, at dirs) string {
	if strings.ContainsRune(program, '/') {
		if inSystem(program) {
			return ""
		}
		return visible(program) + " is a program outside of the system's folders"
	}
	if isBuiltin(program) {
		return ""
	}
	for _, dir := range s.RemovedPath {
		for _, from := range at {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(from, dir)
			}
			if executable(dir, program) {
				return "`" + visible(program) + "` is shadowed by a program in " + visible(dir)
			}
		}
	}
	if s.Lookup != nil {
		if s.Lookup(program) {
			return ""
		}
		return "`" + visible(program) + "` is not found among the system's programs"
	}
	for _, dir := range s.Path {
		if executable(dir, program) {
			return ""
		}
	}
	return "`" + visible(program) + "` is not found among the system's programs"
}

func isBuiltin(name string) bool {
	switch name {
	case "cd", "echo", "pwd", "test", "[", "true", "false", ":", "printf", "type", "command", "set":
		return true
	}
	return false
}

func executable(dir, name string) bool {
	path := filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
