package pdf

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// header is what the library wants a file to begin with, whatever its version.
const header = "%PDF-1.7\n"

// lenient is a file that begins as the library wants it.
type lenient struct{ io.ReaderAt }

func (l lenient) ReadAt(p []byte, at int64) (int, error) {
	n, err := l.ReaderAt.ReadAt(p, at)
	if at >= 0 && at < int64(len(header)) {
		copy(p[:n], header[at:])
	}
	return n, err
}

// open opens a document. Where others forgive, so does it: a newer version, and
// bytes before the beginning and behind the end.
func open(file io.ReaderAt, size int64) (*pdf.Reader, error) {
	begin := make([]byte, min(size, 1024))
	if _, err := file.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	before := bytes.Index(begin, []byte("%PDF-"))
	if before < 0 {
		return nil, errors.New("it does not begin as a PDF file")
	}
	file, size = io.NewSectionReader(file, int64(before), size-int64(before)), size-int64(before)
	const mark = "%%EOF"
	end := make([]byte, min(size, 1024))
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	at := bytes.LastIndex(end, []byte(mark))
	if at < 0 {
		return nil, errors.New("its end is missing")
	}
	size += int64(at + len(mark) - len(end))
	doc, err := pdf.NewReader(lenient{file}, size)
	if err != nil && strings.Contains(err.Error(), "encrypt") {
		return nil, ErrEncrypted
	}
	return doc, err
}
