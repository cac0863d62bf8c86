package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Open opens the database at path, which it makes with its folder where there
// is none, readable by this user alone. An older database is brought up to
// date; a newer one is refused (ErrNewer). A damaged one is renamed to
// path+".damaged-<time>" together with its log, and a new one begun: Recovered
// tells. Errors wrap one of ErrBusy, ErrReadOnly, ErrFull, ErrDisk, ErrNewer,
// ErrForeign.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening the session database: %w", err)
	}
	what := "opening the session database"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, explain(what, path, err)
	}
	// Two processes must not both create, convert or put aside the same file.
	unlock, err := lockFile(ctx, path+".lock", busyTimeout)
	if err != nil {
		return nil, explain(what, path, err)
	}
	defer unlock()
	if err := create(path); err != nil {
		return nil, explain(what, path, err)
	}
	s, err := open(ctx, path)
	if !isDamage(err) {
		return s, explain(what, path, err)
	}
	aside, err := putAside(path, time.Now())
	if err != nil {
		return nil, explain("putting the damaged session database aside", path, err)
	}
	if err := create(path); err != nil {
		return nil, explain(what, path, err)
	}
	if s, err = open(ctx, path); err != nil {
		return nil, explain(what, path, err)
	}
	s.recovered = aside
	return s, nil
}

// OpenMemory opens an empty database that ends with the store, for where
// nothing can be written.
func OpenMemory(ctx context.Context) (*Store, error) {
	s, err := open(ctx, "")
	return s, explain("opening a session database in memory", "", err)
}

// create makes the file, so that it never is readable by others. An existing
// one is not opened: closing it would drop the locks that another store of this
// process holds on it.
func create(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func open(ctx context.Context, path string) (_ *Store, err error) {
	connector, err := sqlite.NewConnector(dataSource(path))
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, turn: make(chan struct{}, 1), statements: map[string]*sql.Stmt{}, leases: map[string]string{}, db: sql.OpenDB(connector)}
	s.db.SetMaxOpenConns(1)
	defer func() {
		if err != nil {
			_ = s.db.Close() // the first error is the one to tell
		}
	}()
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.conn.Close()
		}
	}()
	if err := s.migrate(ctx); err != nil {
		return nil, err
	}
	if path == "" {
		return s, nil
	}
	return s, s.examine(ctx)
}

// dataSource is what the driver opens path by.
func dataSource(path string) string {
	options := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {"1"},
		"_synchronous":  {"NORMAL"},
		"_pragma":       {"journal_size_limit(4194304)", "temp_store(memory)"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
	}
	if path == "" {
		return "file::memory:?" + options.Encode()
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/…
	}
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?" + options.Encode()
}

// smallFile is the size in bytes up to which a database is checked whole each
// time it is opened, for a millisecond or two. A larger one is checked whole
// after damage was met in it.
const smallFile = 1 << 20

// examine looks for damage and returns ErrDamaged with what was found.
func (s *Store) examine(ctx context.Context) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	s.file = info
	_, err = os.Stat(suspectMark(s.path))
	suspect := err == nil
	if err := s.glance(ctx); err != nil || info.Size() > smallFile && !suspect {
		return err
	}
	if err := quickCheck(ctx, s.conn); err != nil {
		return err
	}
	if suspect {
		return os.Remove(suspectMark(s.path))
	}
	return nil
}

// glance reads the ends of every table, and with them the pages that lead there.
func (s *Store) glance(ctx context.Context) error {
	for _, table := range []string{"chat_sessions", "chat_messages", "chat_parts", "chat_leases"} {
		for _, end := range []string{"ASC", "DESC"} {
			rows, err := s.conn.QueryContext(ctx, `SELECT * FROM `+table+` ORDER BY 1 `+end+` LIMIT 1`)
			if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code() == sqlite3.SQLITE_ERROR {
				return fmt.Errorf("%w: %w", ErrDamaged, err) // the table is missing
			}
			if err != nil {
				return err
			}
			rows.Next()
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// suspectMark is the file that says: check the database when it is opened next.
func suspectMark(path string) string { return path + ".suspect" }

// markSuspect is best effort: without it the damage is met again.
func markSuspect(path string) {
	if f, err := os.OpenFile(suspectMark(path), os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
}

// asideSuffix and a time name a database that was put aside.
const asideSuffix = ".damaged-"

// putAside renames the database and what belongs to it, and returns the new path.
func putAside(path string, now time.Time) (string, error) {
	base := path + asideSuffix + now.UTC().Format("20060102T150405Z")
	aside := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = base + "-" + strconv.Itoa(n)
	}
	// The log first: one left behind would be applied to the new database.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := os.Remove(suspectMark(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return aside, nil
}
