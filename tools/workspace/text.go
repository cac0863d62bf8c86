package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// What Decode refuses.
var (
	ErrBinary   = errors.New("is a binary file")
	ErrEncoding = errors.New("is not UTF-8: a binary file, or text in a legacy encoding")
)

// Encoding is how a text file is written in bytes.
type Encoding int

// The encodings that are read and kept. UTF-16 is known by its byte order mark.
const (
	UTF8 Encoding = iota
	UTF8BOM
	UTF16LE
	UTF16BE
)

// mark is the byte order mark that begins a file of the encoding.
func (e Encoding) mark() string {
	return [...]string{"", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}[e]
}

func (e Encoding) wide() bool { return e == UTF16LE || e == UTF16BE }

func (e Encoding) String() string {
	return [...]string{"UTF-8", "UTF-8 with BOM", "UTF-16 LE", "UTF-16 BE"}[e]
}

// encodingOf tells a file's encoding by how it begins.
func encodingOf(data []byte) Encoding {
	for _, e := range []Encoding{UTF8BOM, UTF16LE, UTF16BE} {
		if bytes.HasPrefix(data, []byte(e.mark())) {
			return e
		}
	}
	return UTF8
}

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

// Decode reads a file's bytes as text. The error wraps ErrBinary or ErrEncoding.
func Decode(data []byte) (*Text, error) {
	t := &Text{raw: data, encoding: encodingOf(data)}
	rest := data[len(t.encoding.mark()):]
	switch {
	case t.encoding.wide():
		body, err := decodeWide(t.encoding, rest)
		if err != nil {
			return nil, err
		}
		t.body = body
	case bytes.IndexByte(rest, 0) >= 0:
		return nil, ErrBinary
	case !utf8.Valid(rest):
		return nil, ErrEncoding
	default:
		t.body = string(rest)
	}
	t.foldLineEnds()
	return t, nil
}

// decodeWide reads UTF-16. What would not come back as the same bytes is no text.
func decodeWide(e Encoding, data []byte) (string, error) {
	body, err := e.codec().NewDecoder().Bytes(data)
	if err != nil || bytes.IndexByte(body, 0) >= 0 {
		return "", ErrBinary
	}
	back, err := e.encode(string(body))
	if err != nil || !bytes.Equal(back, data) {
		return "", ErrBinary
	}
	return string(body), nil
}

// codec is x/text's UTF-16, to which byte order marks are characters.
func (e Encoding) codec() encoding.Encoding {
	order := unicode.LittleEndian
	if e == UTF16BE {
		order = unicode.BigEndian
	}
	return unicode.UTF16(order, unicode.IgnoreBOM)
}

// encode writes text without a mark.
func (e Encoding) encode(text string) ([]byte, error) {
	if !e.wide() {
		return []byte(text), nil
	}
	return e.codec().NewEncoder().Bytes([]byte(text))
}

// Encode writes a new file's text as it is: with the encoding's mark, and with
// the line ends that it has.
func (e Encoding) Encode(text string) ([]byte, error) {
	data, err := e.encode(text)
	if err != nil {
		return nil, fmt.Errorf("encoding as %s: %w", e, err)
	}
	return append([]byte(e.mark()), data...), nil
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
