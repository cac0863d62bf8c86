package acp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/acp"
)

// hanging is a model that takes every request and never ends its reply.
func hanging(t testing.TB) *mockModel {
	m := startMockModel(t)
	m.always = []mockPart{{Reasoning: "Hm."}, {Hang: true}}
	return m
}

// stopReason is that of a prompt's answer.
func stopReason(t testing.TB, f frame) string {
	t.Helper()
	var r acp.PromptResponse
	if err := json.Unmarshal(f.Result, &r); err != nil || f.Error != nil {
		t.Fatalf("the prompt was answered %s %s", f.Error, f.Result)
	}
	return string(r.StopReason)
}

// A cancel on the line behind its prompt finds it, however quickly it comes.
func TestCancelOnTheNextLineFindsThePrompt(t *testing.T) {
	runs, perSession := 2000, 100
	if testing.Short() {
		runs = 200
	}
	p := newPlace(t)
	p.useModel(hanging(t))
	e := p.start(t)
	session := e.open(p.Dir)
	for i := range runs {
		if i%perSession == perSession-1 {
			e.request(acp.MethodSessionDelete, map[string]any{"sessionId": session}, nil)
			session = e.newSession(p.Dir)
		}
		id := fmt.Sprintf("run-%d", i)
		e.send(
			mustJSON(t, map[string]any{"jsonrpc": "2.0", "id": id, "method": acp.MethodSessionPrompt, "params": prompt(session, "think")}),
			mustJSON(t, map[string]any{"jsonrpc": "2.0", "method": acp.MethodSessionCancel, "params": map[string]any{"sessionId": session}}),
		)
		if got := stopReason(t, e.answerTo(mustJSON(t, id), nil)); got != "cancelled" {
			t.Fatalf("run %d of %d ended as %s", i, runs, got)
		}
	}
	e.end()
}

// A cancel answers the running prompt and all that wait, and so does a close,
// which is answered behind them.
func TestCancelAndCloseAnswerAllPrompts(t *testing.T) {
	p := newPlace(t)
	p.useModel(hanging(t))
	e := p.start(t)
	session := e.open(p.Dir)
	for _, end := range []string{acp.MethodSessionCancel, acp.MethodSessionClose} {
		var ids []string
		for i := range 3 {
			ids = append(ids, mustJSON(t, fmt.Sprint(end, i)))
			e.send(`{"jsonrpc":"2.0","id":` + ids[i] + `,"method":"session/prompt","params":` + mustJSON(t, prompt(session, "think")) + `}`)
		}
		params := map[string]any{"sessionId": session}
		var lines [][]byte
		if end == acp.MethodSessionCancel {
			e.send(mustJSON(t, map[string]any{"jsonrpc": "2.0", "method": end, "params": params}))
		} else {
			e.request(end, params, func(line []byte) { lines = append(lines, line) })
		}
		for len(ids) > 0 {
			line := []byte(nil)
			if end == acp.MethodSessionCancel {
				line = e.next()
			} else if len(lines) > 0 {
				line, lines = lines[0], lines[1:]
			} else {
				t.Fatalf("the close was answered before the prompts %v", ids)
			}
			var f frame
			if err := json.Unmarshal(line, &f); err != nil {
				t.Fatal(err)
			}
			if f.isAnswer() {
				if got := stopReason(t, f); got != "cancelled" {
					t.Errorf("%s: the prompt %s ended as %s", end, f.ID, got)
				}
				ids = slices.DeleteFunc(ids, func(id string) bool { return id == string(f.ID) })
			}
		}
	}
	e.end()
}

