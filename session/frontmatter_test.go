package session

import (
	"maps"
	"strings"
	"testing"
)

func TestParseFrontMatter(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string
		body       string
		err        string
	}{
		{"none", "# Title\ntext", map[string]string{}, "# Title\ntext", ""},
		{"empty", "---\n---\nbody", map[string]string{}, "body", ""},
		{"plain", "---\nname: a\ndescription: does it: well # really\n---\nbody\n", map[string]string{"name": "a", "description": "does it: well"}, "body\n", ""},
		{"no body", "---\nname: a\n---", map[string]string{"name": "a"}, "", ""},
		{"CRLF and a mark", "\ufeff---\r\nname: a\r\n---\r\nb\r\n", map[string]string{"name": "a"}, "b\n", ""},
		{"blanks behind the marks", "--- \nname: a\n---\t \nb", map[string]string{"name": "a"}, "b", ""},
		{"a rule before text", "\n---\nname: a\n---\n", map[string]string{}, "\n---\nname: a\n---\n", ""},
		{"four dashes", "----\na\n---\nb", map[string]string{}, "----\na\n---\nb", ""},
		{"nothing after the mark", "---", nil, "", "not closed"},
		{"quotes", "---\na: \"x: \\\"y\\\"\"\nb: 'it''s'\n---\n", map[string]string{"a": `x: "y"`, "b": "it's"}, "", ""},
		{"quotes and comments", "---\na: \"x # y\" # z\nb: 'c' # d \"e\"\n---\n", map[string]string{"a": "x # y", "b": "c"}, "", ""},
		{"goes on", "---\na: one\n  two\n\n  three\nb: x\n---\n", map[string]string{"a": "one two three", "b": "x"}, "", ""},
		{"literal", "---\na: |\n  one\n  two\n---\n", map[string]string{"a": "one\ntwo"}, "", ""},
		{"folded", "---\na: >-\n  one\n  two\n---\n", map[string]string{"a": "one two"}, "", ""},
		{"lists", "---\na: [Read, \"Grep\"]\nb:\n  - x\n  - 'y'\nc:\n- z\n---\n", map[string]string{"a": "Read, Grep", "b": "x, y", "c": "z"}, "", ""},
		{"nested", "---\nmetadata:\n  author: me\nname: a\n---\n", map[string]string{"metadata": "", "name": "a"}, "", ""},
		{"a line in the body", "---\na: b\n---\none\n---\ntwo", map[string]string{"a": "b"}, "one\n---\ntwo", ""},
		{"not closed", "---\nname: a\n", nil, "", "not closed"},
		{"no field", "---\nname\n---\n", nil, "", "line 2"},
		{"open quote", "---\na: \"x\n---\n", nil, "", "quote"},
		{"open list", "---\na: [x\n---\n", nil, "", "list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields, body, err := parseFrontMatter(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !maps.Equal(fields, tt.want) || body != tt.body {
				t.Errorf("got %q, %q, %v", fields, body, err)
			}
		})
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{"---\nname: a\ntools: [a, b]\n---\nx", "---\na: |\n b\n---", "---\n- x\n---\n", "---\na: \"\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields, body, err := parseFrontMatter(text)
		if err != nil && (fields != nil || body != "") {
			t.Errorf("%q beside the error %v", fields, err)
		}
		if len(body) > len(text) {
			t.Errorf("the body grew")
		}
	})
}
