package session

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPathOf(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		{"file:///ws/my%20file%20%C3%BC.txt", "/ws/my file ü.txt"},
		{"file:///ws/a.go#L10", "/ws/a.go#L10"},
		{"file:///ws/a%23b.txt", "/ws/a#b.txt"},
		{"https://example.com/a%20b", "https://example.com/a%20b"},
		{"zed:///selection?x=1", "zed:///selection?x=1"},
		{"file:///ws/%zz", "file:///ws/%zz"}, // no URI: as it stands
		{"", ""},
	} {
		if got := PathOf(c.uri); got != c.want {
			t.Errorf("PathOf(%q) = %q, want %q", c.uri, got, c.want)
		}
	}
}

func TestTitleOf(t *testing.T) {
	for _, c := range []struct {
		prompt []Content
		want   string
	}{
		{[]Content{Text("Fix the login\n   redirect\tbug please")}, "Fix the login redirect bug please"},
		{[]Content{{Type: ContentLink, URI: "file:///ws/a%20b.go"}}, "a b.go"},
		{[]Content{{Type: ContentMedia, MIME: "image/png"}}, "New session"},
		{nil, "New session"},
	} {
		if got := titleOf(c.prompt); got != c.want {
			t.Errorf("titleOf(%v) = %q, want %q", c.prompt, got, c.want)
		}
	}
	long := titleOf([]Content{Text(strings.Repeat("wörter ", 100))})
	if n := utf8.RuneCountInString(long); n > maxSessionTitle || !strings.HasSuffix(long, "wörter…") {
		t.Errorf("a long title is cut at a word: %q, %d runes", long, n)
	}
}
