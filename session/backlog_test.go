package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/session/store"
)

// storedSession is a session that nothing but its store is of, and a turn of it.
func storedSession(t *testing.T) (*Session, *Turn) {
	m := New(Options{})
	m.database = newDatabase(t.TempDir())
	t.Cleanup(func() {
		if err := m.database.close(); err != nil {
			t.Error(err)
		}
	})
	s := &Session{backlog: &backlog{}, sessions: m, id: "sess_1", request: Request{Dir: t.TempDir()}, ends: Ends{Sink: &told{}}}
	return s, &Turn{session: s, prompt: []Content{Text("hello")}}
}

// fail has the database fail from now on; work has it work again.
func (d *database) fail() {
	d.db, d.err, d.failed = nil, errors.New("held by another program"), time.Now()
}
func (d *database) work() { d.err = nil }

func texts(t *testing.T, s *Session) string {
	t.Helper()
	db, err := s.sessions.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	messages, err := db.Messages(t.Context(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range messages {
		for _, p := range m.Parts {
			all = append(all, string(p.Data))
		}
	}
	return strings.Join(all, "\n")
}

func TestStoredLater(t *testing.T) {
	s, turn := storedSession(t)
	d := s.sessions.database
	d.fail()
	turn.keepPrompt(t.Context())
	r := s.newRecorder()
	for _, text := range []string{"one ", "two"} {
		r.grow(recordText, text)
		r.mu.Lock()
		r.flushLocked(t.Context())
		r.mu.Unlock()
	}
	if got := len(s.backlog.writes); got != 4 {
		t.Errorf("session, prompt, message and its part wait, got %d", got)
	}
	if len(s.notices) != 1 || !strings.Contains(s.notices[0], "held by another program") {
		t.Errorf("the user is told once, got %q", s.notices)
	}
	if err := s.lease(t.Context()); err != nil {
		t.Errorf("the next turn: %v", err)
	}

	d.work()
	r.finish(t.Context(), readerBoth)
	if len(s.backlog.writes) == 0 {
		t.Error("tried again too soon")
	}
	s.catchUp(t.Context())
	if got := texts(t, s); !strings.Contains(got, "hello") || !strings.Contains(got, "one two") {
		t.Errorf("stored is %s", got)
	}
	if s.release == nil || s.creating || s.backlog.size != 0 || !s.backlog.failed.IsZero() {
		t.Errorf("not settled: creating %v, backlog %+v", s.creating, s.backlog.writes)
	}
	if len(s.notices) != 2 || !strings.Contains(s.notices[1], "again") {
		t.Errorf("the user is told, got %q", s.notices)
	}
	turn.prompt = []Content{Text("goodbye")}
	turn.keepPrompt(t.Context())
	if got := texts(t, s); !strings.Contains(got, "goodbye") {
		t.Errorf("stored is %s", got)
	}
	s.release()
}

func TestStoredByItself(t *testing.T) {
	s, turn := storedSession(t)
	s.sessions.database.fail()
	turn.keepPrompt(t.Context())
	s.sessions.database.work()
	s.backlog.failed = time.Now().Add(-retryAfter)
	turn.keepPrompt(t.Context())
	if got := texts(t, s); strings.Count(got, "hello") != 2 {
		t.Errorf("stored is %s", got)
	}
	s.release()
}

func TestBacklogIsBounded(t *testing.T) {
	s, turn := storedSession(t)
	s.sessions.database.fail()
	turn.keepPrompt(t.Context())
	for range 3 { // of one part, of which one waits
		s.keepPart(t.Context(), store.Part{ID: "p", Data: make([]byte, maxBacklog/2)})
	}
	if s.backlog.over || s.backlog.size != maxBacklog/2 {
		t.Errorf("size %d, over %v", s.backlog.size, s.backlog.over)
	}
	s.keepPart(t.Context(), store.Part{ID: "q", Data: make([]byte, maxBacklog)})
	if !s.backlog.over || s.backlog.writes != nil {
		t.Errorf("size %d, over %v", s.backlog.size, s.backlog.over)
	}
}

func TestDeletedElsewhere(t *testing.T) {
	s, turn := storedSession(t)
	turn.keepPrompt(t.Context())
	db, err := s.sessions.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.release()
	if err := db.Delete(t.Context(), s.id); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.keep(context.Background(), func(ctx context.Context, db *store.Store) error {
			return db.Append(ctx, store.Message{ID: "m", SessionID: s.id, Role: "user"})
		})
	}
	if len(s.notices) != 1 || !strings.Contains(s.notices[0], "deleted") {
		t.Errorf("the user is told once, got %q", s.notices)
	}
}
