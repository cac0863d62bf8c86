package lsp

import (
	"context"
	"errors"
	"sync"
)

// flights are questions to a server whose answers are kept, and which go on when who
// asked waits no longer: asked again, a slow server is not to begin anew.
type flights struct {
	mu    sync.Mutex
	under map[string]*flight // by what is asked about
}

// flight is one question under way.
type flight struct {
	version uint64 // of what is asked about
	cancel  context.CancelFunc
	done    chan struct{} // closed at its end; err is set before
	err     error
}

// join waits for the answer about a version, or about one after it, and asks if
// nobody has. A question about an older one is given up.
func (r *run) join(ctx context.Context, about string, version uint64, ask func(context.Context) error) error {
	for {
		f, err := r.fly(about, version, ask)
		if err != nil {
			return err
		}
		select {
		case <-f.done:
			if !errors.Is(f.err, context.Canceled) || ctx.Err() != nil {
				return f.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *run) fly(about string, version uint64, ask func(context.Context) error) (*flight, error) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	was := fs.under[about]
	if was != nil && was.version >= version {
		return was, nil
	}
	if !r.server.owner.begin() {
		return nil, ErrClosed
	}
	if was != nil {
		was.cancel()
	}
	if fs.under == nil {
		fs.under = map[string]*flight{}
	}
	f := &flight{version: version, done: make(chan struct{})}
	fs.under[about] = f
	var ctx context.Context
	ctx, f.cancel = context.WithTimeout(context.Background(), r.server.config.StartTimeout)
	go func() { // ends with the connection at the latest
		defer r.server.owner.tasks.Done()
		defer f.cancel()
		f.err = ask(ctx)
		fs.mu.Lock()
		defer fs.mu.Unlock()
		if fs.under[about] == f {
			delete(fs.under, about)
		}
		close(f.done)
	}()
	return f, nil
}
