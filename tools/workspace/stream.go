package workspace

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// DecodeStream reads text as it comes, for files that are too large to be held:
// decoded, without a byte order mark, with the file's line ends. At is where the
// first byte of what is read stands in the file, as long as what is read are the
// file's own bytes; else it is -1. Only the beginning decides whether the file
// is text (ErrBinary, ErrEncoding): what is broken later is for the reader to
// find.
func DecodeStream(src io.ReadSeeker) (text io.Reader, at int64, err error) {
	begin := make([]byte, sniffed)
	n, err := io.ReadFull(src, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	begin = begin[:n]
	e := encodingOf(begin)
	mark := len(e.mark())
	if err := sniff(e, begin[mark:]); err != nil {
		return nil, 0, err
	}
	if _, err := src.Seek(int64(mark), io.SeekStart); err != nil {
		return nil, 0, err
	}
	if e.wide() {
		return transform.NewReader(src, e.codec().NewDecoder()), -1, nil
	}
	return src, int64(mark), nil
}

// sniff decides by the beginning of a file, whose last character may be cut.
func sniff(e Encoding, begin []byte) error {
	if e.wide() {
		body, err := e.codec().NewDecoder().Bytes(begin[:len(begin)&^1])
		if err != nil || bytes.IndexByte(body, 0) >= 0 {
			return ErrBinary
		}
		return nil
	}
	if bytes.IndexByte(begin, 0) >= 0 {
		return ErrBinary
	}
	if _, cut := trimCut(begin); !utf8.Valid(begin[:len(begin)-cut]) {
		return ErrEncoding
	}
	return nil
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
// is no text is ErrBinary or ErrEncoding.
func DecodeRange(src io.ReaderAt, from, length int64) (Range, error) {
	begin, err := readAt(src, 0, sniffed)
	if err != nil {
		return Range{}, err
	}
	e := encodingOf(begin)
	if err := sniff(e, begin[len(e.mark()):]); err != nil {
		return Range{}, err
	}
	from = max(from, int64(len(e.mark())))
	if e.wide() {
		return decodeWideRange(e, src, from, length)
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
	if !utf8.Valid(data) {
		return Range{}, ErrEncoding
	}
	start += from - back
	return Range{string(data), start, start + int64(len(data))}, nil
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
	body, err := decodeWide(e, data)
	if err != nil {
		return Range{}, err
	}
	return Range{body, from, from + int64(len(data))}, nil
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
