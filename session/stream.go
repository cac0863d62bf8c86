package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
)

// reply is one whole answer of the model.
type reply struct {
	rec   *recorder
	calls []*call
	stop  model.Stop
	usage model.Usage
	empty bool // neither text nor calls
}

// emptyNudge is told a model whose last reply held nothing.
const emptyNudge = "Your last reply was empty. Go on with the task, or say in a sentence that it is done."

// ask requests one reply, again after failures that may pass. The history is
// extended by the reply, or by what the user interrupted.
func (t *Turn) ask(ctx context.Context, nudge bool) (*reply, error) {
	for attempt := 0; ; attempt++ {
		r, err := t.attempt(ctx, t.request(nudge))
		if err == nil {
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var failed *model.Error
		limits := t.session.cfg().Retry
		if !errors.As(err, &failed) || !failed.Retry || attempt >= limits.Max {
			return nil, t.actionable(err)
		}
		delay := backoff(limits.BaseDelay, limits.MaxDelay, failed.RetryAfter, attempt)
		if attempt == 0 {
			t.update(ctx, Notice{fmt.Sprintf("The model did not answer (%s). Trying again.", t.session.sessions.secrets.Keys(failed.Error()))})
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// backoff is how long to wait: what the provider asked for, else the base
// doubled with every attempt, with jitter; never more than longest.
func backoff(base, longest, asked time.Duration, attempt int) time.Duration {
	if asked > 0 {
		return min(asked, longest)
	}
	d := min(base<<min(attempt, 20), longest)
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d/2+1)
}

// request is what the model is asked now.
func (t *Turn) request(nudge bool) *model.Request {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	msgs := s.history[:len(s.history):len(s.history)]
	if nudge {
		msgs = append(msgs, model.Message{Role: model.RoleUser, Parts: textPart(emptyNudge)})
	}
	return &model.Request{
		Model:     t.llm.id,
		System:    s.systemLocked(t.llm.name),
		Messages:  msgs,
		Tools:     s.offeredLocked(),
		MaxOutput: t.llm.info.MaxOutput,
		Thinking:  s.thinking,
		Session:   s.id,
	}
}

// attempt streams one reply to the editor and the store.
func (t *Turn) attempt(ctx context.Context, req *model.Request) (*reply, error) {
	st := &stream{turn: t, rec: t.session.newRecorder()}
	defer st.stopTimer()
	for ev, err := range t.llm.model.Stream(ctx, req) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			st.cut(ctx)
			return nil, err
		}
		if done, ok := ev.(model.Done); ok {
			return st.whole(ctx, done), nil
		}
		st.event(ctx, ev)
		if st.length > maxReply {
			st.cut(ctx)
			return nil, &model.Error{Provider: t.llm.name, Message: fmt.Sprintf("the reply was given up after %d MiB, as it seems to have no end: try again, or choose another model", maxReply>>20)}
		}
	}
	st.cut(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &model.Error{Provider: t.llm.name, Message: "the answer ended without an end", Retry: true}
}

// maxReply is how many bytes of text and thoughts a reply may have: many times
// what models can write at once.
const maxReply = 8 << 20

// announceAfter is how long a call's arguments may stream before the call is
// shown without them.
const announceAfter = 500 * time.Millisecond

// stream is a reply that comes in.
type stream struct {
	turn          *Turn
	rec           *recorder
	said          bool
	text, thought passage

	length int // of its texts and thoughts, in bytes

	mu    sync.Mutex
	calls []*call
	timer *time.Timer
	ended bool
}

func (st *stream) event(ctx context.Context, ev model.Event) {
	switch ev := ev.(type) {
	case model.Text:
		if ev.Text != "" {
			st.said = true
			st.length += len(ev.Text)
			st.thought.end(ctx, st.turn)
			st.text.message = st.rec.grow(recordText, ev.Text)
			st.text.show(ctx, st.turn, st.text.safe.Add(ev.Text))
		}
	case model.Thought:
		if ev.Text != "" {
			st.length += len(ev.Text)
			st.text.end(ctx, st.turn)
			st.thought.speaker = SpeakerThought
			st.thought.message = st.rec.grow(recordThought, ev.Text)
			st.thought.show(ctx, st.turn, st.thought.safe.Add(ev.Text))
		}
	case model.Calling:
		st.endText(ctx)
		st.mu.Lock()
		defer st.mu.Unlock()
		st.calls = append(st.calls, st.turn.newCall(ev.Name))
		if st.timer == nil {
			st.timer = time.AfterFunc(announceAfter, func() { st.announceEarly(ctx) })
		}
	}
}

// passage is a text of the model as the user sees it while it comes in. The
// record has it as it came.
type passage struct {
	speaker Speaker
	message string
	safe    kinds.Markdown
}

func (p *passage) show(ctx context.Context, t *Turn, text string) {
	if text != "" {
		t.update(ctx, Chunk{Speaker: p.speaker, MessageID: p.message, Content: Text(text)})
	}
}

// end shows what was kept back of it.
func (p *passage) end(ctx context.Context, t *Turn) { p.show(ctx, t, p.safe.End()) }

func (st *stream) endText(ctx context.Context) {
	st.text.end(ctx, st.turn)
	st.thought.end(ctx, st.turn)
}

// announceEarly shows the calls whose arguments are taking long.
func (st *stream) announceEarly(ctx context.Context) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.timer = nil
	if st.ended || ctx.Err() != nil {
		return
	}
	for _, c := range st.calls {
		if !c.announced {
			c.rec.Card = c.guessCard()
			st.turn.announce(ctx, c)
		}
	}
}

func (st *stream) stopTimer() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.ended = true
	if st.timer != nil {
		st.timer.Stop()
	}
}

