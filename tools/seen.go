package tools

import (
	"crypto/sha256"
	"sync"
)

// Seen remembers what a session last saw of each file, so that an edit made
// from an old view is refused. The zero value is ready to use.
type Seen struct {
	mu   sync.Mutex
	sums map[string][sha256.Size]byte
}

// Saw records that the session knows the file at path (its target) as data.
func (s *Seen) Saw(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sums == nil {
		s.sums = map[string][sha256.Size]byte{}
	}
	s.sums[path] = sha256.Sum256(data)
}

// Forget drops what is known of a path at which there is no file any more.
func (s *Seen) Forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sums, path)
}

// Stale reports whether the session saw the file and it was something else.
func (s *Seen) Stale(path string, data []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, ok := s.sums[path]
	return ok && sum != sha256.Sum256(data)
}

// Paths lists the files that the session saw.
func (s *Seen) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := make([]string, 0, len(s.sums))
	for p := range s.sums {
		paths = append(paths, p)
	}
	return paths
}
