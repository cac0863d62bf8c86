package client

import (
	"context"
	"sync"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// updates delivers notifications one at a time, in order, apart from the read
// loop, and lets others wait until those that came before have been delivered.
// The queue has no limit: an agent must not be held up by a slow callback that
// in turn waits for the agent.
type updates struct {
	mu        sync.Mutex
	waiting   []func(context.Context)
	total     uint64 // how many were ever queued
	delivered uint64 // how many of them have returned
	closed    bool
	changed   chan struct{} // closed and renewed at each change
}

func newUpdates() *updates { return &updates{changed: make(chan struct{})} }

// change wakes all that wait. The lock is held.
func (u *updates) change() {
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *updates) put(f func(context.Context)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting = append(u.waiting, f)
	u.total++
	u.change()
}

// queued is how many were queued so far, to be waited for.
func (u *updates) queued() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.total
}

// wait returns when the first n have been delivered.
func (u *updates) wait(ctx context.Context, n uint64) error {
	for {
		u.mu.Lock()
		done, ended, changed := u.delivered >= n, u.closed && len(u.waiting) == 0, u.changed
		u.mu.Unlock()
		switch {
		case done:
			return nil
		case ended:
			return jsonrpc.ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close has deliver return when all that is queued is delivered.
func (u *updates) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.change()
}

// deliver runs what is queued until the queue is closed and empty.
func (u *updates) deliver(ctx context.Context) {
	for {
		u.mu.Lock()
		if len(u.waiting) == 0 {
			closed, changed := u.closed, u.changed
			u.mu.Unlock()
			if closed {
				return
			}
			<-changed
			continue
		}
		f := u.waiting[0]
		u.waiting[0] = nil
		u.waiting = u.waiting[1:]
		u.mu.Unlock()
		f(ctx)
		u.mu.Lock()
		u.delivered++
		u.change()
		u.mu.Unlock()
	}
}
