package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Splice is a change of a text: what stands from Start to End, offsets in
// Text.LF, becomes New.
type Splice struct {
	Start, End int
	New        string
}

// Apply makes the changes, which must rise and not overlap. Every byte outside
// of what differs stays as it is, whatever the encoding and however the line
// ends are mixed: what New has in common with what it replaces, at either end,
// counts as outside. A new line end is that of the line end which it replaces,
// else that of its surroundings. CRLF in New counts as LF.
//
// The error wraps ErrBinary where the result would be no text any more.
func (t *Text) Apply(splices ...Splice) (*Text, error) { return t.apply(false, splices) }

// ApplyExact makes changes that bring their own line ends, which stay as they
// are, CRLF too. They begin and end at the beginning of a line or the text's end.
func (t *Text) ApplyExact(splices ...Splice) (*Text, error) { return t.apply(true, splices) }

func (t *Text) apply(exact bool, splices []Splice) (*Text, error) {
	w := splicer{Text: t, at: cursor{text: t}, ends: t.lineEnds(), out: make([]byte, 0, len(t.raw))}
	last := 0
	for _, s := range splices {
		if s.Start < last || s.End < s.Start || s.End > len(t.lf) {
			return nil, fmt.Errorf("the change from %d to %d does not fit a text of %d bytes", s.Start, s.End, len(t.lf))
		}
		if !utf8.ValidString(s.New) {
			return nil, fmt.Errorf("the new text %w", ErrEncoding)
		}
		last = s.End
		pieces := []Splice{s}
		if !exact {
			pieces = t.pieces(t.Narrow(s))
		}
		for _, piece := range pieces {
			if err := w.splice(piece, exact); err != nil {
				return nil, err
			}
		}
	}
	return decodeAs(t.encoding, append(w.out, t.raw[w.kept:]...))
}

// splicer writes a changed text.
type splicer struct {
	*Text
	at   cursor
	ends *lineEnds
	out  []byte
	kept int // offset in raw of what was not written yet
}

func (w *splicer) splice(s Splice, exact bool) error {
	start, end := w.inBody(s.Start), w.inBody(s.End)
	if !exact {
		s.New = w.ends.fit(s.New, start, end)
	}
	w.out = append(w.out, w.raw[w.kept:w.at.raw(start)]...)
	piece, err := w.encoding.encode(s.New)
	if err != nil {
		return err
	}
	w.out = append(w.out, piece...)
	w.kept = w.at.raw(end)
	return nil
}

// maxCompared is the size in bytes of a change up to which it is looked at line
// by line.
const maxCompared = 1 << 20

// pieces are a change by the lines that differ, where a line that stays could
// not be written again as it was: line ends are mixed, or bytes are damaged.
func (t *Text) pieces(s Splice) []Splice {
	mixed := len(t.crlf) > 0 && len(t.crlf) < strings.Count(t.lf, "\n")
	old := t.lf[s.Start:s.End]
	if !mixed && t.encoding != DamagedUTF8 || !strings.Contains(old, "\n") || !strings.Contains(s.New, "\n") || len(old)+len(s.New) > maxCompared {
		return []Splice{s}
	}
	var pieces []Splice
	for _, e := range udiff.Lines(old, s.New) {
		pieces = append(pieces, t.Narrow(Splice{s.Start + e.Start, s.Start + e.End, e.New}))
	}
	return pieces
}

// Replace makes a file of new content that keeps how the old one is written:
// encoding, byte order mark, line ends, and whether the last line is ended,
// unless that end is all that differs. An empty text leaves the content as it
// is.
func (t *Text) Replace(content string) (*Text, error) {
	content = FoldLineEnds(content)
	if t.encoding.mark() != "" {
		content = strings.TrimPrefix(content, "\ufeff")
	}
	trimmed, old := strings.TrimSuffix(content, "\n"), strings.TrimSuffix(t.lf, "\n")
	if t.lf != "" && content != "" && trimmed != old {
		content = trimmed
		if old != t.lf {
			content += "\n"
		}
	}
	return t.Apply(Splice{0, len(t.lf), content})
}

