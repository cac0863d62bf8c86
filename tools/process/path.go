package process

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// system are the folders that a desktop's short PATH consists of, and the ones
// a child gets where nothing else is left.
var system = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}

// SearchPath is where a session's commands are looked for. It is found out once,
// when it is first asked for, which may take up to loginTime.
type SearchPath struct {
	environ []string
	roots   []string
	once    sync.Once
	login   Supervisor // of the login shell that is asked
	kept    []string
	removed []string
}

// NewSearchPath is the search path for an environment and the folders a session
// works in, which are absolute.
func NewSearchPath(environ, roots []string) *SearchPath {
	return &SearchPath{environ: slices.Clone(environ), roots: slices.Clone(roots)}
}

// Dirs are the folders of the rebuilt PATH, and those that were left out of it.
// A removed one that holds a program's name shadows it for the user, so that
// the name means something else than here (policy, section 4). Where the editor
// handed down a desktop's short PATH, the login shell's is taken.
func (s *SearchPath) Dirs() (kept, removed []string) {
	s.once.Do(func() {
		vars := variables(s.environ)
		path := vars["PATH"]
		if short(path) {
			path = join(s.loginPath(vars["SHELL"]), path)
		}
		s.kept, s.removed = RebuildPath(path, s.roots)
		if len(s.kept) == 0 && runtime.GOOS != "windows" {
			s.kept = system
		}
	})
	return s.kept, s.removed
}

// Close ends the login shell that is being asked, with all that it started, and
// waits until they are gone. None is asked afterwards.
func (s *SearchPath) Close() { s.login.Close() }

// Value is the PATH of children.
func (s *SearchPath) Value() string {
	kept, _ := s.Dirs()
	return strings.Join(kept, string(filepath.ListSeparator))
}

// RebuildPath splits a PATH into the folders where a command may be looked for
// and those where not: empty and relative ones, those that everybody may write
// into, and those inside the roots, by name or by where links lead (policy,
// section 4). Repeated ones are dropped.
func RebuildPath(path string, roots []string) (kept, removed []string) {
	var inside []string
	for _, root := range roots {
		inside = append(inside, filepath.Clean(root), resolve(root))
	}
	for _, dir := range filepath.SplitList(path) {
		list := &kept
		if !trusted(dir, inside) {
			list = &removed
		}
		if !slices.Contains(*list, dir) {
			*list = append(*list, dir)
		}
	}
	return kept, removed
}

func trusted(dir string, roots []string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	real := resolve(dir)
	for _, root := range roots {
		if within(root, filepath.Clean(dir)) || within(root, real) {
			return false
		}
	}
	if runtime.GOOS == "windows" {
		return true // modes say nothing there
	}
	info, err := os.Stat(real)
	return err != nil || info.Mode().Perm()&0o002 == 0
}

// resolve follows the links of a path as far as it exists.
func resolve(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// short reports whether a PATH is one that no shell's start-up file added to.
func short(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, dir := range filepath.SplitList(path) {
		if !slices.Contains(system, dir) {
			return false
		}
	}
	return true
}

// join puts the folders of b behind those of a.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + string(filepath.ListSeparator) + b
}

// loginTime is how long a login shell may take to say its PATH.
const loginTime = 3 * time.Second

// loginPath asks the user's login shell for its PATH; empty where it has no
// answer in time. What start-up files print stands outside the markers.
func (s *SearchPath) loginPath(shell string) string {
	if !filepath.IsAbs(shell) {
		return ""
	}
	const begin, end = "\x02path:", "\x03"
	defer s.login.Close()
	out := NewTail(64 << 10)
	home := variables(s.environ)["HOME"]
	if home == "" {
		home = "/"
	}
	p, err := s.login.Start(Command{
		Path:   shell,
		Args:   []string{"-l", "-c", `printf '\002path:%s\003' "$PATH"`},
		Dir:    home,
		Env:    s.environ,
		Output: out,
		Stderr: NewTail(0),
	})
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	if _, err := p.Wait(ctx); err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(out.Bytes()), begin)
	path, _, complete := strings.Cut(rest, end)
	if !complete {
		return ""
	}
	return path
}
