package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// hookPrompt runs the hooks of a session's start, with its first prompt, and
// those of a prompt. It returns what they tell the model, and why the prompt is
// refused.
func (t *Turn) hookPrompt(ctx context.Context) (told, refused string) {
	s := t.session
	s.hookStart(ctx)
	o := s.hook(ctx, hookInput{Event: config.UserPromptSubmit, Prompt: plainText(t.prompt)})
	switch {
	case o.denied:
		return "", "A hook refuses this prompt: " + o.reason
	case o.stop != "":
		return "", o.stop
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told = strings.TrimSpace(s.startContext + "\n" + o.context)
	s.startContext = ""
	return told, ""
}

// hookStart runs the hooks of the session's start, once; what they tell the model
// waits for the first prompt that reaches it.
func (s *Session) hookStart(ctx context.Context) {
	s.mu.Lock()
	begun, source := s.begun, "startup"
	s.begun = true
	if len(s.history) > 0 {
		source = "resume"
	}
	s.mu.Unlock()
	if begun {
		return
	}
	o := s.hook(ctx, hookInput{Event: config.SessionStart, Source: source})
	if o.denied {
		s.tell("A hook of the session's start objects: " + o.reason)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startContext = o.context
}

// hookCall runs the hooks before a call. They may change its arguments: then it
// is prepared anew. The error is why it may not run.
func (t *Turn) hookCall(ctx context.Context, c *call) (hookOutcome, error) {
	if len(t.session.cfg().Hooks[config.PreToolUse]) == 0 {
		return hookOutcome{}, nil
	}
	if halt := t.halted(); halt != "" {
		return hookOutcome{}, &deniedError{"a hook ends the turn: " + halt}
	}
	in := hookInput{Event: config.PreToolUse, Tool: c.rec.Tool, ToolInput: rawInput(c.rec.Args), CallID: c.rec.ID}
	o := t.session.hook(ctx, in, c.toolNames()...)
	switch {
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case o.stop != "":
		t.stopAfterCalls(o.stop)
		return o, &deniedError{"a hook ends the turn: " + o.stop}
	case o.denied:
		return o, &deniedError{"a hook refuses this: " + o.reason}
	case o.input == nil:
		return o, nil
	}
	c.rec.Changed = string(o.input)
	err := t.prepare(ctx, c)
	t.announce(ctx, c)
	return o, err
}

// stopAfterCalls has the turn end when the calls of the reply are done.
func (t *Turn) stopAfterCalls(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.halt = why
}

// halted is why the turn is to end; empty: it goes on.
func (t *Turn) halted() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.halt
}

func (c *call) toolNames() []string {
	spec := c.spec()
	return append([]string{spec.ID}, spec.Aliases...)
}

// weigh adds what hooks say to the verdict of the rules. Their allow lifts the
// question that comes of the mode alone, never one that a rule or the call itself
// demands, and no denial.
func (o hookOutcome) weigh(s *Session, f kinds.Facts, v permission.Verdict) permission.Verdict {
	said := ""
	if o.reason != "" {
		said = ": " + o.reason
	}
	switch {
	case o.asks && v.Action == permission.Allow:
		v.Action, v.Reason = permission.Ask, "a hook asks for it"+said
		if s.Mode() == permission.DontAsk {
			v.Action = permission.Deny
		}
	case o.asks && v.Action != permission.Deny:
		v.Reason += "; a hook asks for it, too" + said
		v.Always = nil // the hook would ask again all the same
	case o.allows && !o.asks && v.Action == permission.Ask:
		p := s.policy()
		p.Mode = permission.BypassPermissions
		if f.Command != nil {
			p.Path, p.RemovedPath = s.path.Dirs()
			p.Holds = s.exec.Holds
		}
		if free := s.narrow(p, f, p.Decide(f)); free.Action == permission.Allow {
			return permission.Verdict{Action: permission.Allow, Text: free.Text}
		}
	}
	return v
}

// hookResult runs the hooks after a call that ran, and returns what they tell the
// model.
func (t *Turn) hookResult(ctx context.Context, c *call, r tools.Result, err error, took time.Duration) string {
	in := hookInput{Event: config.PostToolUse, Tool: c.rec.Tool, CallID: c.rec.ID}
	if err != nil {
		in.Event, in.Error = config.PostToolUseFailure, err.Error()
	}
	if len(t.session.cfg().Hooks[in.Event]) == 0 || ctx.Err() != nil {
		return ""
	}
	in.ToolInput = rawInput(c.rec.input())
	response := tools.Describe(r, err, took)
	in.Response = &response
	o := t.session.hook(ctx, in, c.toolNames()...)
	if o.stop != "" {
		t.stopAfterCalls(o.stop)
	}
	said := o.context
	if o.denied {
		said = strings.TrimSpace("A hook objects: " + o.reason + "\n" + said)
	}
	return said
}

// maxGoOn is how often hooks may have a turn go on that is at its end.
const maxGoOn = 5

// loopWithHooks is the loop, and the hooks of its end, which may say what is still
// to be done.
func (t *Turn) loopWithHooks(ctx context.Context) (StopReason, error) {
	for n := 0; ; n++ {
		stop, err := t.loop(ctx)
		if err != nil {
			return stop, err
		}
		o := t.session.hook(ctx, hookInput{Event: config.TurnEnd, StopReason: stop})
		if !o.denied || o.stop != "" || stop != StopEndTurn || n == maxGoOn {
			return stop, nil
		}
		t.tellModel(ctx, "A hook says that the work is not done: "+o.reason)
	}
}

// notify runs the hooks that tell the user, somewhere else, that they are needed.
// It does not wait for them.
func (t *Turn) notify(message string) {
	s := t.session
	if len(s.cfg().Hooks[config.Notification]) == 0 {
		return
	}
	s.sessions.behind(func() {
		s.hook(s.sessions.ctx, hookInput{Event: config.Notification, Message: "acp-agent " + message})
	})
}

// hookEnd runs the hooks of a session's end, once, where its start had some too.
func (s *Session) hookEnd(ctx context.Context) {
	s.mu.Lock()
	begun := s.begun
	s.begun = false
	s.mu.Unlock()
	if begun {
		s.hook(ctx, hookInput{Event: config.SessionEnd})
	}
}

// endTime is how long the hooks of all sessions have when the process ends.
const endTime = 250 * time.Millisecond

// hookEnds runs the hooks of the ends of all sessions.
func (m *Sessions) hookEnds(ctx context.Context, open []*Session) {
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, fmt.Errorf("the agent ends, and waits %v for it", endTime))
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range open {
		if len(s.cfg().Hooks[config.SessionEnd]) > 0 {
			wg.Go(func() { s.hookEnd(ctx) })
		}
	}
	wg.Wait()
}
