package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
)

// The types of a stored part. A message is a list of them.
const (
	recordContent = "content" // a block of the user's prompt
	recordText    = "text"
	recordThought = "thought"
	recordCall    = "call"
)

// reader says who gets to see a stored text again.
type reader string

const (
	readerBoth   reader = ""
	readerEditor reader = "editor" // shown, but not in the model's history
	readerModel  reader = "model"
)

// textRecord is a stored piece of text or thought.
type textRecord struct {
	Text string `json:"text"`
	// Continues says that the text before it in the message goes on here.
	Continues bool            `json:"continues,omitzero"`
	For       reader          `json:"for,omitzero"`
	Provider  json.RawMessage `json:"provider,omitzero"`
}

// callRecord is a stored call: all that the editor is shown and the model is
// told of it, so that no tool is asked again what an old call meant.
type callRecord struct {
	ID       string          `json:"id"`
	Tool     string          `json:"tool"` // the tool's id, or what the model called it
	Name     string          `json:"name"` // as the model wrote it
	Args     string          `json:"args"`
	Changed  string          `json:"changed,omitzero"` // the arguments that a hook put in their place
	Provider json.RawMessage `json:"provider,omitzero"`
	Status   Status          `json:"status"`
	Card     kinds.Card      `json:"card"`
	Content  []Shown         `json:"content,omitzero"`
	Output   *tools.Envelope `json:"output,omitzero"`
	Result   string          `json:"result,omitzero"` // as the model reads it
	Media    []tools.Media   `json:"media,omitzero"`  // beside it, and at the end of Content
	Failed   bool            `json:"failed,omitzero"`
	Plan     *tools.Plan     `json:"plan,omitzero"`
	For      reader          `json:"for,omitzero"`
}

// input is the arguments that the call runs with.
func (c *callRecord) input() string { return cmp.Or(c.Changed, c.Args) }

// abortedText is what a call that a crash left open came to.
const abortedText = "aborted by restart"

// halfDone is added for a call that may have changed something by then.
const halfDone = "; it had begun, so that a part of it may be done: look before doing it again"

// aborted is what the call came to.
func (c *callRecord) aborted() string {
	switch c.Card.Kind {
	case kinds.KindEdit, kinds.KindDelete, kinds.KindMove, kinds.KindExecute:
		if c.Status == InProgress {
			return abortedText + halfDone
		}
	}
	return abortedText
}

// settle gives a call that was left open its end.
func (c *callRecord) settle() {
	if c.Status == Completed || c.Status == Failed {
		return
	}
	text := c.aborted()
	c.Status, c.Failed, c.Result = Failed, true, text
	c.Output = &tools.Envelope{Type: tools.EnvelopeError, ErrorText: text}
	c.Content = append(shownChanges(c.Card.Changes), Shown{Text: text})
}

// splitAfter is how long a stored text grows, in bytes, until what follows is
// stored beside it: a growing text is written anew each time.
const splitAfter = 64 << 10

// flushEvery bounds what a crash can lose of a stream.
const flushEvery = 250 * time.Millisecond

// recorder stores one message while it comes in. It is safe for concurrent
// use: a timer flushes what the stream has brought.
type recorder struct {
	session *Session
	message string // the message's id
	role    model.Role

	mu    sync.Mutex
	parts []store.Part
	grown *strings.Builder // the text of the last part, while it grows; else nil
	first string           // the id of the part that the growing text began in
	dirty bool
	timer *time.Timer
	pause time.Duration // at least that long until the next flush
	done  bool
}

// newRecorder begins a message of the assistant, which is stored once it has a
// part.
func (s *Session) newRecorder() *recorder {
	return &recorder{session: s, message: store.NewID("msg_"), role: model.RoleAssistant}
}

