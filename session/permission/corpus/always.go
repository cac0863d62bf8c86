package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// alwaysCase is what a case of "allow always" has of its own.
type alwaysCase struct {
	Offer      []string // the patterns to offer
	Never      []string // patterns that must not be
	ProbeAllow []string `json:"probe_allow"` // commands that the grant allows
	ProbeAsk   []string `json:"probe_ask"`   // and that it does not
}

// Offer is what is printed of a case of "allow always": what is offered, and the
// verdicts on the probes once that is granted for the session.
type Offer struct {
	ID         string   `json:"id"`
	Offer      []string `json:"offer"`
	ProbeAllow []string `json:"probe_allow"`
	ProbeAsk   []string `json:"probe_ask"`
}

// always judges what "allow always" offers for a command, and what the grant
// then does.
func (r *Runner) always(c *cases.Case) (Outcome, error) {
	var want alwaysCase
	if err := c.Decode(&want); err != nil {
		return Outcome{}, err
	}
	s, err := r.commandScene(c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	o := Offer{ID: c.ID, Offer: []string{}}
	for _, g := range s.command(c.Cmd).Always {
		for _, rule := range g.Rules {
			o.Offer = append(o.Offer, rule.Pattern)
			s.policy.Rules = append(s.policy.Rules, rule)
		}
	}
	o.ProbeAllow, o.ProbeAsk = s.probe(want.ProbeAllow), s.probe(want.ProbeAsk)
	return Outcome{Report: o, Found: "offers " + list(o.Offer), Failure: o.failure(want)}, nil
}

func (s *scene) probe(commands []string) []string {
	words := make([]string, len(commands))
	for i, cmd := range commands {
		words[i] = word(s.command(cmd).Action)
	}
	return words
}

// failure is what differs from what is wanted.
func (o *Offer) failure(want alwaysCase) string {
	var faults []string
	if !slices.Equal(o.Offer, want.Offer) && len(o.Offer)+len(want.Offer) > 0 {
		faults = append(faults, fmt.Sprintf("offers %s where %s is wanted", list(o.Offer), list(want.Offer)))
	}
	for _, pattern := range want.Never {
		if slices.Contains(o.Offer, pattern) {
			faults = append(faults, fmt.Sprintf("offers `%s`, which must not be", pattern))
		}
	}
	for i, got := range o.ProbeAllow {
		if got != permission.Allow.String() {
			faults = append(faults, fmt.Sprintf("after the grant `%s` is not allowed (%s)", want.ProbeAllow[i], got))
		}
	}
	for i, got := range o.ProbeAsk {
		if got == permission.Allow.String() {
			faults = append(faults, fmt.Sprintf("after the grant `%s` is allowed", want.ProbeAsk[i]))
		}
	}
	return strings.Join(faults, "; ")
}

func list(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(patterns, "`, `") + "`"
}
