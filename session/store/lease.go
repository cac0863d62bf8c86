package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// LeasedError says which process drives a session. It wraps ErrLeased.
type LeasedError struct {
	SessionID string
	PID       int
	Here      bool // it is this very process
}

func (e *LeasedError) Error() string {
	if e.Here {
		return fmt.Sprintf("session %s is in use already by this acp-agent (process %d): close it there first", e.SessionID, e.PID)
	}
	return fmt.Sprintf("session %s is in use by another acp-agent (process %d): close it there, or begin a new session", e.SessionID, e.PID)
}

// Unwrap makes errors.Is find ErrLeased.
func (e *LeasedError) Unwrap() error { return ErrLeased }

// foreignLease is how long after its last message a session counts as in use by
// a process that cannot be looked at: in another container, on another machine.
const foreignLease = 10 * time.Minute

// lease is who drives a session.
type lease struct {
	token   string
	space   string
	process process
	seen    time.Time // the last sign of life: taken, or a message since
}

// Lease makes this store the one that drives the session, until release is
// called, the store is closed or the process ends, however it ends. Where
// another one drives it, also in this process, the error is a *LeasedError. The
// lease of a process that has ended is taken over. The error wraps ErrNotFound
// where there is no such session. Calling release again is fine.
func (s *Store) Lease(ctx context.Context, sessionID string) (release func(), err error) {
	token := NewID("lea_")
	me := ownProcess()
	err = s.change(ctx, "leasing session "+sessionID, func(ctx context.Context) error {
		held, err := s.lease(ctx, sessionID)
		if err != nil {
			return err
		}
		if held != nil && s.alive(held, time.Now()) {
			return &LeasedError{SessionID: sessionID, PID: held.process.pid, Here: held.space == s.ownSpace() && held.process.pid == me.pid}
		}
		_, err = s.exec(ctx, `INSERT OR REPLACE INTO chat_leases (session_id, token, space, pid, started, taken) VALUES (?, ?, ?, ?, ?, ?)`,
			sessionID, token, s.ownSpace(), me.pid, me.started, time.Now().UnixNano())
		if dangling(err) {
			return ErrNotFound
		}
		if err == nil {
			s.leases[token] = sessionID
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() { s.release(token) }, nil
}

// release ends a lease. Where that fails it ends with the store or the process.
func (s *Store) release(token string) {
	_ = s.do(context.Background(), "releasing a session", func(ctx context.Context) error { return s.drop(ctx, token) })
}

// drop ends a lease of this store that was not ended before; it has the turn.
func (s *Store) drop(ctx context.Context, token string) error {
	sessionID, ok := s.leases[token]
	if !ok {
		return nil
	}
	delete(s.leases, token)
	_, err := s.exec(ctx, `DELETE FROM chat_leases WHERE session_id = ? AND token = ?`, sessionID, token)
	return err
}

// lease returns who holds the session, nil for nobody.
func (s *Store) lease(ctx context.Context, sessionID string) (*lease, error) {
	st, err := s.prepare(ctx, `SELECT l.token, l.space, l.pid, l.started, max(l.taken, s.updated)
		FROM chat_leases l JOIN chat_sessions s ON s.id = l.session_id WHERE l.session_id = ?`)
	if err != nil {
		return nil, err
	}
	var l lease
	var seen int64
	err = st.QueryRowContext(ctx, sessionID).Scan(&l.token, &l.space, &l.process.pid, &l.process.started, &seen)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	l.seen = time.Unix(0, seen)
	return &l, err
}

// alive says whether the holder still drives its session.
func (s *Store) alive(l *lease, now time.Time) bool {
	if l.space == s.ownSpace() {
		return l.process.running()
	}
	return now.Sub(l.seen) < foreignLease
}

// ownSpace names where a process id of ours means something.
func (s *Store) ownSpace() string {
	if s.space == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		s.space = host + " " + processSpace()
	}
	return s.space
}