// What a session offers is told after the answer that opened it: editors drop
// what they cannot place.
func TestAnnouncementsFollowTheAnswer(t *testing.T) {
	m := startMockModel(t, parseReplies(t, `[{"text":"Hello."}]`)...)
	m.models = []string{"mock", "mock-2"}
	p := newPlace(t)
	p.useModel(m)
	e := p.start(t)
	e.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1}, nil)

	var early []string
	note := func(line []byte) {
		if kind := updateKind(line); kind != "" {
			early = append(early, kind)
		}
	}
	opened := e.request(acp.MethodSessionNew, map[string]any{"cwd": p.Dir, "mcpServers": []any{}}, note)
	session := sessionIn(opened.Result)
	if len(early) > 0 {
		t.Errorf("before the answer to session/new came %v", early)
	}
	e.announced()
	if list := e.until("config_option_update"); !strings.Contains(string(list), "openai-compatible/mock-2") {
		t.Errorf("the models of the provider are not among the options: %s", list)
	}
	e.request(acp.MethodSessionPrompt, prompt(session, "hello"), nil)

	for method, replayed := range map[string][]string{
		acp.MethodSessionLoad:   {"user_message_chunk", "agent_message_chunk"},
		acp.MethodSessionResume: nil,
	} {
		early = nil
		e.request(method, map[string]any{"sessionId": session, "cwd": p.Dir, "mcpServers": []any{}}, note)
		if !slices.Equal(early, replayed) {
			t.Errorf("before the answer to %s came %v, want %v", method, early, replayed)
		}
		e.announced()
	}
	e.end()
}

// Two processes may look at one session, and one of them works in it, from its
// first prompt until it closes it.
func TestOneProcessDrivesASession(t *testing.T) {
	m := startMockModel(t, parseReplies(t, `
		[{"text":"One"},{"hang":true}]
		[{"text":"Two."}]
	`)...)
	p := newPlace(t)
	p.useModel(m)
	first, second := p.start(t), p.start(t)
	session := first.open(p.Dir)
	first.send(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":` + mustJSON(t, prompt(session, "go")) + `}`)
	first.until("agent_message_chunk")

	second.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1}, nil)
	here := map[string]any{"sessionId": session, "cwd": p.Dir, "mcpServers": []any{}}
	if f := second.request(acp.MethodSessionLoad, here, nil); f.Error != nil {
		t.Errorf("a session of another process cannot be loaded: %s", f.Error)
	}
	f := second.request(acp.MethodSessionPrompt, prompt(session, "go"), nil)
	if !strings.Contains(string(f.Error), "process") {
		t.Errorf("the second process was answered %s %s, want an error that names the other", f.Error, f.Result)
	}
	first.request(acp.MethodSessionClose, map[string]any{"sessionId": session}, nil)
	if f := second.request(acp.MethodSessionPrompt, prompt(session, "go"), nil); stopReason(t, f) != "end_turn" {
		t.Errorf("after the close the second process was answered %s %s", f.Error, f.Result)
	}
	if last := m.Requests()[1]; !strings.Contains(last, "The user interrupted this reply") {
		t.Errorf("the second process does not know what the first did: %s", withoutTools(last))
	}
	first.end()
	second.end()
}

// updateKind is the kind of an update, where a line is one.
func updateKind(line []byte) string {
	var m struct {
		Params struct {
			Update struct {
				Kind string `json:"sessionUpdate"`
			} `json:"update"`
		} `json:"params"`
	}
	_ = json.Unmarshal(line, &m) // of another form: none
	return m.Params.Update.Kind
}

// until reads up to an update of a kind.
func (e *peer) until(kind string) []byte {
	e.t.Helper()
	for {
		line := e.next()
		if line == nil {
			e.t.Fatalf("%s did not come", kind)
		}
		if updateKind(line) == kind {
			return line
		}
	}
}

// announced reads the announcement of the commands, each of which has a name
// without a slash.
func (e *peer) announced() {
	e.t.Helper()
	var m struct {
		Params struct {
			Update acp.AvailableCommandsUpdate `json:"update"`
		} `json:"params"`
	}
	line := e.until("available_commands_update")
	if err := json.Unmarshal(line, &m); err != nil {
		e.t.Fatal(err)
	}
	if list := m.Params.Update.AvailableCommands; len(list) == 0 || strings.Contains(list[0].Name, "/") {
		e.t.Errorf("the commands are %s", line)
	}
}

