package tools

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestTitleOf(t *testing.T) {
	for _, c := range []struct{ title, input, want string }{
		{"Read {path}", `{"path":"a.txt","offset":"x"}`, "Read a.txt"},
		{`Find "{pattern}"`, `{"pattern":"*.go"}`, `Find "*.go"`},
		{"{type}: {prompt}", `{"type":"general","prompt":"look\nthere\u001b[2J"}`, `general: look ⏎ there\e[2J`},
		{"{type}: {prompt}", `{"type":"general"}`, "x"},
		{"Read {path}", `{"path":7}`, "x"},
		{"Read {path}", `{"path":" "}`, "x"},
		{"Read {path}", `{"pa`, "x"},
		{"Read {path}", `[]`, "x"},
		{"Read {path", `{"path":"a"}`, "Read a"},
		{"Patch files", `{}`, "Patch files"},
		{"", `{"path":"a"}`, "x"},
	} {
		spec := Spec{ID: "x", Title: c.title}
		if got := spec.TitleOf(c.input); got != c.want {
			t.Errorf("%q of %s: %q, want %q", c.title, c.input, got, c.want)
		}
	}
}

// Every built-in tool has a title for calls that fail early.
func TestBuiltinTitles(t *testing.T) {
	for _, tool := range Builtin() {
		s := tool.Spec()
		if s.Title == "" || strings.Contains(kinds.Title(s.Title), "_") && !strings.Contains(s.Title, "{subagent_type}") {
			t.Errorf("%s: the title %q", s.ID, s.Title)
		}
	}
}
