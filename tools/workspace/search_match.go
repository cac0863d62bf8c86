package workspace

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// span is a match: of whole lines where it ends them.
type span struct{ start, end int }

// matcher finds a pattern's matches in one text after the other. It is for one
// goroutine.
type matcher struct {
	*Pattern
	auto   *automaton // nil: there is no program
	scan   scan       // of the literals
	grant  int        // what package regexp may do in the next text
	effort int        // what it may still do in this one
	gaveUp bool       // it was not enough: what was found is not all
}

// Limits of what package regexp does in one text and in all texts of a search:
// bytes times the expression's instructions. They are seconds, and met only by
// expressions that go over the same text again and again, or are so large that
// there is no automaton.
const (
	maxEffort    = 1 << 31
	maxEffortAll = 4 * maxEffort
)

// checkEvery is after how many steps a search or walk looks whether it was
// cancelled; blockSize is the same in bytes.
const (
	checkEvery = 512
	blockSize  = 256 << 10
)

func (p *Pattern) matcher() *matcher {
	m := &matcher{Pattern: p, grant: maxEffort}
	if p.program != nil {
		m.auto = newAutomaton(p.program)
	}
	m.scan = p.literals.scan()
	return m
}

// each calls visit with every match of a text whose lines end in LF, until it
// says false. In the mode of lines a match is a line (without its end); else it
// is what matched, and the next one may begin in the line in which it ends.
//
// It ends early when ctx is done, and where it takes too long, with gaveUp.
func (m *matcher) each(ctx context.Context, text []byte, visit func(span) bool) {
	m.effort, m.gaveUp = m.grant, false
	switch {
	case m.multiline:
		m.eachSpan(ctx, text, visit)
	case m.literals != nil:
		m.eachCandidate(ctx, text, visit)
	case m.fast():
		m.eachLine(ctx, text, 0, visit)
	default:
		m.everyLine(ctx, text, 0, visit)
	}
}

// possible reports whether a text may match, whose lines may end in CRLF: where no
// literal stands in it, it need not be looked at any further. A literal that has
// no line end in it stands as well in the text in which these are LF.
func (m *matcher) possible(text []byte) bool {
	if m.literals == nil || m.overLines {
		return true
	}
	m.scan.begin(text)
	return m.scan.from(0) >= 0
}

// fast reports whether there is an automaton that works.
func (m *matcher) fast() bool { return m.auto != nil && !m.auto.broken }

// eachCandidate looks at the lines in which a literal stands.
func (m *matcher) eachCandidate(ctx context.Context, text []byte, visit func(span) bool) {
	m.scan.begin(text)
	for pos, n := 0, 1; pos < len(text); n++ {
		at := m.scan.from(pos)
		if at < 0 || behindLast(text, at) || n%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		line := lineAround(text, pos, at)
		if (m.exact || m.matches(ctx, text[line.start:line.end])) && !visit(line) || m.gaveUp {
			return
		}
		pos = line.end + 1
	}
}

// eachLine lets the automaton find the lines.
func (m *matcher) eachLine(ctx context.Context, text []byte, pos int, visit func(span) bool) {
	s, i := m.auto.begin, pos
	for i < len(text) && ctx.Err() == nil {
		s, i = m.auto.run(s, text, i, min(len(text), i+blockSize))
		switch {
		case m.auto.broken:
			m.everyLine(ctx, text, pos, visit)
			return
		case s == matched, i == len(text) && text[i-1] != '\n' && m.auto.ends(s):
			line := lineAround(text, pos, i)
			if !visit(line) {
				return
			}
			pos = line.end + 1
			s, i = m.auto.begin, pos
		}
	}
}

// everyLine looks at one line after the other.
func (m *matcher) everyLine(ctx context.Context, text []byte, pos int, visit func(span) bool) {
	for n := 1; pos < len(text) && !m.gaveUp; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		line := lineAround(text, pos, pos)
		if m.matches(ctx, text[line.start:line.end]) && !visit(line) {
			return
		}
		pos = line.end + 1
	}
}