// However the connection ends and whatever runs then, all is answered, Serve
// returns soon, and no goroutine of ours is left behind.
func TestServeLeavesNothingBehind(t *testing.T) {
	if left := leftGoroutines(); len(left) > 0 {
		t.Fatalf("before the test there are\n%s", strings.Join(left, "\n\n"))
	}
	edit := `[{"tool":"edit","args":{"path":"a.txt","old_string":"one","new_string":"two"}}]`
	sleep := `[{"tool":"bash","args":{"command":"sleep 600 & wait"}}]`
	for _, c := range []struct {
		name, script string
		ready        string // the line that says that the turn is where it is to be broken off
	}{
		{"idle", "", ""},
		{"in a stream", `[{"text":"Hm."},{"hang":true}]`, "agent_message_chunk"},
		{"in a question", edit, "request_permission"},
		{"in a command", sleep, "in_progress"},
	} {
		for _, end := range []string{"end of input", "end of context"} {
			t.Run(c.name+", "+end, func(t *testing.T) {
				if c.script == sleep && runtime.GOOS == "windows" {
					t.Skip("the command is one of Unix systems")
				}
				breakOff(t, c.script, c.ready, end == "end of context")
			})
		}
	}
}

func breakOff(t *testing.T, script, ready string, byContext bool) {
	m := startMockModel(t, parseReplies(t, script)...)
	p := newPlace(t)
	p.useModel(m)
	p.write(t, p.Dir+"/a.txt", "one\n")
	e := p.start(t)
	session := e.open(p.Dir)
	if ready == "in_progress" {
		e.request(acp.MethodSessionSetMode, map[string]any{"sessionId": session, "modeId": "bypassPermissions"}, nil)
	}
	if ready != "" {
		e.send(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":` + mustJSON(t, prompt(session, "go")) + `}`)
		for pattern := regexp.MustCompile(ready); !pattern.Match(e.next()); {
		}
	}
	if len(ourGoroutines()) == 0 {
		t.Fatal("the test does not see the agent's goroutines")
	}
	begun := time.Now()
	var rest [][]byte
	if byContext {
		e.cancel()
		rest = e.drain()
	} else {
		rest = e.end()
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("Serve returned after %v", took)
	}
	if ready != "" {
		answered := slices.ContainsFunc(rest, func(line []byte) bool {
			var f frame
			return json.Unmarshal(line, &f) == nil && f.isAnswer() && stopReason(t, f) == "cancelled"
		})
		if !answered {
			t.Errorf("the prompt was not answered; this came: %q", rest)
		}
	}
	if left := leftGoroutines(); len(left) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(left, "\n\n"))
	}
}

// An editor that reads nothing is not waited for longer than the second that
// the agent has to end.
func TestServeEndsWhereNobodyReads(t *testing.T) {
	p := newPlace(t)
	_, unread := io.Pipe()
	begun := time.Now()
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	if err := acp.Serve(t.Context(), in, unread, acp.Options{Sessions: p.sessions(t)}); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("Serve returned after %v", took)
	}
}

// leftGoroutines are those of ours that do not end. One that has nothing more to
// do may not have been given the time to return.
func leftGoroutines() []string {
	left := ourGoroutines()
	for deadline := time.Now().Add(patience); len(left) > 0 && time.Now().Before(deadline); left = ourGoroutines() {
		runtime.Gosched()
	}
	return left
}

// ourGoroutines are the stacks of the goroutines that run code of ours, but for
// that of tests.
func ourGoroutines() (stacks []string) {
	buf := make([]byte, 1<<20)
	for len(buf) < 64<<20 {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(stack, "github.com/acp-agent/acp-agent/") && !strings.Contains(stack, "/acp_test.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
