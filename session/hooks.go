package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/sandbox"
)

// hookInput is what a hook reads on its standard input. The names are those that
// hooks of other agents know.
type hookInput struct {
	SessionID  string           `json:"session_id"`
	Dir        string           `json:"cwd"`
	Event      config.HookEvent `json:"hook_event_name"`
	Mode       permission.Mode  `json:"permission_mode"`
	AgentType  string           `json:"agent_type,omitzero"` // of a sub-agent
	Source     string           `json:"source,omitzero"`     // of a session's start: startup or resume
	Prompt     string           `json:"prompt,omitzero"`
	Tool       string           `json:"tool_name,omitzero"`
	ToolInput  json.RawMessage  `json:"tool_input,omitzero"`
	CallID     string           `json:"tool_use_id,omitzero"`
	Response   *tools.Envelope  `json:"tool_response,omitzero"`
	Error      string           `json:"error,omitzero"`
	Message    string           `json:"message,omitzero"`     // of a notification
	StopReason StopReason       `json:"stop_reason,omitzero"` // of the end of a turn
}

// hookAnswer is what a hook may print as JSON. Other members are not looked at.
type hookAnswer struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"` // block
	Reason        string `json:"reason"`
	Specific      struct {
		Decision string          `json:"permissionDecision"` // allow, deny or ask
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Context  string          `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// hookOutcome is what the hooks of one event come to together: deny before ask
// before allow.
type hookOutcome struct {
	denied  bool
	asks    bool
	allows  bool
	reason  string
	input   json.RawMessage // replaces the call's; nil: stays
	context string          // for the model
	stop    string          // the turn is to end, and why
	told    []string        // for the user
}

// Limits of what a hook may say, in bytes.
const (
	maxHookOutput  = 4 << 20
	maxHookContext = 10_000
)

// hook runs the hooks of an event, one after the other, until one refuses.
// Without any it costs nothing.
func (s *Session) hook(ctx context.Context, in hookInput, names ...string) hookOutcome {
	var o hookOutcome
	for _, h := range s.cfg().Hooks[in.Event] {
		if !h.Matches(names...) || ctx.Err() != nil {
			continue
		}
		if o.input != nil {
			in.ToolInput = o.input
		}
		s.hookOne(ctx, h, in, &o)
		if o.denied || o.stop != "" {
			break
		}
	}
	for _, text := range o.told {
		if err := s.ends.Sink.Update(ctx, Notice{text}); err != nil && ctx.Err() == nil {
			s.sessions.log.Warn("a hook's message was not told", "session", s.id, "error", err)
		}
	}
	return o
}

// hookOne runs one hook and adds what it says.
func (s *Session) hookOne(ctx context.Context, h config.Hook, in hookInput, o *hookOutcome) {
	in.SessionID, in.Dir, in.Mode = s.id, s.workspace.Dir(), s.Mode()
	if s.agent != nil {
		in.AgentType = s.agent.name
	}
	stdout, stderr, code, err := s.runHook(ctx, h, mustJSON(in))
	if ctx.Err() != nil {
		return
	}
	name := fmt.Sprintf("The %s hook `%s`", in.Event, shorten(oneLine(h.Command), 80))
	switch {
	case err != nil:
		o.failed(h, name, err)
	case code == 2:
		o.deny(stderr)
	case code != 0:
		said := strings.TrimSpace(fmt.Sprintf("ended with status %d. %s", code, shorten(oneLine(stderr), 500)))
		o.told = append(o.told, name+" "+said)
		if h.FailClosed {
			o.deny("a hook that must work " + said)
		}
	default:
		if err := o.take(in.Event, stdout); err != nil {
			o.failed(h, name, err)
		}
	}
}

// failed takes in that a hook did not work.
func (o *hookOutcome) failed(h config.Hook, name string, err error) {
	o.told = append(o.told, fmt.Sprintf("%s did not work: %v.", name, err))
	if h.FailClosed {
		o.deny(fmt.Sprintf("a hook that must work did not: %v", err))
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (o *hookOutcome) deny(reason string) {
	o.denied = true
	if reason = shorten(strings.TrimSpace(tools.PlainText(reason)), maxHookContext); reason == "" {
		reason = "it gives no reason"
	}
	o.reason = reason
}

// take reads what a hook that ended well printed: JSON, or else text, which is
// for the model where it comes before what the model is asked. JSON that is not
// understood may have been a refusal: it is an error.
func (o *hookOutcome) take(event config.HookEvent, stdout string) error {
	stdout = strings.TrimPrefix(stdout, "\uFEFF")
	if !strings.HasPrefix(strings.TrimSpace(stdout), "{") {
		if event == config.UserPromptSubmit || event == config.SessionStart {
			o.add(stdout)
		}
		return nil
	}
	var a hookAnswer
	if len(stdout) >= maxHookOutput {
		return fmt.Errorf("it printed more than %d bytes", maxHookOutput)
	}
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		return fmt.Errorf("what it printed is no answer: %w", err)
	}
	if !slices.Contains([]string{"", "allow", "deny", "ask"}, a.Specific.Decision) {
		return fmt.Errorf("its permissionDecision is %q, not allow, deny or ask", shorten(a.Specific.Decision, 40))
	}
	if !slices.Contains([]string{"", "block", "approve"}, a.Decision) {
		return fmt.Errorf("its decision is %q, not block or approve", shorten(a.Decision, 40))
	}
	if in := a.Specific.Input; len(in) > 0 && in[0] != '{' && string(in) != "null" {
		return errors.New("its updatedInput is no object")
	}
	if a.SystemMessage != "" {
		o.told = append(o.told, shorten(tools.PlainText(a.SystemMessage), maxHookContext))
	}
	o.add(a.Specific.Context)
	reason := a.Specific.Reason
	if reason == "" {
		reason = a.Reason
	}
	switch {
	case a.Continue != nil && !*a.Continue:
		if o.stop = strings.TrimSpace(tools.PlainText(a.StopReason)); o.stop == "" {
			o.stop = "a hook ended the turn"
		}
	case a.Specific.Decision == "deny", a.Decision == "block":
		o.deny(reason)
	case a.Specific.Decision == "ask":
		o.asks, o.reason = true, tools.PlainText(reason)
	case a.Specific.Decision == "allow":
		o.allows = true
	}
	if len(a.Specific.Input) > 0 && a.Specific.Input[0] == '{' {
		o.input = a.Specific.Input
	}
	return nil
}

// add adds text for the model.
func (o *hookOutcome) add(text string) {
	if text = strings.TrimSpace(tools.PlainText(text)); text == "" {
		return
	}
	o.context = strings.TrimSpace(shorten(o.context+"\n"+text, maxHookContext))
}

// runHook runs the command with the event on its standard input. The error says
// why it could not run, or that its time was over; then it is ended with all it
// started.
func (s *Session) runHook(ctx context.Context, h config.Hook, event []byte) (stdout, stderr string, code int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, fmt.Errorf("it took more than %v", h.Timeout))
	defer cancel()
	ours, theirs, err := os.Pipe()
	if err != nil {
		return "", "", 0, err
	}
	defer theirs.Close()
	var out, errs limitedText
	dir := s.workspace.Dir()
	p, err := s.exec.Start(ctx, tools.Command{Text: h.Command, Dir: dir, Output: &out, Errors: &errs, Stdin: ours, Level: sandbox.Free, // the user's own, as configured
		Env: map[string]string{"ACP_AGENT_PROJECT_DIR": dir, "CLAUDE_PROJECT_DIR": dir}})
	_ = ours.Close() // the child has its own
	if err != nil {
		return "", "", 0, err
	}
	defer p.Close()
	written := make(chan struct{})
	go func() { // ends when the hook has read all, or the pipe is closed below
		defer close(written)
		_, _ = theirs.Write(event) // a hook need not read it
		_ = theirs.Close()
	}()
	exit, err := p.Wait(ctx)
	_ = theirs.Close()
	<-written
	switch {
	case err != nil:
		return "", "", 0, err
	case exit.Code == 126 || exit.Code == 127:
		return "", "", 0, errors.New(shorten(oneLine(tools.PlainText(errs.String())), 500))
	case exit.Signal != "":
		return "", "", 0, fmt.Errorf("it was ended by %s", exit.Signal)
	}
	return out.String(), tools.PlainText(errs.String()), exit.Code, nil
}

// limitedText keeps the beginning of what is written to it.
type limitedText struct{ buf bytes.Buffer }

func (l *limitedText) Write(p []byte) (int, error) {
	l.buf.Write(p[:min(len(p), maxHookOutput-l.buf.Len())])
	return len(p), nil
}

func (l *limitedText) String() string { return strings.ToValidUTF8(l.buf.String(), "\uFFFD") }
