package lsp

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// arrivals are source files that came since a server loaded the project that judges all
// of it. gopls judges a package that nobody imports only once it was asked about a file
// of it.
type arrivals struct {
	mu    sync.Mutex
	files map[string]string // one of each package, by its folder and kind
	count uint64            // of all that ever came
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
	a.count++
}

// loadArrivals has the server load the packages that came. It goes on with it when nobody
// waits any more.
func (r *run) loadArrivals(ctx context.Context) error {
	a := &r.arrivals
	a.mu.Lock()
	left, count := len(a.files), a.count
	a.mu.Unlock()
	if left == 0 {
		return nil
	}
	return r.join(ctx, question{about: "arrivals", version: count, kept: true, ask: r.askArrivals})
}

// askArrivals asks about a file of each package that came. What is answered, and be it an
// error, is of no interest.
func (r *run) askArrivals(ctx context.Context) error {
	a := &r.arrivals
	a.mu.Lock()
	files := maps.Clone(a.files)
	a.mu.Unlock()
	for _, pack := range sortedKeys(files) {
		path := files[pack]
		err := r.conn.Call(ctx, "textDocument/hover", positionParams{identifier{fileURI(path)}, Position{}}, nil)
		switch {
		case errors.Is(err, jsonrpc.ErrClosed):
			return r.lost()
		case ctx.Err() != nil:
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
