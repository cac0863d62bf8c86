package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
)

// maxDepth is how many sub-agents deep the work may go (spec/tools.md, "task").
const maxDepth = 5

// top is the session that the editor opened.
func (s *Session) top() *Session {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

// depth is how many sub-agents deep the session is.
func (s *Session) depth() int {
	if s.parent == nil {
		return 0
	}
	return s.parent.depth() + 1
}

// agents makes a session's sub-agents: it is the tools.Agents of its tools.
type agents struct{ session *Session }

// Agent is a new sub-agent of the type.
func (a agents) Agent(name string) (tools.Agent, error) {
	if a.session.depth() >= maxDepth {
		return nil, fmt.Errorf("this is the sub-agent of a sub-agent, %d deep, the most allowed: do the work yourself", maxDepth)
	}
	types := a.session.agentTypes()
	for i := range types {
		if types[i].name == name {
			return a.session.newChild(&types[i]), nil
		}
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.name
	}
	return nil, fmt.Errorf("there is no sub-agent type %q: there are %s", name, strings.Join(names, ", "))
}

// child is a sub-agent: a session that no editor opened. What it works with is
// its parent's, but for the conversation and what it saw of the files.
type child struct {
	*Session
	watch *watcher
}

func (s *Session) newChild(typ *agentType) *child {
	c := &Session{sessions: s.sessions, id: store.NewID("sess_"), request: s.request, exec: s.exec, root: s.root, trusted: s.trusted,
		cfg: s.cfg, path: s.path, backlog: s.backlog, parent: s, agent: typ, model: typ.model, created: time.Now()}
	ws := *s.workspace
	ws.Seen, ws.Readable, ws.Agents = &tools.Seen{}, c.readable, agents{c}
	ws.Catalog = catalog{c}
	ws.Display = false // its calls are steps in another's card
	c.workspace = &ws
	w := &watcher{top: s.top(), name: c.agentName(), calls: map[string]*watchedCall{}}
	c.ends = Ends{Sink: w, Asker: w, Files: s.ends.Files, Shell: s.ends.Shell}
	if s.ends.Questioner != nil {
		c.ends.Questioner = w
	}
	return &child{c, w}
}

// agentName is who asks, for the user: the types from the outermost on.
func (s *Session) agentName() string {
	if s.parent.parent == nil {
		return s.agent.name
	}
	return s.parent.agentName() + " › " + s.agent.name
}

// ID is the id of the sub-agent's session.
func (c *child) ID() string { return c.id }

// Run is the sub-agent's one turn.
func (c *child) Run(ctx context.Context, prompt string, step func(tools.AgentStep)) (string, error) {
	c.watch.step = step
	t := &Turn{session: c.Session, prompt: []Content{Text(prompt)}, failures: map[string]int{}}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	defer t.cancel(nil)
	var err error
	if t.llm, err = c.chooseModel(); err != nil {
		return "", err
	}
	t.keepPrompt(t.ctx)
	stop, err := t.loop(t.ctx)
	if t.ctx.Err() != nil {
		return "", context.Cause(t.ctx)
	}
	said := c.lastWords()
	switch {
	case err != nil:
		return said, fmt.Errorf("the sub-agent failed: %w", err)
	case stop == StopMaxTurnRequests:
		return said, fmt.Errorf("the sub-agent was ended after %d requests to the model, the most allowed; give it a smaller task", c.maxRequests())
	case stop == StopMaxTokens:
		return said, errors.New("the sub-agent's reply was cut at the model's limit; give it a smaller task")
	case stop == StopRefusal:
		return said, errors.New("the model refused to do this")
	}
	return cmp.Or(said, "(the sub-agent ended without a word)"), nil
}

// lastWords is the text of the last message.
func (s *Session) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.history) == 0 || s.history[len(s.history)-1].Role != model.RoleAssistant {
		return ""
	}
	var b strings.Builder
	for _, p := range s.history[len(s.history)-1].Parts {
		if p.Type == model.PartText {
			b.WriteString(p.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

// narrow holds a sub-agent that only reads, or is below one, to that.
func (s *Session) narrow(p permission.Policy, f kinds.Facts, v permission.Verdict) permission.Verdict {
	if !s.readsOnly() || v.Action == permission.Deny {
		return v
	}
	p.Mode = permission.Plan
	if w := p.Decide(f); w.Action > v.Action {
		w.Reason = fmt.Sprintf("a sub-agent of the type %s only reads", s.agentName())
		return w
	}
	return v
}

func (s *Session) readsOnly() bool {
	return s.parent != nil && (s.agent.readOnly || s.parent.readsOnly())
}

// watcher is the editor's side of a sub-agent. Its calls are steps in the card
// of its parent's call. One that asks for permission becomes a card of its own
// in the editor, which the request belongs to and which ends as the call does.
type watcher struct {
	top  *Session
	name string
	step func(tools.AgentStep)

	mu    sync.Mutex
	calls map[string]*watchedCall
}

type watchedCall struct {
	title  string
	status Status
	shown  bool // as a card of its own
}

// Update takes what the sub-agent tells. Its words and its plan are its own.
func (w *watcher) Update(ctx context.Context, u Update) error {
	switch u := u.(type) {
	case Call:
		return w.call(ctx, u)
	case Notice:
		return w.top.ends.Sink.Update(ctx, Notice{"Sub-agent " + w.name + ": " + u.Text})
	}
	return nil
}

func (w *watcher) call(ctx context.Context, u Call) error {
	w.mu.Lock()
	c := w.calls[u.ID]
	if c == nil {
		c = &watchedCall{}
		w.calls[u.ID] = c
	}
	if u.Card != nil {
		c.title = u.Card.Title
	}
	news := u.Status != "" && u.Status != c.status && !(c.status == Pending && u.Status == InProgress)
	if u.Status != "" {
		c.status = u.Status
	}
	step := tools.AgentStep{ID: u.ID, Title: c.title, Ended: c.status == Completed || c.status == Failed, Fails: c.status == Failed}
	shown := c.shown
	w.mu.Unlock()
	if news {
		w.step(step)
	}
	if !shown {
		return nil
	}
	u.New, u.Card = false, w.named(u.Card)
	return w.top.ends.Sink.Update(ctx, u)
}

// named is a card that says whose call it is.
func (w *watcher) named(card *kinds.Card) *kinds.Card {
	if card == nil {
		return nil
	}
	own := *card
	own.Title = kinds.Title(w.name + ": " + card.Title)
	return &own
}

// Ask asks the user, one question of all sub-agents at a time.
func (w *watcher) Ask(ctx context.Context, q Question) (Answer, error) {
	release, err := w.begin(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	q.Card = *w.named(&q.Card)
	q.Content = append(append([]Shown{}, q.Content...), Shown{Text: "The sub-agent " + w.name + " asks for this."})
	card := Call{ID: q.CallID, Status: Pending, Tool: q.Tool, Card: &q.Card, Input: q.Input, Content: q.Content}
	if err := w.reveal(ctx, card); err != nil {
		return Answer{}, err
	}
	return w.top.ends.Asker.Ask(ctx, q)
}

// begin waits until no other sub-agent asks.
func (w *watcher) begin(ctx context.Context) (release func(), err error) {
	select {
	case w.top.asking <- struct{}{}:
		return func() { <-w.top.asking }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// reveal makes a call a card of its own, unless it is one already.
func (w *watcher) reveal(ctx context.Context, card Call) error {
	w.mu.Lock()
	c := w.calls[card.ID]
	first := c != nil && !c.shown
	if first {
		c.shown = true
	}
	w.mu.Unlock()
	if !first {
		return nil
	}
	card.New = true
	if err := w.top.ends.Sink.Update(ctx, card); err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