// Narrow takes off a change what it leaves as it is at either end, by whole
// characters.
func (t *Text) Narrow(s Splice) Splice {
	s.New = FoldLineEnds(s.New)
	old := t.lf[s.Start:s.End]
	head := 0
	for head < min(len(old), len(s.New)) && old[head] == s.New[head] {
		head++
	}
	for head > 0 && !(boundary(old, head) && boundary(s.New, head)) {
		head--
	}
	old, s.New = old[head:], s.New[head:]
	s.Start += head
	same := 0
	for same < min(len(old), len(s.New)) && old[len(old)-1-same] == s.New[len(s.New)-1-same] {
		same++
	}
	for same > 0 && !(boundary(old, len(old)-same) && boundary(s.New, len(s.New)-same)) {
		same--
	}
	s.End -= same
	s.New = s.New[:len(s.New)-same]
	return s
}

// boundary reports whether a character of s begins, or s ends, at i.
func boundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }

// cursor turns rising offsets in a text's body into offsets in its bytes.
type cursor struct {
	text *Text
	body int
	size int // in bytes, of what is before body
}

func (c *cursor) raw(body int) int {
	e := c.text.encoding
	if e == DamagedUTF8 {
		return c.rawDamaged(body)
	}
	if e.codec() == nil {
		return len(e.mark()) + body
	}
	// It came of these bytes: that it goes back was checked.
	piece, _ := e.encode(c.text.body[c.body:body])
	c.size += len(piece)
	c.body = body
	return len(e.mark()) + c.size
}

// rawDamaged is raw for UTF-8 in which single bytes stand for characters.
func (c *cursor) rawDamaged(body int) int {
	for c.body < body {
		_, size := utf8.DecodeRune(c.text.raw[c.size:])
		_, width := utf8.DecodeRuneInString(c.text.body[c.body:])
		c.size += size
		c.body += width
	}
	return c.size
}

// lineEnds chooses line ends for what is put into a text.
type lineEnds struct {
	text  *Text
	plain string // the one that all lines have; empty where they are mixed
	next  int    // the first LF in body at or after where it was last asked for; -1: not yet
	last  int    // the last LF in body, where they are mixed
}

func (t *Text) lineEnds() *lineEnds {
	ends := &lineEnds{text: t, next: -1}
	switch len(t.crlf) {
	case 0:
		ends.plain = "\n"
	case strings.Count(t.lf, "\n"):
		ends.plain = "\r\n"
	default:
		ends.last = strings.LastIndexByte(t.body, '\n')
	}
	return ends
}

// fit gives a text that replaces body[start:end] its line ends.
func (l *lineEnds) fit(text string, start, end int) string {
	if l.plain == "\n" || !strings.Contains(text, "\n") {
		return text
	}
	if l.plain != "" {
		return strings.ReplaceAll(text, "\n", l.plain)
	}
	var b strings.Builder
	replaced := l.text.body[start:end]
	for {
		line, after, found := strings.Cut(text, "\n")
		b.WriteString(line)
		if !found {
			return b.String()
		}
		text = after
		i := strings.IndexByte(replaced, '\n')
		if i < 0 {
			b.WriteString(l.around(end))
			continue
		}
		b.WriteString(l.endAt(end - len(replaced) + i))
		replaced = replaced[i+1:]
	}
}

// around is the line end that follows an offset in body, else the last one
// before it. Offsets rise from call to call.
func (l *lineEnds) around(at int) string {
	if l.next < at {
		if i := strings.IndexByte(l.text.body[at:], '\n'); i >= 0 {
			l.next = at + i
		} else {
			l.next = len(l.text.body)
		}
	}
	if l.next < len(l.text.body) {
		return l.endAt(l.next)
	}
	return l.endAt(l.last)
}

// endAt is the line end whose LF stands at an offset in body.
func (l *lineEnds) endAt(lf int) string {
	if lf > 0 && l.text.body[lf-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
