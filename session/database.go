package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/session/store"
)

// DatabaseName is the database's file in the data folder.
const DatabaseName = "sessions.db"

// retryAfter is how long a failure to open the database is taken as it is,
// before opening is tried again.
const retryAfter = 10 * time.Second

// database is the store, opened when it is first needed. Opening may take a
// while, where another program holds the file, so it has a lock of its own.
type database struct {
	path string

	mu      sync.Mutex
	db      *store.Store
	err     error     // why it is not open
	failed  time.Time // when that was found
	ended   bool
	notices []string // what the user has to know, until it is told
}

// open is the open store.
func (d *database) open(ctx context.Context) (*store.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended:
		return nil, errEnding // what comes too late does not open it again
	case d.db != nil && !d.db.Moved():
		return d.db, nil
	case d.db != nil: // what is open can still be written to, but not found again
		_ = d.db.Close()
		d.db = nil
	case d.err != nil && time.Since(d.failed) < retryAfter:
		return nil, d.err
	}
	db, err := store.Open(context.WithoutCancel(ctx), d.path)
	if errors.Is(err, store.ErrReadOnly) {
		d.notices = append(d.notices, fmt.Sprintf("Sessions are kept in memory only, and gone when the agent ends: %v.", err))
		db, err = store.OpenMemory(context.WithoutCancel(ctx))
	}
	if err != nil {
		d.err, d.failed = fmt.Errorf("the session database cannot be opened: %w", err), time.Now()
		return nil, d.err
	}
	if aside := db.Recovered(); aside != "" {
		d.notices = append(d.notices, fmt.Sprintf("The session database was damaged. It is kept as %s, and a new one was begun.", aside))
	}
	d.db, d.err = db, nil
	return db, nil
}

// takeNotices returns what the user has to know, once.
func (d *database) takeNotices() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	notices := d.notices
	d.notices = nil
	return notices
}

// close closes the store for good.
func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db = nil
	return err
}

// store is the open database.
func (m *Sessions) store(ctx context.Context) (*store.Store, error) { return m.database.open(ctx) }

func newDatabase(dataDir string) *database {
	return &database{path: filepath.Join(dataDir, DatabaseName)}
}
