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

// fileReader reads files one after the other into one buffer, or where they are
// large into that of the search.
type fileReader struct {
	buf   []byte
	large *largeBuffer
	small []byte // buf, while that is the search's; nil: it is not
}

// largeBuffer holds the one large file that a search has in memory.
type largeBuffer struct {
	sync.Mutex
	buf []byte
}

// openedFile is a file to be searched.
type openedFile interface {
	// read returns 0 at the end.
	read(buf []byte) (int, error)
	// size is that of a regular file; of any other it is an error.
	size() (int64, error)
}

// grow gives the buffer room for size bytes and one more, so that a read which
// does not fill it has seen the end. The first n bytes stay. For a large file it
// waits until no other is in memory.
func (r *fileReader) grow(n, size int) {
	if size >= largeFile && r.small == nil {
		r.large.Lock()
		r.small = r.buf
		r.buf = append(r.large.buf[:0], r.buf[:n]...)
		r.buf = r.buf[:cap(r.buf)]
	}
	if len(r.buf) > size {
		return
	}
	room := max(size+1+size/4, 2*len(r.buf))
	if r.small != nil {
		room = size + 1 + pageSize
	}
	buf := make([]byte, room)
	copy(buf, r.buf[:n])
	r.buf = buf
}

// release lets go of a file that was large.
func (r *fileReader) release() {
	if r.small != nil {
		r.large.buf, r.buf, r.small = r.buf, r.small, nil
		r.large.Unlock()
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
		r.grow(n, max(n, int(size)))
	}
}
