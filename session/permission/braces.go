package permission

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const (
	maxBraceWords = 64
	maxBraceSteps = 1 << 20
)

// braces expands the braces of a word as bash does, oddities included, for which no
// library reads them: to bash {a}b,c} is the words a}b and c.
type braces struct {
	steps int
	over  bool // it was too much: what is left out is not known
}

// piece is what braces are looked for in: a character, or a part of the word that
// they do not look into.
type piece struct {
	text string          // as written: an escaped character has its backslash
	part syntax.WordPart // nil: text
}

func (p piece) is(c byte) bool { return p.part == nil && len(p.text) == 1 && p.text[0] == c }

// hasBraces reports whether bash makes words out of braces in this one.
func hasBraces(w *syntax.Word) bool {
	if !slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	}) {
		return false
	}
	var b braces
	open, _ := b.first(piecesOf(w))
	return open >= 0 || b.over
}

// bracedWords are the words that bash makes of one with braces; all is false where
// there are too many to be listed.
func bracedWords(w *syntax.Word) (words []*syntax.Word, all bool) {
	var b braces
	for _, list := range b.expand(piecesOf(w)) {
		if len(list) > 0 { // an empty word without quotes is none: {,b} is the command b
			words = append(words, wordOf(list))
		}
	}
	return words, !b.over
}

func piecesOf(w *syntax.Word) (list []piece) {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			list = append(list, piece{part: part})
			continue
		}
		text := strings.ReplaceAll(lit.Value, "\\\n", "")
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' && i+1 < len(text) {
				list = append(list, piece{text: text[i : i+2]})
				i++
			} else {
				list = append(list, piece{text: text[i : i+1]})
			}
		}
	}
	return list
}

func wordOf(list []piece) *syntax.Word {
	w := &syntax.Word{}
	text := ""
	for _, p := range append(slices.Clip(list), piece{part: &syntax.Lit{}}) {
		if p.part == nil {
			text += p.text
			continue
		}
		if text != "" {
			w.Parts = append(w.Parts, &syntax.Lit{Value: text})
			text = ""
		}
		w.Parts = append(w.Parts, p.part)
	}
	w.Parts = w.Parts[:len(w.Parts)-1]
	return w
}

// expand returns what a word becomes, its first braces first.
func (b *braces) expand(word []piece) [][]piece {
	open, end := b.first(word)
	if open < 0 {
		return [][]piece{word}
	}
	inside, behind := word[open+1:end], word[end+1:]
	list, ok := b.inside(inside)
	if !ok {
		if len(behind) == 0 {
			return [][]piece{word}
		}
		list = [][]piece{word[open : end+1]}
	}
	list = b.join([][]piece{word[:open]}, list)
	if len(behind) > 0 {
		list = b.join(list, b.expand(behind))
	}
	return list
}

// inside returns what stands between braces: a list, or a sequence; false for
// neither.
func (b *braces) inside(text []piece) ([][]piece, bool) {
	if !slices.ContainsFunc(text, holdsComma) {
		return b.sequence(text)
	}
	var list [][]piece
	for {
		end := b.find(text, 0, ',')
		list = append(list, b.expand(text[:min(end, len(text))])...)
		if end >= len(text) {
			return list, true
		}
		if len(list) > maxBraceWords {
			b.over = true
			return list[:maxBraceWords], true
		}
		text = text[end+1:]
	}
}

// holdsComma reports whether a comma stands in a piece: bash takes one in quotes as
// the sign of a list, though it parts nothing.
func holdsComma(p piece) bool {
	if p.part == nil {
		return p.is(',')
	}
	var text strings.Builder
	err := syntax.NewPrinter().Print(&text, &syntax.Word{Parts: []syntax.WordPart{p.part}})
	return err != nil || strings.Contains(text.String(), ",")
}

var braceSequence = lazy(`^(-?[0-9]{1,9}\.\.-?[0-9]{1,9}|[A-Za-z]\.\.[A-Za-z])(\.\.-?[0-9]{1,9})?$`)

func (b *braces) sequence(text []piece) (list [][]piece, ok bool) {
	written := wordOf(text).Lit()
	if !braceSequence().MatchString(written) {
		return nil, false
	}
	w := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "{" + written + "}"}}}
	if !syntax.SplitBraces(w) {
		return nil, false
	}
	for one, err := range expand.BracesSeq(nil, w) {
		if err != nil || len(list) == maxBraceWords {
			b.over = true
			break
		}
		list = append(list, piecesOf(one))
	}
	return list, len(list) > 0
}

// join is each of the first followed by each of the second.
func (b *braces) join(first, second [][]piece) (list [][]piece) {
	for _, f := range first {
		for _, s := range second {
			if len(list) == maxBraceWords {
				b.over = true
				return list
			}
			b.steps += len(f) + len(s)
			list = append(list, slices.Concat(f, s))
		}
	}
	return list
}

// first finds the first brace that is closed behind a comma or two dots, and where;
// -1 where there is none.
func (b *braces) first(word []piece) (open, end int) {
	for open = b.find(word, 0, '{'); open < len(word); open = b.find(word, open+1, '{') {
		if end = b.find(word, open+1, '}'); end < len(word) {
			return open, end
		}
	}
	return -1, -1
}

// find returns the place from which on a character stands outside of inner braces; a
// } counts behind a comma or two dots alone. It is the length of the word where
// there is none.
func (b *braces) find(word []piece, from int, c byte) int {
	level, parted := 0, c != '}'
	for i := from; i < len(word); i++ {
		if b.steps++; b.steps > maxBraceSteps {
			b.over = true
			return len(word)
		}
		p := word[i]
		if p.is(c) && level == 0 && parted && !(c == '{' && literalBrace(word, i)) {
			return i
		}
		switch {
		case c == '{': // such a one stands for itself
		case p.is('{'):
			level++
		case p.is('}') && level > 0:
			level--
		case level > 0 || c != '}':
		case p.is(','), p.is('.') && i+2 < len(word) && word[i+1].is('.') && !word[i+2].is('}'):
			parted = true
		}
	}
	return len(word)
}

// literalBrace reports whether the { at i is none to bash: at the start of a word or
// behind a blank, with nothing or a } behind it.
func literalBrace(word []piece, i int) bool {
	begins := i == 0 || word[i-1].part == nil && strings.ContainsAny(word[i-1].text, " \t\n")
	return begins && (i+1 == len(word) || word[i+1].is('}'))
}
