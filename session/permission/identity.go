package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

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
	case "cd", "echo", "pwd", "test", "[", "true", "false", ":", "printf", "type", "command", "set", "exit", "break", "continue":
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
