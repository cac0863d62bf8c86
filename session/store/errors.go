package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What calls fail with, to be told apart by errors.Is. The texts of what is
// returned name the file and what to do next.
var (
	// ErrNotFound: there is no session, or no message, of that id.
	ErrNotFound = errors.New("not found")
	// ErrExists: the id is taken.
	ErrExists = errors.New("exists already")
	// ErrCursor: the cursor is none that List gave out.
	ErrCursor = errors.New("not a cursor of this list: leave it out to begin at the front")
	// ErrLeased: another process drives the session; errors.As with
	// *LeasedError tells which.
	ErrLeased = errors.New("session in use")
	// ErrBusy: another process kept the database locked.
	ErrBusy = errors.New("database locked")
	// ErrReadOnly: the file, or its folder, cannot be written to.
	ErrReadOnly = errors.New("database not writable")
	// ErrFull: the disk is full.
	ErrFull = errors.New("disk full")
	// ErrDisk: the disk, or the system, refused to read or write.
	ErrDisk = errors.New("disk error")
	// ErrDamaged: the file is damaged. The next Open puts it aside.
	ErrDamaged = errors.New("database damaged")
	// ErrNewer: the database is of a later release.
	ErrNewer = errors.New("database of a newer release")
	// ErrForeign: the file is another program's database.
	ErrForeign = errors.New("database of another program")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the session database is closed")
)

// explain adds to an error of the driver what a person can do about it.
func (s *Store) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	if s.path != "" && isDamage(err) {
		s.marking.Do(func() { markSuspect(s.path) })
	}
	return explain(what, s.path, err)
}

func explain(what, path string, err error) error {
	if err == nil {
		return nil
	}
	advice, sentinel := classify(err)
	if sentinel == nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if path == "" {
		path = "in memory"
	}
	return fmt.Errorf("%s: %w (%s): %s: %w", what, sentinel, path, advice, err)
}

func classify(err error) (advice string, sentinel error) {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return adviceFull, ErrFull
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return adviceReadOnly, ErrReadOnly // the folder or the file cannot be made
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return "", nil
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another program holds it; end that one, or try again in a moment", ErrBusy
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return adviceReadOnly, ErrReadOnly
	case sqlite3.SQLITE_FULL:
		return adviceFull, ErrFull
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return "it is put aside and a new one begun at the next start", ErrDamaged
	case sqlite3.SQLITE_IOERR:
		return "see that its disk has space and is sound, then try again", ErrDisk
	}
	return "", nil
}

const (
	adviceFull     = "make space on its disk, then try again"
	adviceReadOnly = "let this user write to the file and its folder, or set XDG_DATA_HOME to a folder that is writable"
)

// isDamage says that the file's content is at fault.
func isDamage(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_NOTADB || e.Code()&0xff == sqlite3.SQLITE_CORRUPT) || errors.Is(err, ErrDamaged)
}

// isConstraint says that a row broke the given rule of the schema.
func isConstraint(err error, code int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == code
}

// taken says that an id is in use already.
func taken(err error) bool {
	return isConstraint(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) || isConstraint(err, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// dangling says that what a row refers to does not exist.
func dangling(err error) bool {
	return isConstraint(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY)
}
