package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// document is a small JSON file of the agent's own, changed as a whole by one
// process at a time.
type document[T any] struct{ path string }

// read returns what the file holds; the zero value where there is none.
func (d document[T]) read() (T, error) {
	var v T
	data, err := readFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		return v, fmt.Errorf("%s cannot be read: %w; mend or remove it", d.path, err)
	}
	return v, nil
}

// change reads the file, changes what it holds and writes it back (0600, in a
// folder of 0700), while it keeps other processes out.
func (d document[T]) change(f func(v *T) error) error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", filepath.Dir(d.path), err)
	}
	unlock, err := lockFile(d.path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	v, err := d.read()
	if err != nil {
		return err
	}
	if err := f(&v); err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(d.path, append(data, '\n'))
}

// replaceFile writes a file in one step, readable for its owner only.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that counts is told
		}
	}()
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
