package lsp

import (
	"context"
	"errors"
	"sync"
)

// flights are questions to a server of which one asks and others wait along.
type flights struct {
	mu    sync.Mutex
	under map[string]*flight // by what is asked about
}

// flight is one question under way.
type flight struct {
	version uint64 // of what is asked about
	waiting int    // who wait
	cancel  context.CancelFunc
	done    chan struct{} // closed at its end; err is set before
	err     error
}

// question is what join asks.
type question struct {
	about   string
	version uint64
	// kept: the answer is kept, and the question goes on when nobody waits any more:
	// asked again, a slow server is not to begin anew.
	kept bool
	ask  func(context.Context) error
}

// join waits for the answer about a version, or about one after it, and asks if
// nobody has. A question about an older one is given up.
func (r *run) join(ctx context.Context, q question) error {
	for {
		f, err := r.fly(q)
		if err != nil {
			return err
		}
		select {
		case <-f.done:
			r.flights.leave(q, f)
			if !errors.Is(f.err, context.Canceled) || ctx.Err() != nil {
				return f.err
			}
		case <-ctx.Done():
			r.flights.leave(q, f)
			return context.Cause(ctx)
		}
	}
}

// leave ends a wait.
func (fs *flights) leave(q question, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiting--; f.waiting == 0 && !q.kept {
		f.cancel()
		fs.end(q.about, f)
	}
}

// end takes out a question that is answered or given up. The lock is held.
func (fs *flights) end(about string, f *flight) {
	if fs.under[about] == f {
		delete(fs.under, about)
	}
}

// fly waits along at a question, or asks it.
func (r *run) fly(q question) (*flight, error) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	was := fs.under[q.about]
	if was != nil && was.version >= q.version {
		was.waiting++
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
	f := &flight{version: q.version, waiting: 1, done: make(chan struct{})}
	fs.under[q.about] = f
	var ctx context.Context
	ctx, f.cancel = context.WithTimeout(context.Background(), r.server.config.StartTimeout)
	go func() { // ends with the connection at the latest
		defer r.server.owner.tasks.Done()
		defer f.cancel()
		f.err = q.ask(ctx)
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.end(q.about, f)
		close(f.done)
	}()
	return f, nil
}
