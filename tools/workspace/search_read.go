package workspace

import "errors"

// What a search does not read.
var (
	errLarge      = errors.New("the file is too large to be searched")
	errNotRegular = errors.New("not a regular file")
)

// fileReader reads files one after the other into one buffer.
type fileReader struct{ buf []byte }

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
