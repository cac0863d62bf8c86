package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// class is what kind of question a finding is: it decides what may answer it.
type class int

const (
	plain  class = iota // an ordinary question: rules and modes answer it
	edits               // a write inside: as plain, and acceptEdits answers it
	opaque              // not understood: only a rule for the whole text answers it
	floor               // protected, outside, a secret, suspicious: nothing answers it
	denied              // not even a question
)

// finding is one fact of a call that is not simply allowed.
type finding struct {
	class  class
	reason string
	part   *command  // the simple command that it is about; nil: another fact
	beyond bool      // it says that the call leaves what a sandbox would hold it in
	pipe   int       // the part of the command that it is about, from 1; 0: all of it
	rule   *compiled // the rule that says so; nil: none
}

// judge gathers what a policy finds in one call.
type judge struct {
	*Policy
	id        string // the tool
	rules     ruleset
	found     []finding
	held      []finding // questions only where nothing masks secret files
	bashDeny  bool      // some deny rule is for commands
	whole     bool      // a rule covers the text of the command as a whole
	parts     []*command
	pipelines *pipelines        // the parts as they are shown; nil: the call is no command
	text      string            // to be run in place of the command's, where that is allowed
	targets   map[string]string // of paths that were resolved
	writes    []writePlace      // files that would be changed, for what "always" offers
	trace     *trace            // nil: nobody asks how it is judged
}

// writePlace is a write that asks for no other reason than being one.
type writePlace struct{ path, target string }

func newJudge(p *Policy, tool string) *judge {
	j := &judge{Policy: p, id: tool, rules: compile(p)}
	for _, r := range j.rules.all {
		if r.Action == Deny && (r.class() == permBash || r.Permission == "*") {
			j.bashDeny = true
		}
	}
	return j
}

func (j *judge) find(c class, reason string) {
	j.found = append(j.found, finding{class: c, reason: reason})
}
func (j *judge) deny(reason string)   { j.find(denied, reason) }
func (j *judge) floor(reason string)  { j.find(floor, reason) }
func (j *judge) opaque(reason string) { j.find(opaque, reason) }

// beyondSandbox is a question of the floor about something that no confined command can do.
func (j *judge) beyondSandbox(reason string) {
	j.found = append(j.found, finding{class: floor, reason: reason, beyond: true})
}

// ruled turns the word of a rule that restricts into a finding.
func (j *judge) ruled(r ruling, what string) bool {
	if r.rule == nil || r.action == Allow {
		return false
	}
	by := "the rule `" + strings.ReplaceAll(r.rule.Rule.String(), "`", "") + "`" // no code within code
	if r.rule.Source != "" {
		by += " (" + r.rule.Source + ")"
	}
	if r.action == Deny {
		j.found = append(j.found, finding{class: denied, reason: what + " is denied by " + by, rule: r.rule})
	} else {
		j.found = append(j.found, finding{class: floor, reason: by + " asks about " + what, rule: r.rule})
	}
	return true
}

// tool judges a call by its tool alone; otherwise is what holds without a rule.
func (j *judge) tool(otherwise Action) {
	r := j.toolRuling()
	if j.ruled(r, j.id) || r.rule != nil || otherwise == Allow {
		return
	}
	j.find(plain, j.id+" is not known to only read")
}

// toolRuling is what the rules say about the tool as such, whatever the call.
// A restriction with a pattern that cannot be compared here counts as a
// question.
func (j *judge) toolRuling() ruling {
	var ms []match
	for i := range j.rules.all {
		r := &j.rules.all[i]
		if !r.names(j.id) {
			continue
		}
		if r.all || r.class() != permFetch {
			ms = append(ms, match{r, weight{words: len(strings.Trim(r.Permission, "*"))}})
		} else if r.Action > Allow {
			asks := *r
			asks.Action = Ask
			ms = append(ms, match{&asks, weight{exact: true}})
		}
	}
	return j.weigh(j.id, ms)
}

// answer is what becomes of a question of the class under the policy's mode.
func (j *judge) answer(c class) Action {
	if c == denied {
		return Deny
	}
	asks := Ask
	if c >= opaque {
		asks = ForcedAsk
	}
	switch {
	case j.Mode == Plan, j.Mode == DontAsk:
		return Deny
	case j.Mode == BypassPermissions && (c < opaque || c == opaque && !j.bashDeny):
		return Allow
	case j.Mode == AcceptEdits && j.Trusted && c == edits:
		return Allow
	case j.Headless:
		return Deny
	}
	return asks
}

// verdict sums up: the strictest finding counts.
func (j *judge) verdict(f kinds.Facts) Verdict {
	v := Verdict{Action: Allow}
	worst := plain
	for _, f := range j.found {
		a := j.answer(f.class)
		if a > v.Action || a == Deny && f.class == denied && worst != denied { // what is never done says so, and not the mode
			worst = f.class
			v.Action, v.Reason = a, f.reason
			if more := len(j.writes) - 1; f.class == edits && more > 0 {
				v.Reason += fmt.Sprintf(" and %d more", more)
			}
			if j.Mode == AcceptEdits && !j.Trusted && f.class == edits {
				v.Reason += "; accepting edits holds once this folder is trusted (`acp-agent trust`)"
			}
			if a == Deny && f.class != denied {
				v.Reason = j.refusal() + v.Reason
			}
		}
	}
	switch v.Action {
	case Allow:
		v.Text = j.text
	case Ask:
		v.Parts = j.shownParts()
		v.Always = slices.DeleteFunc(j.offers(f), func(g Grant) bool { return !g.seen() })
	case ForcedAsk:
		v.Parts = j.shownParts()
	}
	return v
}

// leavesPlan is the verdict on the end of plan mode: nothing but the user's own
// choice ends it, so that no rule, mode or hook answers in their place.
func (j *judge) leavesPlan(f kinds.Facts) Verdict {
	switch v := j.verdict(f); {
	case v.Action == Deny:
		return v
	case j.Mode != Plan:
		return Verdict{Action: Deny, Reason: "the session is not in plan mode, so there is nothing to leave: just go on"}
	case j.Headless:
		return Verdict{Action: Deny, Reason: "nobody can be asked about the plan: give it as your answer"}
	}
	return Verdict{Action: ForcedAsk, Reason: "the plan is yours to decide on"}
}

// refusal says why what would be asked about is denied.
func (j *judge) refusal() string {
	switch j.Mode {
	case Plan:
		return "plan mode only reads: "
	case DontAsk:
		return "the mode asks nothing: "
	}
	return "nobody can be asked: "
}
