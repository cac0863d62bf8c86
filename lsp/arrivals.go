package lsp

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
)

// arrivals are source files that came since a server loaded the project that judges all
// of it. gopls judges a package that nobody imports only once it was asked about a file
// of it.
type arrivals struct {
	mu    sync.Mutex
	files map[string]string // one of each package, by its folder and kind
}

// source reports whether a file is of the server's own language, and not of its
// project's settings.
func (s *Spec) source(path string) bool {
	id, ok := s.language(path)
	return ok && id == s.Languages[0].ID
}

// arrived notes a file of which the server may not have loaded the package.
func (r *run) arrived(path string) {
	if !r.judgesAll() || !r.server.spec.source(path) {
		return
	}
	pack := filepath.Dir(path)
	if strings.HasSuffix(path, "_test.go") { // which may be of another package
		pack = path
	}
	a := &r.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files == nil {
		a.files = map[string]string{}
	}
	a.files[pack] = path
}

// loadArrivals asks about a file of each package that came. What is not asked in time is
// left to the next call.
func (r *run) loadArrivals(ctx context.Context) error {
	a := &r.arrivals
	a.mu.Lock()
	packs := sortedKeys(a.files)
	a.mu.Unlock()
	for _, pack := range packs {
		a.mu.Lock()
		path := a.files[pack]
		a.mu.Unlock()
		// What it answers, and be it an error, is of no interest.
		_ = r.conn.Call(ctx, "textDocument/hover", positionParams{identifier{fileURI(path)}, Position{}}, nil)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.mu.Lock()
		if a.files[pack] == path {
			delete(a.files, pack)
		}
		a.mu.Unlock()
	}
	return nil
}

// sourceNear is a file by which a server finds a file's project, which must be of its own
// language: the file itself, or one that is open or known to be there, the nearest first.
func (r *run) sourceNear(path string) string {
	if r.server.spec.source(path) {
		return path
	}
	var sources []string
	for _, other := range r.files() {
		if r.server.spec.source(other) {
			sources = append(sources, other)
		}
	}
	sortByNearness(sources, []string{path})
	return append(sources, path)[0]
}
