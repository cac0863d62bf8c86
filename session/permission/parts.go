package permission

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// pipelines are the parts that a command is shown in (policy section 12): what
// stands between its line ends, semicolons, && and ||, whatever is grouped.
type pipelines struct {
	list  []*syntax.Stmt
	index map[*syntax.Stmt]int
	at    []dirs // the folders that each may run in
	rough string // the text, where it was not understood: there is no list
}

// divide finds the parts of the command, of which the first text that is judged is
// the whole; file is nil where that was not understood.
func (s *shell) divide(file *syntax.File, text string) {
	switch {
	case s.pipelines != nil:
	case file == nil:
		s.pipelines = &pipelines{rough: text}
	default:
		s.pipelines = newPipelines(file)
	}
}

func newPipelines(file *syntax.File) *pipelines {
	p := &pipelines{index: map[*syntax.Stmt]int{}}
	for _, st := range file.Stmts {
		p.add(st)
	}
	p.at = make([]dirs, len(p.list))
	return p
}

func (p *pipelines) add(st *syntax.Stmt) {
	if len(st.Redirs) == 0 && !st.Negated {
		switch c := st.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
				p.add(c.X)
				p.add(c.Y)
				return
			}
		case *syntax.Block:
			p.addAll(c.Stmts)
			return
		case *syntax.Subshell:
			p.addAll(c.Stmts)
			return
		}
	}
	p.index[st] = len(p.list)
	p.list = append(p.list, st)
}

func (p *pipelines) addAll(list []*syntax.Stmt) {
	for _, st := range list {
		p.add(st)
	}
}

// enter notes where a part runs. What it calls at the end of the part notes which
// findings are about it.
func (s *shell) enter(st *syntax.Stmt, at dirs) (leave func()) {
	if s.pipelines == nil {
		return func() {}
	}
	i, ok := s.pipelines.index[st]
	if !ok {
		return func() {}
	}
	s.pipelines.at[i] = at
	from, held := len(s.found), len(s.held)
	return func() {
		for n := min(from, len(s.found)); n < len(s.found); n++ {
			s.found[n].pipe = i + 1
		}
		for n := min(held, len(s.held)); n < len(s.held); n++ {
			s.held[n].pipe = i + 1
		}
	}
}

// maxParts is how many parts are shown of one command.
const maxParts = 100

// shownParts are those of the command as they are shown, the ones that are asked about
// first. What is too long to be seen whole is followed by what runs within it.
func (j *judge) shownParts() []kinds.Part {
	switch p := j.pipelines; {
	case p == nil:
		return nil
	case p.list == nil:
		return roughParts(p.rough)
	}
	var risky, rest []kinds.Part
	for i, st := range j.pipelines.list {
		part := kinds.Part{Text: printed(st), Dirs: j.elsewhere(j.pipelines.at[i]), Why: j.whyOf(i + 1)}
		list := append([]kinds.Part{part}, within(st, part)...)
		if part.Why != "" {
			risky = append(risky, list...)
		} else {
			rest = append(rest, list...)
		}
	}
	return slices.Concat(risky, rest)
}

// within are the commands that run inside of a part which is too long to be seen
// whole.
func within(st *syntax.Stmt, part kinds.Part) []kinds.Part {
	if utf8.RuneCountInString(kinds.Line(part.Text)) <= kinds.MaxTitle {
		return nil
	}
	var list []kinds.Part
	syntax.Walk(st, func(n syntax.Node) bool {
		inner, ok := n.(*syntax.Stmt)
		if !ok || inner == st || len(list) >= maxParts {
			return len(list) < maxParts
		}
		one := kinds.Part{Text: printed(inner), Within: true}
		list = append(list, one)
		list = append(list, within(inner, one)...)
		return false
	})
	return list
}

// whyOf is the strictest reason to ask about a part.
func (j *judge) whyOf(pipe int) string {
	why, worst := "", Allow
	for _, f := range j.found {
		if a := j.answer(f.class); f.pipe == pipe && a > worst {
			why, worst = f.reason, a
		}
	}
	return why
}

// elsewhere is where a part runs, if that is not the project's folder.
func (j *judge) elsewhere(at dirs) []string {
	if j.Roots == nil || len(at) == 0 || len(at) == 1 && at[0] == j.Roots.Dir() {
		return nil
	}
	names := make([]string, len(at))
	for i, dir := range at {
		names[i] = j.Roots.Name(dir)
	}
	return names
}

// roughParts cuts a text that is not understood at its line ends and operators.
func roughParts(text string) []kinds.Part {
	text = strings.NewReplacer("\r", "\n", ";", "\n", "&&", "\n", "||", "\n").Replace(text)
	var list []kinds.Part
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && len(list) < 2*maxParts {
			list = append(list, kinds.Part{Text: line})
		}
	}
	return list
}
