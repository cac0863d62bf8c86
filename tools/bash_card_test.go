package tools

import (
	"strings"
	"testing"
)

// In the end a card still shows the whole of a command that its title cannot
// hold, and nothing twice.
func TestBashShowsWholeCommand(t *testing.T) {
	long := "echo " + strings.Repeat("word ", 40) + "&& rm -rf build"
	for _, c := range []struct {
		command string
		whole   bool
	}{{"go test ./...", false}, {long, true}, {"cat <<EOF\n  a\nEOF", true}} {
		shown := bashCall{text: c.command}.result("", newCapture(nil), Exit{}, nil).Shown
		if strings.Contains(shown, c.command) != c.whole || !strings.HasSuffix(shown, "(no output)\n```") {
			t.Errorf("%q shows %q", c.command, shown)
		}
	}
}
