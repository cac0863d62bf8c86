package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// openTest opens a store in a folder of the test's own.
func openTest(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "data", "sessions.db"))
}

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func part(id, text string) Part {
	data, _ := json.Marshal(map[string]string{"text": text})
	return Part{ID: id, Type: "text", Data: data}
}

func TestSessionRoundTrip(t *testing.T) {
	s := openTest(t)
	when := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	want := Session{
		ID: NewID("ses_"), Dir: "/w/ä b", DirKey: "/real/w", Title: "fix \"it\"", Mode: "plan", Model: "a/b",
		Roots: []string{"/x", "/y"}, Options: map[string]string{"thought_level": "high"}, Created: when, Updated: when.Add(time.Second),
	}
	must(t, s.Create(t.Context(), want))
	got, err := s.Session(t.Context(), want.ID)
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	want.Title, want.Mode, want.Roots, want.Options = "other", "default", nil, nil
	saved := want
	saved.Created, saved.Updated = time.Time{}, when // neither may change anything
	must(t, s.Save(t.Context(), saved))
	got, err = s.Session(t.Context(), want.ID)
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	saved.Updated = when.Add(time.Hour)
	must(t, s.Save(t.Context(), saved))
	got, err = s.Session(t.Context(), want.ID)
	must(t, err)
	if !got.Updated.Equal(saved.Updated) {
		t.Errorf("Updated = %v, want %v", got.Updated, saved.Updated)
	}
}

