package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Session is what is kept of a session beside its messages.
type Session struct {
	ID       string
	ParentID string // of the session that started it as a sub-agent; empty: none
	Dir      string // the working directory in the client's spelling, absolute, cleaned
	DirKey   string // the same with links resolved, to filter by
	Title    string
	Mode     string
	Model    string            // provider/model
	Roots    []string          // further folders, absolute
	Options  map[string]string // other configuration options, id to value
	Created  time.Time
	Updated  time.Time // of the last message, or as given
}

// Create adds a session. Times that are zero are now. The error wraps
// ErrExists where the id is taken, ErrNotFound where the parent does not exist.
func (s *Store) Create(ctx context.Context, se Session) error {
	if se.ID == "" {
		return errors.New("creating a session: it has no id")
	}
	if se.Created.IsZero() {
		se.Created = time.Now()
	}
	if se.Updated.IsZero() {
		se.Updated = se.Created
	}
	roots, options, err := encodeLists(se)
	if err != nil {
		return fmt.Errorf("creating session %s: %w", se.ID, err)
	}
	what := "creating session " + se.ID
	return s.do(ctx, what, func(ctx context.Context) error {
		_, err := s.exec(ctx, `INSERT INTO chat_sessions (id, parent_id, dir, dir_key, title, mode, model, roots, options, created, updated)
			VALUES (?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			se.ID, se.ParentID, se.Dir, se.DirKey, se.Title, se.Mode, se.Model, roots, options, se.Created.UnixNano(), se.Updated.UnixNano())
		switch {
		case taken(err):
			return ErrExists
		case dangling(err):
			return fmt.Errorf("its parent %s: %w", se.ParentID, ErrNotFound)
		}
		return err
	})
}

// Save replaces the session's directory, title, mode, model, roots and options.
// Its parent and its creation stay. Updated never goes back: zero, or a time
// before the one that is kept, leaves it. The error wraps ErrNotFound where
// there is no such session.
func (s *Store) Save(ctx context.Context, se Session) error {
	roots, options, err := encodeLists(se)
	if err != nil {
		return fmt.Errorf("saving session %s: %w", se.ID, err)
	}
	var updated int64
	if !se.Updated.IsZero() {
		updated = se.Updated.UnixNano()
	}
	return s.do(ctx, "saving session "+se.ID, func(ctx context.Context) error {
		ok, err := affected(s.exec(ctx, `UPDATE chat_sessions
			SET dir = ?, dir_key = ?, title = ?, mode = ?, model = ?, roots = ?, options = ?, updated = max(updated, ?) WHERE id = ?`,
			se.Dir, se.DirKey, se.Title, se.Mode, se.Model, roots, options, updated, se.ID))
		if err == nil && !ok {
			return ErrNotFound
		}
		return err
	})
}

const sessionColumns = `id, coalesce(parent_id, ''), dir, dir_key, title, mode, model, roots, options, created, updated`

// Session returns one session. The error wraps ErrNotFound where there is none.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	var se Session
	err := s.do(ctx, "reading session "+id, func(ctx context.Context) error {
		st, err := s.prepare(ctx, `SELECT `+sessionColumns+` FROM chat_sessions WHERE id = ?`)
		if err != nil {
			return err
		}
		se, err = scanSession(st.QueryRowContext(ctx, id))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		return err
	})
	return se, err
}

// Filter says which sessions List returns. The zero value is the first page of all.
type Filter struct {
	DirKey string // only those of this directory; empty: of any
	Limit  int    // at most; 0: DefaultLimit; never more than MaxLimit
	Cursor string // what List gave out to go on with; empty: from the front
}

// How many sessions List returns at once.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// List returns sessions from the newest (by Updated, then ID), without
// sub-sessions, and the cursor of the next page, empty at the end. Pages do
// not shift when sessions change meanwhile: none comes twice, and none that
// stays as it is is left out; one that is used meanwhile moves to the front,
// where the next listing finds it. The error wraps ErrCursor for a cursor that
// List did not give out.
func (s *Store) List(ctx context.Context, f Filter) (sessions []Session, next string, err error) {
	limit := min(cmp.Or(max(f.Limit, 0), DefaultLimit), MaxLimit)
	before, err := parseCursor(f.Cursor)
	if err != nil {
		return nil, "", fmt.Errorf("listing sessions: %w", err)
	}
	err = s.do(ctx, "listing sessions", func(ctx context.Context) error {
		rows, err := s.query(ctx, `SELECT `+sessionColumns+` FROM chat_sessions
			WHERE parent_id IS NULL AND (updated, id) < (?1, ?2) AND (?3 = '' OR dir_key = ?3)
			ORDER BY updated DESC, id DESC LIMIT ?4`,
			before.updated, before.id, f.DirKey, limit+1)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			se, err := scanSession(rows)
			if err != nil {
				return err
			}
			sessions = append(sessions, se)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, "", err
	}
	if len(sessions) > limit {
		sessions = sessions[:limit]
		last := sessions[limit-1]
		next = position{last.Updated.UnixNano(), last.ID}.cursor()
	}
	return sessions, next, nil
}

// Delete removes a session, its messages, their parts and its sub-sessions. An
// id that is not known is no error.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.do(ctx, "deleting session "+id, func(ctx context.Context) error {
		_, err := s.exec(ctx, `DELETE FROM chat_sessions WHERE id = ?`, id)
		return err
	})
}

// position is a place in the list of sessions.
type position struct {
	updated int64
	id      string
}

const (
	cursorVersion = "1"
	maxTime       = 1<<63 - 1
)

func (p position) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorVersion + " " + strconv.FormatInt(p.updated, 10) + " " + p.id))
}

// parseCursor reads what cursor wrote; the empty cursor is before all sessions.
func parseCursor(s string) (position, error) {
	if s == "" {
		return position{updated: maxTime}, nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return position{}, ErrCursor
	}
	fields := strings.SplitN(string(text), " ", 3)
	if len(fields) != 3 || fields[0] != cursorVersion || fields[2] == "" {
		return position{}, ErrCursor
	}
	updated, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return position{}, ErrCursor
	}
	return position{updated, fields[2]}, nil
}

func encodeLists(se Session) (roots, options string, err error) {
	r, err := json.Marshal(se.Roots)
	if err != nil {
		return "", "", err
	}
	o, err := json.Marshal(se.Options)
	return string(r), string(o), err
}

func scanSession(row interface{ Scan(dest ...any) error }) (Session, error) {
	var (
		se               Session
		roots, options   []byte
		created, updated int64
	)
	err := row.Scan(&se.ID, &se.ParentID, &se.Dir, &se.DirKey, &se.Title, &se.Mode, &se.Model, &roots, &options, &created, &updated)
	if err != nil {
		return Session{}, err
	}
	if err := json.Unmarshal(roots, &se.Roots); err != nil {
		return Session{}, fmt.Errorf("roots of session %s: %w: %w", se.ID, ErrDamaged, err)
	}
	if err := json.Unmarshal(options, &se.Options); err != nil {
		return Session{}, fmt.Errorf("options of session %s: %w: %w", se.ID, ErrDamaged, err)
	}
	se.Created, se.Updated = time.Unix(0, created).UTC(), time.Unix(0, updated).UTC()
	return se, nil
}
