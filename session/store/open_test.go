package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"
)

// raw runs statements on a database without what Open does.
func raw(t testing.TB, path, statements string) {
	t.Helper()
	c, err := sqlite.NewConnector(dataSource(path))
	must(t, err)
	db := sql.OpenDB(c)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statements)
	must(t, err)
}

// TestMigrateFromEach makes a database of every earlier version, with rows as
// that version knew them, and reads them with this one.
func TestMigrateFromEach(t *testing.T) {
	steps, err := migrations.ReadDir("migrations")
	must(t, err)
	for version := range len(steps) + 1 {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			for i, step := range steps[:version] {
				text, err := migrations.ReadFile("migrations/" + step.Name())
				must(t, err)
				rows, err := os.ReadFile(filepath.Join("testdata", step.Name()))
				must(t, err)
				raw(t, path, fmt.Sprintf("%s; %s; PRAGMA application_id = %d; PRAGMA user_version = %d", text, rows, applicationID, i+1))
			}
			s := openAt(t, path)
			if got, err := s.version(t.Context()); err != nil || got != len(steps) {
				t.Errorf("version = %d, %v", got, err)
			}
			if version == 0 {
				return
			}
			got, err := s.Messages(t.Context(), "ses_1")
			must(t, err)
			if len(got) != 1 || len(got[0].Parts) != 1 || string(got[0].Parts[0].Data) != `{"text":"kept"}` {
				t.Errorf("Messages = %+v", got)
			}
			se, err := s.Session(t.Context(), "ses_2")
			if err != nil || se.ParentID != "ses_1" || se.Options["thought_level"] != "high" {
				t.Errorf("Session = %+v, %v", se, err)
			}
			release, err := s.Lease(t.Context(), "ses_1")
			must(t, err)
			release()
		})
	}
}

// TestReleasedStepsStay holds the steps to what was released: a change of one
// would leave databases in the world that no test has seen.
func TestReleasedStepsStay(t *testing.T) {
	released := map[string]string{
		"0001_chat.sql":   "7175e638356f76ec",
		"0002_leases.sql": "5bbb5ea4c06c5a97",
	}
	steps, err := migrations.ReadDir("migrations")
	must(t, err)
	for i, step := range steps {
		text, err := migrations.ReadFile("migrations/" + step.Name())
		must(t, err)
		sum := sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		if got := hex.EncodeToString(sum[:8]); got != released[step.Name()] {
			t.Errorf("%s has sum %s, want %q: add a step instead of changing one", step.Name(), got, released[step.Name()])
		}
		if !strings.HasPrefix(step.Name(), fmt.Sprintf("%04d_", i+1)) {
			t.Errorf("%s is step %d", step.Name(), i+1)
		}
	}
}

func TestStepFailsWhole(t *testing.T) {
	s := openTest(t)
	before, err := s.version(t.Context())
	must(t, err)
	if err := s.step(t.Context(), before, `CREATE TABLE half (x); CREATE TABLE half (x)`); err == nil {
		t.Fatal("no error")
	}
	if after, err := s.version(t.Context()); err != nil || after != before {
		t.Errorf("version = %d, %v", after, err)
	}
	if err := s.step(t.Context(), before, `CREATE TABLE half (x)`); err != nil {
		t.Errorf("something was left of the failed step: %v", err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, statements string
		want             error
		text             string
	}{
		{"newer", fmt.Sprintf("CREATE TABLE chat_sessions (x); PRAGMA application_id = %d; PRAGMA user_version = 99", applicationID), ErrNewer, "update acp-agent"},
		{"foreign tables", "CREATE TABLE chat_sessions (x)", ErrForeign, "another folder"},
		{"foreign id", "PRAGMA application_id = 5", ErrForeign, "another folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			raw(t, path, c.statements)
			before, err := os.ReadFile(path)
			must(t, err)
			_, err = Open(t.Context(), path)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Open: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the refused database was changed (%v)", err)
			}
		})
	}
}

// damaged makes a database with content and damages it.
func damaged(t *testing.T, parts int, damage func(data []byte) []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	for i := range parts {
		must(t, s.Append(t.Context(), Message{ID: fmt.Sprint(i), SessionID: "a", Parts: []Part{part("p", strings.Repeat("x", 2000))}}))
	}
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, damage(data), 0o600))
	return path
}

func scribble(from, to int) func([]byte) []byte {
	return func(data []byte) []byte {
		for i := range data[from:min(to, len(data))] {
			data[from+i] = byte(i*7 + 3)
		}
		return data
	}
}

func TestDamagedIsPutAside(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"text", func([]byte) []byte { return []byte("this is no database\n") }},
		{"zeros", func(d []byte) []byte { return make([]byte, len(d)) }},
		{"header", scribble(0, 100)},
		{"schema", scribble(100, 4096)},
		{"truncated", func(d []byte) []byte { return d[:len(d)/2] }},
		{"a page of a table", scribble(8*4096, 9*4096)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := damaged(t, 50, c.damage)
			want, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path+"-wal", []byte("old log"), 0o600))
			s := openAt(t, path)
			if !strings.HasPrefix(s.Recovered(), path+".damaged-") {
				t.Fatalf("Recovered = %q", s.Recovered())
			}
			got, err := os.ReadFile(s.Recovered())
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("what was put aside is not what was there (%v)", err)
			}
			if ids, _ := list(t, s, Filter{}); len(ids) != 0 {
				t.Errorf("List = %v", ids)
			}
			must(t, s.Create(t.Context(), Session{ID: "b"}))
			must(t, s.Close())
			again := openAt(t, path)
			if again.Recovered() != "" {
				t.Error("put aside twice")
			}
			if ids, _ := list(t, again, Filter{}); len(ids) != 1 {
				t.Errorf("List = %v", ids)
			}
		})
	}
}

