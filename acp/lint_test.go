package acp_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/acp"
)

// linter holds what an agent sends to the rules that a schema cannot say: keys,
// order, and what belongs to a turn. It is shown every message of one
// connection, those of the client before they are written. It is not safe for
// concurrent use.
type linter struct {
	problems []string

	can       acp.ClientCapabilities
	requests  map[string]request           // of the client, by id, while they are open
	sessions  map[string]bool              // those whose opening has been answered
	loading   map[string]int               // loads that are open
	turns     map[string]int               // prompts that are open
	calls     map[string]map[string]string // session → call → status
	between   map[string]bool              // calls that were announced outside a turn → the user was asked about them
	creating  map[string]bool              // terminal/create requests that are open
	terminals map[string]bool              // those that exist → released
}

type request struct{ method, session string }

// frame is a message, read as far as the linter and the transcripts need.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (f frame) isRequest() bool { return f.Method != "" && f.ID != nil }
func (f frame) isAnswer() bool  { return f.Method == "" && (f.Result != nil || f.Error != nil) }

// sessionIn is the sessionId in an object, where there is one.
func sessionIn(raw json.RawMessage) string {
	var v struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(raw, &v) // of any other form: none
	return v.SessionID
}

func newLinter() *linter {
	return &linter{requests: map[string]request{}, sessions: map[string]bool{}, loading: map[string]int{}, turns: map[string]int{},
		calls: map[string]map[string]string{}, between: map[string]bool{}, creating: map[string]bool{}, terminals: map[string]bool{}}
}

func (l *linter) problem(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// open reports whether a line is a request under the id of one that is open.
func (l *linter) open(line string) bool {
	var f frame
	if json.Unmarshal([]byte(line), &f) != nil || !f.isRequest() {
		return false
	}
	_, ok := l.requests[string(f.ID)]
	return ok
}

// sent takes note of a line of the client.
func (l *linter) sent(line []byte) {
	var f frame
	if json.Unmarshal(line, &f) != nil {
		return
	}
	if f.isAnswer() && l.creating[string(f.ID)] {
		var made acp.CreateTerminalResponse
		if json.Unmarshal(f.Result, &made) == nil && made.TerminalID != "" {
			l.terminals[made.TerminalID] = false
		}
	}
	if !f.isRequest() {
		return
	}
	session := sessionIn(f.Params)
	l.requests[string(f.ID)] = request{f.Method, session}
	switch f.Method {
	case acp.MethodInitialize:
		if r, err := acp.Decode[acp.InitializeRequest](f.Params); err == nil {
			l.can = r.ClientCapabilities
		}
	case acp.MethodSessionPrompt:
		l.turns[session]++
	case acp.MethodSessionLoad:
		l.loading[session]++
	}
}

// received lints a line of the agent.
func (l *linter) received(line []byte) {
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		l.problem("stdout is not JSON: %s", line)
		return
	}
	switch {
	case f.isRequest():
		l.keys(f.Params, f.Method)
		l.called(f)
	case f.Method != "":
		l.keys(f.Params, f.Method)
		l.notified(f)
	default:
		l.answered(f)
	}
}

func (l *linter) answered(f frame) {
	r := l.requests[string(f.ID)]
	delete(l.requests, string(f.ID))
	switch r.method {
	case acp.MethodSessionPrompt:
		l.turns[r.session]--
		if l.turns[r.session] == 0 {
			l.settled(r.session)
		}
	case acp.MethodSessionLoad:
		l.loading[r.session]--
	}
	if f.Error != nil {
		return
	}
	l.keys(f.Result, "the answer to "+r.method)
	l.settings(f.Result)
	switch r.method {
	case acp.MethodSessionNew:
		l.sessions[sessionIn(f.Result)] = true
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		l.sessions[r.session] = true
	}
}

// settled checks that no call is left open behind the last answer.
func (l *linter) settled(session string) {
	for id, status := range l.calls[session] {
		if !final(status) {
			l.problem("the turn ended with call %s still %s", id, status)
		}
	}
}

func final(status string) bool { return status == "completed" || status == "failed" }

// foreign are keys whose values are not the protocol's own.
var foreign = []string{"rawInput", "rawOutput", "_meta", "requestedSchema", "content", "data"}

var snake = regexp.MustCompile(`^[a-z]+_[a-z_]+$`)

// keys must be camelCase, and what is not there is left out, never null.
func (l *linter) keys(raw json.RawMessage, where string) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		l.walk(v, where)
	}
}

func (l *linter) walk(v any, where string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			l.walk(x, where)
		}
	case map[string]any:
		for k, x := range v {
			if snake.MatchString(k) {
				l.problem("the key %q in %s is not camelCase", k, where)
			}
			if slices.Contains(foreign, k) {
				continue
			}
			if x == nil {
				l.problem("%q is null in %s", k, where)
			}
			l.walk(x, where)
		}
	}
}

