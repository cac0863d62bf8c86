package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// guardRoot protects what is in a root, or could be made there, and masks its
// secrets; free gives back what that needs while the command runs.
func (b *Box) guardRoot(p *plan, root string, c Command) (free func()) {
	if p.way == files {
		return func() {} // it knows no paths within a writable folder
	}
	hits := b.scan(root)
	free = func() {}
	for _, h := range hits {
		free = both(free, b.places.share(h.path))
	}
	if c.Level != Approved {
		b.maskSecrets(p, hits)
	}
	if c.Level == Reads {
		return free
	}
	lifted := func(g Guard) bool { return c.Git && g == Guarded }
	for _, h := range hits {
		switch {
		case h.guard == Open || lifted(h.guard):
		case filepath.Base(h.path) == ".git" && !h.dir && !h.link:
			b.protect(p, root, h.path)
		case filepath.Base(h.path) == ".git" || slices.Contains(names(root, filepath.Dir(h.path)), ".git"):
			if c.Level == Unasked && !c.Git {
				b.protect(p, root, h.path)
			}
		default:
			b.protect(p, root, h.path)
		}
	}
	return both(free, b.guardAbsent(p, root, c, hits))
}

// maskSecrets masks those of what was found that are secret.
func (b *Box) maskSecrets(p *plan, hits []found) {
	for _, h := range hits {
		if h.secret {
			p.mask(b, h.path)
		}
	}
}

// protect makes a path of a root read-only, and keeps the folders above it from
// being put elsewhere.
func (b *Box) protect(p *plan, root, path string) {
	p.hold(root, path)
	p.addPath(readOnly, path)
}

// hold makes the folders between a root and a path mounts of their own, which the
// kernel lets nobody rename or remove.
func (p *plan) hold(root, path string) {
	for dir := filepath.Dir(path); dir != root && within(root, dir); dir = filepath.Dir(dir) {
		p.add(mount{form: writable, path: dir})
	}
}

// guardAbsent protects what is not there. A mount needs something to be mounted
// on: for as long as the command runs, an empty folder, which git does not see,
// stands there.
func (b *Box) guardAbsent(p *plan, root string, c Command, hits []found) (free func()) {
	free = func() {}
	place := func(path, content string, dir bool) {
		undo, ok := b.places.take(path, content, dir)
		free = both(free, undo)
		if ok {
			b.protect(p, root, path)
		}
	}
	place(filepath.Join(root, ".acp-agent"), "", true)
	if c.Level == Unasked && !c.Git {
		for _, name := range guardedFolders {
			place(filepath.Join(root, name), "", true)
		}
		return free
	}
	if c.Level == Approved && c.Git {
		return free // it was asked about, and is git's to change
	}
	for _, h := range hits {
		if filepath.Base(h.path) != ".git" || !h.dir {
			continue
		}
		p.add(mount{form: writable, path: h.path})
		place(filepath.Join(h.path, "hooks"), "", true)
		place(filepath.Join(h.path, "config"), "", false)
		place(filepath.Join(h.path, "config.worktree"), "", false)
		place(filepath.Join(h.path, "info"), "", true)
		// One that says the folder itself means what none means.
		place(filepath.Join(h.path, "commondir"), ".\n", false)
	}
	return free
}

// guardedFolders are the protected names that no command may make at the top of a
// root unasked.
var guardedFolders = []string{".git", ".vscode", ".idea", ".zed", ".fleet", ".claude", ".cursor", ".gemini", ".codex", ".opencode",
	".windsurf", ".roo", ".github", ".circleci", ".husky", ".devcontainer", ".ssh"}

// places are the empty files and folders that stand where nothing is, while
// commands run that must not make something there.
type places struct {
	mu    sync.Mutex
	users map[string]*place
}

// place is one of them.
type place struct {
	users   int
	content string
	dir     bool
}

// take makes one at path, unless something is there. Ok reports whether something
// is there now; undo removes what was made, when nobody needs it any more.
func (s *places) take(path, content string, dir bool) (undo func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = map[string]*place{}
	}
	if s.users[path] == nil {
		if info, err := os.Lstat(path); err == nil {
			if !isPlace(info, content, dir) {
				return func() {}, true
			}
		} else if err := makePlace(path, content, dir); err != nil {
			return func() {}, false // nobody can write there, then
		}
		s.users[path] = &place{content: content, dir: dir}
	}
	s.users[path].users++
	return sync.OnceFunc(func() { s.leave(path) }), true
}

// share keeps one that stands for another command, which may end first: what is
// mounted on must be there until it is.
func (s *places) share(path string) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, ok := s.users[path]
	if !ok {
		return func() {} // it is no such thing
	}
	held.users++
	return sync.OnceFunc(func() { s.leave(path) })
}

// stands reports whether something stands at the path only in the place of
// nothing.
func (s *places) stands(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[path] != nil
}

// placeTime is the time of change of what stands in the place of nothing. By it
// what an agent left that was killed is known, and removed with the next command.
var placeTime = time.Unix(1_000_000_007, 0)

// isPlace reports whether something was made by makePlace, and nobody has touched
// it since.
func isPlace(info fs.FileInfo, content string, dir bool) bool {
	if dir {
		return info.IsDir() && info.ModTime().Equal(placeTime)
	}
	return info.Mode().IsRegular() && info.Size() == int64(len(content)) && info.ModTime().Equal(placeTime)
}

func makePlace(path, content string, dir bool) error {
	if err := makeEmpty(path, content, dir); err != nil {
		return err
	}
	_ = os.Chtimes(path, placeTime, placeTime) // without it one may be left, once
	return nil
}

func makeEmpty(path, content string, dir bool) error {
	if dir {
		return os.Mkdir(path, 0o755)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// leave removes what was made, unless somebody has put something there.
func (s *places) leave(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.users[path]
	if held.users--; held.users > 0 {
		return
	}
	delete(s.users, path)
	if !held.dir {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(held.content)) {
			return
		}
	} else if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return
	}
	_ = os.Remove(path) // a folder that is not empty stays
}
