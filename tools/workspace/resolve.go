package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// ErrLoop says that symbolic links lead round in a circle.
var ErrLoop = errors.New("symbolic links lead in a circle")

// maxPath is the longest path in bytes, as in Linux.
const maxPath = 4096

// maxLinks is how many links a path may lead through, as in Linux.
const maxLinks = 40

// Resolve finds what a path means, as spec/tools.md and policy 10.2 say. It is
// relative to the working directory; a leading "~/" is the user's home; nothing
// else is expanded. It is walked component by component as the kernel does, so
// that `link/..` is the parent of the link's target, down to the deepest
// ancestor that exists; the rest is appended and cleaned.
//
// Links in /proc, /sys and /dev are not followed, since they mean other things
// to other processes: the target then lies there. A name with a NUL, a circle of
// links (ErrLoop) and a folder that may not be looked into are errors.
func (r *Roots) Resolve(path string) (Path, error) {
	if path == "" {
		return Path{}, errors.New("the path is empty")
	}
	if len(path) > maxPath {
		return Path{}, fmt.Errorf("the path has %d bytes, more than the %d that a path may have: it begins with %q", len(path), maxPath, path[:64])
	}
	if strings.ContainsRune(path, 0) {
		return Path{}, fmt.Errorf("the path %q has a NUL character in it", path)
	}
	path, err := r.system.expandHome(path)
	if err != nil {
		return Path{}, err
	}
	if path, err = r.system.read(path); err != nil {
		return Path{}, err
	}
	if !filepath.IsAbs(path) {
		path = r.Dir() + string(filepath.Separator) + path
	}
	return r.Follow(path)
}

// Follow is Resolve for an absolute path in the form of the system that the program
// runs on, such as Resolve gave: nothing in it is read in another way.
func (r *Roots) Follow(path string) (Path, error) {
	w := walk{roots: r}
	if err := w.run(path); err != nil {
		return Path{}, err
	}
	p := Path{Asked: filepath.Clean(path), Target: w.at, Exists: w.exists}
	if w.exists && w.info != nil && w.info.Mode().IsRegular() {
		p.names = links(w.info)
	}
	_, _, p.Inside = r.within(p.Target)
	if !p.Inside && foldsCase {
		p.Target, p.Inside = r.respell(p.Target)
	}
	return p, nil
}

// expandHome replaces a leading "~/" (or the whole of "~") by the home folder.
func (s System) expandHome(path string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path, nil
	}
	if s.Home != "" {
		return s.Home + path[1:], nil
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		u, err := user.Current()
		if err != nil {
			return "", fmt.Errorf("the home folder of %q is not known: give an absolute path", path)
		}
		home = u.HomeDir
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("the home folder of %q is not known: give an absolute path", path)
	}
	return home + path[1:], nil
}

// walk is the resolution of one path.
type walk struct {
	roots  *Roots
	at     string      // resolved so far: absolute, no links, no dots
	exists bool        // whether at does
	info   fs.FileInfo // of at; nil: not looked up
	links  int         // how many were followed
}

// run resolves an absolute path into w.at.
func (w *walk) run(path string) error {
	w.start(path)
	rest := path[len(filepath.VolumeName(path)):]
	for {
		name, more, ok := component(rest)
		if !ok {
			return nil
		}
		rest = more
		switch name {
		case ".":
			continue
		case "..":
			w.up()
			continue
		}
		next, err := w.step(name, rest)
		if err != nil {
			return err
		}
		rest = next
	}
}

// up goes to the parent, but not out of the kernel's file systems: a path that
// meets one stays there, since the file tools refuse it as a whole.
func (w *walk) up() {
	if dir := filepath.Dir(w.at); isPseudo(dir) || !isPseudo(w.at) || !w.pseudo(w.at) {
		w.at, w.info = dir, nil
	}
}

// start puts the walk at the top of an absolute path's volume.
func (w *walk) start(path string) {
	w.at = filepath.VolumeName(path) + string(filepath.Separator)
	w.exists, w.info = true, nil
}