func TestErrorsOfIDs(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	must(t, s.Create(ctx, Session{ID: "a"}))
	must(t, s.Append(ctx, Message{ID: "m", SessionID: "a", Parts: []Part{part("p", "")}}))
	_, unknown := s.Session(ctx, "none")
	_, unread := s.Messages(ctx, "none")
	_, unleased := s.Lease(ctx, "none")
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"session", unknown, ErrNotFound},
		{"messages", unread, ErrNotFound},
		{"lease", unleased, ErrNotFound},
		{"save", s.Save(ctx, Session{ID: "none"}), ErrNotFound},
		{"create twice", s.Create(ctx, Session{ID: "a"}), ErrExists},
		{"no parent", s.Create(ctx, Session{ID: "b", ParentID: "none"}), ErrNotFound},
		{"append to none", s.Append(ctx, Message{ID: "m", SessionID: "none"}), ErrNotFound},
		{"append twice", s.Append(ctx, Message{ID: "m", SessionID: "a"}), ErrExists},
		{"part twice", s.Append(ctx, Message{ID: "m2", SessionID: "a", Parts: []Part{part("p", ""), part("p", "")}}), ErrExists},
		{"put to none", s.PutPart(ctx, "none", Part{ID: "p", MessageID: "m"}), ErrNotFound},
		{"put to no message", s.PutPart(ctx, "a", Part{ID: "p", MessageID: "none"}), ErrNotFound},
		{"delete none", s.Delete(ctx, "none"), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	for name, err := range map[string]error{
		"session without id": s.Create(ctx, Session{}),
		"message without id": s.Append(ctx, Message{SessionID: "a"}),
		"part without id":    s.Append(ctx, Message{ID: "m3", SessionID: "a", Parts: []Part{{}}}),
		"put without id":     s.PutPart(ctx, "a", Part{MessageID: "m"}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	got, err := s.Messages(ctx, "a")
	must(t, err)
	if len(got) != 1 || len(got[0].Parts) != 1 {
		t.Errorf("a refused message left something: %v", got)
	}
}

func TestMessagesInOrder(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	must(t, s.Create(ctx, Session{ID: "a"}))
	must(t, s.Create(ctx, Session{ID: "b"}))
	// Ids that sort otherwise than they were appended, and two sessions with the same.
	for _, id := range []string{"z", "y", "x"} {
		for _, se := range []string{"a", "b"} {
			must(t, s.Append(ctx, Message{ID: id, SessionID: se, Role: "user", Parts: []Part{part("2", se), part("1", se)}}))
		}
	}
	put := part("0", "late")
	put.MessageID = "z"
	must(t, s.PutPart(ctx, "a", put))
	put = Part{ID: "2", MessageID: "z", Type: "call"}
	must(t, s.PutPart(ctx, "a", put))

	got, err := s.Messages(ctx, "a")
	must(t, err)
	var lines []string
	for _, m := range got {
		for _, p := range m.Parts {
			if p.MessageID != m.ID || m.SessionID != "a" || m.Created.IsZero() {
				t.Errorf("message %+v, part %+v", m, p)
			}
			lines = append(lines, fmt.Sprintf("%s%s %s %s", m.ID, p.ID, p.Type, p.Data))
		}
	}
	want := []string{
		`z2 call null`, `z1 text {"text":"a"}`, `z0 text {"text":"late"}`,
		`y2 text {"text":"a"}`, `y1 text {"text":"a"}`, `x2 text {"text":"a"}`, `x1 text {"text":"a"}`,
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
}

func TestMessagesCannotBeChanged(t *testing.T) {
	s := openTest(t)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, s.Append(t.Context(), Message{ID: "m", SessionID: "a"}))
	err := s.do(t.Context(), "x", func(ctx context.Context) error {
		_, err := s.exec(ctx, `UPDATE chat_messages SET role = 'user'`)
		return err
	})
	if err == nil {
		t.Error("a message was changed")
	}
}

func TestAppendMakesNewest(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	old := time.Now().Add(-time.Hour)
	must(t, s.Create(ctx, Session{ID: "a", Created: old}))
	must(t, s.Create(ctx, Session{ID: "b", Created: old.Add(time.Minute)}))
	before := time.Now()
	must(t, s.Append(ctx, Message{ID: "m", SessionID: "a", Created: old}))
	if ids, _ := list(t, s, Filter{}); !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("List = %v", ids)
	}
	se, err := s.Session(ctx, "a")
	must(t, err)
	if se.Updated.Before(before) || !se.Created.Equal(old) {
		t.Errorf("Updated = %v, Created = %v", se.Updated, se.Created)
	}
}

func list(t testing.TB, s *Store, f Filter) (ids []string, next string) {
	t.Helper()
	sessions, next, err := s.List(t.Context(), f)
	must(t, err)
	for _, se := range sessions {
		ids = append(ids, se.ID)
	}
	return ids, next
}

func TestListPages(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	start := time.Now().Add(-time.Hour)
	for i := range 10 {
		// Pairs share their time: the id decides.
		must(t, s.Create(ctx, Session{ID: fmt.Sprintf("s%02d", i), DirKey: fmt.Sprint("/d", i%2), Created: start.Add(time.Duration(i/2) * time.Second)}))
	}
	must(t, s.Create(ctx, Session{ID: "child", ParentID: "s00", DirKey: "/d0"}))

	var all []string
	f := Filter{Limit: 3}
	for page := 0; ; page++ {
		ids, next := list(t, s, f)
		all = append(all, ids...)
		switch page {
		case 0: // one shown, one not yet shown
			must(t, s.Append(ctx, Message{ID: "m", SessionID: "s09"}))
			must(t, s.Append(ctx, Message{ID: "m", SessionID: "s01"}))
			must(t, s.Delete(ctx, "s03"))
			must(t, s.Create(ctx, Session{ID: "new"}))
		}
		if f.Cursor = next; next == "" {
			break
		}
	}
	if want := []string{"s09", "s08", "s07", "s06", "s05", "s04", "s02", "s00"}; !slices.Equal(all, want) {
		t.Errorf("pages = %v, want %v", all, want)
	}
	ids, next := list(t, s, Filter{DirKey: "/d0"})
	if want := []string{"s08", "s06", "s04", "s02", "s00"}; !slices.Equal(ids, want) || next != "" {
		t.Errorf("of /d0 = %v %q, want %v", ids, next, want)
	}
	if ids, next := list(t, s, Filter{DirKey: "/d0", Limit: 5}); len(ids) != 5 || next != "" {
		t.Errorf("a full last page: %v %q", ids, next)
	}
	if ids, _ := list(t, s, Filter{DirKey: "/none"}); ids != nil {
		t.Errorf("of none = %v", ids)
	}
}

func TestDeleteTakesAll(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	must(t, s.Create(ctx, Session{ID: "a"}))
	must(t, s.Create(ctx, Session{ID: "child", ParentID: "a"}))
	must(t, s.Create(ctx, Session{ID: "kept"}))
	for _, id := range []string{"a", "child", "kept"} {
		must(t, s.Append(ctx, Message{ID: "m", SessionID: id, Parts: []Part{part("p", id)}}))
	}
	release, err := s.Lease(ctx, "a")
	must(t, err)
	must(t, s.Delete(ctx, "a"))
	release()
	for table, want := range map[string]int{"chat_sessions": 1, "chat_messages": 1, "chat_parts": 1, "chat_leases": 0} {
		var n int
		must(t, s.conn.QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&n))
		if n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
}

func TestNewIDSorts(t *testing.T) {
	var ids []string
	for range 1000 {
		ids = append(ids, NewID("ses_"))
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("ids are not in order, or not unique")
	}
	if !strings.HasPrefix(ids[0], "ses_") {
		t.Error(ids[0])
	}
}

func TestClosed(t *testing.T) {
	s := openTest(t)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	release, err := s.Lease(t.Context(), "a")
	must(t, err)
	must(t, s.Close())
	must(t, s.Close())
	release()
	if _, err := s.Session(t.Context(), "a"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestContextDone(t *testing.T) {
	s := openTest(t)
	cause := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := s.Create(ctx, Session{ID: "a"}); !errors.Is(err, cause) {
		t.Errorf("done before: %v", err)
	}
	s.turn <- struct{}{} // somebody is at work
	ctx, cancel = context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Create(ctx, Session{ID: "a"}) }()
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("done while waiting: %v", err)
	}
	<-s.turn
}

func TestMemory(t *testing.T) {
	s, err := OpenMemory(t.Context())
	must(t, err)
	defer s.Close()
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, s.Append(t.Context(), Message{ID: "m", SessionID: "a"}))
	got, err := s.Messages(t.Context(), "a")
	if err != nil || len(got) != 1 || s.Path() != "" {
		t.Error(got, err, s.Path())
	}
}

func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes on windows")
	}
	s := openTest(t)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, filepath.WalkDir(filepath.Dir(s.Path()), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(position{1, "ses_1"}.cursor())
	f.Add(position{-5, "a b"}.cursor())
	f.Add("MSAxIA")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseCursor(text)
		switch {
		case err != nil && !errors.Is(err, ErrCursor):
			t.Errorf("%q: %v", text, err)
		case err == nil && text != "" && p.id == "":
			t.Errorf("%q: no id", text)
		}
		if err == nil && text != "" {
			again, err := parseCursor(p.cursor())
			if err != nil || again != p {
				t.Errorf("%q: %v, again %v %v", text, p, again, err)
			}
		}
	})
}

func TestBadCursor(t *testing.T) {
	s := openTest(t)
	for _, c := range []string{"x", "!!", "MSAxIA", "MiAxIGE", position{1, "a"}.cursor() + "="} {
		if _, _, err := s.List(t.Context(), Filter{Cursor: c}); !errors.Is(err, ErrCursor) {
			t.Errorf("%q: %v", c, err)
		}
	}
}
