package tools

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// plainText turns what programs write for a terminal into text as it flows by:
// UTF-8 with no control characters but LF and TAB. Escape sequences are taken
// out; bytes that are no UTF-8 become U+FFFD; of a line that a carriage return
// writes over, as progress bars do, the last state stays; a backspace takes the
// character before it back. It holds back the line that is not complete yet.
// For a screen, which does all that by itself, carriage returns and backspaces
// stay and nothing is held back. The zero value but for emit is ready to use.
type plainText struct {
	emit   func([]byte) // gets text that is final; must not keep it
	screen bool
	line   []byte // the line under way
	over   bool   // a carriage return came: the next character begins the line anew
	state  escape
	seq    int    // bytes of the escape sequence under way
	part   []byte // a character of which bytes are missing
}

// escape is where in an escape sequence the input stands (ECMA-48, 5.3 to 5.6).
type escape int

const (
	ground   escape = iota
	begun           // after ESC
	control         // after ESC [ : a control sequence, up to its final byte
	text            // in a string, such as a window's title, up to BEL or ESC \
	textEnds        // in a string, after ESC
)

// Limits in bytes. A longer line is no progress bar; a longer sequence is none,
// and what follows is text again.
const (
	maxHeldLine = 16 << 10
	maxControl  = 256
	maxString   = 1 << 20
)

// PlainText is what a program wrote as text for people and models: UTF-8 with no
// control characters but LF and TAB, and no escape sequences.
func PlainText(s string) string {
	var b strings.Builder
	t := plainText{emit: func(p []byte) { b.Write(p) }}
	_, _ = t.Write([]byte(s)) // never fails
	t.Flush()
	return b.String()
}

// Write takes in bytes; it never fails.
func (t *plainText) Write(p []byte) (int, error) {
	n := len(p)
	for len(t.part) > 0 && len(p) > 0 {
		p = t.complete(p)
	}
	for len(p) > 0 {
		if t.state != ground {
			p = t.skip(p)
			continue
		}
		if k := plainRun(p); k > 0 {
			t.add(p[:k])
			p = p[k:]
			continue
		}
		p = t.special(p)
	}
	return n, nil
}

// Flush ends the text: what is incomplete is final now.
func (t *plainText) Flush() {
	for range t.part {
		t.add(replacement)
	}
	t.part = nil
	t.emit(t.line)
	t.line = t.line[:0]
}

// Pending is the line under way; it is valid until the next call.
func (t *plainText) Pending() []byte { return t.line }

var replacement = []byte("\uFFFD")

// plainRun is the length of the longest beginning of p that is text as it is.
func plainRun(p []byte) int {
	i := 0
	for i < len(p) {
		for i+8 <= len(p) && plainASCII(binary.LittleEndian.Uint64(p[i:])) {
			i += 8
		}
		if i == len(p) {
			break
		}
		switch c := p[i]; {
		case c >= ' ' && c < 0x7f || c == '\n' || c == '\t':
			i++
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && size <= 1 || r < 0xa0 {
				return i
			}
			i += size
		}
	}
	return i
}

// plainASCII reports whether all eight bytes lie between the space and the tilde.
func plainASCII(x uint64) bool {
	const each = 0x0101010101010101
	// The highest bit of some byte is set by one below the space, by one above
	// ASCII, or by the delete character; where there is none, no bit is carried.
	return ((x-' '*each)|x|(x+each))&(0x80*each) == 0
}

// special takes one control character, or bytes that are no UTF-8.
func (t *plainText) special(p []byte) []byte {
	switch c := p[0]; {
	case c == 0x1b:
		t.state, t.seq = begun, 0
	case t.screen && (c == '\r' || c == '\b'):
		t.emit(p[:1])
	case c == '\r':
		t.over = true
	case c == '\b':
		_, size := utf8.DecodeLastRune(t.line)
		t.line = t.line[:len(t.line)-size]
	case c < utf8.RuneSelf: // the other control characters
	case !utf8.FullRune(p):
		t.part = append(t.part[:0], p...)
		return nil
	default:
		if r, size := utf8.DecodeRune(p); size > 1 {
			if r == 0x9b { // CSI in one character; the others of C1 mean nothing here
				t.state, t.seq = control, 0
			}
			return p[size:]
		}
		t.add(replacement)
	}
	return p[1:]
}

// complete finishes the character whose beginning the last Write brought.
func (t *plainText) complete(p []byte) []byte {
	for len(p) > 0 && !utf8.FullRune(t.part) {
		t.part = append(t.part, p[0])
		p = p[1:]
	}
	if !utf8.FullRune(t.part) {
		return nil
	}
	whole := t.part
	t.part = nil
	_, _ = t.Write(whole)
	return p
}

// add takes text that is plain.
func (t *plainText) add(p []byte) {
	if t.screen {
		t.emit(p)
		return
	}
	if t.over {
		t.over = false
		if p[0] != '\n' {
			t.line = t.line[:0]
		}
	}
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		t.emit(t.line)
		t.line = t.line[:0]
		t.emit(p[:i+1])
		p = p[i+1:]
	}
	if len(t.line)+len(p) > maxHeldLine {
		t.emit(t.line)
		t.line = t.line[:0]
		t.emit(p)
		return
	}
	t.line = append(t.line, p...)
}

// skip goes through an escape sequence. What cannot belong to it is looked at
// again as text.
func (t *plainText) skip(p []byte) []byte {
	c := p[0]
	t.seq++
	switch t.state {
	case begun:
		if t.state = afterEscape(c); c < ' ' || c > 0x7e {
			return p
		}
	case control:
		switch {
		case c < ' ' || c > 0x7e || t.seq > maxControl:
			t.state = ground
			return p
		case c >= '@':
			t.state = ground
		}
	case text:
		switch {
		case c == 0x1b:
			t.state = textEnds
		case c == 0x07:
			t.state = ground
		case c == '\n' || t.seq > maxString:
			t.state = ground
			return p
		}
	case textEnds:
		t.state = ground
		if c != '\\' { // ends the string, and begins another sequence
			t.state, t.seq = begun, 0
			return p
		}
	}
	return p[1:]
}

func afterEscape(c byte) escape {
	switch {
	case c == '[':
		return control
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return text
	case c >= ' ' && c < '0': // intermediate bytes, as in the choice of a character set
		return begun
	}
	return ground
}
