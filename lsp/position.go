package lsp

import (
	"encoding/json"
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

// Position is a place in a text: a line and a column from 0, the column in the
// unit of the server's position encoding.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is the text from Start up to, and without, End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// UnmarshalJSON reads numbers that do not fit as the nearest that do: servers write
// -1 for the beginning and the largest number they know for the end.
func (p *Position) UnmarshalJSON(data []byte) error {
	var wide struct {
		Line      float64 `json:"line"`
		Character float64 `json:"character"`
	}
	if err := json.Unmarshal(data, &wide); err != nil {
		return err
	}
	fit := func(n float64) uint32 { return uint32(min(max(n, 0), math.MaxInt32)) }
	*p = Position{Line: fit(wide.Line), Character: fit(wide.Character)}
	return nil
}

// encoding is the unit in which a server counts columns.
type encoding string

// The encodings of LSP 3.17.
const (
	utf8Units  encoding = "utf-8"  // bytes
	utf16Units encoding = "utf-16" // what is meant where nothing is said
	utf32Units encoding = "utf-32" // code points
)

// text is a document's text with its lines found. Lines end with LF, CR LF or CR,
// as the protocol has it. It does not change.
type text struct {
	body   string
	starts []int  // of the lines
	marks  []mark // one for each markStep bytes, so that a column in a long line is not counted from its start
}

// mark is how many characters stand before a byte.
type mark struct {
	at    int // the start of a character
	runes int
	wide  int // of those, the ones that take two UTF-16 units
}

// markStep is how many bytes lie between marks, about.
const markStep = 512

// newText finds the lines of body, which must be valid UTF-8.
func newText(body string) *text {
	t := &text{body: body, starts: []int{0}}
	var m mark
	for m.at < len(body) {
		if m.at >= len(t.marks)*markStep {
			t.marks = append(t.marks, m)
		}
		r, size := utf8.DecodeRuneInString(body[m.at:])
		m.at += size
		m.runes++
		switch {
		case r >= 0x10000:
			m.wide++
		case r == '\n', r == '\r' && (m.at == len(body) || body[m.at] != '\n'):
			t.starts = append(t.starts, m.at)
		}
	}
	return t
}

// before is how many characters stand before a byte, counted from the next mark
// before it.
func (t *text) before(offset int) mark {
	var m mark
	if i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].at > offset }); i > 0 {
		m = t.marks[i-1]
	}
	for m.at < offset {
		m.step(t.body)
	}
	return m
}

// step counts the character that begins there.
func (m *mark) step(body string) {
	r, size := utf8.DecodeRuneInString(body[m.at:])
	m.at += size
	if m.runes++; r >= 0x10000 {
		m.wide++
	}
}

// units is how many units stand before the mark.
func (m mark) units(e encoding) int {
	switch e {
	case utf8Units:
		return m.at
	case utf32Units:
		return m.runes
	}
	return m.runes + m.wide
}

// line is a line's text without its end, from 0; empty behind the last.
func (t *text) line(n int) string {
	if n < 0 || n >= len(t.starts) {
		return ""
	}
	return t.body[t.starts[n]:t.end(n)]
}

// end is where the text of a line ends, without its line end.
func (t *text) end(n int) int {
	if n+1 == len(t.starts) {
		return len(t.body)
	}
	return t.starts[n] + len(strings.TrimRight(t.body[t.starts[n]:t.starts[n+1]], "\r\n"))
}

// lines is how many lines there are; text that ends with a line end has an empty
// one behind it.
func (t *text) lines() int { return len(t.starts) }

// offset is where in the body p lies. A column behind the end of its line is the
// line's end, a line behind the last is the end of the text, and a column inside
// of a character is the character's start, as the protocol says.
func (t *text) offset(p Position, e encoding) int {
	n := int(p.Line)
	if n >= len(t.starts) {
		return len(t.body)
	}
	return t.column(n, int(p.Character), e)
}

// column is the byte of the body at which a column of a line lies.
func (t *text) column(n, column int, e encoding) int {
	start, end := t.before(t.starts[n]), t.end(n)
	wanted := start.units(e) + column
	at := start
	if i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].at >= end || t.marks[i].units(e) > wanted }); i > 0 && t.marks[i-1].at > start.at {
		at = t.marks[i-1]
	}
	for at.at < end {
		next := at
		if next.step(t.body); next.units(e) > wanted {
			break
		}
		at = next
	}
	return at.at
}

// position is the place of a byte of the body in e's units. Inside of a line's end
// it is the end of the line.
func (t *text) position(offset int, e encoding) Position {
	offset = min(max(offset, 0), len(t.body))
	n := sort.SearchInts(t.starts, offset+1) - 1
	offset = min(offset, t.end(n))
	return Position{Line: uint32(n), Character: uint32(t.before(offset).units(e) - t.before(t.starts[n]).units(e))} //nolint:gosec // a text has fewer lines
}

// Place is a place as people and models count it: lines from 1, columns from 1 in
// code points.
type Place struct {
	Line, Column int
}

// place is where p lies; the column counts up to the line's end at most. A line
// behind the last stays what it is, with column 1.
func (t *text) place(p Position, e encoding) Place {
	n := int(p.Line)
	if n >= len(t.starts) {
		return Place{Line: n + 1, Column: 1}
	}
	at := t.before(t.column(n, int(p.Character), e))
	return Place{Line: n + 1, Column: at.runes - t.before(t.starts[n]).runes + 1}
}

// at is the position of a place. ok is false for one behind the text's end, or
// behind the end of its line.
func (t *text) at(p Place, e encoding) (_ Position, ok bool) {
	if p.Line < 1 || p.Line > t.lines() || p.Column < 1 {
		return Position{}, false
	}
	at := t.column(p.Line-1, p.Column-1, utf32Units)
	if t.length(p.Line-1) < p.Column-1 {
		return Position{}, false
	}
	return t.position(at, e), true
}

// length is how many characters a line has, from 0.
func (t *text) length(n int) int { return t.before(t.end(n)).runes - t.before(t.starts[n]).runes }

// maxShown is how many characters of a line are shown, about.
const maxShown = 300

// shown is a line's text, of a long one what stands around a byte of the body.
func (t *text) shown(n, at int) string {
	from, to := t.starts[n], t.end(n)
	if to-from <= maxShown || to-from <= utf8.UTFMax*maxShown && t.length(n) <= maxShown {
		return strings.TrimSpace(t.body[from:to])
	}
	start, end := at, at
	for i := 0; i < maxShown/3 && start > from; i++ {
		_, size := utf8.DecodeLastRuneInString(t.body[from:start])
		start -= size
	}
	for i := 0; i < maxShown*2/3 && end < to; i++ {
		_, size := utf8.DecodeRuneInString(t.body[end:to])
		end += size
	}
	out := strings.TrimSpace(t.body[start:end])
	if start > from {
		out = "…" + out
	}
	if end < to {
		out += "…"
	}
	return out
}
