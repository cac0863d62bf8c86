package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxEventBytes is the largest event of a stream that is read, in bytes. It is
// far above what any provider sends; a server that never ends a line is stopped
// by it.
const MaxEventBytes = 32 << 20

// eventBufferBytes is how much is asked of the connection at once.
const eventBufferBytes = 32 << 10

// ErrEventTooLarge is returned for an event above the reader's limit.
var ErrEventTooLarge = errors.New("an event of the stream is too large")

// ServerEvent is one server-sent event. Its slices are valid until the next
// call of Next.
type ServerEvent struct {
	Name []byte // the event field; empty where there is none
	Data []byte // the data lines, joined by a line feed
}

// EventReader reads server-sent events as the HTML standard defines them:
// lines end in LF, CR or CRLF, lines that begin with a colon are comments,
// several data lines are one event, and what is not ended by an empty line is
// no event. Fields of no use here (id, retry) are skipped.
type EventReader struct {
	src        io.Reader
	buf        []byte
	start, end int    // what of buf is still to be read
	line       []byte // a line that did not fit into buf
	name, data []byte
	limit      int
	afterCR    bool // a line feed that comes next belongs to the line before
	begun      bool // the first line is behind us: no byte order mark comes any more
	err        error
}

// NewEventReader reads events from r, none larger than limit bytes; a limit of
// 0 is MaxEventBytes.
func NewEventReader(r io.Reader, limit int) *EventReader {
	if limit <= 0 {
		limit = MaxEventBytes
	}
	return &EventReader{src: r, buf: make([]byte, eventBufferBytes), limit: limit}
}

// Next returns the next event that has data. At the orderly end of the stream
// it returns io.EOF, and whatever the source said where it broke off.
func (r *EventReader) Next() (ServerEvent, error) {
	r.name, r.data = r.name[:0], r.data[:0]
	hasData := false
	for {
		line, err := r.readLine()
		if err != nil {
			return ServerEvent{}, err
		}
		if len(line) == 0 {
			if hasData {
				return ServerEvent{Name: r.name, Data: r.data}, nil
			}
			r.name = r.name[:0]
			continue
		}
		field, value := cutField(line)
		switch string(field) {
		case "data":
			if hasData {
				r.data = append(r.data, '\n')
			}
			if len(r.data)+len(value) > r.limit {
				return ServerEvent{}, r.tooLarge()
			}
			r.data, hasData = append(r.data, value...), true
		case "event":
			r.name = append(r.name[:0], value...)
		}
	}
}

func (r *EventReader) tooLarge() error {
	r.err = fmt.Errorf("%w (more than %d bytes)", ErrEventTooLarge, r.limit)
	return r.err
}

// cutField splits a line at its first colon and drops one space after it. A
// comment has an empty field.
func cutField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte{':'})
	return field, bytes.TrimPrefix(value, []byte{' '})
}

// readLine returns the next line without its end. The slice is valid until the
// next call. A last line without an end is not returned.
func (r *EventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if r.start == r.end {
			if err := r.fill(); err != nil {
				return nil, err
			}
		}
		if r.afterCR {
			r.afterCR = false
			if r.buf[r.start] == '\n' {
				r.start++
				continue
			}
		}
		part := r.buf[r.start:r.end]
		end := lineEnd(part)
		size := len(r.line) + len(part)
		if end >= 0 {
			size = len(r.line) + end
		}
		if size > r.limit+len("data: ") {
			return nil, r.tooLarge()
		}
		if end < 0 {
			r.line, r.start = append(r.line, part...), r.end
			continue
		}
		r.start += end + 1
		r.afterCR = part[end] == '\r'
		part = part[:end]
		if len(r.line) > 0 {
			r.line = append(r.line, part...)
			part = r.line
		}
		return r.trimMark(part), nil
	}
}

// trimMark drops the byte order mark that a stream may begin with.
func (r *EventReader) trimMark(line []byte) []byte {
	if r.begun {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}

// lineEnd is the place of the first line feed or carriage return, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill reads more of the source. It is called with an empty buffer only.
func (r *EventReader) fill() error {
	if r.err != nil {
		return r.err
	}
	for range 100 {
		n, err := r.src.Read(r.buf)
		r.start, r.end, r.err = 0, n, err
		if n > 0 {
			return nil // an error that came with the bytes is told at the next call
		}
		if err != nil {
			return err
		}
	}
	r.err = io.ErrNoProgress
	return r.err
}
