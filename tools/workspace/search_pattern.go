package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Query says what is searched for.
type Query struct {
	Pattern   string // of RE2, in the syntax of package regexp
	Literal   bool   // it is the text itself
	FoldCase  bool
	Multiline bool // a match may reach over lines, and "." matches their ends
}

// Pattern is a compiled query. It is safe for concurrent use.
type Pattern struct {
	lines     *regexp.Regexp // for a line without its end, or for all of a text where it may span lines
	buffer    *regexp.Regexp // finds in a whole text where a line may match; nil: the literals do
	literals  prefilter      // one of them stands in every match; nil: nothing is known
	exact     bool           // a line matches where a literal stands in it
	multiline bool
	once      bool // it has the text's beginning in it, so one search is all
}

// ErrEmptyPattern says that there is nothing to search for.
var ErrEmptyPattern = errors.New("the pattern is empty: give the text to search for")

// Compile makes a pattern of a query. Its error is for the model: it quotes
// what is wrong and says what helps.
func Compile(q Query) (*Pattern, error) {
	if q.Pattern == "" {
		return nil, ErrEmptyPattern
	}
	text := q.Pattern
	multiline := q.Multiline
	if q.Literal {
		text = regexp.QuoteMeta(strings.ReplaceAll(text, "\r\n", "\n"))
		multiline = multiline || strings.Contains(text, "\n")
	}
	flags := syntax.Perl &^ syntax.OneLine // ^ and $ are those of lines
	if q.FoldCase {
		flags |= syntax.FoldCase
	}
	if multiline {
		flags |= syntax.DotNL
	}
	parsed, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, fmt.Errorf("the pattern is no regular expression of RE2 (no look-around, no back-references): %s; set literal to true to search for the text as it is", reason(err))
	}
	if !multiline && needsNewline(parsed) {
		return nil, errors.New("the pattern has a line end in it, which no single line matches: set multiline to true")
	}
	p := &Pattern{multiline: multiline}
	p.literals = prefilter(requiredLiterals(parsed))
	if p.lines, err = regexp.Compile(parsed.String()); err != nil {
		return nil, fmt.Errorf("the pattern is too large: %w; search for less at once", err)
	}
	if multiline {
		p.once = mentions(parsed, syntax.OpBeginText)
		return p, nil
	}
	p.exact = isExact(parsed, p.literals)
	if p.literals == nil {
		p.buffer, err = regexp.Compile(withinLine(parsed).String())
		if err != nil {
			return nil, fmt.Errorf("the pattern is too large: %w; search for less at once", err)
		}
	}
	return p, nil
}

func reason(err error) string {
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: `%s`", e.Code, e.Expr)
	}
	return err.Error()
}

