package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHooks(t *testing.T) {
	c, told := loaded(t, `{"hooks": {
  "preToolUse": [
    {"command": "a", "match": "bash | mcp__*", "timeoutMs": 5, "failClosed": true},
    {"command": "b", "match": ["Edit"]},
    {"command": "e", "match": "Read,Write"}, {"command": "c", "match": "mcp__.*"}, {"command": "c", "match": ["Edit|Write"]},
    {"command": " "}, {"match": "x"}, 3, {"command": "c", "match": "["}, {"command": "c", "match": 1}, {"command": "c", "timeoutMs": 0}, {"command": "c", "timeoutMs": 9223372036854775807}
  ],
  "sessionStart": {}, "preCompact": [{"command": "d"}]
}}`)
	hooks := c.Hooks[PreToolUse]
	if len(hooks) != 3 || hooks[0].Timeout != 5*time.Millisecond || !hooks[0].FailClosed || hooks[1].Timeout != defaultHookTimeout || hooks[1].FailClosed {
		t.Errorf("%+v", hooks)
	}
	for _, want := range []string{"needs a command", "needs a command", "a hook must be", "no glob", "tool's id is like", "tool's id is like", "match must be", "timeoutMs must be", "timeoutMs must be", "must be a list", "nothing is compacted"} {
		i := slices.IndexFunc(told, func(s string) bool { return strings.Contains(s, want) })
		if i < 0 {
			t.Errorf("not told %q: %q", want, told)
			continue
		}
		told = slices.Delete(told, i, i+1)
	}
	if len(told) > 0 {
		t.Errorf("also told: %q", told)
	}
	matches := []struct {
		hook  Hook
		names []string
		want  bool
	}{
		{hooks[0], []string{"bash", "Bash"}, true},
		{hooks[0], []string{"mcp__a__b"}, true},
		{hooks[0], []string{"edit", "Edit"}, false},
		{hooks[1], []string{"edit", "Edit"}, true},
		{hooks[1], []string{"edits"}, false},
		{hooks[2], []string{"write", "Write"}, true},
		{hooks[2], []string{"edit", "Edit"}, false},
		{Hook{}, nil, true},
	}
	for _, tt := range matches {
		if got := tt.hook.Matches(tt.names...); got != tt.want {
			t.Errorf("%v matches %v: %v", tt.hook.Match, tt.names, got)
		}
	}
}
