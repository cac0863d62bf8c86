package workspace

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// System is how paths are read. The zero value is the system that the program
// runs on; another one says what a path would mean there, over a tree that stands
// here, which is how the rules for it are tried.
type System struct {
	GOOS      string // empty: this one
	FoldsCase bool   // names that differ in case alone are one; of this system, the disk knows
	Home      string // what "~/" stands for, absolute; empty: the user's home
}

// OpenRoots is NewRoots with paths as the system reads them.
func (s System) OpenRoots(dirs ...string) (*Roots, error) {
	r, err := NewRoots(dirs...)
	if err == nil {
		r.system = s
	}
	return r, err
}

// foreign reports whether it is another system than this one.
func (s System) foreign() bool { return s.GOOS != "" && s.GOOS != runtime.GOOS }

// read refuses a path that the system reads otherwise than it looks, and gives
// it in the form of the system that the program runs on.
func (s System) read(path string) (string, error) {
	if cmp.Or(s.GOOS, runtime.GOOS) != "windows" {
		return path, nil
	}
	if err := checkWindows(path); err != nil {
		return "", err
	}
	if !s.foreign() {
		return path, nil
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if drive := windowsDrive(path); strings.EqualFold(drive, "c:") { // where the tree stands
		path = path[len(drive):]
	} else if drive != "" {
		path = "/" + path
	}
	return path, nil
}

// checkWindows refuses what Windows reads otherwise than it looks: other
// machines and devices, paths relative to a drive, alternate streams, reserved
// names and variables (policy 10.7).
func checkWindows(path string) error {
	slashed := strings.ReplaceAll(path, `\`, "/")
	drive := windowsDrive(slashed)
	rest := slashed[len(drive):]
	switch {
	case strings.HasPrefix(slashed, "//"), strings.HasPrefix(slashed, "/??/"):
		return fmt.Errorf("%q names a share or a device: give a path on a drive", path)
	case drive != "" && !strings.HasPrefix(rest, "/"):
		return fmt.Errorf("%q is relative to a drive: give an absolute path", path)
	case drive == "" && strings.HasPrefix(slashed, "/"):
		return fmt.Errorf("%q has no drive: give an absolute path", path)
	case strings.Contains(rest, ":"):
		return fmt.Errorf("%q names an alternate stream, which the tools do not open", path)
	case strings.Count(path, "%") > 1:
		return fmt.Errorf("%q names a variable, which is not expanded", path)
	}
	for name := range strings.SplitSeq(rest, "/") {
		switch {
		case name == "", name == ".", name == "..":
		case strings.TrimRight(name, ". ") == "", reservedOnWindows(name):
			return fmt.Errorf("%q has the reserved name %q in it", path, name)
		}
	}
	return nil
}

// windowsDrive is the drive that a path begins with, as "C:"; empty: none.
func windowsDrive(path string) string {
	if len(path) < 2 || path[1] != ':' {
		return ""
	}
	if c := path[0] | 0x20; c < 'a' || c > 'z' {
		return ""
	}
	return path[:2]
}

// reservedOnWindows reports whether a name is that of a device, in whatever
// folder and with whatever ending.
func reservedOnWindows(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, number := strings.CutPrefix(base, "COM")
	if !number {
		port, number = strings.CutPrefix(base, "LPT")
	}
	return number && slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, port)
}

// spelled finds the entry of a folder that a system which folds case takes a
// name for, where there is none that is spelled so. It does that for a system
// that is tried; the disk of this one does it by itself.
func (s System) spelled(dir, name string) string {
	if !s.FoldsCase {
		return name
	}
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return name
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return name
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return name
}
