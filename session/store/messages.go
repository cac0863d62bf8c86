package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Message is one message of a session. It is never changed once appended; its
// parts may be, while they land.
type Message struct {
	ID        string // unique in its session
	SessionID string
	Role      string
	Created   time.Time // zero when appended: now
	Parts     []Part
}

// Part is one part of a message.
type Part struct {
	ID        string // unique in its message
	MessageID string // Append takes the message's
	Type      string
	Data      json.RawMessage // nil: null
}

// Append adds a message and its parts, in order and as a whole, and makes the
// session the newest of the list. The error wraps ErrNotFound where there is no
// such session, ErrExists where an id is taken.
func (s *Store) Append(ctx context.Context, m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	now := time.Now()
	if m.Created.IsZero() {
		m.Created = now
	}
	return s.change(ctx, "appending to session "+m.SessionID, func(ctx context.Context) error {
		ok, err := affected(s.exec(ctx, `UPDATE chat_sessions SET updated = max(updated, ?) WHERE id = ?`, now.UnixNano(), m.SessionID))
		if err != nil {
			return err
		}
		if !ok {
			return ErrNotFound
		}
		r, err := s.exec(ctx, `INSERT INTO chat_messages (session_id, id, role, created) VALUES (?, ?, ?, ?)`,
			m.SessionID, m.ID, m.Role, m.Created.UnixNano())
		if taken(err) {
			return fmt.Errorf("message %s: %w", m.ID, ErrExists)
		}
		if err != nil {
			return err
		}
		seq, err := r.LastInsertId()
		if err != nil {
			return err
		}
		for _, p := range m.Parts {
			_, err := s.exec(ctx, `INSERT INTO chat_parts (message, id, type, data) VALUES (?, ?, ?, ?)`, seq, p.ID, p.Type, p.text())
			if taken(err) {
				return fmt.Errorf("part %s of message %s: %w", p.ID, m.ID, ErrExists)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// PutPart adds a part at the end of its message, or replaces the type and data
// of the one with the same id where it stands. The error wraps ErrNotFound
// where the session has no such message.
func (s *Store) PutPart(ctx context.Context, sessionID string, p Part) error {
	if p.ID == "" || p.MessageID == "" {
		return errors.New("storing a part: it has no id, or no message")
	}
	return s.do(ctx, "storing a part of session "+sessionID, func(ctx context.Context) error {
		ok, err := affected(s.exec(ctx, `INSERT INTO chat_parts (message, id, type, data)
			SELECT seq, ?, ?, ? FROM chat_messages WHERE session_id = ? AND id = ?
			ON CONFLICT (message, id) DO UPDATE SET type = excluded.type, data = excluded.data`,
			p.ID, p.Type, p.text(), sessionID, p.MessageID))
		if err == nil && !ok {
			return fmt.Errorf("message %s: %w", p.MessageID, ErrNotFound)
		}
		return err
	})
}

// Messages returns a session's messages in the order they were appended, each
// with its parts in order. The error wraps ErrNotFound where there is no such
// session.
func (s *Store) Messages(ctx context.Context, sessionID string) ([]Message, error) {
	var messages []Message
	err := s.do(ctx, "reading session "+sessionID, func(ctx context.Context) error {
		return s.view(ctx, func(ctx context.Context) (err error) {
			messages, err = s.messages(ctx, sessionID)
			return err
		})
	})
	return messages, err
}

// view runs f on one state of the database, whatever other processes write.
func (s *Store) view(ctx context.Context, f func(ctx context.Context) error) error {
	if _, err := s.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err := f(ctx)
	_, rollback := s.exec(ctx, "ROLLBACK")
	return cmp.Or(err, rollback)
}

func (s *Store) messages(ctx context.Context, sessionID string) ([]Message, error) {
	messages, at, err := s.bareMessages(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	parts, err := s.parts(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		m := &messages[at[p.message]]
		p.MessageID = m.ID
		m.Parts = append(m.Parts, p.Part)
	}
	if len(messages) > 0 {
		return messages, nil
	}
	var found int
	st, err := s.prepare(ctx, `SELECT count(*) FROM chat_sessions WHERE id = ?`)
	if err != nil {
		return nil, err
	}
	if err := st.QueryRowContext(ctx, sessionID).Scan(&found); err != nil {
		return nil, err
	}
	if found == 0 {
		return nil, ErrNotFound
	}
	return nil, nil
}

// bareMessages returns the messages without parts, and where each stands by
// its sequence number.
func (s *Store) bareMessages(ctx context.Context, sessionID string) ([]Message, map[int64]int, error) {
	rows, err := s.query(ctx, `SELECT seq, id, role, created FROM chat_messages WHERE session_id = ? ORDER BY seq`, sessionID)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var messages []Message
	at := map[int64]int{}
	for rows.Next() {
		m := Message{SessionID: sessionID}
		var seq, created int64
		if err := rows.Scan(&seq, &m.ID, &m.Role, &created); err != nil {
			return nil, nil, err
		}
		m.Created = time.Unix(0, created).UTC()
		at[seq] = len(messages)
		messages = append(messages, m)
	}
	return messages, at, rows.Err()
}

// storedPart is a part with its place.
type storedPart struct {
	Part
	message, seq int64
}

// parts returns all parts of a session in order. They are sorted here: the
// database would copy each into a table of its own to do so.
func (s *Store) parts(ctx context.Context, sessionID string) ([]storedPart, error) {
	rows, err := s.query(ctx, `SELECT p.message, p.seq, p.id, p.type, p.data
		FROM chat_messages m JOIN chat_parts p ON p.message = m.seq WHERE m.session_id = ?`, sessionID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var parts []storedPart
	for rows.Next() {
		var p storedPart
		if err := rows.Scan(&p.message, &p.seq, &p.ID, &p.Type, (*[]byte)(&p.Data)); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b storedPart) int { return cmp.Compare(a.seq, b.seq) })
	return parts, rows.Err()
}

func (m Message) check() error {
	if m.ID == "" || m.SessionID == "" {
		return errors.New("appending a message: it has no id, or no session")
	}
	for _, p := range m.Parts {
		if p.ID == "" {
			return fmt.Errorf("appending message %s: a part has no id", m.ID)
		}
	}
	return nil
}

func (p Part) text() string {
	if p.Data == nil {
		return "null"
	}
	return string(p.Data)
}
