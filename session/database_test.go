package session

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/store"
)

func TestDatabaseDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DatabaseName)
	if err := os.WriteFile(path, []byte(strings.Repeat("no database at all ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDatabase(dir)
	db, err := d.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.List(t.Context(), store.Filter{}); err != nil {
		t.Error("the new one works:", err)
	}
	notices := d.takeNotices()
	if len(notices) != 1 || !strings.Contains(notices[0], "damaged") || !strings.Contains(notices[0], path+".") {
		t.Errorf("the user is told where the old one is, got %q", notices)
	}
	if again := d.takeNotices(); again != nil {
		t.Errorf("told twice: %q", again)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.open(t.Context()); err != errEnding {
		t.Errorf("opened again after its end: %v", err)
	}
}

func TestDatabaseWithoutPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDatabase(filepath.Join(file, "data")) // a folder that cannot be made
	db, err := d.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.List(t.Context(), store.Filter{}); err != nil {
		t.Error("sessions are listed from memory:", err)
	}
	if n := d.takeNotices(); len(n) != 1 || !strings.Contains(n[0], "in memory only") {
		t.Errorf("got notices %q", n)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

func TestDatabaseDeleted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted on windows")
	}
	s, turn := storedSession(t)
	turn.keepPrompt(t.Context())
	if err := os.RemoveAll(filepath.Dir(s.sessions.database.path)); err != nil {
		t.Fatal(err)
	}
	turn.keepPrompt(t.Context())
	if len(s.notices) != 1 || !strings.Contains(s.notices[0], "stored no more") {
		t.Errorf("the user is told, got %q", s.notices)
	}
	s.release()
	other := &Session{backlog: &backlog{}, sessions: s.sessions, id: "sess_2", request: s.request, ends: s.ends}
	(&Turn{session: other, prompt: turn.prompt}).keepPrompt(t.Context())
	if got := texts(t, other); !strings.Contains(got, "hello") {
		t.Errorf("of a new session is stored %q", got)
	}
	other.release()
}
