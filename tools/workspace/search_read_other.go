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
	if _, err := (systemFile{f}).size(); err != nil { // reading what is no file might block
		return nil, err
	}
	return r.fill(systemFile{f})
}

// systemFile is an open file.
type systemFile struct{ *os.File }

func (f systemFile) read(buf []byte) (int, error) {
	n, err := f.Read(buf)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f systemFile) size() (int64, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errNotRegular
	}
	return info.Size(), nil
}

func openListed(one *root, name string) (*os.File, error) {
	if one == nil {
		return openTarget(name)
	}
	return openBeneath(one, name)
}
