// Package store keeps sessions in one SQLite database: what was said and what
// was shown, to be listed, read again and gone on with. What is acknowledged is
// in the file before the call returns and survives the end of the process, also
// by a signal that cannot be caught. Several processes may use one database;
// one session is driven by one of them at a time, see Store.Lease. It follows
// spec/sessions-models.md, "Storage".
//
// It leaves out what a part means (package session) and keeps no secrets.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
)

// busyTimeout is how long a call waits for another process that writes.
const busyTimeout = 5 * time.Second

// Store is an open database. Its methods may be called from any goroutine.
// They honour their context while they wait for their turn; a change once begun
// is not broken off, since half a minute of work should not hang on a cancel.
type Store struct {
	path      string // absolute; empty: in memory
	recovered string
	space     string      // of this process, for leases
	file      os.FileInfo // the file as it was opened; nil: in memory

	turn chan struct{} // holds one token: the right to use what follows
	db   *sql.DB
	conn *sql.Conn // the only connection
	// statements prepared so far, by their text
	statements map[string]*sql.Stmt
	leases     map[string]string // token to session, of the leases not released
	closed     bool

	marking sync.Once // of the file as suspect
}

// Recovered is the path of the damaged database that Open put aside, empty
// where there was none.
func (s *Store) Recovered() string { return s.recovered }

// Moved says that the file is no longer at its path: it was deleted, renamed or
// replaced, and what is stored from now on would not be found again.
func (s *Store) Moved() bool {
	if s.file == nil {
		return false
	}
	now, err := os.Stat(s.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.file)
}

// Path is the database's file, absolute; empty where it is in memory.
func (s *Store) Path() string { return s.path }

// Close gives up the leases of this store and closes the database. Calling it
// again is fine.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for token := range s.leases {
		errs = append(errs, s.drop(context.Background(), token))
	}
	for _, st := range s.statements {
		errs = append(errs, st.Close())
	}
	errs = append(errs, s.conn.Close(), s.db.Close())
	return s.explain("closing", errors.Join(errs...))
}

// NewID makes an id that sorts by the time it was made: the prefix and a
// version 7 UUID.
func NewID(prefix string) string {
	return prefix + uuid.Must(uuid.NewV7()).String()
}

// do runs f while it has the connection to itself. What f does is not
// interrupted when ctx ends; only the wait before it is.
func (s *Store) do(ctx context.Context, what string, f func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if s.closed {
		return fmt.Errorf("%s: %w", what, ErrClosed)
	}
	return s.explain(what, f(context.WithoutCancel(ctx)))
}

// change is do within a transaction that has the right to write from its
// beginning, so that it never fails half-way for want of it.
func (s *Store) change(ctx context.Context, what string, f func(ctx context.Context) error) error {
	return s.do(ctx, what, func(ctx context.Context) error { return s.transact(ctx, f) })
}

func (s *Store) transact(ctx context.Context, f func(ctx context.Context) error) error {
	if _, err := s.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // also when f panics
			// It may be over already, as after a full disk: nothing is lost by asking.
			_, _ = s.exec(ctx, "ROLLBACK")
		}
	}()
	if err := f(ctx); err != nil {
		return err
	}
	if _, err := s.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	done = true
	return nil
}

func (s *Store) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

func (s *Store) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// prepare returns the statement of a constant text, made at its first use.
func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := s.statements[query]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.statements[query] = st
	return st, nil
}

// affected says whether a statement changed at least one row.
func affected(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}