// grow adds text to the last part where it is of that type, else begins a new
// one. It returns the part's id, which is the id of the message that the
// editor is told.
func (r *recorder) grow(typ, text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := r.grown != nil && r.parts[len(r.parts)-1].Type == typ
	if !same || typ == recordText && r.grown.Len() >= splitAfter {
		r.flushLocked(context.Background())
		p := r.addLocked(typ)
		r.grown = &strings.Builder{}
		if !same {
			r.first = p.ID
		}
	}
	r.grown.WriteString(text)
	r.dirty = true
	if r.timer == nil && !r.done {
		r.timer = time.AfterFunc(max(flushEvery, r.pause), r.flushLater)
	}
	return r.first
}

// addLocked begins a part; what grew before grows no more.
func (r *recorder) addLocked(typ string) *store.Part {
	r.grown = nil
	if len(r.parts) == 0 {
		r.session.keep(context.Background(), func(ctx context.Context, db *store.Store) error {
			return db.Append(ctx, store.Message{ID: r.message, SessionID: r.session.id, Role: string(r.role), Created: time.Now()})
		})
	}
	r.parts = append(r.parts, store.Part{ID: store.NewID("part_"), MessageID: r.message, Type: typ})
	return &r.parts[len(r.parts)-1]
}

func (r *recorder) flushLater() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if !r.done {
		begun := time.Now()
		r.flushLocked(context.Background())
		r.pause = 4 * time.Since(begun) // a slow disk must not hold up the stream
	}
}

// flushLocked stores the part that grows.
func (r *recorder) flushLocked(ctx context.Context) {
	if r.dirty && r.grown != nil {
		p := &r.parts[len(r.parts)-1]
		r.putLocked(ctx, p, textRecord{Text: r.grown.String(), Continues: p.ID != r.first})
	}
	r.dirty = false
}

func (r *recorder) putLocked(ctx context.Context, p *store.Part, t textRecord) {
	p.Data = mustJSON(t)
	r.session.keepPart(ctx, *p)
}

// finish stores what is left and stops the timer. Texts are kept for the
// reader it says: those of a reply that was cut are not the model's.
func (r *recorder) finish(ctx context.Context, who reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.flushLocked(ctx)
	if who == readerBoth {
		return
	}
	for i := range r.parts {
		if t, err := decode[textRecord](r.parts[i]); err == nil && r.parts[i].Type != recordCall {
			t.For = who
			r.putLocked(ctx, &r.parts[i], *t)
		}
	}
}

// sign attaches the provider's own data to the thoughts of the message, in
// order, and adds those that only the provider can read.
func (r *recorder) sign(ctx context.Context, m model.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushLocked(ctx)
	next := 0
	for _, thought := range m.Parts {
		if thought.Type != model.PartThought {
			continue
		}
		for next < len(r.parts) && r.parts[next].Type != recordThought {
			next++
		}
		signed := textRecord{Text: thought.Text, Provider: thought.Provider}
		switch {
		case next == len(r.parts):
			r.putLocked(ctx, r.addLocked(recordThought), signed)
		case thought.Provider != nil:
			r.putLocked(ctx, &r.parts[next], signed)
			r.grown = nil
		}
		next++
	}
}

// textSoFar is the text of the message, without its thoughts.
func (r *recorder) textSoFar() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, p := range r.parts {
		if t, err := decode[textRecord](p); err == nil && p.Type == recordText {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// note adds a whole text for the reader it says.
func (r *recorder) note(ctx context.Context, text string, who reader) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushLocked(ctx)
	p := r.addLocked(recordText)
	r.putLocked(ctx, p, textRecord{Text: text, For: who})
	return p.ID
}

// call adds a call to the message; the returned function stores it again after
// it changed.
func (r *recorder) call(ctx context.Context, c *callRecord) func(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushLocked(ctx)
	p := *r.addLocked(recordCall)
	put := func(ctx context.Context) {
		p.Data = mustJSON(c)
		r.session.keepPart(ctx, p)
	}
	put(ctx)
	return put
}

func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // only our own plain types come here
		panic(fmt.Sprintf("session: record cannot be encoded: %v", err))
	}
	return data
}
