package jsonrpc

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// headerReader cuts its input into messages with a header before each. What is
// no header, such as what a server prints by mistake, is passed over.
type headerReader struct {
	r   *bufio.Reader
	max int   // bytes of a body
	err error // why the input ended; kept, so that it is told again
}

const (
	// maxHeader is how long a line may be that is looked at as a header.
	maxHeader = 4 << 10
	// maxSkipped is the longest body in bytes that is skipped because it is too long.
	// A length beyond is no length: to wait for such a body would be the end of reading.
	maxSkipped = 4 << 30
)

// newHeaderReader is a reader of messages of at most max bytes.
func newHeaderReader(r io.Reader, max int) *headerReader {
	return &headerReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next is the next message's body without white space around it.
func (h *headerReader) next() ([]byte, error) {
	for h.err == nil {
		size, err := h.header()
		if err != nil {
			h.err = err
			break
		}
		if size > int64(h.max) {
			if _, h.err = io.CopyN(io.Discard, h.r, size); h.err != nil {
				break
			}
			return nil, errTooLong
		}
		body, err := h.body(size)
		if err != nil {
			h.err = err
			break
		}
		if body = bytes.TrimSpace(body); len(body) > 0 {
			if !utf8.Valid(body) { // it may quote a file in another encoding
				body = bytes.ToValidUTF8(body, []byte("\ufffd"))
			}
			return body, nil
		}
	}
	return nil, h.err
}

// body reads a body of size bytes. It grows with what arrives, so that a length
// alone costs no memory.
func (h *headerReader) body(size int64) ([]byte, error) {
	var buf bytes.Buffer
	if size <= 64<<10 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	if _, err := io.CopyN(&buf, h.r, size); err != nil {
		return nil, err // cut off: it is no message
	}
	return buf.Bytes(), nil
}

// header reads up to the blank line behind a header that gives a length.
func (h *headerReader) header() (size int64, err error) {
	size = -1
	for {
		line, err := h.line()
		if err != nil {
			return 0, err
		}
		if line == "" && size >= 0 {
			return size, nil
		}
		if n, is := contentLength(line); is {
			size = n
		}
	}
}

// contentLength is the length that a line gives; -1 where that cannot be one. The
// header is looked for at the line's end: what a server prints without a newline
// stands before it.
func contentLength(line string) (size int64, is bool) {
	const name = "Content-Length"
	i := len(line) - len(name)
	for i >= 0 && !strings.EqualFold(line[i:i+len(name)], name) {
		i--
	}
	if i < 0 {
		return 0, false
	}
	value, found := strings.CutPrefix(strings.TrimLeft(line[i+len(name):], " \t"), ":")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || n < 0 || n > maxSkipped {
		return -1, true
	}
	return n, true
}

// line is the next line without its end; of one that is too long for a header,
// its last part.
func (h *headerReader) line() (string, error) {
	var line []byte
	for {
		piece, err := h.r.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxHeader {
			line = line[len(line)-maxHeader:]
		}
		switch err {
		case nil:
			return string(bytes.TrimRight(line, "\r\n")), nil
		case bufio.ErrBufferFull:
		default:
			return "", err
		}
	}
}

// frame is a line, with its newline, as a message with a header.
func frame(line []byte) []byte {
	body := bytes.TrimSuffix(line, []byte("\n"))
	out := make([]byte, 0, len(body)+len("Content-Length: 00000000\r\n\r\n"))
	out = append(out, "Content-Length: "...)
	out = strconv.AppendInt(out, int64(len(body)), 10)
	out = append(out, "\r\n\r\n"...)
	return append(out, body...)
}
