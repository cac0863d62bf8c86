package permission

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// noGuess stands where nothing is known of what an expansion makes.
const noGuess = string(utf8.RuneError)

// maxGuesses bounds the elements of an array that are guessed.
const maxGuesses = 64

// assign judges what a variable is set to, and notes the best guess at its value.
func (s *shell) assign(a *syntax.Assign, at dirs) assign {
	out := assign{odd: a.Append || a.Naked || a.Index != nil || a.Array != nil, value: s.word(a.Value, at)}
	if a.Index != nil {
		s.inner(a.Index, at)
	}
	var elements []string
	if a.Array != nil {
		elements = s.elements(a.Array, at)
	}
	if a.Name == nil {
		return out
	}
	out.name = a.Name.Value
	switch before := s.vars[out.name]; {
	case a.Naked:
	case a.Array != nil:
		if a.Append {
			elements = append(s.arrays[out.name], elements...)
		}
		elements = elements[:min(len(elements), maxGuesses)]
		s.arrays[out.name] = elements
		if s.vars[out.name] = ""; len(elements) > 0 {
			s.vars[out.name] = elements[0]
		}
	case a.Index != nil:
		s.arrays[out.name] = append(s.arrays[out.name], out.value.text)
		s.vars[out.name] = out.value.text
	case a.Append:
		s.vars[out.name] = before + out.value.text
	default:
		delete(s.arrays, out.name)
		s.vars[out.name] = out.value.text
	}
	return out
}

// elements judges the elements of an array and returns the guesses at them.
func (s *shell) elements(a *syntax.ArrayExpr, at dirs) []string {
	var list []*syntax.Word
	for _, e := range a.Elems {
		if e.Index != nil {
			s.inner(e.Index, at)
		}
		if e.Value != nil {
			list = append(list, e.Value)
		}
	}
	words, _ := s.words(list, at)
	return guesses(words)
}

// several is what a word becomes as restrictions see it, where it is more than one:
// the elements of an array, or a guess that splits at its blanks.
func (s *shell) several(w *syntax.Word, d word) []word {
	if !d.dynamic || len(w.Parts) != 1 {
		return []word{d}
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return []word{d}
	}
	var texts []string
	if index, ok := p.Index.(*syntax.Word); ok && (index.Lit() == "@" || index.Lit() == "*") {
		texts = s.arrays[p.Param.Value]
	} else if d.bare {
		texts = strings.Fields(d.text)
	}
	if len(texts) == 0 {
		return []word{d}
	}
	list := make([]word, 0, len(texts))
	for _, text := range texts[:min(len(texts), maxGuesses)] {
		d.text = text
		list = append(list, d)
	}
	return list
}

// guessed judges an expansion that is not followed, and returns the best guess at it:
// the value of the variable itself, or what stands for one that is not set.
func (s *shell) guessed(p *syntax.ParamExp, at dirs) string {
	rest, instead := *p, ""
	if p.Exp != nil && p.Exp.Word != nil {
		instead = s.word(p.Exp.Word, at).text
		rest.Exp = &syntax.Expansion{Op: p.Exp.Op}
	}
	s.inner(&rest, at)
	if p.Param == nil || p.Excl || p.Length {
		return noGuess
	}
	value, ok := s.vars[p.Param.Value]
	if !ok && p.Param.Value == "HOME" && s.Home != "" {
		value, ok = s.Home, true
	}
	if p.Exp == nil {
		if ok {
			return value
		}
		return noGuess
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return instead
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if !ok || value == "" {
			return instead
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !ok || value == "" {
			s.vars[p.Param.Value] = instead
			return instead
		}
	}
	if ok {
		return value
	}
	return noGuess
}

// printedBy is the best guess at what a substitution prints: the folder of a pwd, the
// words of an echo.
func (s *shell) printedBy(c *syntax.CmdSubst, at dirs) string {
	if len(c.Stmts) == 1 && len(at) > 0 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			switch name := call.Args[0].Lit(); {
			case name == "pwd":
				return at[0]
			case name == "echo" && len(call.Args) == 2:
				if lit := call.Args[1].Lit(); lit != "" && !strings.Contains(lit, `\`) {
					return s.homeOf(lit)
				}
			}
		}
	}
	return noGuess
}
