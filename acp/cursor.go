package acp

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// problem is why a value could not be decoded: what was expected, and where.
// The path is collected while the decoder unwinds, so its steps stand in
// reverse order.
type problem struct {
	steps []string
	want  string
}

func wrong(want string) *problem { return &problem{want: want} }

// What was expected, where more than one place says it.
const (
	wantRequired = "is required"
	wantJSON     = "must be valid JSON"
)

// in says that p lies inside the member or element called step.
func (p *problem) in(step string) *problem {
	p.steps = append(p.steps, step)
	return p
}

// text is "prompt.0.type: is required"; without a path, whole stands for it.
func (p *problem) text(whole string) string {
	if len(p.steps) == 0 {
		return whole + ": " + p.want
	}
	var b strings.Builder
	for i := len(p.steps) - 1; i >= 0; i-- {
		b.WriteString(p.steps[i])
		if i > 0 {
			b.WriteByte('.')
		}
	}
	return b.String() + ": " + p.want
}

// cursor walks over one JSON text without copying it. It expects valid JSON, as
// the connection delivers it; on anything else it reports a problem or reads a
// value that is not there, but never fails otherwise.
type cursor struct {
	b []byte
	i int
}

// kind moves to the next value and is its first byte, 0 at the end.
func (c *cursor) kind() byte {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// null reads a null, if the next value is one.
func (c *cursor) null() bool {
	if c.kind() == 'n' && bytes.HasPrefix(c.b[c.i:], []byte("null")) {
		c.i += len("null")
		return true
	}
	return false
}

// skip passes over the next value.
func (c *cursor) skip() *problem {
	depth := 0
	for {
		switch c.kind() {
		case '{', '[':
			depth++
			c.i++
		case '}', ']':
			if depth--; depth < 0 {
				return wrong(wantJSON)
			}
			c.i++
		case '"':
			if _, p := c.quoted(); p != nil {
				return p
			}
		case ',', ':':
			if depth == 0 {
				return wrong(wantJSON)
			}
			c.i++
			continue
		default:
			if len(c.bare()) == 0 {
				return wrong(wantJSON)
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// raw is the text of the next value, not copied.
func (c *cursor) raw() ([]byte, *problem) {
	c.kind()
	start := c.i
	if p := c.skip(); p != nil {
		return nil, p
	}
	return c.b[start:c.i], nil
}

// bare reads a number or a literal.
func (c *cursor) bare() []byte {
	c.kind()
	start := c.i
	for c.i < len(c.b) {
		switch b := c.b[c.i]; {
		case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b == 'E', b == '+', b == '-', b == '.':
			c.i++
		default:
			return c.b[start:c.i]
		}
	}
	return c.b[start:c.i]
}

// quoted reads a string and is what stands between its quotes, escapes and all.
func (c *cursor) quoted() ([]byte, *problem) {
	if c.kind() != '"' {
		return nil, wrong("must be a string")
	}
	start := c.i + 1
	for at := start; ; {
		n := bytes.IndexByte(c.b[at:], '"')
		if n < 0 {
			return nil, wrong(wantJSON)
		}
		end := at + n
		slashes := 0
		for end-slashes > start && c.b[end-slashes-1] == '\\' {
			slashes++
		}
		if at = end + 1; slashes%2 == 0 {
			c.i = at
			return c.b[start:end], nil
		}
	}
}

// text reads a string. It is copied once, however long it is.
func (c *cursor) text() (string, *problem) {
	q, p := c.quoted()
	if p != nil {
		return "", p
	}
	return unquote(q), nil
}

func unquote(q []byte) string {
	if bytes.IndexByte(q, '\\') < 0 && utf8.Valid(q) {
		return string(q)
	}
	var s strings.Builder
	s.Grow(len(q))
	for len(q) > 0 {
		if q[0] == '\\' {
			q = unescape(&s, q)
			continue
		}
		n := bytes.IndexByte(q, '\\')
		if n < 0 {
			n = len(q)
		}
		writeUTF8(&s, q[:n])
		q = q[n:]
	}
	return s.String()
}

// writeUTF8 replaces each byte that is not UTF-8, as encoding/json does.
func writeUTF8(s *strings.Builder, b []byte) {
	if utf8.Valid(b) {
		s.Write(b)
		return
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		s.WriteRune(r)
		b = b[n:]
	}
}

// unescape writes the character of the escape that q begins with and is the
// rest of q. Half of a surrogate pair becomes U+FFFD, as in encoding/json.
func unescape(s *strings.Builder, q []byte) []byte {
	if len(q) < 2 {
		s.WriteRune(utf8.RuneError)
		return nil
	}
	switch q[1] {
	case 'b':
		s.WriteByte('\b')
	case 'f':
		s.WriteByte('\f')
	case 'n':
		s.WriteByte('\n')
	case 'r':
		s.WriteByte('\r')
	case 't':
		s.WriteByte('\t')
	case 'u':
		r, n := hexRune(q), 6
		if utf16.IsSurrogate(r) {
			pair := utf8.RuneError
			if len(q) >= 12 {
				pair = utf16.DecodeRune(r, hexRune(q[6:]))
			}
			if r = pair; r != utf8.RuneError {
				n = 12
			}
		}
		s.WriteRune(r)
		return q[min(n, len(q)):]
	default:
		s.WriteByte(q[1])
	}
	return q[2:]
}

// hexRune reads \uXXXX.
func hexRune(q []byte) rune {
	if len(q) < 6 || q[0] != '\\' || q[1] != 'u' {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(q[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// integer reads a whole number; 2.0 and 1e3 are whole numbers too, since not
// every language that writes JSON knows integers.
func (c *cursor) integer() (int64, *problem) {
	const exact = 1 << 53
	if k := c.kind(); k != '-' && (k < '0' || k > '9') {
		return 0, wrong("must be an integer")
	}
	token := string(c.bare())
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(token, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, wrong("must be an integer")
	}
	return int64(f), nil
}

func (c *cursor) number() (float64, *problem) {
	if k := c.kind(); k != '-' && (k < '0' || k > '9') {
		return 0, wrong("must be a number")
	}
	f, err := strconv.ParseFloat(string(c.bare()), 64)
	if err != nil {
		return 0, wrong("must be a number")
	}
	return f, nil
}

func (c *cursor) boolean() (bool, *problem) {
	if k := c.kind(); k == 't' || k == 'f' {
		switch string(c.bare()) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	return false, wrong("must be true or false")
}

// object calls member with each key; member reads the value. An empty array is
// an empty object: that is how Lua writes one.
func (c *cursor) object(member func(key []byte) *problem) *problem {
	switch c.kind() {
	case '{':
	case '[':
		c.i++
		if c.kind() != ']' {
			return wrong("must be an object")
		}
		c.i++
		return nil
	default:
		return wrong("must be an object")
	}
	c.i++
	for first := true; ; first = false {
		switch c.kind() {
		case '}':
			c.i++
			return nil
		case ',':
			if first {
				return wrong(wantJSON)
			}
			c.i++
		}
		key, p := c.quoted()
		if p != nil {
			return wrong(wantJSON)
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(unquote(key))
		}
		if c.kind() != ':' {
			return wrong(wantJSON)
		}
		c.i++
		if p := member(key); p != nil {
			return p
		}
	}
}

// array calls item with the index of each element; item reads it. An empty
// object is an empty array, for the same reason.
func (c *cursor) array(item func(i int) *problem) *problem {
	switch c.kind() {
	case '[':
	case '{':
		c.i++
		if c.kind() != '}' {
			return wrong("must be an array")
		}
		c.i++
		return nil
	default:
		return wrong("must be an array")
	}
	c.i++
	for i := 0; ; i++ {
		switch c.kind() {
		case ']':
			c.i++
			return nil
		case ',':
			if i == 0 {
				return wrong(wantJSON)
			}
			c.i++
		}
		if p := item(i); p != nil {
			return p
		}
	}
}
