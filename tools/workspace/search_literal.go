package workspace

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLiterals is how many literals a prefilter looks for at most: each is one
// pass over the text.
const maxLiterals = 8

// literalSet is a set of texts one of which stands in every match. Nil says
// that nothing is known.
type literalSet []literal

// literal is a text that must be there, as it is or in any case. A folded one
// is in lower case, ASCII, and without k and s, which in Unicode fold to
// characters that are not ASCII (U+212A and U+017F).
type literal struct {
	text string
	fold bool
}

// score ranks sets by their shortest text, which is found most often; fewer
// texts are better.
func (s literalSet) score() int {
	if s == nil {
		return 0
	}
	shortest := s[0].text
	for _, l := range s[1:] {
		if len(l.text) < len(shortest) {
			shortest = l.text
		}
	}
	return len(shortest)*maxLiterals*2 - len(s)
}

// common reports whether the texts are such that most lines of a program have
// one: then looking for them does not pay.
func (p prefilter) common() bool {
	for _, l := range p {
		if len(l.text) == 1 && strings.Contains(byRarity[:commonBytes], l.text) {
			return true
		}
	}
	return false
}

// requiredLiterals finds the best set that a regular expression tells of.
func requiredLiterals(re *syntax.Regexp) literalSet {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, utf8.RuneError) {
			return nil // it matches any byte that is no UTF-8, too
		}
		if re.Flags&syntax.FoldCase != 0 {
			return foldedLiteral(re.Rune)
		}
		return literalSet{{text: string(re.Rune)}}
	case syntax.OpCharClass:
		return classLiterals(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiterals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredLiterals(re.Sub[0])
		}
	case syntax.OpConcat:
		var best literalSet
		for _, sub := range re.Sub {
			if set := requiredLiterals(sub); set.score() > best.score() {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all literalSet
		for _, sub := range re.Sub {
			set := requiredLiterals(sub)
			if set == nil || len(all)+len(set) > maxLiterals {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// foldedLiteral is the longest part of a text that can be looked for in ASCII.
func foldedLiteral(runes []rune) literalSet {
	best, part := "", strings.Builder{}
	end := func() {
		if part.Len() > len(best) {
			best = part.String()
		}
		part.Reset()
	}
	for _, r := range runes {
		r = unicode.ToLower(r)
		if r >= utf8.RuneSelf || r == 'k' || r == 's' {
			end()
			continue
		}
		part.WriteByte(byte(r))
	}
	end()
	if best == "" {
		return nil
	}
	return literalSet{{text: best, fold: true}}
}

// classLiterals is a character class of few members.
func classLiterals(ranges []rune) literalSet {
	var set literalSet
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(set) == 4 || r == utf8.RuneError {
				return nil
			}
			set = append(set, literal{text: string(r)})
		}
	}
	return set
}

// prefilter finds where the next of its literals begins. Each scan of a text
// has its own state, so that every literal is looked for once.
type prefilter []literal

// scan is a prefilter's way through one text.
type scan struct {
	text []byte
	next []literalScan
}

type literalScan struct {
	literal
	at   int // where it begins next; -1: nowhere
	rare int // folded: the place in the text of the byte that is looked for
	// where the rare byte stands next in small and in capital; len(text): nowhere
	small, capital int
}

func (p prefilter) scan(text []byte) *scan {
	s := &scan{text: text, next: make([]literalScan, len(p))}
	for i, l := range p {
		s.next[i] = literalScan{literal: l, small: -1, capital: -1}
		s.next[i].rare = rarest(l.text)
		s.next[i].find(text, 0)
	}
	return s
}

// from gives the first place at or behind pos where a literal begins; -1: none.
// Pos must not fall.
func (s *scan) from(pos int) int {
	best := -1
	for i := range s.next {
		l := &s.next[i]
		if l.at >= 0 && l.at < pos {
			l.find(s.text, pos)
		}
		if l.at >= 0 && (best < 0 || l.at < best) {
			best = l.at
		}
	}
	return best
}

// find looks for the literal from pos on.
func (l *literalScan) find(text []byte, pos int) {
	if l.fold {
		l.at = l.findFolded(text, pos)
		return
	}
	l.at = -1
	if pos <= len(text) {
		if i := bytes.Index(text[pos:], []byte(l.text)); i >= 0 {
			l.at = pos + i
		}
	}
}

// findFolded looks for the rarest byte of the literal in both its cases and
// compares what stands around it.
func (l *literalScan) findFolded(text []byte, pos int) int {
	low := l.text[l.rare]
	up := low
	if 'a' <= low && low <= 'z' {
		up -= 'a' - 'A'
	}
	for from := pos + l.rare; from < len(text); {
		if l.small < from {
			l.small = indexFrom(text, from, low)
		}
		if l.capital < from {
			l.capital = l.small
			if up != low {
				l.capital = indexFrom(text, from, up)
			}
		}
		hit := min(l.small, l.capital)
		start := hit - l.rare
		if start+len(l.text) > len(text) {
			return -1
		}
		if equalFoldASCII(text[start:start+len(l.text)], l.text) {
			return start
		}
		from = hit + 1
	}
	return -1
}

func indexFrom(text []byte, from int, b byte) int {
	if i := bytes.IndexByte(text[from:], b); i >= 0 {
		return from + i
	}
	return len(text)
}

// equalFoldASCII compares with a text in lower case.
func equalFoldASCII(text []byte, lower string) bool {
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}

// byRarity lists bytes of programs and prose from the most common on; what is
// not in it is rarer still.
const byRarity = " etaoinsrlcdupmhfg_.bvy(),xkw\"0=/:1;*-{}2qjz>'[]<#3`58&46\\97$|!+@%~?^"

// commonBytes are those of byRarity that most lines have one of.
const commonBytes = 32

// rarest is the index of the byte of a text that is met least.
func rarest(text string) int {
	best, rank := 0, -1
	for i := 0; i < len(text); i++ {
		r := strings.IndexByte(byRarity, text[i])
		if r < 0 {
			r = len(byRarity)
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}
