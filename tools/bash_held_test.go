package tools

import (
	"strings"
	"testing"
)

// confinedProcess is one that was confined.
type confinedProcess struct {
	Process
	held Confinement
}

func (p confinedProcess) Held() Confinement { return p.held }

func TestHeldNote(t *testing.T) {
	confined := Confinement{Note: "it ran in a sandbox"}
	failed := Exit{Code: 1}
	for _, tt := range []struct {
		name string
		held Confinement
		exit Exit
		text string
		want string // a part of it; empty: no note
	}{
		{"it went well", confined, Exit{}, "Permission denied", ""},
		{"not confined", Confinement{}, failed, "Permission denied", ""},
		{"another failure", confined, failed, "undefined: x", ""},
		{"git beside others", confined, failed, "fatal: Unable to create '/p/.git/index.lock': Read-only file system", "git's alone"},
		{"git's configuration", confined, failed, "could not write config file .git/config: Device or resource busy", "in a sandbox"},
		{"a server of another command", confined, failed, "curl: (7) Failed to connect to 127.0.0.1 port 80", "in a sandbox"},
	} {
		got := heldNote(confinedProcess{held: tt.held}, tt.exit, tt.text)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	for _, listens := range []string{"only it reaches what it listens at", ""} {
		if got := reachNote(confinedProcess{held: Confinement{Listens: listens}}); (got == "") != (listens == "") || !strings.Contains(got, listens) {
			t.Errorf("%q: %q", listens, got)
		}
	}
}