// matches reports whether a line without its end matches.
func (m *matcher) matches(ctx context.Context, line []byte) bool {
	if m.fast() {
		s, _ := m.auto.run(m.auto.begin, line, 0, len(line))
		if !m.auto.broken {
			return m.auto.ends(s)
		}
	}
	if len(line) > blockSize {
		_, ok := m.find(ctx, line, 0)
		return ok
	}
	if m.effort -= len(line) * m.weight; m.effort < 0 {
		m.gaveUp = true
		return false
	}
	return m.regexp.Match(line)
}

// eachSpan finds matches that may reach over lines, one after the other as
// regexp.FindAllIndex does. Where none reaches over a line's end, one a line is
// enough.
func (m *matcher) eachSpan(ctx context.Context, text []byte, visit func(span) bool) {
	m.scan.begin(text)
	for pos, last := 0, -1; pos <= len(text) && ctx.Err() == nil; {
		if m.literals != nil && m.scan.from(pos) < 0 || !m.mayMatch(ctx, text, pos) {
			return
		}
		found, ok := m.find(ctx, text, pos)
		if !ok || behindLast(text, found.start) {
			return
		}
		if (found.end > pos || found.start != last) && !visit(found) {
			return
		}
		last = found.end
		if found.end > pos {
			pos = found.end
		} else {
			_, size := utf8.DecodeRune(text[pos:])
			pos += max(1, size)
		}
		if !m.crosses {
			line := lineAround(text, found.start, found.start)
			pos = max(pos, line.end+1)
		}
	}
}

// mayMatch asks the automaton whether a match begins at or behind pos.
func (m *matcher) mayMatch(ctx context.Context, text []byte, pos int) bool {
	if !m.fast() {
		return true
	}
	s, i := m.auto.begin, pos
	if pos > 0 {
		before, _ := utf8.DecodeLastRune(text[:pos])
		s = m.auto.after(before)
	}
	for i < len(text) && s < special {
		if ctx.Err() != nil {
			return false
		}
		s, i = m.auto.run(s, text, i, min(len(text), i+blockSize))
		if m.auto.broken {
			return true
		}
	}
	return m.auto.ends(s)
}

// mark gives where the first match in a line begins, for cutting around it; 0
// where there is none.
func (m *matcher) mark(ctx context.Context, line []byte) int {
	found, _ := m.find(ctx, line, 0)
	return found.start
}

// find gives the first match at or behind pos as package regexp finds it; not ok
// where there is none, or ctx is done, or it takes too long.
func (m *matcher) find(ctx context.Context, text []byte, pos int) (span, bool) {
	r := &textReader{text: text, pos: pos}
	if pos > 0 { // the character before matters to ^ and \b
		_, size := utf8.DecodeLastRune(text[:pos])
		r.pos -= size
	}
	from := r.pos
	r.until = from
	r.more = func() bool {
		r.until = r.pos + max(checkEvery, blockSize/m.weight)
		m.effort -= (r.until - r.pos) * m.weight
		m.gaveUp = m.gaveUp || m.effort < 0
		return ctx.Err() == nil && !m.gaveUp
	}
	var loc []int
	if pos == 0 {
		loc = m.regexp.FindReaderIndex(r)
	} else if loc = m.behind.FindReaderSubmatchIndex(r); loc != nil {
		loc = loc[2:]
	}
	if r.ended {
		return span{}, false
	}
	m.effort += (r.until - r.pos) * m.weight
	if loc == nil {
		return span{}, false
	}
	return span{from + loc[0], from + loc[1]}, true
}

// textReader reads characters of a text. It asks now and then whether to go on.
type textReader struct {
	text  []byte
	pos   int
	until int
	more  func() bool // called at until, which it moves on
	ended bool        // more said no
}

func (r *textReader) ReadRune() (rune, int, error) {
	if r.pos >= r.until && !r.more() {
		r.ended = true
		return 0, 0, io.EOF
	}
	if r.pos >= len(r.text) {
		return 0, 0, io.EOF
	}
	if b := r.text[r.pos]; b < utf8.RuneSelf {
		r.pos++
		return rune(b), 1, nil
	}
	c, size := utf8.DecodeRune(r.text[r.pos:])
	r.pos += size
	return c, size, nil
}

// behindLast reports whether at is behind the last line: a line end ends a line
// and begins none at the end of the text.
func behindLast(text []byte, at int) bool {
	return at >= len(text) && (len(text) == 0 || text[len(text)-1] == '\n')
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
