package session

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools/sandbox"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

func TestConfinement(t *testing.T) {
	roots, err := workspace.NewRoots(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	nothing := &sandbox.Prober{Avoid: func(string) bool { return true }}
	p := permission.Policy{Roots: roots, Trusted: true}
	for _, c := range []struct{ mode, command, want string }{
		{"off", "make", "sandbox: off"},
		{"auto", "make", "no sandbox on this system"},
		{"on", "make", "it would be refused"},
	} {
		f := kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: c.command, Dir: roots.Dirs()[0]}}
		if got := Confinement(p, config.Sandbox{Mode: c.mode}, nothing, f, false); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.mode, got)
		}
	}
}