// needsNewline reports whether every match has a line end in it.
func needsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	case syntax.OpRepeat:
		return re.Min > 0 && needsNewline(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return needsNewline(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if needsNewline(sub) {
				return true
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !needsNewline(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// mentions reports whether an operation is anywhere in the expression.
func mentions(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return mentions(sub, op) })
}

// isExact reports whether the expression is its literals and nothing else.
func isExact(re *syntax.Regexp, set prefilter) bool {
	if len(set) != 1 || re.Op != syntax.OpLiteral {
		return false
	}
	return set[0].text == string(re.Rune) && !set[0].fold ||
		set[0].fold && len(set[0].text) == len(string(re.Rune)) && strings.EqualFold(set[0].text, string(re.Rune))
}

// withinLine is the expression for a whole text: it finds a match wherever a
// line by itself matches, and does not reach over a line's end.
func withinLine(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = withinLine(sub)
	}
	switch re.Op {
	case syntax.OpBeginText:
		out.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		out.Op, out.Flags = syntax.OpEndLine, re.Flags&^syntax.WasDollar
	case syntax.OpAnyChar:
		out.Op = syntax.OpAnyCharNotNL
	case syntax.OpCharClass:
		out.Rune = withoutNewline(re.Rune)
		if len(out.Rune) == 0 {
			out.Op = syntax.OpNoMatch
		}
	}
	return &out
}

func withoutNewline(ranges []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

// span is a match: of whole lines where it ends them.
type span struct{ start, end int }

// each calls visit with every match of a text whose lines end in LF, until it
// says false. In the mode of lines a match is a line (without its end); else it
// is what matched.
//
// It ends early when ctx is done.
func (p *Pattern) each(ctx context.Context, text []byte, visit func(span) bool) {
	if p.multiline {
		p.eachSpan(ctx, text, visit)
		return
	}
	var s *scan
	if p.literals != nil {
		s = p.literals.scan(text)
	}
	for pos, n := 0, 1; pos < len(text); n++ {
		at := p.candidate(ctx, s, text, pos)
		if at < 0 || behindLast(text, at) || n%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		line := lineAround(text, pos, at)
		if p.exact || p.lines.Match(text[line.start:line.end]) {
			if !visit(line) {
				return
			}
		}
		pos = line.end + 1
	}
}

// behindLast reports whether at is behind the last line: a line end ends a line
// and begins none at the end of the text.
func behindLast(text []byte, at int) bool {
	return at >= len(text) && (len(text) == 0 || text[len(text)-1] == '\n')
}

// candidate is the first place at or behind pos, which begins a line, where a
// line may match; -1: none, or ctx is done.
func (p *Pattern) candidate(ctx context.Context, s *scan, text []byte, pos int) int {
	if s != nil {
		return s.from(pos)
	}
	for pos < len(text) && ctx.Err() == nil {
		end := blockEnd(text, pos)
		if loc := p.buffer.FindIndex(text[pos:end]); loc != nil {
			return pos + loc[0]
		}
		pos = end
	}
	return -1
}

// blockSize is how many bytes are searched without looking whether to stop.
const blockSize = 256 << 10

// blockEnd is the end of a block of whole lines that begins at pos.
func blockEnd(text []byte, pos int) int {
	if len(text)-pos > blockSize {
		if i := bytes.IndexByte(text[pos+blockSize:], '\n'); i >= 0 {
			return pos + blockSize + i + 1
		}
	}
	return len(text)
}

// lineAround is the line that at lies in; from begins a line at or before it.
func lineAround(text []byte, from, at int) span {
	line := span{from, len(text)}
	if i := bytes.LastIndexByte(text[from:at], '\n'); i >= 0 {
		line.start = from + i + 1
	}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		line.end = at + i
	}
	return line
}

// eachSpan finds matches that may reach over lines.
func (p *Pattern) eachSpan(ctx context.Context, text []byte, visit func(span) bool) {
	if p.literals != nil && p.literals.scan(text).from(0) < 0 {
		return
	}
	for pos := 0; pos <= len(text) && ctx.Err() == nil; {
		// What stands before pos matters to ^ and \b, so a match begins at the
		// start of a line: each further search does too.
		loc := p.lines.FindIndex(text[pos:])
		if loc == nil {
			return
		}
		m := span{pos + loc[0], pos + loc[1]}
		if behindLast(text, m.start) {
			return
		}
		if !visit(m) || p.once {
			return
		}
		last := m.end
		if m.end > m.start && text[m.end-1] == '\n' {
			last--
		}
		next := bytes.IndexByte(text[last:], '\n')
		if next < 0 {
			return
		}
		pos = last + next + 1
	}
}

// mark gives the first match in a line, for cutting around it; 0, 0 where there
// is none.
func (p *Pattern) mark(line []byte) (start, end int) {
	if loc := p.lines.FindIndex(line); loc != nil {
		return loc[0], loc[1]
	}
	return 0, 0
}

// foldNewlines makes every CRLF of a text LF, in place.
func foldNewlines(text []byte) []byte {
	i := bytes.IndexByte(text, '\r')
	if i < 0 {
		return text
	}
	out := text[:i]
	for i < len(text) {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		next := bytes.IndexByte(text[i+1:], '\r')
		if next < 0 {
			return append(out, text[i:]...)
		}
		out = append(out, text[i:i+1+next]...)
		i += 1 + next
	}
	return out
}

// readable is a line as text: what is no UTF-8 is taken as Latin-1.
func readable(line []byte) string {
	if utf8.Valid(line) {
		return string(line)
	}
	runes := make([]rune, len(line))
	for i, b := range line {
		runes[i] = rune(b)
	}
	return string(runes)
}
