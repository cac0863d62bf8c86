package permission

import (
	"slices"

	"github.com/acp-agent/acp-agent/kinds"
)

// Explanation is a verdict and how it came about.
type Explanation struct {
	Verdict Verdict
	// Parts are the simple commands of a text, in their order, and before them,
	// without a text, what was found of the call as a whole. Another call is one
	// part. The strictest counts.
	Parts []Part
	// Whole says that a rule with the same text as the command answers what was
	// asked about its parts.
	Whole bool
}

// Part is one thing that was judged for itself.
type Part struct {
	Text    string // the command; empty: the call
	Action  Action
	Reasons []Reason // what asks or denies; none: it is allowed
	Tried   []Tried  // the rules that match something of it
	By      *Rule    // the rule that allows it; nil: none had to, or it is not allowed
}

// Reason is one finding, with the layer of the policy that it belongs to.
type Reason struct {
	Action Action
	Layer  string // one of the Layer constants
	Text   string // a clause, as Verdict.Reason
	Rule   *Rule  // whose word it is; nil: no rule's
	// Usual is what the action would be in the default mode, with somebody to ask:
	// where it differs, the mode makes it so.
	Usual Action
}

// The layers of policy section 1 that ask or deny.
const (
	LayerRule    = "rule"
	LayerNever   = "never allowed"            // the input, a capability, or a hard deny
	LayerAlways  = "always asked about"       // protected, outside, secret or suspicious
	LayerOpaque  = "not understood"           // so that no rule but one for the whole text covers it
	LayerChanges = "changes files"            // which the mode acceptEdits allows
	LayerPlain   = "not known to be harmless" // which a rule may allow
)

// Tried is the rules that match one thing, and which of them decides.
type Tried struct {
	About   string
	Rules   []Rule
	Decides *Rule // nil: none of them
}

// Explain judges a call as Decide does, and tells how.
func (p *Policy) Explain(f kinds.Facts) Explanation {
	j := newJudge(p, f.Tool)
	j.trace = &trace{}
	j.call(f)
	e := Explanation{Verdict: j.conclude(f), Whole: j.whole}
	rest := j.partOf("", j.trace.tried, j.found)
	if f.Command != nil {
		rest = j.partOf("", j.trace.beside(), slices.DeleteFunc(slices.Clone(j.found), j.trace.inPart))
	}
	if f.Command == nil || len(rest.Reasons) > 0 || len(j.trace.parts) == 0 {
		e.Parts = append(e.Parts, rest)
	}
	for _, t := range j.trace.parts {
		e.Parts = append(e.Parts, j.partOf(t.text, j.trace.tried[t.from:t.to], t.found))
	}
	return e
}

// partOf sums up what was found of one part.
func (j *judge) partOf(text string, tried []Tried, found []finding) Part {
	part := Part{Text: text, Action: Allow, Tried: distinct(tried)}
	usual := judge{Policy: &Policy{Mode: Default, Trusted: j.Trusted}}
	for _, f := range found {
		if j.whole && f.class < floor {
			continue // the rule for the whole text answers it
		}
		r := Reason{Action: j.answer(f.class), Layer: f.layer(), Text: f.reason, Usual: usual.answer(f.class)}
		if f.rule != nil {
			rule := f.rule.Rule
			r.Rule = &rule
		}
		part.Reasons = append(part.Reasons, r)
		part.Action = max(part.Action, r.Action)
	}
	if len(part.Reasons) > 0 {
		return part
	}
	for _, t := range part.Tried {
		if t.Decides != nil && t.Decides.Action == Allow {
			part.By = t.Decides
		}
	}
	return part
}

func (f finding) layer() string {
	switch {
	case f.rule != nil:
		return LayerRule
	case f.class == denied:
		return LayerNever
	case f.class == floor:
		return LayerAlways
	case f.class == opaque:
		return LayerOpaque
	case f.class == edits:
		return LayerChanges
	}
	return LayerPlain
}

// trace notes what a judgement looked at.
type trace struct {
	tried []Tried
	parts []tracedPart
}

// tracedPart is a simple command, what was found of it, and which of the rules
// were tried meanwhile.
type tracedPart struct {
	text     string
	from, to int
	found    []finding
}

// weigh works out what the matches say about a thing, and notes it where the
// judgement is traced.
func (j *judge) weigh(about string, matches []match) ruling {
	r := rule(matches)
	if j.trace == nil || len(matches) == 0 {
		return r
	}
	t := Tried{About: about}
	for _, m := range matches {
		t.Rules = append(t.Rules, m.rule.Rule)
	}
	if r.rule != nil {
		decides := r.rule.Rule
		t.Decides = &decides
	}
	j.trace.tried = append(j.trace.tried, t)
	return r
}

// begin notes that a simple command is judged; end is called when it was.
func (s *shell) begin(c *command) (end func()) {
	before, from, at := len(s.found), len(s.trace.tried), len(s.trace.parts)
	s.trace.parts = append(s.trace.parts, tracedPart{text: c.text})
	return func() {
		s.trace.parts[at] = tracedPart{c.text, from, len(s.trace.tried), slices.Clone(s.found[min(before, len(s.found)):])}
	}
}

// inPart reports whether a finding is one of a simple command.
func (t *trace) inPart(f finding) bool {
	same := func(o finding) bool {
		return o.class == f.class && o.reason == f.reason && o.part == f.part && o.rule == f.rule
	}
	return slices.ContainsFunc(t.parts, func(p tracedPart) bool { return slices.ContainsFunc(p.found, same) })
}

// beside are the rules that were tried beside those of the parts.
func (t *trace) beside() []Tried {
	var out []Tried
	for i, one := range t.tried {
		if !slices.ContainsFunc(t.parts, func(p tracedPart) bool { return p.from <= i && i < p.to }) {
			out = append(out, one)
		}
	}
	return out
}

// distinct leaves out what was tried again in the same way.
func distinct(list []Tried) []Tried {
	var out []Tried
	for _, t := range list {
		if !slices.ContainsFunc(out, func(o Tried) bool { return o.About == t.About && slices.Equal(o.Rules, t.Rules) }) {
			out = append(out, t)
		}
	}
	return out
}
