package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
)

// delegation is an agent whose model follows a script, and so do its sub-agents:
// each by the first word of its task.
// The session is that of an editor whose user is there between turns, too.
func delegation(t *testing.T, model string, children map[string]string) (p *place, m *mockModel, e *peer, session string) {
	t.Helper()
	p = newPlace(t)
	p.write(t, p.Paths.UserFile(), `{"retry": {"baseDelayMs": 1, "maxDelayMs": 1}}`)
	m = startMockModel(t, parseReplies(t, model)...)
	m.others = map[string][][]mockPart{}
	for word, script := range children {
		m.others[word] = parseReplies(t, script)
	}
	p.useModel(m)
	e = p.start(t)
	e.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1, "clientInfo": map[string]any{"name": "test", "version": "1"}}, nil)
	return p, m, e, e.newSession(p.Dir)
}

// untilAsked reads up to a permission request, whose id it returns.
func (e *peer) untilAsked() string {
	e.t.Helper()
	for {
		var f frame
		line := e.next()
		if line == nil {
			e.t.Fatal("the output ended before anything was asked")
		}
		if err := json.Unmarshal(line, &f); err != nil {
			e.t.Fatal(err)
		}
		if f.Method == acp.MethodSessionRequestPermission {
			return string(f.ID)
		}
	}
}

