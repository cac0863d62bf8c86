package workspace

import (
	"bytes"
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
	regexp    *regexp.Regexp // for a line without its end, or for all of a text where it may span lines
	program   *program       // of the same; nil: it is too large
	literals  prefilter      // one of them stands in every match; nil: nothing is known
	overLines bool           // one of these has a line end in it
	exact     bool           // a line matches where a literal stands in it
	multiline bool
	crosses   bool           // a match may have a line end in it
	behind    *regexp.Regexp // multiline: one character, and the first match behind it as a group
	weight    int            // what regexp costs for a byte at most
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
	p := &Pattern{multiline: multiline, weight: 1}
	if p.regexp, err = regexp.Compile(parsed.String()); err != nil {
		return nil, fmt.Errorf("the pattern is too large: %w; search for less at once", err)
	}
	p.literals = prefilter(requiredLiterals(parsed))
	p.overLines = slices.ContainsFunc(p.literals, func(l literal) bool { return strings.Contains(l.text, "\n") })
	p.exact = !multiline && isExact(parsed, p.literals)
	if multiline {
		if p.behind, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + withoutGroups(parsed).String() + `)`); err != nil {
			return nil, fmt.Errorf("the pattern is too large: %w; search for less at once", err)
		}
	}
	if prog, err := syntax.Compile(parsed.Simplify()); err == nil && !p.exact {
		p.weight = len(prog.Inst)
		p.crosses = crosses(prog)
		p.program = newProgram(prog, !multiline)
	}
	if !multiline && p.program != nil && p.literals.common() {
		p.literals = nil
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

// withoutGroups is the expression without what it captures.
func withoutGroups(re *syntax.Regexp) *syntax.Regexp {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	out := *re
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = withoutGroups(sub)
	}
	return &out
}

// isExact reports whether the expression is its literals and nothing else.
func isExact(re *syntax.Regexp, set prefilter) bool {
	if len(set) != 1 || re.Op != syntax.OpLiteral {
		return false
	}
	return set[0].text == string(re.Rune) && !set[0].fold ||
		set[0].fold && len(set[0].text) == len(string(re.Rune)) && strings.EqualFold(set[0].text, string(re.Rune))
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
	return latin1(line)
}

func latin1(line []byte) string {
	runes := make([]rune, len(line))
	for i, b := range line {
		runes[i] = rune(b)
	}
	return string(runes)
}
