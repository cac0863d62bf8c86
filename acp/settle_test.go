package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/session/permission"
)

// standing is a turn that waits for the answer to a permission request.
type standing struct {
	*peer
	place   *place
	session string
	asks    string // the id of the request
}

// standsOpen has the model make a call, in a mode, and waits until it is asked about.
func standsOpen(t *testing.T, mode permission.Mode, model string) *standing {
	t.Helper()
	p, _, e, session := delegation(t, model, nil)
	p.write(t, filepath.Join(p.Dir, "src", "a.txt"), "one\n")
	s := &standing{e, p, session, ""}
	if mode != permission.Default {
		s.setMode(mode)
	}
	e.send(mustJSON(t, map[string]any{"jsonrpc": "2.0", "id": "turn", "method": acp.MethodSessionPrompt, "params": prompt(session, "go")}))
	s.asks = e.untilAsked()
	return s
}

func (s *standing) modeLine(mode permission.Mode) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"mode","method":"session/set_mode","params":{"sessionId":%q,"modeId":%q}}`, s.session, mode)
}

func (s *standing) answerLine(option string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, s.asks, option)
}

func (s *standing) setMode(mode permission.Mode) {
	s.send(s.modeLine(mode))
	s.answerTo(`"mode"`, nil)
}

// ends reads up to the end of the turn, and to all of want, in any order.
func (s *standing) ends(want ...string) (all string) {
	s.t.Helper()
	ended := false
	for !ended || len(want) > 0 {
		line := s.next()
		if line == nil {
			s.t.Fatalf("the output ended before %q", want)
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			s.t.Fatal(err)
		}
		if f.Method == acp.MethodSessionRequestPermission {
			s.t.Fatalf("it asks again: %s", line)
		}
		ended = ended || f.isAnswer() && string(f.ID) == `"turn"`
		all += string(line) + "\n"
		for i, w := range want {
			if strings.Contains(string(line), w) {
				want = append(want[:i:i], want[i+1:]...)
				break
			}
		}
		if ended && len(want) > 0 && want[0] != `"id":"mode"` {
			s.t.Fatalf("the turn ended without %q:\n%s", want, all)
		}
	}
	return all
}

// holds is the content of the file that the call changes.
func (s *standing) holds(want string) {
	s.t.Helper()
	if got, err := os.ReadFile(filepath.Join(s.place.Dir, "src", "a.txt")); err != nil || string(got) != want+"\n" {
		s.t.Errorf("the file holds %q, %v; want %q", got, err, want)
	}
}

const oneEdit = `[{"tool":"edit","args":{"path":"src/a.txt","old_string":"one","new_string":"two"}}]
	[{"text":"Done."}]`

// A mode that allows or refuses the call settles the question about it: the request is
// withdrawn, and a late answer changes nothing.
func TestAModeSettlesAnOpenQuestion(t *testing.T) {
	for _, tt := range []struct {
		mode         permission.Mode
		status, file string
	}{
		{permission.Plan, `"status":"failed"`, "one"},
		{permission.DontAsk, `"status":"failed"`, "one"},
		{permission.BypassPermissions, `"status":"completed"`, "two"},
	} {
		s := standsOpen(t, permission.Default, oneEdit)
		s.send(s.modeLine(tt.mode))
		s.ends(`"$/cancel_request","params":{"requestId":`+s.asks, tt.status, `"id":"mode"`)
		s.send(s.answerLine("allow-once"))
		s.holds(tt.file)
		s.end()
		s.holds(tt.file)
	}
}

// A mode in which the call is still asked about leaves the question alone.
func TestAModeThatAsksTooLeavesTheQuestion(t *testing.T) {
	s := standsOpen(t, permission.Default, oneEdit)
	s.setMode(permission.AcceptEdits) // asks like default, as the folder is not trusted
	s.answer(s.asks, "allow-once")
	if all := s.ends(`"status":"completed"`); strings.Contains(all, "cancel_request") {
		t.Error(all)
	}
	s.holds("two")
	s.end()
}

// An answer that comes with the change counts as far as the new mode lets it: a no
// holds against a mode that allows, and a yes not against one that forbids.
func TestAnswersBesideAChangeOfTheMode(t *testing.T) {
	for range 20 {
		s := standsOpen(t, permission.Default, oneEdit)
		s.send(s.answerLine("reject-once"), s.modeLine(permission.BypassPermissions))
		s.ends(`"status":"failed"`, `"id":"mode"`)
		s.holds("one")
		s.end()
		s = standsOpen(t, permission.Default, oneEdit)
		s.send(s.modeLine(permission.Plan), s.answerLine("allow-always-session-0"))
		s.ends(`"status":"failed"`, `"id":"mode"`)
		s.holds("one")
		s.setMode(permission.Default)
		s.send(mustJSON(t, map[string]any{"jsonrpc": "2.0", "id": "turn", "method": acp.MethodSessionPrompt, "params": prompt(s.session, "/permissions")}))
		if all := s.ends("There are no rules"); strings.Contains(all, "answered") {
			t.Error("what was refused is allowed for good:", all)
		}
		s.end()
	}
}

// A plan that waits while the user ends plan mode waits no longer, and the mode is the
// user's; plan mode set once more leaves it alone.
func TestAModeSettlesAPlan(t *testing.T) {
	const plan = `[{"tool":"plan_exit","args":{"plan":"1. change it"}}]
		[{"tool":"edit","args":{"path":"src/a.txt","old_string":"one","new_string":"two"}}]
		[{"text":"Done."}]`
	s := standsOpen(t, permission.Plan, plan)
	s.setMode(permission.Plan)
	s.send(s.modeLine(permission.DontAsk))
	s.ends(`"$/cancel_request"`, "nobody answered this plan", "the mode asks nothing", `"id":"mode"`)
	s.holds("one")
	s.end()

	s = standsOpen(t, permission.Plan, plan)
	s.setMode(permission.Plan)
	s.answer(s.asks, "keep-planning")
	s.ends("stays in plan mode", "plan mode only reads")
	s.holds("one")
	s.end()
}

// What another process takes back or denies holds in the sessions that are open.
func TestGrantsAreThoseOfNow(t *testing.T) {
	rule := func(a permission.Action) []permission.Rule {
		return []permission.Rule{{Permission: "edit", Pattern: "src/**", Action: a}}
	}
	p, _, e, session := delegation(t, `[{"tool":"write","args":{"path":"src/1","content":"x"}}]
		[{"text":"One."}]
		[{"tool":"write","args":{"path":"src/2","content":"x"}}]
		[{"text":"Two."}]
		[{"tool":"write","args":{"path":"src/3","content":"x"}}]
		[{"text":"Three."}]
		[{"tool":"write","args":{"path":"src/4","content":"x"}}]
		[{"text":"Four."}]`, nil)
	s := &standing{e, p, session, ""}
	if err := os.Mkdir(filepath.Join(p.Dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	turn := func() {
		s.send(mustJSON(t, map[string]any{"jsonrpc": "2.0", "id": "turn", "method": acp.MethodSessionPrompt, "params": prompt(session, "go")}))
	}
	e.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1, "clientInfo": map[string]any{"name": "zed", "version": "1"}}, nil) // which shows several options of a kind
	turn()
	s.answer(s.untilAsked(), "allow-always-project-0")
	s.ends(`"status":"completed"`)
	turn()
	s.ends(`"status":"completed"`) // unasked
	if removed, err := p.Paths.RemoveGrants(p.Dir, rule(permission.Allow)); err != nil || !removed {
		t.Fatal(removed, err)
	}
	turn()
	asks := s.untilAsked()
	if err := p.Paths.AddGrants(p.Dir, rule(permission.Deny)); err != nil {
		t.Fatal(err)
	}
	s.answer(asks, "allow-once")
	s.ends("is denied by the rule")
	p.write(t, p.Paths.GrantsFile(), "{oops") // what it forbade before stays forbidden
	turn()
	s.ends("is denied by the rule")
	s.end()
	for i, want := range []bool{true, true, false, false} {
		if _, err := os.Stat(filepath.Join(p.Dir, "src", fmt.Sprint(i+1))); (err == nil) != want {
			t.Errorf("file %d: %v", i+1, err)
		}
	}
}
