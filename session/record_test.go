package session

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/store"
)

// told is a sink that keeps what it is told.
type told struct{ updates []Update }

func (t *told) Update(_ context.Context, u Update) error {
	t.updates = append(t.updates, u)
	return nil
}

func TestLongTextIsStoredInPieces(t *testing.T) {
	ctx := t.Context()
	m := New(Options{Log: slog.New(slog.DiscardHandler)})
	m.database = newDatabase(t.TempDir())
	defer m.database.close()
	s := &Session{backlog: &backlog{}, sessions: m, id: "sess_1"}
	s.keep(ctx, func(ctx context.Context, db *store.Store) error {
		return db.Create(ctx, store.Session{ID: s.id, Dir: "/", DirKey: "/"})
	})
	r := s.newRecorder()
	delta := strings.Repeat("x", 1000)
	ids := map[string]bool{r.grow(recordThought, "hm"): true}
	for range 200 {
		ids[r.grow(recordText, delta)] = true
	}
	r.finish(ctx, readerBoth)
	if len(ids) != 2 {
		t.Fatalf("a thought and a text are two messages for the editor, got %d", len(ids))
	}
	db, err := m.store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := db.Messages(ctx, s.id)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0
	for _, p := range stored[0].Parts {
		longest = max(longest, len(p.Data))
	}
	if longest > splitAfter+2*len(delta) {
		t.Errorf("a stored piece has %d bytes", longest)
	}
	records, err := readRecords(stored, false)
	if err != nil {
		t.Fatal(err)
	}
	var sink told
	if err := replay(ctx, records, &sink); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, u := range sink.updates {
		c := u.(Chunk)
		if !ids[c.MessageID] {
			t.Errorf("replayed under the new id %s", c.MessageID)
		}
		if c.Speaker == SpeakerAgent {
			text += c.Content.Text
		}
	}
	if text != strings.Repeat(delta, 200) {
		t.Errorf("the text came back with %d of %d bytes", len(text), 200*len(delta))
	}
}

// A call that a crash left open failed, and where a part of it may be done, it says so.
func TestSettleTellsOfAPartThatMayBeDone(t *testing.T) {
	for _, c := range []struct {
		status Status
		kind   kinds.Kind
		want   string
	}{
		{Pending, kinds.KindEdit, "aborted by restart"},
		{InProgress, kinds.KindSearch, "aborted by restart"},
		{InProgress, kinds.KindEdit, "aborted by restart; it had begun, so that a part of it may be done: look before doing it again"},
		{InProgress, kinds.KindExecute, "aborted by restart; it had begun, so that a part of it may be done: look before doing it again"},
	} {
		r := callRecord{Status: c.status, Card: kinds.Card{Kind: c.kind}}
		if r.settle(); r.Status != Failed || r.Result != c.want || r.Output.ErrorText != c.want || r.Content[0].Text != c.want {
			t.Errorf("%s %s: %+v", c.status, c.kind, r)
		}
	}
}
