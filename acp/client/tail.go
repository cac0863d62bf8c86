package client

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// tail is a writer that keeps the last bytes written to it.
type tail struct {
	limit int

	mu      sync.Mutex
	buf     []byte
	dropped bool
}

func newTail(limit int) *tail { return &tail{limit: limit} }

// Write keeps b and forgets what is too old. It never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if len(b) > t.limit {
		b = b[len(b)-t.limit:]
		t.dropped = true
		t.buf = t.buf[:0]
	}
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.limit; over > 0 {
		t.dropped = true
		if over > t.limit { // copy seldom: the buffer holds up to twice the limit
			t.buf = append(t.buf[:0], t.buf[over:]...)
		}
	}
	return n, nil
}

// text is what is kept, from the start of a character on, and whether anything
// came before it. Bytes that are not UTF-8 are replaced.
func (t *tail) text() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.buf[max(0, len(t.buf)-t.limit):]
	if t.dropped {
		for i := 0; i < utf8.UTFMax && len(kept) > 0 && !utf8.RuneStart(kept[0]); i++ {
			kept = kept[1:]
		}
	}
	return strings.ToValidUTF8(string(kept), "\uFFFD"), t.dropped
}
