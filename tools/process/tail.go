package process

import "sync"

// Tail is a writer that keeps the last bytes written to it, such as what a
// server last said on its standard error. It is safe for concurrent use.
type Tail struct {
	mu    sync.Mutex
	ring  []byte // grows up to limit, then is written round
	limit int
	next  int   // where the next byte goes, once the ring is full
	total int64 // bytes written
}

// NewTail keeps the last limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	if len(p) > t.limit {
		p = p[len(p)-t.limit:]
	}
	if room := t.limit - len(t.ring); room > 0 {
		k := min(room, len(p))
		t.ring = append(t.ring, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(t.ring[t.next:], p)
		t.next = (t.next + k) % t.limit
		p = p[k:]
	}
	return n, nil
}

// Bytes is a copy of what is kept, in order.
func (t *Tail) Bytes() []byte {
	kept, _ := t.Snapshot()
	return kept
}

// Snapshot is a copy of what is kept, and the number of bytes ever written.
func (t *Tail) Snapshot() (kept []byte, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append(make([]byte, 0, len(t.ring)), t.ring[t.next:]...), t.ring[:t.next]...), t.total
}

// Total is the number of bytes that were ever written.
func (t *Tail) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}
