package jsonrpc

import (
	"context"
	"io"
	"sync"
)

// chunkSize is how many bytes of short lines are written at once, at most.
const chunkSize = 32 << 10

// queue holds the lines that wait to be written, in order. One goroutine, drain,
// writes them; whatever gathers while it writes goes out in one piece.
type queue struct {
	limit   int // bytes; see queueLimit
	framing Framing

	mu     sync.Mutex
	chunks [][]byte // whole lines
	open   bool     // the last chunk has room for more lines
	spare  []byte   // an empty chunk to use again
	size   int      // bytes queued or being written
	idle   bool     // drain waits for wake
	closed bool     // nothing more is accepted
	room   chan struct{}

	wake chan struct{} // capacity 1
}

// newQueue is an empty queue in which limit bytes may wait.
func newQueue(limit int, f Framing) *queue {
	return &queue{limit: limit, framing: f, wake: make(chan struct{}, 1)}
}

// put appends a line, with its newline, once there is room. It fails with ctx's
// error or with ErrClosed. It keeps line if it says so; else line is copied.
func (q *queue) put(ctx context.Context, line []byte) (kept bool, err error) {
	for {
		q.mu.Lock()
		if q.closed || q.size < q.limit {
			kept, err = q.pushLocked(line)
			q.mu.Unlock()
			return kept, err
		}
		room := q.roomLocked()
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// wait returns once there is room, for what is then pushed without waiting.
func (q *queue) wait(ctx context.Context) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return ErrClosed
		}
		if q.size < q.limit {
			q.mu.Unlock()
			return nil
		}
		room := q.roomLocked()
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// push appends a line at once, room or not.
func (q *queue) push(line []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, err := q.pushLocked(line)
	return err
}

// offer appends a line if there is room.
func (q *queue) offer(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size >= q.limit {
		return false
	}
	_, err := q.pushLocked(line)
	return err == nil
}

// pushLocked appends line: short ones are copied behind each other, long ones
// are kept as they are.
func (q *queue) pushLocked(line []byte) (kept bool, err error) {
	if q.closed {
		return false, ErrClosed
	}
	if q.framing == Headers {
		line = frame(line)
	}
	q.size += len(line)
	last := len(q.chunks) - 1
	switch {
	case len(line) > chunkSize:
		q.chunks, q.open, kept = append(q.chunks, line), false, true
	case q.open && len(q.chunks[last])+len(line) <= chunkSize:
		q.chunks[last] = append(q.chunks[last], line...)
	default:
		chunk := q.spare
		if q.spare = nil; chunk == nil {
			chunk = make([]byte, 0, chunkSize)
		}
		q.chunks, q.open = append(q.chunks, append(chunk, line...)), true
	}
	q.wakeLocked()
	return kept, nil
}

// wakeLocked gets drain going if it waits.
func (q *queue) wakeLocked() {
	if q.idle {
		q.idle = false
		q.wake <- struct{}{}
	}
}

// roomLocked is a channel that is closed when there is room, or never will be.
func (q *queue) roomLocked() chan struct{} {
	if q.room == nil {
		q.room = make(chan struct{})
	}
	return q.room
}

// close accepts nothing more; drain returns once it has written the rest.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.freeLocked()
	q.wakeLocked()
}

// freeLocked lets those go on who wait for room.
func (q *queue) freeLocked() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// take is all that waits, in exchange for an empty slice; ok is false once the
// queue is closed and empty.
func (q *queue) take(empty [][]byte) (chunks [][]byte, ok bool) {
	for {
		q.mu.Lock()
		if len(q.chunks) > 0 {
			chunks, q.chunks, q.open = q.chunks, empty, false
			q.mu.Unlock()
			return chunks, true
		}
		if q.closed {
			q.mu.Unlock()
			return nil, false
		}
		q.idle = true
		q.mu.Unlock()
		<-q.wake
	}
}

// written takes back a chunk that has been written.
func (q *queue) written(chunk []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size -= len(chunk)
	if cap(chunk) == chunkSize && q.spare == nil {
		q.spare = chunk[:0]
	}
	if q.size < q.limit {
		q.freeLocked()
	}
}

// drain writes what is queued until the queue is closed and empty, or until
// writing fails; then nothing more is accepted. Before each chunk is written,
// show gets it. It has one caller.
func (q *queue) drain(w io.Writer, show func(chunk []byte)) error {
	var batch [][]byte
	for {
		chunks, ok := q.take(batch[:0])
		if !ok {
			return nil
		}
		for i, chunk := range chunks {
			show(chunk)
			n, err := w.Write(chunk)
			if err == nil && n < len(chunk) {
				err = io.ErrShortWrite
			}
			if err != nil {
				q.close()
				return err
			}
			q.written(chunk)
			chunks[i] = nil
		}
		batch = chunks
	}
}
