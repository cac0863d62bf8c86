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

// maxFolded is the longest folded literal in bytes that is looked for: to compare
// one with a text that is like it in most places takes its length each time.
const maxFolded = 32

// foldedLiteral is the part of a text that is best looked for in ASCII: of those
// of some length the one with the rarest byte, since the shorter ones are met
// more often but that costs less than to look for a common byte.
func foldedLiteral(runes []rune) literalSet {
	best, part := "", strings.Builder{}
	end := func() {
		text := part.String()
		if text = text[:min(len(text), maxFolded)]; betterFolded(text, best) {
			best = text
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

func betterFolded(text, than string) bool {
	const enough = 3
	if a, b := min(len(text), enough), min(len(than), enough); a != b {
		return a > b
	}
	rank := func(text string) int {
		if i := rarest(text); i >= 0 {
			return rarity(text[i])
		}
		return -1
	}
	if a, b := rank(text), rank(than); a != b {
		return a > b
	}
	return len(text) > len(than)
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

// prefilter finds where the next of its literals begins.
type prefilter []literal

// scan is a prefilter's way through one text after the other. It looks for every
// literal once. It is for one goroutine.
type scan struct {
	text []byte
	next []literalScan
}

type literalScan struct {
	text []byte
	fold bool
	rare int // the place in the text of the byte that is looked for; -1: all of it is
	at   int // where the literal begins next; -1: nowhere
	// Where the rare byte stands next in small and, if folded, in capital; the
	// length of what is searched: nowhere.
	small, capital int
}

func (p prefilter) scan() scan {
	s := scan{next: make([]literalScan, len(p))}
	for i, l := range p {
		rare := rarest(l.text)
		if l.fold {
			rare = max(rare, 0)
		}
		s.next[i] = literalScan{text: []byte(l.text), fold: l.fold, rare: rare}
	}
	return s
}

// begin goes to the beginning of a text.
func (s *scan) begin(text []byte) {
	s.text = text
	for i := range s.next {
		l := &s.next[i]
		l.small, l.capital = -1, -1
		l.find(text, 0)
	}
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
	switch {
	case l.fold:
		l.at = l.findFolded(text, pos)
	case l.rare >= 0:
		l.at = l.findRare(text, pos)
	default:
		l.at = l.findWhole(text, pos)
	}
}

// findRare looks for the rarest byte of the literal, which is several times as
// fast as to look for the literal, and compares what stands around it. Where that
// byte is not rare, or comparing takes long, it is slower, and given up.
func (l *literalScan) findRare(text []byte, pos int) int {
	const step = 64 // bytes that are compared in the time of a look
	work := 0
	for from := pos + l.rare; from < len(text); {
		i := bytes.IndexByte(text[from:], l.text[l.rare])
		start := from + i - l.rare
		if i < 0 || start+len(l.text) > len(text) {
			return -1
		}
		if bytes.Equal(text[start:start+len(l.text)], l.text) {
			return start
		}
		from += i + 1
		if work += 1 + len(l.text)/step; work > 64+(start-pos)/8 {
			return l.findWhole(text, start+1)
		}
	}
	return -1
}

func (l *literalScan) findWhole(text []byte, pos int) int {
	if i := bytes.Index(text[min(pos, len(text)):], l.text); i >= 0 {
		return pos + i
	}
	return -1
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
func equalFoldASCII(text, lower []byte) bool {
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
const byRarity = " etsnioarlcdp_uhf/m,0.g()Sb\"ExyTA*1=:IR-><CvONk2LPw34DM6{}5;F#8B9[]UG`7j'VX\\HYW&Kz|q!+Q@J$Z%?^~"

const (
	// everywhereBytes are those of byRarity of which every few words have one.
	everywhereBytes = 9
	// commonBytes are those of byRarity that most lines have one of.
	commonBytes = 32
)

// rarest is the index of the byte of a text that is met least; -1 where even that
// is met everywhere.
func rarest(text string) int {
	best, rank := -1, everywhereBytes-1
	for i := 0; i < len(text); i++ {
		if r := rarity(text[i]); r > rank {
			best, rank = i, r
		}
	}
	return best
}

// rarity is the rank of a byte: what is met less has a higher one.
func rarity(b byte) int {
	if i := strings.IndexByte(byRarity, b); i >= 0 {
		return i
	}
	return len(byRarity)
}