// settings: each shows one of its values.
func (l *linter) settings(raw json.RawMessage) {
	var v struct {
		Modes         *acp.SessionModeState `json:"modes"`
		ConfigOptions []struct {
			ID           string `json:"id"`
			CurrentValue any    `json:"currentValue"`
			Options      []struct {
				Value any `json:"value"`
			} `json:"options"`
		} `json:"configOptions"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	for _, o := range v.ConfigOptions {
		found := false
		for _, choice := range o.Options {
			found = found || choice.Value == o.CurrentValue
		}
		if !found {
			l.problem("the option %s is %v, which is not among its values", o.ID, o.CurrentValue)
		}
	}
	if v.Modes != nil && !slices.ContainsFunc([]acp.SessionMode(v.Modes.AvailableModes), func(m acp.SessionMode) bool { return m.ID == v.Modes.CurrentModeID }) {
		l.problem("the mode %s is not among the modes", v.Modes.CurrentModeID)
	}
}

// called checks a request of the agent against what the client offered.
func (l *linter) called(f frame) {
	allowed := true
	switch f.Method {
	case acp.MethodReadTextFile:
		allowed = l.can.FS.ReadTextFile
	case acp.MethodWriteTextFile:
		allowed = l.can.FS.WriteTextFile
	case acp.MethodTerminalCreate, acp.MethodTerminalOutput, acp.MethodTerminalWaitForExit, acp.MethodTerminalKill, acp.MethodTerminalRelease:
		allowed = l.can.Terminal
		l.terminal(f)
	case acp.MethodElicitationCreate:
		allowed = l.can.Elicitation != nil
		var params struct {
			ToolCallID string `json:"toolCallId"`
		}
		_ = json.Unmarshal(f.Params, &params) // the schema judges it
		l.asked(params.ToolCallID)
	case acp.MethodSessionRequestPermission:
		l.permission(f)
	}
	if !allowed {
		l.problem("%s without the capability", f.Method)
	}
}

func (l *linter) terminal(f frame) {
	if f.Method == acp.MethodTerminalCreate {
		l.creating[string(f.ID)] = true
		return
	}
	var params acp.ReleaseTerminalRequest
	if json.Unmarshal(f.Params, &params) != nil {
		return
	}
	if released, known := l.terminals[params.TerminalID]; !known || released {
		l.problem("%s of the terminal %q, which is not there", f.Method, params.TerminalID)
	}
	if f.Method == acp.MethodTerminalRelease {
		l.terminals[params.TerminalID] = true
	}
}

func (l *linter) permission(f frame) {
	var params struct {
		SessionID string `json:"sessionId"`
		ToolCall  struct {
			ToolCallID string `json:"toolCallId"`
			Name       string `json:"name"`
		} `json:"toolCall"`
		Options []acp.PermissionOption `json:"options"`
	}
	if err := json.Unmarshal(f.Params, &params); err != nil {
		l.problem("request_permission: %v", err)
		return
	}
	l.asked(params.ToolCall.ToolCallID)
	status := l.calls[params.SessionID][params.ToolCall.ToolCallID]
	asking := params.ToolCall.Name == "question" && status == "in_progress" // what it asks is no permission
	if status != "pending" && !asking {
		l.problem("request_permission for the call %s, which is %q, not pending", params.ToolCall.ToolCallID, status)
	}
	ids := map[string]bool{}
	for _, o := range params.Options {
		if o.Name == "" || ids[o.OptionID] {
			l.problem("request_permission with a wrong option %+v", o)
		}
		ids[o.OptionID] = true
	}
	if len(ids) == 0 {
		l.problem("request_permission without options")
	}
}

// update is a session update as far as it is linted.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	CallID    string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Status    string          `json:"status"`
	Content   json.RawMessage `json:"content"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
	Meta struct {
		Info   display `json:"terminal_info"`
		Output display `json:"terminal_output"`
		Exit   display `json:"terminal_exit"`
	} `json:"_meta"`
}

// display tells a terminal that the editor shows and does not run.
type display struct {
	ID  string `json:"terminal_id"`
	Dir string `json:"cwd"`
}

// ofTurns are the updates that belong to a turn.
var ofTurns = []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}

