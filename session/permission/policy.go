// Package permission decides what a tool call may do: the facts of a call go
// in, a verdict with its reason comes out, and what "always" may be offered. It
// follows the permission policy: every fact of a call is judged and the
// strictest one counts; nothing that is not understood is silent.
//
// It leaves out asking (package session), how rules are stored and read
// (package session/config), and the confinement of what runs. It reads the
// disk to resolve the paths of commands; it never writes and never runs
// anything.
package permission

import (
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// Policy is all that a verdict depends on beside the call. It is a value: the
// caller makes a new one where something changes. The zero value knows no
// folder and asks about everything.
type Policy struct {
	Mode     Mode
	Roots    *workspace.Roots // the folders that count as inside; nil: none
	Home     string           // the user's home, absolute; empty: not known
	Rules    []Rule           // of all scopes, in any order
	Trusted  bool             // the first root is trusted (policy section 11)
	Headless bool             // nobody can be asked: what would be asked is denied

	// Path is the PATH that commands run with, and RemovedPath what was taken out
	// of the user's since a project or anybody could put programs there. Without a
	// Path no program is known but the shell's own.
	Path        []string
	RemovedPath []string
	// Lookup replaces the search of Path, for tests; nil: the disk.
	Lookup func(name string) bool

	// Holds reports whether a variable is in the environment that commands get; nil:
	// none is. A command that sets such a one may change what other programs do.
	Holds func(name string) bool

	// Masked reports whether a command that nobody is asked about runs where it
	// cannot read secret files (policy section 13); nil: it can. It is called only
	// where that matters.
	Masked func() bool

	// Own are the agent's own folders beside the ones below Home that policy
	// section 9 names: configuration, data, state. No tool writes there.
	Own []string
	// Readable are folders and files, absolute and with links resolved, that the
	// file tools may read though they lie outside of the roots. Rules and secret
	// names hold there as inside.
	Readable []string
	// OutsideDenied says that paths outside of the roots are refused rather than
	// asked about (the capability paths.outside).
	OutsideDenied bool
	// Private is what of private networks web_fetch may reach.
	Private kinds.Private
	// Watchdogs look at every call, beside the built-in one.
	Watchdogs []Watchdog
	// Hosts are the only ones that web_fetch may reach (the capability of policy
	// section 1); nil: any.
	Hosts []string
}

// Verdict is what the policy says about a call.
type Verdict struct {
	Action Action
	// Reason says why it asks or denies, for the person and the model: a clause
	// without a capital and a stop. Empty where the call is allowed.
	Reason string
	// Text is what to run in place of a command that is allowed without asking:
	// printed from what was judged (policy section 3). Empty for other calls.
	Text string
	// Parts are what a command that is asked about is made of, as it is shown, the
	// ones that are asked about first.
	Parts []kinds.Part
	// Always is what an option "allow always" may offer; empty: nothing.
	Always []Grant
}

// Grant is what one "allow always" would add. What Label shows is what is
// stored and what is matched.
type Grant struct {
	Rules  []Rule  // to add, of scope Session; nil where Mode is set
	Mode   Mode    // the mode to switch to instead; empty: none
	Scopes []Scope // how far it may be kept: Session, and Project where it may
	Label  string  // what is granted, shown as it stands: "`go test *`"
}

// Name is how the option is called that makes the grant, for as far as it goes.
func (g Grant) Name(scope Scope) string {
	if g.Mode != "" { // the label of a mode says already how far it goes
		return "Always allow " + g.Label
	}
	return "Always allow " + g.Label + " in this " + scope.String()
}

// maxLabel is the longest label of a grant, in runes: a longer one would be cut by
// editors, and what is granted must be seen.
const maxLabel = 400

// seen reports whether a grant's label is seen as it stands.
func (g Grant) seen() bool {
	return kinds.Line(g.Label) == g.Label && utf8.RuneCountInString(g.Label) <= maxLabel
}

// Decide judges a call.
func (p *Policy) Decide(f kinds.Facts) Verdict {
	j := newJudge(p, f.Tool)
	j.call(f)
	return j.conclude(f)
}

// call finds what there is to a call.
func (j *judge) call(f kinds.Facts) {
	switch {
	case f.LeavesPlan, f.Harmless:
		j.tool(Allow)
	case f.Command != nil:
		j.command(f.Command.Text, f.Command.Dir)
		j.paths(f.Paths)
	case len(f.Paths) > 0:
		j.paths(f.Paths)
	case f.URL != nil:
		j.fetch(f.URL)
	case f.Sends != "":
		j.sends(f.Sends)
	default:
		j.tool(Ask)
	}
	j.watch(f)
}

// conclude is the verdict on what was found.
func (j *judge) conclude(f kinds.Facts) Verdict {
	if f.LeavesPlan {
		return j.leavesPlan(f)
	}
	return j.verdict(f)
}

// Offers reports of a tool whether the model is told of it at all: a deny rule
// without a pattern takes it off the list, unless a rule of at least its scope
// allows some of its calls.
func (p *Policy) Offers() func(tool string) bool {
	rules := compile(p)
	return func(tool string) bool {
		for _, r := range rules.all {
			if r.Action != Deny || !r.all || !r.names(tool) {
				continue
			}
			if r.Scope == Manifest || !rules.reopened(r, tool) {
				return false
			}
		}
		return true
	}
}
