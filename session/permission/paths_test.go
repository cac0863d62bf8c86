package permission

import (
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestLeadingDollarAsks(t *testing.T) {
	p := project(t)
	p.Mode = AcceptEdits
	for path, want := range map[string]Action{"$HOME/x": ForcedAsk, "$x": ForcedAsk, "src/$x": Allow, "src/a$b.go": Allow} {
		for _, access := range []kinds.Access{kinds.Write, kinds.Read, kinds.List} {
			if v := touch(t, p, access, path); v.Action != want {
				t.Errorf("%v %q: %v (%s), want %v", access, path, v.Action, v.Reason, want)
			}
		}
	}
}
