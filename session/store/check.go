package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// Health is what Check found of a database.
type Health struct {
	Sessions int      // without sub-sessions
	Bytes    int64    // of the file
	Aside    []string // damaged databases that Open put aside, by their paths
}

// Check looks at the database at path as Open would, whole and without changing
// anything: a damaged one stays where it is, an older one stays old. The errors
// are those of Open, and ErrDamaged; one that wraps fs.ErrNotExist says that
// there is no database yet.
func Check(ctx context.Context, path string) (Health, error) {
	const what = "looking at the session database"
	var h Health
	path, err := filepath.Abs(path)
	if err != nil {
		return h, fmt.Errorf("%s: %w", what, err)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, fmt.Errorf("%s: %w", what, err)
	}
	if err != nil {
		return h, explain(what, path, err)
	}
	h.Bytes, h.Aside = info.Size(), asideOf(path)
	if h.Bytes > 0 {
		h.Sessions, err = check(ctx, path)
	}
	return h, explain(what, path, err)
}

// asideOf lists the databases put aside beside the one at path.
func asideOf(path string) (aside []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // what cannot be listed cannot be named
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, filepath.Base(path)+asideSuffix) && !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			aside = append(aside, filepath.Join(filepath.Dir(path), name))
		}
	}
	return aside
}

func check(ctx context.Context, path string) (sessions int, err error) {
	connector, err := sqlite.NewConnector(dataSource(path))
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	s := &Store{path: path, db: db, statements: map[string]*sql.Stmt{}}
	defer func() { err = errors.Join(err, db.Close()) }()
	if s.conn, err = db.Conn(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	version, err := s.known(ctx)
	if err != nil || version == 0 {
		return 0, err
	}
	if err := quickCheck(ctx, s.conn); err != nil {
		return 0, err
	}
	err = s.conn.QueryRowContext(ctx, `SELECT count(*) FROM chat_sessions WHERE parent_id IS NULL`).Scan(&sessions)
	if err != nil {
		return 0, err
	}
	// Whether it can be written to shows when one begins to.
	_, err = s.conn.ExecContext(ctx, `BEGIN IMMEDIATE; ROLLBACK`)
	return sessions, err
}

// quickCheck reads all of the database and returns ErrDamaged with what is wrong.
func quickCheck(ctx context.Context, conn *sql.Conn) error {
	var found string
	if err := conn.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, found)
	}
	return nil
}
