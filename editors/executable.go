package editors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Executable is the path by which an editor should launch this program:
// absolute, with links kept as they were used to start it, since a link often
// outlives the version it leads to.
func Executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	return linked(exe, os.Args[0]), nil
}

// linked returns how the program at exe was called, where that leads to it.
func linked(exe, called string) string {
	path, err := exec.LookPath(called)
	if err != nil {
		return exe
	}
	if path, err = filepath.Abs(path); err != nil {
		return exe
	}
	a, errA := os.Stat(exe)
	b, errB := os.Stat(path)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return exe
	}
	return path
}

// Temporary says that exe was made by `go run` and will be gone: it lies in a
// work folder of the go command or in its cache.
func Temporary(exe string) bool {
	for _, part := range strings.FieldsFunc(exe, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	return false
}
