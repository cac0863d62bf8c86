package corpus

import (
	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// bash judges a shell command.
func (r *Runner) bash(c *cases.Case) (Outcome, error) {
	s, err := r.commandScene(c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	v := s.command(c.Cmd)
	return verdict(c, v.Action, v.Reason), nil
}

// command judges a command in the scene's folder. The engine is given it as it
// stands, also where the tool would refuse it before: what it says must not hang
// on that.
func (s *scene) command(text string) permission.Verdict {
	return s.decide(kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: s.Expand(text), Dir: s.roots.Dir()}})
}