func TestMissingTableIsDamage(t *testing.T) {
	path := damaged(t, 5, func(d []byte) []byte { return d })
	s := openAt(t, path)
	_, err := s.conn.ExecContext(t.Context(), `DROP TABLE chat_parts`)
	must(t, err)
	must(t, s.Close())
	s = openAt(t, path)
	if s.Recovered() == "" {
		t.Error("not put aside")
	}
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, s.Append(t.Context(), Message{ID: "m", SessionID: "a", Role: "user", Parts: []Part{part("p", "")}}))
}

func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed on windows")
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := openAt(t, path)
	if s.Moved() {
		t.Error("moved at once")
	}
	must(t, os.Rename(path, path+".old"))
	if !s.Moved() {
		t.Error("renamed: not moved")
	}
	must(t, os.WriteFile(path, nil, 0o600))
	if !s.Moved() {
		t.Error("replaced: not moved")
	}
	memory, err := OpenMemory(t.Context())
	must(t, err)
	if memory.Moved() {
		t.Error("in memory: moved")
	}
	must(t, memory.Close())
}

func TestDamageMetLater(t *testing.T) {
	path := damaged(t, 700, func(d []byte) []byte {
		if len(d) <= smallFile {
			t.Fatalf("only %d bytes", len(d))
		}
		middle := len(d) / 2 / 4096 * 4096 // a page of messages' parts
		return scribble(middle, middle+4096)(d)
	})
	s := openAt(t, path)
	if s.Recovered() != "" {
		t.Fatal("the damage was seen at once: take another page")
	}
	if _, err := s.Messages(t.Context(), "a"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "next start") {
		t.Fatalf("Messages: %v", err)
	}
	must(t, s.Close())
	s = openAt(t, path)
	if s.Recovered() == "" {
		t.Error("the next start did not put it aside")
	}
	must(t, s.Close())
	if s = openAt(t, path); s.Recovered() != "" {
		t.Error("the new one was put aside too")
	}
}

func TestSoundSuspectStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := openAt(t, path)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, s.Close())
	markSuspect(path)
	s = openAt(t, path)
	if ids, _ := list(t, s, Filter{}); s.Recovered() != "" || len(ids) != 1 {
		t.Errorf("Recovered = %q, List = %v", s.Recovered(), ids)
	}
	if _, err := os.Stat(suspectMark(path)); err == nil {
		t.Error("still suspect")
	}
}

func TestPutAsideKeepsEarlier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	now := time.Now()
	seen := map[string]bool{}
	for range 3 {
		must(t, os.WriteFile(path, nil, 0o600))
		aside, err := putAside(path, now)
		must(t, err)
		if seen[aside] {
			t.Errorf("%s twice", aside)
		}
		seen[aside] = true
	}
}

func TestCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(t.Context(), filepath.Join(file, "data", "sessions.db"))
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "XDG_DATA_HOME") {
		t.Errorf("below a file: %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir()); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a folder: %v", err)
	}
	if os.Getuid() != 0 {
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o500))
		if _, err := Open(t.Context(), filepath.Join(dir, "sessions.db")); !errors.Is(err, ErrReadOnly) {
			t.Errorf("a folder without the right to write: %v", err)
		}
	}
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"a b", "q?x=1", "h#1", "p%41", "ä"} {
		if os.PathSeparator == '\\' && strings.Contains(name, "?") {
			continue // no such name there
		}
		path := filepath.Join(t.TempDir(), name, "sessions.db")
		s := openAt(t, path)
		must(t, s.Create(t.Context(), Session{ID: "a"}))
		must(t, s.Close())
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: not where it should be: %v", name, err)
		}
	}
}

func TestDiskFull(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	must(t, s.Create(ctx, Session{ID: "a"}))
	must(t, s.Append(ctx, Message{ID: "kept", SessionID: "a"}))
	limit := func(pages string) {
		t.Helper()
		_, err := s.conn.ExecContext(ctx, "PRAGMA max_page_count = "+pages)
		must(t, err)
	}
	limit("1") // as it is now
	big := Message{ID: "big", SessionID: "a", Parts: []Part{part("p", strings.Repeat("x", 1<<20))}}
	if err := s.Append(ctx, big); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "make space") {
		t.Errorf("Append: %v", err)
	}
	if got, err := s.Messages(ctx, "a"); err != nil || len(got) != 1 || got[0].ID != "kept" {
		t.Errorf("Messages = %v, %v", got, err)
	}
	limit("1000000")
	must(t, s.Append(ctx, big))
}

func TestLocked(t *testing.T) {
	s := openTest(t)
	_, err := s.conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 1")
	must(t, err)
	other, err := sqlite.NewConnector(dataSource(s.Path()))
	must(t, err)
	db := sql.OpenDB(other)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	if err := s.Create(t.Context(), Session{ID: "a"}); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), s.Path()) {
		t.Errorf("Create: %v", err)
	}
	if _, _, err := s.List(t.Context(), Filter{}); err != nil {
		t.Errorf("reading while another writes: %v", err)
	}
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
}

func TestFileLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path, time.Second)
	must(t, err)
	if _, err := lockFile(t.Context(), path, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(ctx, path, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled one: %v", err)
	}
	unlock()
	unlock, err = lockFile(t.Context(), path, 0)
	must(t, err)
	unlock()
}

func TestPragmas(t *testing.T) {
	s := openTest(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "5000"} {
		var got string
		must(t, s.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s = %s, want %s", pragma, got, want)
		}
	}
}
