package permission

import (
	"maps"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// maxRounds bounds how often the body of a loop over words is judged.
const maxRounds = 256

// apart judges what may run or may not, or runs in a shell of its own: the
// variables that it sets are not known behind it.
func (s *shell) apart(f func()) {
	vars, known := maps.Clone(s.vars), maps.Clone(s.known)
	f()
	for name := range s.vars {
		if was, ok := vars[name]; !ok || was != s.vars[name] || known[name] != s.known[name] {
			delete(known, name)
		}
	}
	s.known = known
}

// stmtsApart judges a list that may run or may not.
func (s *shell) stmtsApart(list []*syntax.Stmt, at dirs) (after dirs) {
	s.apart(func() { after = s.stmts(list, at) })
	return after
}

func (s *shell) stmtApart(st *syntax.Stmt, at dirs) (after dirs) {
	s.apart(func() { after = s.stmt(st, at) })
	return after
}

// forget makes the variables unknown that a part of the text sets, which may
// run before and after what comes next.
func (s *shell) forget(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				delete(s.known, n.Name.Value)
			}
		case *syntax.WordIter:
			delete(s.known, n.Name.Value)
		}
		return true
	})
}

// assignable reports whether a variable may be set without a question: what has
// such a name is not a setting of the shell or of other programs (policy,
// sections 3 and 5).
func (s *shell) assignable(name string) bool {
	if strings.HasSuffix(name, "_proxy") || s.Holds != nil && s.Holds(name) {
		return false
	}
	return name != "" && name[0] >= 'a' && name[0] <= 'z' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// setVariables judges a statement of assignments alone.
func (s *shell) setVariables(list []assign) {
	for _, a := range list {
		switch {
		case a.odd || a.value.odd != "" || !s.assignable(a.name):
			s.opaque("it sets the variable " + visible(a.name))
		case a.value.secret:
			s.opaque("it copies a variable that may hold a secret")
		}
	}
}

// forWords judges a loop over words: the body once for each of them.
func (s *shell) forWords(c *syntax.ForClause, it *syntax.WordIter, at dirs) {
	words, _ := s.words(it.Items, at)
	if len(words) > 0 { // the first is no program here
		words = append(s.expand(words[0], at), words[1:]...)
	}
	name := it.Name.Value
	if !it.InPos.IsValid() || c.Select || c.Braces || !s.assignable(name) {
		s.opaque("a loop of an uncommon form")
	}
	first := func() { s.loop(at, c.Do) }
	guesses := false
	for _, w := range words {
		if w.odd != "" || w.secret || w.glob {
			s.opaque("a loop over words that are not known before it runs")
		}
		guesses = guesses || w.dynamic
	}
	if guesses {
		words = slices.DeleteFunc(words, func(w word) bool { return strings.Contains(w.text, noGuess) })
	}
	if len(words) > maxRounds {
		s.opaque("a loop over very many words")
		words = words[:1]
	}
	s.apart(func() {
		s.forget(c)
		if len(words) == 0 {
			first()
			return
		}
		count := s.count
		for _, w := range words {
			if s.rounds++; s.rounds > maxRounds*2 {
				s.opaque("loops that run very often")
				return
			}
			s.count = count
			s.vars[name], s.known[name] = w.text, w.static() && !guesses
			first()
		}
	})
}

// caseOf judges a case: each of its lists may run.
func (s *shell) caseOf(c *syntax.CaseClause, at dirs) dirs {
	s.data(s.word(c.Word, at), "a case over a word that is not understood")
	out := at
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			s.data(s.word(p, at), "a case with a pattern that is not understood")
		}
		out = s.union(out, s.stmtsApart(item.Stmts, at))
	}
	return out
}

// data judges a word that no program gets: it may be unknown, and asks where it
// can run code or shows what may be a secret.
func (s *shell) data(w word, why string) {
	switch {
	case w.odd != "":
		s.opaque(why)
	case w.secret:
		s.opaque("it uses a variable that may hold a secret")
	}
}

// tested judges what stands in [[ … ]].
func (s *shell) tested(x syntax.TestExpr, at dirs) {
	switch x := x.(type) {
	case *syntax.ParenTest:
		s.tested(x.X, at)
	case *syntax.Word:
		s.data(s.word(x, at), "[[ … ]] with a word that can run code")
	case *syntax.UnaryTest:
		s.testedUnary(x, at)
	case *syntax.BinaryTest:
		s.testedBinary(x, at)
	default:
		s.opaque("[[ … ]] can run code")
		s.inner(x, at)
	}
}

func (s *shell) testedUnary(x *syntax.UnaryTest, at dirs) {
	w, isWord := x.X.(*syntax.Word)
	switch {
	case x.Op == syntax.TsNot && !isWord:
		s.tested(x.X, at)
	case !isWord, x.Op == syntax.TsVarSet, x.Op == syntax.TsRefVar, x.Op == syntax.TsOptSet, x.Op == syntax.TsParen, x.Op == syntax.TsFdTerm:
		s.opaque("[[ … ]] can run code")
		s.inner(x.X, at)
	case x.Op == syntax.TsNot:
		s.tested(x.X, at)
	case x.Op == syntax.TsEmpStr, x.Op == syntax.TsNempStr: // tells nothing of a secret but that it is there
		if s.word(w, at).odd != "" {
			s.opaque("[[ … ]] with a word that can run code")
		}
	default:
		s.testedFile(w, at)
	}
}

// testedFile judges the operand of an operator that looks at a file.
func (s *shell) testedFile(w *syntax.Word, at dirs) {
	d := s.word(w, at)
	switch {
	case d.dynamic || d.odd != "":
		s.opaque("[[ … ]] looks at a file that is not known before it runs")
	case d.text != "":
		s.operand(kinds.List, d.text, at)
	}
}

func (s *shell) testedBinary(x *syntax.BinaryTest, at dirs) {
	left, isWord := x.X.(*syntax.Word)
	right, alsoWord := x.Y.(*syntax.Word)
	switch x.Op {
	case syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsBefore, syntax.TsAfter, syntax.TsReMatch:
		s.tested(x.X, at)
		s.tested(x.Y, at)
	case syntax.AndTest, syntax.OrTest:
		s.tested(x.X, at)
		s.tested(x.Y, at)
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		if isWord && alsoWord {
			s.testedFile(left, at)
			s.testedFile(right, at)
			return
		}
		s.opaque("[[ … ]] can run code")
	default: // compares numbers, and evaluates whatever is none
		if !isWord || !alsoWord || !isNumber(left) || !isNumber(right) {
			s.opaque("[[ … ]] evaluates a word, which can run code")
		}
		s.inner(x, at)
	}
}

// isNumber reports whether a word is digits, or a parameter that always is.
func isNumber(w *syntax.Word) bool {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok && !q.Dollar {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.Lit:
		return p.Value != "" && strings.Trim(p.Value, "0123456789") == ""
	case *syntax.ParamExp:
		return plainParam(p) && len(p.Param.Value) == 1 && strings.Contains("?#$!", p.Param.Value)
	}
	return false
}
