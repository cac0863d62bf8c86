package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile is the largest configuration file that is read, in bytes.
const maxFile = 1 << 20

var (
	errNoFolder   error = syscall.ENOTDIR // a part of the path is a file: there can be nothing below it
	errNotRegular       = errors.New("it is not a regular file")
)

// reading keeps files as they were read first, so that what is judged is what is
// loaded.
type reading map[string]fileRead

type fileRead struct {
	data []byte
	real string // the path without links
	err  error
}

func (r reading) read(path string) fileRead {
	f, ok := r[path]
	if ok {
		return f
	}
	if f.real, f.err = filepath.EvalSymlinks(path); f.err == nil {
		f.data, f.err = readFile(f.real)
	}
	r[path] = f
	return f
}

// readFile reads a regular file of at most maxFile. It never waits for a pipe or a
// device.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened, since that alone does something to some devices
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return data, err
}

// within reports whether a path without links lies in the folder root.
func within(root, path string) bool {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
