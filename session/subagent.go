package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
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

// Agent is a new sub-agent of the type. One below one in the background is there,
// too.
func (a agents) Agent(name string, background bool) (tools.Agent, error) {
	if a.session.depth() >= maxDepth {
		return nil, fmt.Errorf("this is the sub-agent of a sub-agent, %d deep, the most allowed: do the work yourself", maxDepth)
	}
	types := a.session.agentTypes()
	for i := range types {
		if types[i].name == name {
			return a.session.newChild(&types[i], background || a.session.behind), nil
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
type child struct{ *Session }

func (s *Session) newChild(typ *agentType, behind bool) *child {
	c := &Session{sessions: s.sessions, id: store.NewID("sess_"), request: s.request, exec: s.exec, box: s.box, root: s.root,
		path: s.path, backlog: s.backlog, parent: s, agent: typ, behind: behind, model: typ.model, created: time.Now()}
	ws := *s.workspace
	ws.Seen, ws.Readable, ws.Agents = &tools.Seen{}, c.readable, agents{c}
	ws.Catalog = catalog{c}
	ws.Jobs = s.workspace.Jobs.Part()
	ws.Display = false // its calls are steps in another's card
	c.workspace = &ws
	w := &watcher{top: s.top(), name: c.agentName(), behind: behind, calls: map[string]*watchedCall{}}
	c.ends = Ends{Sink: w, Asker: w, Files: s.ends.Files, Shell: s.ends.Shell}
	if s.ends.Questioner != nil {
		c.ends.Questioner = w
	}
	c.watch = w
	return &child{c}
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
	c.watch.step, c.watch.task = step, kinds.Title(prompt)
	t := &Turn{session: c.Session, prompt: []Content{Text(prompt)}, failures: map[string]int{}}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	defer t.cancel(nil)
	defer c.workspace.Jobs.Leave()
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
