package workspace

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// Sniff tells the encoding of a file that is too large to be held, by how it
// begins. What is no text is ErrBinary; what is broken later is for the reader
// to find.
func Sniff(src io.ReaderAt) (Encoding, error) {
	begin, err := readAt(src, 0, sniffed)
	if err != nil {
		return 0, err
	}
	e := encodingOf(begin)
	rest := begin[len(e.mark()):]
	if e.wide() {
		body, err := e.loose(rest[:len(rest)&^1])
		if err != nil || strings.IndexByte(body, 0) >= 0 {
			return 0, ErrBinary
		}
		return e, nil
	}
	if bytes.IndexByte(rest, 0) >= 0 {
		return 0, ErrBinary
	}
	if whole, _ := trimCut(rest); utf8.Valid(whole) {
		return e, nil
	}
	if end := bytes.LastIndexByte(rest, '\n'); end > 0 {
		rest = rest[:end] // no character that is cut
	}
	e, _, err = guess(rest)
	return e, err
}

// DecodeStream reads text as it comes, from the start of src: decoded, without a
// byte order mark, with the file's line ends. At is where the first byte of what
// is read stands in the file, as long as what is read are the file's own bytes;
// else it is -1.
func DecodeStream(src io.ReadSeeker, e Encoding) (text io.Reader, at int64, err error) {
	mark := int64(len(e.mark()))
	if _, err := src.Seek(mark, io.SeekStart); err != nil {
		return nil, 0, err
	}
	if codec := e.codec(); codec != nil {
		return transform.NewReader(src, codec.NewDecoder()), -1, nil
	}
	return src, mark, nil
}

// trimCut takes an incomplete character off the end of UTF-8 and says how many
// bytes it has.
func trimCut(data []byte) (whole []byte, cut int) {
	for i := 1; i <= min(utf8.UTFMax-1, len(data)); i++ {
		if c := data[len(data)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-i:]) {
				return data[:len(data)-i], i
			}
			break
		}
	}
	return data, 0
}

// Range is a piece of a file's text and where it stands, in bytes of the file.
type Range struct {
	Text       string
	Start, End int64
}

// DecodeRange reads the text in length bytes of a file from an offset, moved to
// whole characters: back from the middle of one, and at least one is read. What
// is no text is ErrBinary.
func DecodeRange(src io.ReaderAt, e Encoding, from, length int64) (Range, error) {
	from = max(from, int64(len(e.mark())))
	if e.wide() {
		return decodeWideRange(e, src, from, length)
	}
	if e.Legacy() {
		return decodeLegacyRange(e, src, from, length)
	}
	back := min(from-int64(len(e.mark())), utf8.UTFMax-1)
	data, err := readAt(src, from-back, back+length+utf8.UTFMax)
	if err != nil {
		return Range{}, err
	}
	start, end := min(back, int64(len(data))), min(back+max(length, 1), int64(len(data)))
	for start > 0 && start < int64(len(data)) && !utf8.RuneStart(data[start]) {
		start--
	}
	for end < int64(len(data)) && !utf8.RuneStart(data[end]) {
		end++
	}
	data = data[start:end]
	if bytes.IndexByte(data, 0) >= 0 {
		return Range{}, ErrBinary
	}
	text, _ := e.loose(data)
	start += from - back
	return Range{text, start, start + int64(len(data))}, nil
}

// decodeWideRange is DecodeRange for UTF-16.
func decodeWideRange(e Encoding, src io.ReaderAt, from, length int64) (Range, error) {
	from &^= 1
	if from >= 4 { // not in the middle of a pair
		unit, err := readAt(src, from, 2)
		if err != nil {
			return Range{}, err
		}
		if len(unit) == 2 && e.surrogate(unit, 0xdc00) {
			from -= 2
		}
	}
	end := int(max(length&^1, 2))
	data, err := readAt(src, from, int64(end)+2)
	if err != nil {
		return Range{}, err
	}
	if end <= len(data) && e.surrogate(data[end-2:], 0xd800) {
		if end > 2 {
			end -= 2
		} else {
			end += 2
		}
	}
	data = data[:min(end, len(data))]
	body, ok := e.decode(data)
	if !ok || strings.IndexByte(body, 0) >= 0 {
		return Range{}, ErrBinary
	}
	return Range{body, from, from + int64(len(data))}, nil
}

// decodeLegacyRange is DecodeRange for encodings in which a byte does not say
// whether it begins a character. It goes forward from the line's start, or from
// as far back as lines usually begin: a line end is never part of a character.
func decodeLegacyRange(e Encoding, src io.ReaderAt, from, length int64) (Range, error) {
	const lookBack = 4 << 10
	back := min(from, lookBack)
	data, err := readAt(src, from-back, back+max(length, 1)+utf8.UTFMax)
	if err != nil {
		return Range{}, err
	}
	start := bytes.LastIndexByte(data[:min(back, int64(len(data)))], '\n') + 1
	for start < int(back) {
		n := e.first(data[start:])
		if start+n > int(back) {
			break
		}
		start += n
	}
	end := min(int(back+max(length, 1)), len(data))
	whole := end
	for whole < min(end+utf8.UTFMax, len(data)) {
		if _, ok := e.decode(data[start:whole]); ok {
			break
		}
		whole++
	}
	if _, ok := e.decode(data[start:whole]); ok {
		end = whole
	}
	if bytes.IndexByte(data[start:end], 0) >= 0 {
		return Range{}, ErrBinary
	}
	text, err := e.loose(data[start:end])
	if err != nil {
		return Range{}, err
	}
	at := from - back + int64(start)
	return Range{text, at, at + int64(end-start)}, nil
}

// first is how many bytes the first character has; 1 where there is none.
func (e Encoding) first(data []byte) int {
	for n := 1; n <= min(utf8.UTFMax, len(data)); n++ {
		if _, ok := e.decode(data[:n]); ok {
			return n
		}
	}
	return 1
}

// surrogate reports whether a unit of UTF-16 is one of the half that begins at
// first.
func (e Encoding) surrogate(unit []byte, first uint16) bool {
	high, low := unit[1], unit[0]
	if e == UTF16BE {
		high, low = low, high
	}
	return (uint16(high)<<8|uint16(low))&0xfc00 == first
}

// readAt reads at most length bytes from an offset; fewer at the end.
func readAt(src io.ReaderAt, from, length int64) ([]byte, error) {
	data := make([]byte, length)
	n, err := src.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}