// whole takes the finished message into the history and the store.
func (st *stream) whole(ctx context.Context, done model.Done) *reply {
	st.stopTimer()
	st.endText(ctx)
	st.rec.sign(ctx, done.Message)
	st.rec.finish(ctx, readerBoth)
	r := &reply{rec: st.rec, stop: done.Stop, usage: done.Usage}
	msg := model.Message{Role: model.RoleAssistant}
	n := 0
	for _, p := range done.Message.Parts {
		if p.Type != model.PartCall {
			msg.Parts = append(msg.Parts, p)
			continue
		}
		c := st.takeCall(ctx, n, p)
		n++
		if done.Stop != model.StopEnd { // its arguments may be cut
			st.turn.drop(ctx, c)
			continue
		}
		p.CallID = c.rec.ID
		msg.Parts = append(msg.Parts, p)
		r.calls = append(r.calls, c)
	}
	for _, c := range st.calls[min(n, len(st.calls)):] {
		st.turn.drop(ctx, c)
	}
	r.empty = !st.said && len(r.calls) == 0
	if len(msg.Parts) > 0 {
		st.turn.session.remember(msg)
	}
	return r
}

// takeCall is the n-th call of the reply, with what the whole message says of it.
func (st *stream) takeCall(ctx context.Context, n int, p model.Part) *call {
	var c *call
	if n < len(st.calls) && st.calls[n].rec.Name == p.Name {
		c = st.calls[n]
	} else {
		if n < len(st.calls) {
			st.turn.drop(ctx, st.calls[n])
		}
		c = st.turn.newCall(p.Name)
	}
	c.rec.Args, c.rec.Provider = p.Args, p.Provider
	return c
}

// cut ends a reply that did not come whole. What was shown stays shown; the
// model is told of it only where the user interrupted.
func (st *stream) cut(ctx context.Context) {
	st.stopTimer()
	st.endText(context.WithoutCancel(ctx))
	for _, c := range st.calls {
		st.turn.drop(ctx, c)
	}
	if ctx.Err() == nil {
		st.rec.finish(ctx, readerEditor)
		return
	}
	st.rec.finish(ctx, readerBoth)
	text := st.rec.textSoFar()
	const note = "[The user interrupted this reply.]"
	st.rec.note(ctx, note, readerModel)
	msg := model.Message{Role: model.RoleAssistant}
	if text != "" {
		msg.Parts = textPart(text)
	}
	msg.Parts = append(msg.Parts, textPart(note)...)
	st.turn.session.remember(msg)
}

// drop ends a call that was shown but will not run.
func (t *Turn) drop(ctx context.Context, c *call) {
	if !c.announced {
		return
	}
	text := "the reply was cut before the call was complete"
	if ctx.Err() != nil {
		text = cancelledText
	}
	c.rec.Status = Failed
	t.update(context.WithoutCancel(ctx), Call{ID: c.rec.ID, Status: Failed, Content: []Shown{{Text: text}},
		Output: &tools.Envelope{Type: tools.EnvelopeError, ErrorText: text}})
}

// newCallID makes an id of a call. Some providers take at most 40 letters.
func newCallID() string { return strings.ReplaceAll(store.NewID("call_"), "-", "") }

// newCall begins a call of the tool that the model named.
func (t *Turn) newCall(name string) *call {
	c := &call{rec: callRecord{ID: newCallID(), Name: name, Tool: name, Status: Pending}}
	tool, err := t.session.sessions.tools.Find(name)
	if err == nil && !t.session.allows(tool.Spec()) {
		err = fmt.Errorf("a sub-agent of the type %s cannot use the tool %s", t.session.agent.name, tool.Spec().ID)
	}
	if err != nil {
		c.unknown = err
		return c
	}
	c.tool = tool
	c.rec.Tool = tool.Spec().ID
	return c
}

// guessCard is a call's card before anything but its tool is known.
func (c *call) guessCard() kinds.Card {
	card := kinds.Other(kinds.Line(c.rec.Tool))
	if rest, ok := strings.CutPrefix(c.rec.Tool, tools.MCPPrefix); ok {
		server, name, _ := strings.Cut(rest, "__")
		card = kinds.Served(server, name)
	}
	if c.tool != nil && c.tool.Spec().Kind != "" {
		card.Kind = c.tool.Spec().Kind
	}
	return card
}
