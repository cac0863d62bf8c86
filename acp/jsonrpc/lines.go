package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errTooLong says that a line was longer than the limit and has been skipped.
var errTooLong = errors.New("line too long")

// lineReader cuts its input into lines of bounded length.
type lineReader struct {
	r       *bufio.Reader
	max     int // bytes, without the line's end (a newline, or a return and a newline)
	started bool
	err     error // why the input ended; kept, so that it is told again
}

// newLineReader is a reader of lines of at most max bytes.
func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next is the next line that is not blank, without surrounding white space; the
// slice is the caller's. A line above the limit is skipped to its end and
// reported as errTooLong, after which reading goes on. At the end of the input,
// what stands there without a newline is a line too; then comes io.EOF. A byte
// order mark at the very start is dropped.
func (l *lineReader) next() ([]byte, error) {
	for l.err == nil {
		first := !l.started
		l.started = true
		line, err := l.line()
		if errors.Is(err, errTooLong) {
			return nil, err
		}
		if first {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
			return line, nil
		}
	}
	return nil, l.err
}

// line reads up to the next newline or the end of the input. Long lines are
// gathered in pieces and joined once, so that their bytes are copied twice and
// not once per doubling of a buffer.
func (l *lineReader) line() ([]byte, error) {
	var pieces [][]byte
	size := 0
	for {
		piece, err := l.r.ReadSlice('\n')
		size += len(piece)
		if tooLong := size > l.max+len("\r\n"); tooLong {
			pieces = nil
		} else if err == nil && pieces == nil {
			return l.bounded(bytes.Clone(piece))
		} else {
			pieces = append(pieces, bytes.Clone(piece))
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if l.err = err; err != nil && err != io.EOF {
			return nil, nil // the line was cut off: it is no message
		}
		if size > l.max+len("\r\n") {
			return nil, errTooLong
		}
		return l.bounded(bytes.Join(pieces, nil))
	}
}

// bounded holds line to the limit exactly, its end not counted.
func (l *lineReader) bounded(line []byte) ([]byte, error) {
	text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(text) > l.max {
		return nil, errTooLong
	}
	return line, nil
}
