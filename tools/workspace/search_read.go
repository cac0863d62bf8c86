package workspace

import (
	"errors"
	"sync"
)

// What a search does not read.
var (
	errLarge      = errors.New("the file is too large to be searched")
	errNotRegular = errors.New("not a regular file")
)

// largeFile is from how many bytes on files are searched one at a time, so that
// not every worker holds one.
const largeFile = 4 << 20

// fileReader reads files one after the other into one buffer.
type fileReader struct {
	buf   []byte
	large *sync.Mutex // shared by the readers of a search
	holds bool        // large is locked
}

// claim waits for leave to read a file of size bytes.
func (r *fileReader) claim(size int64) {
	if size >= largeFile && !r.holds {
		r.large.Lock()
		r.holds = true
	}
}

// release lets go of a file that was large.
func (r *fileReader) release() {
	if r.holds {
		r.buf, r.holds = nil, false
		r.large.Unlock()
	}
}

// grow gives the buffer room for size bytes and one more, so that a read which
// does not fill it has seen the end.
func (r *fileReader) grow(size int) {
	if cap(r.buf) < size+1 {
		r.buf = make([]byte, size+1+size/4)
	}
	r.buf = r.buf[:cap(r.buf)]
}

// fill reads a regular file of about size bytes to its end.
func (r *fileReader) fill(size int, read func([]byte) (int, error)) ([]byte, error) {
	r.grow(size)
	n := 0
	for {
		k, err := read(r.buf[n:])
		if err != nil {
			return nil, err
		}
		n += k
		switch {
		case k == 0 || n >= size && n < len(r.buf):
			return r.buf[:n], nil
		case n > MaxSearched:
			return nil, errLarge
		case n == len(r.buf): // it grew
			r.buf = append(r.buf, 0)
			r.buf = r.buf[:cap(r.buf)]
		}
	}
}
