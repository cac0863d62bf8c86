package session

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
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

// Secret files count as masked only for the commands that the agent runs itself.
func TestMasks(t *testing.T) {
	box := sandbox.New(sandbox.Options{Mode: sandbox.Auto, Prober: &sandbox.Prober{}})
	s := &Session{box: box}
	s.ends.Shell = &tools.ExecShell{}
	if got := s.masks(); got != box.Masks() {
		t.Errorf("its own commands: %v", got)
	}
	s.ends.Shell = struct{ tools.Shell }{}
	if s.masks() {
		t.Error("a terminal of the editor counts as masked")
	}
	s.ends.Shell, s.box = &tools.ExecShell{}, nil
	if s.masks() {
		t.Error("without a sandbox they count as masked")
	}
}
