package corpus

import (
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// displayCase is what a case of the display has of its own.
type displayCase struct {
	MustContain    []string `json:"must_contain"`
	MustNotContain []string `json:"must_not_contain"`
	OptionLabel    bool     `json:"option_label"` // the name of the option "allow always" is shown
	Sink           string   // log: a line of the log is shown
	Check          string   // fence: the text stands in a fence that it cannot close
}

// Shown is what is printed of a case of the display.
type Shown struct {
	ID    string `json:"id"`
	Shown string `json:"shown"`
}

// display shows a command as the user sees it who is asked about it: by its title
// and its parts.
func (r *Runner) display(c *cases.Case) (Outcome, error) {
	var want displayCase
	if err := c.Decode(&want); err != nil {
		return Outcome{}, err
	}
	if want.Check != "" && want.Check != "fence" {
		return Outcome{}, fmt.Errorf("there is no check %q: write fence", want.Check)
	}
	shown, err := r.shown(c, want)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Report: Shown{c.ID, shown}, Found: fmt.Sprintf("shows %q", shown), Failure: want.failure(c, shown)}, nil
}

func (r *Runner) shown(c *cases.Case, want displayCase) (string, error) {
	switch want.Sink {
	case "":
	case "log":
		return (&kinds.Redactor{}).Text(c.Cmd), nil
	default:
		return "", fmt.Errorf("there is no sink %q: write log", want.Sink)
	}
	if name, ok := strings.CutPrefix(c.Cmd, "tool mcp:"); ok {
		server, tool, _ := strings.Cut(name, ":")
		return kinds.Served(server, tool).Title, nil
	}
	s, err := r.commandScene(c)
	if err != nil {
		return "", err
	}
	defer s.close()
	v := s.command(c.Cmd)
	lines := []string{kinds.Execute(c.Cmd).Title}
	if parts := kinds.Parts(v.Parts); parts != "" {
		lines = append(lines, parts)
	}
	if want.OptionLabel {
		for _, g := range v.Always {
			for _, scope := range g.Scopes {
				lines = append(lines, g.Name(scope))
			}
		}
	}
	return strings.Join(lines, "\n\n"), nil
}

// failure is what differs from what is wanted.
func (w displayCase) failure(c *cases.Case, shown string) string {
	var faults []string
	for _, text := range w.MustContain {
		if !strings.Contains(shown, text) {
			faults = append(faults, fmt.Sprintf("%q is not shown", text))
		}
	}
	for _, text := range w.MustNotContain {
		if strings.Contains(shown, text) {
			faults = append(faults, fmt.Sprintf("%q is shown", text))
		}
	}
	if w.Check == "fence" && !fenced(kinds.Execute(c.Cmd).Text) {
		faults = append(faults, "the text closes its fence")
	}
	return strings.Join(faults, "; ")
}

// fenced reports whether a text is one fence, which nothing within it closes.
func fenced(text string) bool {
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	inner, ok := strings.CutSuffix(strings.TrimPrefix(text, fence), fence)
	return ok && len(fence) >= 3 && !strings.Contains(inner, fence)
}
