package lsp

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// encoding is the unit in which a server counts columns.
type encoding string

// The encodings of LSP 3.17.
const (
	utf8Units  encoding = "utf-8"  // bytes
	utf16Units encoding = "utf-16" // what is meant where nothing is said
	utf32Units encoding = "utf-32" // code points
)

// width is how many units a rune takes. A byte that is no UTF-8 is one unit of
// each, as is the replacement character that it is sent as, but for bytes.
func (e encoding) width(r rune, size int) int {
	switch {
	case e == utf8Units:
		return size
	case e == utf32Units || r < 0x10000:
		return 1
	default:
		return 2
	}
}

// text is a document's text with its lines found. Lines end with LF, CR LF or CR,
// as the protocol has it.
type text struct {
	body   string
	starts []int // of the lines
}

// newText finds the lines of body, which must be valid UTF-8.
func newText(body string) *text {
	t := &text{body: body, starts: []int{0}}
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '\r':
			if i+1 < len(body) && body[i+1] == '\n' {
				i++
			}
			t.starts = append(t.starts, i+1)
		case '\n':
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// line is a line's text without its end, from 0; empty behind the last.
func (t *text) line(n int) string {
	if n < 0 || n >= len(t.starts) {
		return ""
	}
	end := len(t.body)
	if n+1 < len(t.starts) {
		end = t.starts[n+1]
	}
	return strings.TrimRight(t.body[t.starts[n]:end], "\r\n")
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
	line := t.line(n)
	return t.starts[n] + byteColumn(line, int(p.Character), e)
}

// byteColumn is the byte of a line at which a column of e's units lies.
func byteColumn(line string, column int, e encoding) int {
	at, units := 0, 0
	for at < len(line) {
		r, size := utf8.DecodeRuneInString(line[at:])
		if units += e.width(r, size); units > column {
			break
		}
		at += size
	}
	return at
}

// position is the place of a byte of the body in e's units.
func (t *text) position(offset int, e encoding) Position {
	offset = min(max(offset, 0), len(t.body))
	n := sort.SearchInts(t.starts, offset+1) - 1
	line := t.line(n)
	before := line[:min(offset-t.starts[n], len(line))]
	units := 0
	for at := 0; at < len(before); {
		r, size := utf8.DecodeRuneInString(before[at:])
		units += e.width(r, size)
		at += size
	}
	return Position{Line: uint32(n), Character: uint32(units)} //nolint:gosec // a text has fewer lines
}

// Place is a place as people and models count it: lines from 1, columns from 1 in
// code points.
type Place struct {
	Line, Column int
}

// place is where p lies; the column counts up to the line's end at most.
func (t *text) place(p Position, e encoding) Place {
	line := t.line(int(p.Line))
	at := byteColumn(line, int(p.Character), e)
	return Place{Line: int(p.Line) + 1, Column: utf8.RuneCountInString(line[:at]) + 1}
}

// at is the position of a place. ok is false for one behind the text's end, or
// behind the end of its line.
func (t *text) at(p Place, e encoding) (_ Position, ok bool) {
	if p.Line < 1 || p.Line > t.lines() || p.Column < 1 {
		return Position{}, false
	}
	line := t.line(p.Line - 1)
	at := byteColumn(line, p.Column-1, utf32Units)
	if utf8.RuneCountInString(line[:at]) < p.Column-1 {
		return Position{}, false
	}
	return t.position(t.starts[p.Line-1]+at, e), true
}
