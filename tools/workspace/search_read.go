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

const (
	// firstRead is how many bytes of a file are asked for before its size is:
	// most files end before, and need not be asked.
	firstRead = 64 << 10
	// pageSize is what systems keep files in memory by. A read stops early at its
	// multiples, where the next page cannot be had; within a page only at the end.
	pageSize = 4 << 10
)

// fileReader reads files one after the other into one buffer.
type fileReader struct {
	buf   []byte
	large *sync.Mutex // shared by the readers of a search
	holds bool        // large is locked
}

// openedFile is a file to be searched.
type openedFile interface {
	// read returns 0 at the end.
	read(buf []byte) (int, error)
	// size is that of a regular file; of any other it is an error.
	size() (int64, error)
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
// does not fill it has seen the end. The first n bytes stay.
func (r *fileReader) grow(n, size int) {
	if len(r.buf) <= size {
		buf := make([]byte, max(size+1+size/4, 2*len(r.buf)))
		copy(buf, r.buf[:n])
		r.buf = buf
	}
}

// fill reads a file to its end.
func (r *fileReader) fill(f openedFile) ([]byte, error) {
	r.grow(0, firstRead)
	for n := 0; ; {
		k, err := f.read(r.buf[n:])
		if err != nil {
			return nil, err
		}
		if n += k; n%pageSize != 0 && n < len(r.buf) {
			return r.buf[:n], nil
		}
		size, err := f.size()
		switch {
		case err != nil:
			return nil, err
		case max(size, int64(n)) > MaxSearched:
			return nil, errLarge
		case k == 0, int64(n) >= size && n < len(r.buf):
			return r.buf[:n], nil
		}
		r.claim(size)
		r.grow(n, max(n, int(size)))
	}
}
