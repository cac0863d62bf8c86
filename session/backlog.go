package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/session/store"
)

// maxBacklog is how many bytes may wait to be stored. With more, the session is
// not stored any further.
const maxBacklog = 64 << 20

// backlog is what of a session is still to be stored, in order. Where the store
// fails, because another program holds it or the disk is full, it grows, and
// storing is tried again after a while.
type backlog struct {
	mu     sync.Mutex // held while storing, which keeps the order
	writes []write
	size   int       // bytes
	failed time.Time // when storing failed last; zero: it works
	over   bool      // nothing more is stored
}

// write is one thing to be stored.
type write struct {
	part string // the id of the part it stores anew; empty: another thing
	size int    // in bytes, of a part
	do   func(ctx context.Context, db *store.Store) error
}

// addLocked appends a write, or puts it in the place of an older one of the
// same part.
func (b *backlog) addLocked(w write) {
	b.size += w.size
	if w.part != "" {
		older := func(o write) bool { return o.part == w.part }
		if i := slices.IndexFunc(b.writes, older); i >= 0 {
			b.size -= b.writes[i].size
			b.writes[i] = w
			return
		}
	}
	b.writes = append(b.writes, w)
}

// endLocked gives up storing.
func (b *backlog) endLocked() {
	b.over, b.writes, b.size = true, nil, 0
}

// storeLocked stores what waits, as far as that goes.
func (b *backlog) storeLocked(ctx context.Context, db *store.Store) error {
	for len(b.writes) > 0 {
		w := b.writes[0]
		if err := w.do(ctx, db); err != nil && !errors.Is(err, store.ErrExists) { // it was stored though it had failed
			return err
		}
		b.size -= w.size
		b.writes[0] = write{}
		b.writes = b.writes[1:]
	}
	b.writes = nil
	return nil
}

// keep does something with the store. Where that fails the session goes on in
// memory, the user is told, and it is done later.
func (s *Session) keep(ctx context.Context, do func(ctx context.Context, db *store.Store) error) {
	s.keepWrite(ctx, write{do: do})
}

func (s *Session) keepPart(ctx context.Context, p store.Part) {
	s.keepWrite(ctx, write{p.ID, len(p.Data), func(ctx context.Context, db *store.Store) error { return db.PutPart(ctx, s.id, p) }})
}

func (s *Session) keepWrite(ctx context.Context, w write) {
	b := s.backlog
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	b.addLocked(w)
	if b.failed.IsZero() || time.Since(b.failed) >= retryAfter {
		s.catchUpLocked(ctx)
	}
	if b.size > maxBacklog {
		s.sessions.log.Error("too much of the session waits to be stored: it is given up", "session", s.id)
		b.endLocked()
	}
}

// catchUp stores what waits, however short a time ago that failed.
func (s *Session) catchUp(ctx context.Context) {
	s.backlog.mu.Lock()
	defer s.backlog.mu.Unlock()
	if len(s.backlog.writes) > 0 {
		s.catchUpLocked(ctx)
	}
}

// catchUpLocked stores what waits and has the user told where that fails, and
// where it works again.
func (s *Session) catchUpLocked(ctx context.Context) {
	b := s.backlog
	db, err := s.sessions.store(ctx)
	if err == nil {
		// What happened is recorded also where the turn was cancelled.
		err = b.storeLocked(context.WithoutCancel(ctx), db)
	}
	failing := !b.failed.IsZero()
	switch {
	case err == nil && failing:
		b.failed = time.Time{}
		s.tell("This conversation is stored again.")
	case errors.Is(err, store.ErrNotFound):
		b.endLocked()
		s.tell("This conversation is stored no more, as it was deleted elsewhere. It goes on, but will be gone when the agent ends.")
	case err != nil:
		b.failed = time.Now()
		s.sessions.log.Error("cannot store the session", "session", s.id, "error", err)
		if !failing {
			s.tell(fmt.Sprintf("This conversation cannot be stored now (%v). It goes on, and storing is tried again; what is not stored is gone when the agent ends. `acp-agent doctor` says more.", err))
		}
	}
}

// tell has the user told something, in the next turn.
func (s *Session) tell(notice string) {
	s = s.top()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, notice)
}
