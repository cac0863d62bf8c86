package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

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
	lock    *os.File // it, with a lock that others use it by; nil: not locked
}

// take makes one at path, unless something is there. Ok reports whether something
// is there now; undo removes what was made, when nobody needs it any more, here or
// in another session.
func (s *places) take(path, content string, dir bool) (undo func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = map[string]*place{}
	}
	for s.users[path] == nil {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			err = makePlace(path, content, dir)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return func() {}, false // nobody can write there, then
			}
		case !isPlace(info, content, dir):
			return func() {}, true
		}
		// Another session may remove it until it is held.
		if lock, held := holdPlace(path); held {
			s.users[path] = &place{content: content, dir: dir, lock: lock}
		}
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
	removePlace(path, held)
}

// removePlace removes one, unless another session uses it, or it is none any more.
// A folder that is not empty stays.
func removePlace(path string, p *place) {
	if p.lock != nil {
		defer p.lock.Close()
	}
	if !lockAlone(p.lock) {
		return
	}
	info, err := os.Lstat(path)
	if err != nil || p.lock != nil && !same(p.lock, path) {
		return
	}
	if p.dir && info.IsDir() || !p.dir && info.Mode().IsRegular() && info.Size() == int64(len(p.content)) {
		_ = os.Remove(path)
	}
}

// Tidy removes what an agent that was killed has left in the place of nothing, at
// the top of the roots.
func (b *Box) Tidy() {
	if b == nil {
		return
	}
	b.places.mu.Lock()
	defer b.places.mu.Unlock()
	tidy := func(path, content string, dir bool) {
		info, err := os.Lstat(path)
		if err != nil || b.places.users[path] != nil || !isPlace(info, content, dir) {
			return
		}
		if lock, held := holdPlace(path); held {
			removePlace(path, &place{content: content, dir: dir, lock: lock})
		}
	}
	for _, root := range b.roots {
		for _, name := range append([]string{".acp-agent"}, guardedFolders...) {
			tidy(filepath.Join(root, name), "", true)
		}
		for _, f := range gitPlaces {
			tidy(filepath.Join(root, ".git", f.name), f.content, f.dir)
		}
	}
}

// same reports whether a file is what is at the path, links not followed.
func same(f *os.File, path string) bool {
	one, err := f.Stat()
	if err != nil {
		return false
	}
	other, err := os.Lstat(path)
	return err == nil && os.SameFile(one, other)
}
