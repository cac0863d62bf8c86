package model

import (
	"strings"
	"testing"
)

func TestCallIDs(t *testing.T) {
	ids := NewCallIDs(func(id string) bool { return !strings.Contains(id, ".") })
	steps := []struct{ in, want string }{
		{"a", "a"}, {"a", "a_2"}, {"", "call_2"}, {"", "call_3"}, {"a_2", "a_2_2"}, {"x.y", "call_4"},
	}
	for _, s := range steps {
		if got := ids.Call(s.in); got != s.want {
			t.Errorf("call %q: got %q, want %q", s.in, got, s.want)
		}
	}
	results := []struct{ in, want string }{
		{"a", "a"}, {"a", "a_2"}, {"a", "a"}, {"", "call_2"}, {"", "call_3"}, {"x.y", "call_4"}, {"unknown", "unknown"},
	}
	for _, s := range results {
		if got := ids.Result(s.in); got != s.want {
			t.Errorf("result %q: got %q, want %q", s.in, got, s.want)
		}
	}
}

// A call that never had a result must not lend its id to the next turn's.
func TestCallIDsBegin(t *testing.T) {
	ids := NewCallIDs(nil)
	ids.Call("a")
	ids.Begin()
	want := ids.Call("a")
	if got := ids.Result("a"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUsedCallIDs(t *testing.T) {
	ids := UsedCallIDs([]Message{{Role: RoleAssistant, Parts: []Part{{Type: PartCall, CallID: "call_0"}}}})
	if got := ids.Call("call_0"); got == "call_0" {
		t.Error("an id of the conversation was given once more")
	}
}

func TestArgsObject(t *testing.T) {
	tests := map[string]string{
		"":            `{}`,
		" \n":         `{}`,
		`{"a":1}`:     `{"a":1}`,
		` {"a": 1} `:  `{"a": 1}`,
		`{"a":`:       `{"_invalid":"{\"a\":"}`,
		`[1]`:         `{"_invalid":"[1]"}`,
		`"x"`:         `{"_invalid":"\"x\""}`,
		`{"a":1}{}`:   `{"_invalid":"{\"a\":1}{}"}`,
		`null`:        `{"_invalid":"null"}`,
		`not json at`: `{"_invalid":"not json at"}`,
	}
	for in, want := range tests {
		if got := string(ArgsObject(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
