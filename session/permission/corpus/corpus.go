// Package corpus judges permission cases with the real engine, through the facts
// that the real tools make, and compares the verdicts with what is wanted
// (policy section 0). It is what `acp-agent permissions test` runs, and what
// holds the engine to the cases of this repository.
//
// It leaves out how cases are written and their trees built (package cases). No
// command of a case is ever run; only a case with a race runs its file tool, in
// its own tree.
package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// Runner judges cases. It is for one goroutine.
type Runner struct {
	layout []cases.File
	shared *cases.Tree // of the layout alone, for cases that change nothing of it
}

// New makes a runner whose cases of commands have the layout's tree. Close
// removes what it built.
func New(layout []cases.File) *Runner { return &Runner{layout: layout} }

// Close removes the trees.
func (r *Runner) Close() error {
	if r.shared == nil {
		return nil
	}
	return r.shared.Close()
}

// Outcome is what a case came to.
type Outcome struct {
	Report   any    // for a program: a Verdict, or what its kind has instead; one JSON object
	Found    string // what was found, for a person
	Failure  string // why the case fails; empty: it passes
	Stricter string // what is stricter than wanted, where that passes
	Unasked  bool   // the case wants nothing, so that it passes whatever is found
}

// judge is how cases of one kind are judged.
type judge struct {
	name string
	is   func(c *cases.Case) bool
	run  func(r *Runner, c *cases.Case) (Outcome, error)
}

// judges is one for each kind of case, told by the fields that it has. The first
// that takes a case judges it.
func judges() []judge {
	return []judge{
		{"display", has("must_contain"), (*Runner).display},
		{"net", hasOp(netOps()...), (*Runner).net},
		{"always", has("offer"), (*Runner).always},
		{"load_config", hasOp("load_config"), (*Runner).loadConfig},
		{"path", hasOp(pathOps()...), (*Runner).path},
		{"bash", has("cmd"), (*Runner).bash},
	}
}

func has(field string) func(*cases.Case) bool {
	return func(c *cases.Case) bool { return c.Has(field) }
}

func hasOp(ops ...string) func(*cases.Case) bool {
	return func(c *cases.Case) bool { return slices.Contains(ops, c.Op) }
}

// Run judges a case. Its error says that the case is none that can be judged.
func (r *Runner) Run(c *cases.Case) (Outcome, error) {
	for _, j := range judges() {
		if !j.is(c) {
			continue
		}
		out, err := j.run(r, c)
		if err != nil {
			return Outcome{}, fmt.Errorf("case %s (%s): %w", c.ID, j.name, err)
		}
		return out, nil
	}
	if c.Op != "" {
		return Outcome{}, fmt.Errorf("case %s: there is no operation %q", c.ID, c.Op)
	}
	return Outcome{}, fmt.Errorf(`case %s has neither "cmd" nor "op": one of them says what is judged`, c.ID)
}

// Verdict is what is printed of a case that wants a verdict.
type Verdict struct {
	ID       string `json:"id"`
	Verdict  string `json:"verdict"` // allow, ask or deny
	Why      string `json:"why"`
	Dial     string `json:"dial,omitzero"`     // the address that was dialled
	Stricter bool   `json:"stricter,omitzero"` // stricter than wanted, which passes
}

// verdict compares a verdict with what the case wants. A looser one fails, and a
// stricter one where the case is benign (policy section 0), or is of no kind, as
// those that users write for their own rules.
func verdict(c *cases.Case, action permission.Action, why string) Outcome {
	got := word(action)
	v := Verdict{ID: c.ID, Verdict: got, Why: why}
	out := Outcome{Found: got + because(why), Unasked: c.Want == ""}
	have, want := strictness(got), strictness(c.Want)
	switch {
	case c.Want == "":
	case have < want:
		out.Failure = fmt.Sprintf("%s where %s is wanted%s", got, c.Want, because(why))
	case have > want && (c.Kind == "" || strings.HasPrefix(c.Kind, "benign")):
		out.Failure = fmt.Sprintf("%s where %s is wanted%s", got, c.Want, because(why))
	case have > want:
		v.Stricter = true
		out.Stricter = fmt.Sprintf("%s where %s would do%s", got, c.Want, because(why))
	}
	out.Report = v
	return out
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// word is an action in the words of cases, which have one for both questions.
func word(a permission.Action) string {
	if a == permission.ForcedAsk {
		a = permission.Ask
	}
	return a.String()
}

func strictness(word string) int { return slices.Index([]string{"allow", "ask", "deny"}, word) }