// step goes down into name and returns what is left to walk.
func (w *walk) step(name, rest string) (string, error) {
	here := filepath.Join(w.at, w.roots.system.spelled(w.at, name))
	info, err := os.Lstat(here)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return w.missing(here, rest)
	case err != nil:
		return "", fmt.Errorf("resolving %s: %w", here, plain(err))
	case info.Mode()&fs.ModeSymlink == 0:
		if _, _, more := component(rest); more && !info.IsDir() {
			return w.missing(here, rest)
		}
		w.at, w.info = here, info // a slash after a file's name is forgiven
		return rest, nil
	case w.pseudo(here):
		w.at = filepath.Join(here, filepath.Clean(string(filepath.Separator)+rest))
		_, err := os.Lstat(w.at)
		w.exists = err == nil
		return "", nil
	}
	return w.follow(here, rest)
}

// follow enters a symbolic link and returns what is left to walk.
func (w *walk) follow(link, rest string) (string, error) {
	if w.links++; w.links > maxLinks {
		return "", fmt.Errorf("resolving %s: %w", link, ErrLoop)
	}
	to, err := os.Readlink(link)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", link, plain(err))
	}
	if filepath.IsAbs(to) {
		w.start(to)
		to = to[len(filepath.VolumeName(to)):]
	}
	return to + string(filepath.Separator) + rest, nil
}

// missing ends the walk at a name that does not exist. Where dots follow it
// they are taken by the letter, and what they lead to is walked again: it may
// exist, and may be a link.
func (w *walk) missing(here, rest string) (string, error) {
	whole := filepath.Join(here, rest)
	if !hasDots(rest) || w.pseudo(here) {
		if w.pseudo(here) {
			whole = filepath.Join(here, filepath.Clean(string(filepath.Separator)+rest))
		}
		w.at, w.exists = whole, false
		return "", nil
	}
	if w.links++; w.links > maxLinks {
		return "", fmt.Errorf("resolving %s: %w", here, ErrLoop)
	}
	w.start(whole)
	return whole[len(filepath.VolumeName(whole)):], nil
}

func hasDots(rest string) bool {
	for {
		name, more, ok := component(rest)
		if !ok {
			return false
		}
		if name == ".." {
			return true
		}
		rest = more
	}
}

// component cuts the first name off a path; ok is false where there is none.
func component(path string) (name, rest string, ok bool) {
	start := 0
	for start < len(path) && os.IsPathSeparator(path[start]) {
		start++
	}
	end := start
	for end < len(path) && !os.IsPathSeparator(path[end]) {
		end++
	}
	if start == end {
		return "", "", false
	}
	return path[start:end], path[end:], true
}

// pseudo reports whether a resolved path lies in a file system of the kernel's
// making, and not in a root that was put there.
func (w *walk) pseudo(path string) bool {
	if _, _, ok := w.roots.within(path); ok {
		return false
	}
	return isPseudo(path)
}

// isPseudo reports whether a resolved path is or lies below /dev, /proc or
// /sys, which the file tools refuse (policy 10.3).
func isPseudo(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if _, ok := below(dir, path); ok {
			return true
		}
	}
	return false
}

// respell looks for a root among the ancestors of a path that is spelled
// otherwise, as it may be where names are compared without case, and gives the
// path in the root's spelling.
func (r *Roots) respell(target string) (string, bool) {
	for dir, rest := target, ""; ; {
		if info, err := os.Stat(dir); err == nil {
			for _, one := range r.roots {
				if held, err := one.at.Stat(); err == nil && os.SameFile(held, info) {
					return filepath.Join(one.real, rest), true
				}
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return target, false
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}

// plain takes the operation and the path off an error that is wrapped again
// with both.
func plain(err error) error {
	var perr *fs.PathError
	switch {
	case !errors.As(err, &perr):
		return err
	case perr.Err.Error() == "path escapes from parent": // a text of package os, which exports no error for it
		return errEscapes
	}
	return perr.Err
}

// errEscapes says that a folder on the way to a file was none, or another, when the
// path was resolved.
var errEscapes = errors.New("a folder of its path became a link that leads out of the project; try again")
