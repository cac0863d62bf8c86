//go:build !linux

package workspace

import (
	"errors"
	"io"
	"os"
)

// read returns a regular file's bytes, which are good until the next file. The
// name is relative to the root, or without one absolute and resolved. A file
// longer than MaxSearched is errLarge.
func (r *fileReader) read(one *root, name string) ([]byte, error) {
	f, err := openListed(one, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > MaxSearched:
		return nil, errLarge
	}
	r.claim(info.Size())
	return r.fill(int(info.Size()), func(buf []byte) (int, error) {
		n, err := f.Read(buf)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return n, err
	})
}

func openListed(one *root, name string) (*os.File, error) {
	if one == nil {
		return openTarget(name)
	}
	return openBeneath(one, name)
}
