package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// serverTool stands for a tool of a server.
type serverTool struct{ spec tools.Spec }

func (t serverTool) Spec() *tools.Spec { return &t.spec }
func (t serverTool) Prepare(context.Context, *tools.Workspace, json.RawMessage) (*tools.Action, error) {
	return nil, fmt.Errorf("%s is not called here", t.spec.ID)
}

// offering is a session with the built-in tools and n of a server.
func offering(t *testing.T, n int) *Session {
	t.Helper()
	all := tools.Builtin()
	for i := range n {
		all = append(all, serverTool{tools.Spec{ID: fmt.Sprintf("mcp__s__t%02d", i), Description: fmt.Sprintf("does thing %d", i),
			Parameters: json.RawMessage(`{"type":"object"}`), ReadOnly: i%2 == 0, AlwaysLoad: i == 7}})
	}
	registry, err := tools.NewRegistry(all...)
	if err != nil {
		t.Fatal(err)
	}
	m := New(Options{Tools: registry})
	s, err := m.newSession("sess_1", Request{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.free)
	return s
}

func names(s *Session) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, tool := range s.offeredLocked() {
		ids = append(ids, tool.Name)
	}
	return ids
}

func TestFewToolsAreAllOffered(t *testing.T) {
	s := offering(t, 10)
	got := names(s)
	if !slices.Contains(got, "mcp__s__t03") || slices.Contains(got, toolSearch) || s.deferredIndexLocked() != "" {
		t.Errorf("got %v", got)
	}
}

func TestManyToolsAreKeptBackUntilFound(t *testing.T) {
	s := offering(t, 70)
	got := names(s)
	if !slices.Contains(got, toolSearch) || !slices.Contains(got, "bash") || !slices.Contains(got, "mcp__s__t07") || slices.Contains(got, "mcp__s__t08") {
		t.Errorf("got %v", got)
	}
	index := s.deferredIndexLocked()
	if !strings.Contains(index, "mcp__s__t08") || strings.Contains(index, "mcp__s__t07") {
		t.Errorf("index %q", index)
	}
	s.workspace.Catalog.Bring("mcp__s__t30", "mcp__s__t08", "mcp__s__t30", "bash", "nonsense")
	more := names(s)
	if !slices.Equal(more, append(slices.Clone(got), "mcp__s__t30", "mcp__s__t08")) {
		t.Errorf("then %v", more)
	}
	if index != s.deferredIndexLocked() {
		t.Error("the prompt changed")
	}
	for _, spec := range s.workspace.Catalog.Deferred() {
		if spec.ID == "mcp__s__t08" || !strings.HasPrefix(spec.ID, tools.MCPPrefix) {
			t.Errorf("%s is kept back", spec.ID)
		}
	}
}

func TestKeptBackToolsFollowModeAndRules(t *testing.T) {
	s := offering(t, 70)
	if err := s.SetMode(permission.Plan); err != nil {
		t.Fatal(err)
	}
	s.rules = []permission.Rule{{Permission: "grep", Action: permission.Deny}}
	s.cfg().ToolSearchThreshold = 0
	s.workspace.Catalog.Bring("mcp__s__t01")
	if got := names(s); slices.Contains(got, "mcp__s__t01") || slices.Contains(got, "write") || slices.Contains(got, "grep") || !slices.Contains(got, toolSearch) {
		t.Errorf("got %v", got)
	}
	for _, spec := range s.workspace.Catalog.Deferred() {
		if !spec.ReadOnly {
			t.Errorf("%s is kept back in plan mode", spec.ID)
		}
	}
}

func TestSameToolsSameBytes(t *testing.T) {
	encode := func() string {
		s := offering(t, 70)
		s.mu.Lock()
		defer s.mu.Unlock()
		return string(mustJSON(s.offeredLocked())) + s.deferredIndexLocked()
	}
	if once, again := encode(), encode(); once != again {
		t.Error("two sessions are offered the same tools in different ways")
	}
}

func TestNothingIsKeptBackThatCannotBeFound(t *testing.T) {
	s := offering(t, 70)
	s.rules = []permission.Rule{{Permission: toolSearch, Action: permission.Deny}}
	if got := names(s); !slices.Contains(got, "mcp__s__t08") || s.deferredIndexLocked() != "" {
		t.Errorf("got %v", got)
	}
}

// search runs tool_search in a turn of the session, as the model calls it.
func search(t *testing.T, s *Session, queries ...string) {
	t.Helper()
	turn := &Turn{session: s, failures: map[string]int{}}
	turn.ctx, turn.cancel = context.WithCancelCause(t.Context())
	defer turn.cancel(nil)
	for _, query := range queries {
		c := turn.newCall(toolSearch)
		c.rec.Args = string(mustJSON(map[string]any{"query": query, "max_results": 3}))
		rec := s.newRecorder()
		turn.runCalls(turn.ctx, &reply{rec: rec, calls: []*call{c}})
		rec.finish(turn.ctx, readerBoth)
	}
}

// What tool_search brought is there again after a load, in the same order, and the
// model is given the same bytes.
func TestToolsThatWereBroughtComeBackWithTheSession(t *testing.T) {
	offered := func(s *Session) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return string(mustJSON(s.offeredLocked())) + s.deferredIndexLocked()
	}
	s := offering(t, 70)
	s.sessions.database = newDatabase(t.TempDir())
	defer s.sessions.database.close()
	s.ends.Sink = &told{}
	turn := &Turn{session: s, prompt: []Content{Text("find tools")}}
	turn.keepPrompt(t.Context())
	before := offered(s)
	search(t, s, "thing 31", "t05", "nothing of the kind", "thing 31", "thing 8")
	if len(s.brought) < 3 || offered(s) == before {
		t.Fatalf("brought %v", s.brought)
	}
	s.release() // as a restart does
	s.release = nil
	again, err := s.sessions.Load(t.Context(), s.id, Request{Dir: s.request.Dir, Editor: editorOf{s.ends}}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer again.free()
	if !slices.Equal(again.brought, s.brought) {
		t.Errorf("brought %v, want %v", again.brought, s.brought)
	}
	if offered(again) != offered(s) {
		t.Error("the model is offered something else after a load")
	}
}

// editorOf is an editor that has these ends.
type editorOf struct{ ends Ends }

func (e editorOf) Connect(string, *workspace.Disk, *tools.ExecShell) Ends { return e.ends }

// A stored search that failed, or holds something else, brings nothing.
func TestBroughtInOfOddRecords(t *testing.T) {
	with := func(status Status, metadata any) []recorded {
		c := &callRecord{Tool: toolSearch, Status: status, Output: &tools.Envelope{Metadata: tools.Metadata{Extra: map[string]any{"matches": metadata}}}}
		return []recorded{{parts: []recordedPart{{}, {call: &callRecord{Tool: toolSearch, Status: Completed}}, {call: c}}}}
	}
	good := []any{map[string]any{"id": "a"}, "b", map[string]any{"id": 7}, map[string]any{}, map[string]any{"id": "a"}, map[string]any{"id": "c"}}
	for _, c := range []struct {
		records []recorded
		want    []string
	}{
		{with(Completed, good), []string{"a", "c"}},
		{with(Failed, good), nil},
		{with(Completed, "a"), nil},
		{with(Completed, nil), nil},
		{nil, nil},
	} {
		if got := broughtIn(c.records); !slices.Equal(got, c.want) {
			t.Errorf("%+v brings %v, want %v", c.records, got, c.want)
		}
	}
}
