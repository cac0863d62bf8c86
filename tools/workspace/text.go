package workspace

import (
	"bytes"
	"errors"
	"net/http"
	"sort"
	"strings"
	"unicode/utf8"
)

// What is no text.
var (
	ErrBinary   = errors.New("is a binary file")
	ErrEncoding = errors.New("is not UTF-8") // text to write
)

// sniffed is how much of a file decides whether it is binary.
const sniffed = 8 << 10

// IsBinary reports whether a file that begins with data is no text: it has a
// NUL in its first 8 KB without being UTF-16.
func IsBinary(data []byte) bool {
	return !encodingOf(data).wide() && bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}

// ContentType names the media type of a file that begins with data, for people.
func ContentType(data []byte) string { return http.DetectContentType(data) }

// Text is a text file: what it says, and how it says it, so that a change gives
// every other byte back as it was. It is never changed.
type Text struct {
	raw      []byte
	encoding Encoding
	body     string // decoded, without the mark, with the file's line ends
	lf       string // body with every CRLF made LF
	crlf     []int  // where in lf stands an LF that is a CRLF in body, rising
}

// Decode reads a file's bytes as text, whatever its encoding: UTF-8, UTF-16 with
// a mark, else the legacy encoding that it most likely is written in. Who reads
// a file and who changes it both come here, so that they see the same. The error
// wraps ErrBinary.
func Decode(data []byte) (*Text, error) {
	e := encodingOf(data)
	rest := data[len(e.mark()):]
	if !e.wide() && bytes.IndexByte(rest, 0) >= 0 {
		return nil, ErrBinary
	}
	body, ok := e.decode(rest)
	switch {
	case ok && strings.IndexByte(body, 0) < 0:
	case e.wide():
		return nil, ErrBinary
	default:
		var err error
		if e, body, err = guess(data); err != nil {
			return nil, err
		}
	}
	return newText(data, e, body), nil
}

// decodeAs reads the bytes of a text that was written in an encoding, as Decode
// would but for the guess.
func decodeAs(e Encoding, data []byte) (*Text, error) {
	if (e.Legacy() || e == DamagedUTF8) && !utf8.Valid(data) {
		body, ok := e.decode(data)
		if !ok || strings.IndexByte(body, 0) >= 0 {
			return nil, ErrBinary
		}
		return newText(data, e, body), nil
	}
	return Decode(data)
}

func newText(data []byte, e Encoding, body string) *Text {
	t := &Text{raw: data, encoding: e, body: body}
	t.foldLineEnds()
	return t
}

func (t *Text) foldLineEnds() {
	n := strings.Count(t.body, "\r\n")
	if n == 0 {
		t.lf = t.body
		return
	}
	t.crlf = make([]int, 0, n)
	var b strings.Builder
	b.Grow(len(t.body) - n)
	for rest := t.body; ; {
		line, after, found := strings.Cut(rest, "\r\n")
		b.WriteString(line)
		if !found {
			break
		}
		t.crlf = append(t.crlf, b.Len())
		b.WriteByte('\n')
		rest = after
	}
	t.lf = b.String()
}

// Bytes is the file.
func (t *Text) Bytes() []byte { return t.raw }

// Encoding is how the file is written.
func (t *Text) Encoding() Encoding { return t.encoding }

// Body is the text as an editor holds it: decoded, without a byte order mark,
// with the line ends of the file.
func (t *Text) Body() string { return t.body }

// LF is the text as the model sees it: every line ends in LF.
func (t *Text) LF() string { return t.lf }

// LineEnd is the line end that most lines have; empty where there is none.
func (t *Text) LineEnd() string {
	all := strings.Count(t.lf, "\n")
	switch {
	case all == 0:
		return ""
	case 2*len(t.crlf) > all:
		return "\r\n"
	}
	return "\n"
}

// inBody is the offset in body of an offset in lf.
func (t *Text) inBody(lf int) int { return lf + sort.SearchInts(t.crlf, lf) }

// FoldLineEnds is text with every CRLF made LF, as Text.LF is.
func FoldLineEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