// answer answers a permission request with an option.
func (e *peer) answer(id, option string) {
	e.t.Helper()
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"%s"}}}`, id, option))
}

// The end of the editor ends a sub-agent in the background that waits for an
// answer, and what it asked for is not done.
func TestEndWhileASubAgentAsks(t *testing.T) {
	p, m, e, session := delegation(t, `[{"tool":"task","args":{"subagent_type":"general","prompt":"CHILD work","background":true}}]
		[{"text":"It works."}]`, map[string]string{"CHILD": `[{"gate":"ask"},{"tool":"write","args":{"path":"made","content":"x"}}]`})
	e.request(acp.MethodSessionPrompt, prompt(session, "delegate"), nil)
	close(m.gate("ask"))
	e.untilAsked()
	e.end()
	if _, err := os.Stat(filepath.Join(p.Dir, "made")); err == nil {
		t.Error("what was not allowed was done")
	}
	if n := len(m.Requests()); n != 3 {
		t.Errorf("%d requests to the model, want 3", n)
	}
}

// Sub-agents side by side: ten at once and no more, each card shows its own's
// steps, and the results are in the order of the calls. That one of them asks
// holds up nobody else.
func TestManySubAgentsAtOnce(t *testing.T) {
	const n = 12
	var calls []string
	children := map[string]string{}
	for i := range n {
		calls = append(calls, fmt.Sprintf(`{"tool":"task","args":{"subagent_type":"general","prompt":"C%02d go"}}`, i))
		step := fmt.Sprintf(`{"tool":"glob","args":{"pattern":"step%02d"}}`, i)
		if i == 3 {
			step = `{"tool":"write","args":{"path":"made","content":"x"}}`
		}
		children[fmt.Sprintf("C%02d", i)] = fmt.Sprintf(`[{"gate":"go"},%s]
			[{"text":"report %02d"}]`, step, i)
	}
	_, m, e, session := delegation(t, "["+strings.Join(calls, ",")+"]\n"+`[{"text":"All done."}]`, children)
	id := mustJSON(t, "many")
	e.send(mustJSON(t, map[string]any{"jsonrpc": "2.0", "id": "many", "method": acp.MethodSessionPrompt, "params": prompt(session, "delegate")}))
	m.wait(1 + 10)
	close(m.gate("go"))
	cards, asked := map[string]string{}, false
	take := func(line []byte) {
		var f frame
		var params struct{ Update update }
		if json.Unmarshal(line, &f) != nil || json.Unmarshal(f.Params, &params) != nil {
			t.Fatalf("unreadable: %s", line)
		}
		u := params.Update
		switch {
		case f.Method == acp.MethodSessionRequestPermission:
			m.wait(1 + 10 + 9) // the others go on
			asked = true
			e.answer(string(f.ID), "allow-once")
		case u.Kind == "tool_call":
			cards[u.CallID] = u.Title
		case u.Kind == "tool_call_update" && strings.HasPrefix(cards[u.CallID], "general: C"):
			mine := cards[u.CallID][len("general: C"):][:2]
			for i := range n {
				if other := fmt.Sprintf("%02d", i); other != mine && strings.Contains(string(u.Content), "step"+other) {
					t.Errorf("the card of %s shows a step of %s: %s", mine, other, u.Content)
				}
			}
			if u.Status == "completed" && mine != "03" && !strings.Contains(string(u.Content), "step"+mine) {
				t.Errorf("the card of %s does not show its step: %s", mine, u.Content)
			}
		}
	}
	if got := stopReason(t, e.answerTo(id, take)); got != "end_turn" || !asked {
		t.Errorf("the turn ended as %s, asked: %t", got, asked)
	}
	if peak := m.Peak(); peak != 10 {
		t.Errorf("%d sub-agents at once, want 10", peak)
	}
	last := m.Requests()[len(m.Requests())-1]
	at := -1
	for i := range n {
		next := strings.Index(last, fmt.Sprintf("report %02d", i))
		if next <= at {
			t.Errorf("the report of %d is not behind that of the call before it", i)
		}
		at = next
	}
	e.end()
}

// An "always" that is answered to a sub-agent is stored where it belongs and holds in
// the whole session: neither a sibling that waits with the same question is asked,
// nor their parent; of a project's, the next session is not either.
func TestAlwaysOfASubAgentHoldsForAll(t *testing.T) {
	const command = `[{"tool":"bash","args":{"command":"go vet ./none"}}]`
	for scope, want := range map[string]int{"session": 2, "project": 1} {
		child := command + "\n" + `[{"text":"vetted"}]`
		p, m, e, session := delegation(t, `[{"tool":"task","args":{"subagent_type":"general","prompt":"ONE vet"}},{"tool":"task","args":{"subagent_type":"general","prompt":"TWO vet"}}]
			`+command+`
			[{"text":"All vetted."}]
			`+command+`
			[{"text":"Again."}]`, map[string]string{"ONE": child, "TWO": child})
		e.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1, "clientInfo": map[string]any{"name": "zed", "version": "1"}}, nil)
		asked := 0
		take := func(line []byte) {
			var f frame
			if json.Unmarshal(line, &f) != nil || f.Method != acp.MethodSessionRequestPermission {
				return
			}
			asked++
			e.answer(string(f.ID), "allow-always-"+scope+"-0")
		}
		e.request(acp.MethodSessionPrompt, prompt(session, "delegate"), take)
		if asked != 1 {
			t.Errorf("%s: %d questions, want one", scope, asked)
		}
		e.request(acp.MethodSessionPrompt, prompt(e.newSession(p.Dir), "again"), take)
		if asked != want || m.Left() != 0 {
			t.Errorf("%s: in the end %d questions, want %d; %d replies left", scope, asked, want, m.Left())
		}
		e.end()
	}
}

// Sub-agents that were at work when the agent ended are in no list; their parent
// loads with its cards at their ends, and a delete takes its sub-agents, too.
func TestSubAgentsGoWithTheirParent(t *testing.T) {
	p, m, e, session := delegation(t, `[{"tool":"task","args":{"subagent_type":"general","prompt":"CHILD work","background":true}},{"tool":"task","args":{"subagent_type":"explore","prompt":"OTHER work"}}]
		[{"text":"Off they go."}]`, map[string]string{"CHILD": `[{"hang":true}]`, "OTHER": `[{"text":"seen"}]`})
	var children []string
	note := func(line []byte) {
		if _, rest, ok := strings.Cut(string(line), `"session":"`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			children = append(children, id)
		}
	}
	e.request(acp.MethodSessionPrompt, prompt(session, "delegate"), note)
	m.wait(4)
	e.end()
	if len(children) != 2 {
		t.Fatalf("sub-agents %q", children)
	}
	e = p.start(t)
	e.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1}, nil)
	var list acp.ListSessionsResponse
	if err := json.Unmarshal(e.request(acp.MethodSessionList, map[string]any{}, nil).Result, &list); err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionID != session {
		t.Errorf("the list is %+v, %v", list, err)
	}
	load := func(id string) frame {
		return e.request(acp.MethodSessionLoad, map[string]any{"sessionId": id, "cwd": p.Dir, "mcpServers": []any{}}, nil)
	}
	for _, id := range append(children, session) {
		if f := load(id); f.Error != nil {
			t.Errorf("%s does not load: %s", id, f.Error)
		}
	}
	for _, id := range append(children, session) {
		if id != session {
			e.request(acp.MethodSessionClose, map[string]any{"sessionId": id}, nil)
			continue
		}
		e.request(acp.MethodSessionDelete, map[string]any{"sessionId": id}, nil)
	}
	for _, id := range children {
		if f := load(id); !strings.Contains(string(f.Error), "-32002") {
			t.Errorf("%s is still there: %s %s", id, f.Error, f.Result)
		}
	}
	e.end()
}