func (l *linter) notified(f frame) {
	switch {
	case f.Method == acp.MethodCancelRequest, f.Method == acp.MethodElicitationComplete:
		return
	case f.Method != acp.MethodSessionUpdate:
		l.problem("unknown notification %s", f.Method)
		return
	}
	var params struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var u update
	if json.Unmarshal(f.Params, &params) != nil || json.Unmarshal(params.Update, &u) != nil || u.Kind == "" {
		l.problem("a session/update that cannot be read: %s", f.Params)
		return
	}
	replaying := l.loading[params.SessionID] > 0
	if !l.sessions[params.SessionID] && !replaying {
		l.problem("%s before its session was answered", u.Kind)
	}
	if slices.Contains(ofTurns, u.Kind) && l.turns[params.SessionID] == 0 && !replaying {
		l.outside(u)
	}
	if u.Kind == "config_option_update" {
		l.settings(params.Update)
	}
	if strings.HasPrefix(u.Kind, "tool_call") {
		l.call(params.SessionID, u, replaying)
	}
}

// outside checks what comes outside a turn: of what belongs to turns only the card
// of a question, which must be asked.
func (l *linter) outside(u update) {
	_, known := l.between[u.CallID]
	switch {
	case u.Kind == "tool_call" && !final(u.Status):
		l.between[u.CallID] = false
	case u.Kind != "tool_call_update" || !known:
		l.problem("%s outside a turn", u.Kind)
	}
}

// asked takes note of the call that a question is about.
func (l *linter) asked(id string) {
	if _, ok := l.between[id]; ok {
		l.between[id] = true
	}
}

// call checks a tool call's way through its statuses.
func (l *linter) call(session string, u update, replaying bool) {
	calls := l.calls[session]
	if calls == nil {
		calls = map[string]string{}
		l.calls[session] = calls
	}
	before, known := calls[u.CallID]
	switch {
	case u.Status == "":
		l.problem("%s of %s without a status", u.Kind, u.CallID)
	case u.Kind == "tool_call" && u.Title == "":
		l.problem("the call %s has no title", u.CallID)
	case u.Kind == "tool_call" && known && !replaying && u.Meta.Info.ID == "":
		l.problem("the call %s is announced twice", u.CallID)
	case u.Kind == "tool_call_update" && !known:
		l.problem("an update of the call %s, which was never announced", u.CallID)
	case u.Kind == "tool_call_update" && final(before):
		l.problem("the call %s goes on after it was %s", u.CallID, before)
	case u.Kind == "tool_call_update" && before == "in_progress" && u.Status == "pending":
		l.problem("the call %s goes back from %s to %s", u.CallID, before, u.Status)
	}
	calls[u.CallID] = u.Status
	for _, loc := range u.Locations {
		if !filepath.IsAbs(loc.Path) {
			l.problem("a location that is not absolute: %s", loc.Path)
		}
	}
	l.display(u)
	l.shown(u)
}

// display checks what is told a terminal that is only shown.
func (l *linter) display(u update) {
	meta := u.Meta
	if meta == (update{}).Meta {
		return
	}
	if shows, _ := l.can.Meta["terminal_output"].(bool); !shows {
		l.problem("a terminal to an editor that shows none")
	}
	if meta.Info.ID != "" {
		l.terminals[meta.Info.ID] = true // nothing is to be released
		if u.Kind != "tool_call" || !filepath.IsAbs(meta.Info.Dir) {
			l.problem("the terminal %s begins in a %s, in the folder %q", meta.Info.ID, u.Kind, meta.Info.Dir)
		}
	}
	for _, d := range []display{meta.Output, meta.Exit} {
		if _, known := l.terminals[d.ID]; d.ID != "" && !known {
			l.problem("the terminal %s is told something before it is there", d.ID)
		}
	}
}

// shown checks what a call shows.
func (l *linter) shown(u update) {
	var list []struct {
		Type       string `json:"type"`
		Path       string `json:"path"`
		TerminalID string `json:"terminalId"`
	}
	_ = json.Unmarshal(u.Content, &list) // of a chunk it is another thing
	for i, c := range list {
		if c.Type == "diff" && !filepath.IsAbs(c.Path) {
			l.problem("a diff of a path that is not absolute: %s", c.Path)
		}
		if c.Type == "diff" && i > 0 && list[i-1].Type != "diff" {
			l.problem("the call %s does not show its diffs first", u.CallID)
		}
		if _, made := l.terminals[c.TerminalID]; c.Type == "terminal" && !made {
			l.problem("a terminal that nobody made: %s", c.TerminalID)
		}
	}
}

// ended checks what must hold when the connection is over.
func (l *linter) ended() {
	for id, r := range l.requests {
		l.problem("%s with id %s was never answered", r.method, id)
	}
	for id, released := range l.terminals {
		if !released {
			l.problem("the terminal %s was never released", id)
		}
	}
	for id, asked := range l.between {
		if !asked {
			l.problem("the call %s, outside a turn, asks nothing", id)
		}
		for _, calls := range l.calls {
			delete(calls, id) // an editor that is gone need not be told its end
		}
	}
	for session := range l.calls {
		l.settled(session)
	}
}
