package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Roots is the set of folders a session works in; the first is its working
// directory. Each is resolved once and held open, so that what is later opened
// beneath it stays beneath it whatever is renamed meanwhile (policy 10.1). It
// is safe for concurrent use.
type Roots struct {
	roots  []root
	system System
	close  sync.Once
}

// root is one folder: as the client spells it, resolved, and held.
type root struct {
	dir  string   // absolute and cleaned, links not resolved
	real string   // links resolved
	held *os.Root // stays open until Close
	at   *os.File // the same folder, for system calls relative to it
}

// foldsCase says that file names usually differ in more than case, so that a
// root may be spelled in several ways.
const foldsCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// NewRoots opens the folders, which must be absolute and exist; the first is
// the working directory. An error names the folder and says what is wrong.
func NewRoots(dirs ...string) (*Roots, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no working directory was given: name an absolute folder")
	}
	r := &Roots{}
	for _, dir := range dirs {
		one, err := openRoot(dir)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.roots = append(r.roots, one)
	}
	return r, nil
}

func openRoot(dir string) (root, error) {
	switch {
	case dir == "":
		return root{}, errors.New("the folder's name is empty: give an absolute path")
	case strings.ContainsRune(dir, 0):
		return root{}, fmt.Errorf("the folder %q has a NUL character in its name", dir)
	case !filepath.IsAbs(dir):
		return root{}, fmt.Errorf("the folder %q is relative: give an absolute path", dir)
	}
	dir = filepath.Clean(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return root{}, badRoot(dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return root{}, badRoot(dir, err)
	}
	if !info.IsDir() {
		return root{}, fmt.Errorf("%s is %s, not a folder", dir, describe(info.Mode()))
	}
	held, err := os.OpenRoot(real)
	if err != nil {
		return root{}, badRoot(dir, err)
	}
	at, err := held.Open(".")
	if err != nil {
		held.Close()
		return root{}, badRoot(dir, err)
	}
	return root{dir: dir, real: real, held: held, at: at}, nil
}

func badRoot(dir string, err error) error {
	var reason string
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "does not exist"
	case errors.Is(err, fs.ErrPermission):
		reason = "cannot be opened: permission denied"
	default:
		return fmt.Errorf("the folder %s cannot be opened: %w", dir, err)
	}
	return fmt.Errorf("the folder %s %s%w", dir, reason, silent{err})
}

// silent wraps an error whose text is already said in other words.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Close gives the folders free. Nothing can be opened beneath them afterwards.
// Names are still told, and closing again is fine.
func (r *Roots) Close() error {
	var errs []error
	r.close.Do(func() {
		for _, one := range r.roots {
			errs = append(errs, one.at.Close(), one.held.Close())
		}
	})
	return errors.Join(errs...)
}

// Dir is the working directory in the client's spelling, cleaned.
func (r *Roots) Dir() string { return r.roots[0].dir }

// Dirs lists all folders in the client's spelling, cleaned.
func (r *Roots) Dirs() []string {
	dirs := make([]string, len(r.roots))
	for i, one := range r.roots {
		dirs[i] = one.dir
	}
	return dirs
}

// Name is how the model sees a path: relative with slashes where it lies inside
// the working directory, else absolute. Both the client's spelling of the
// folder and the resolved one count.
func (r *Roots) Name(path string) string {
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(path))
	}
	path = filepath.Clean(path)
	for _, dir := range []string{r.roots[0].dir, r.roots[0].real} {
		if rel, ok := below(dir, path); ok {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// within finds the root that holds a resolved path, the deepest where they are
// nested, and the path's name relative to it.
func (r *Roots) within(target string) (*root, string, bool) {
	var best *root
	var name string
	for i := range r.roots {
		one := &r.roots[i]
		if rel, ok := below(one.real, target); ok && (best == nil || len(one.real) > len(best.real)) {
			best, name = one, rel
		}
	}
	return best, name, best != nil
}

// below reports whether path is dir or lies below it, by components, and gives
// its relative name. Both are cleaned and absolute.
func below(dir, path string) (string, bool) {
	if !foldsCase { // the common case without filepath.Rel's work
		if path == dir {
			return ".", true
		}
		if !strings.HasSuffix(dir, string(filepath.Separator)) {
			dir += string(filepath.Separator)
		}
		return strings.CutPrefix(path, dir)
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// describe names what a file is by its mode.
func describe(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe (FIFO)"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
