//go:build !linux

package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// folderReader reads folders one after the other.
type folderReader struct{ list []folderEntry }

// folderEntry is a name in a folder and what it is.
type folderEntry struct {
	name string
	mode fs.FileMode // the type only
}

// folder is an open folder.
type folder struct {
	file *os.File
	path string
}

func newFolderReader() *folderReader { return &folderReader{} }

// open opens the folder that is called rel ("" or ending in "/") below start,
// which lies in one, out of which no link leads.
func (*folderReader) open(one *root, start, rel string) (folder, error) {
	path := filepath.Join(start, filepath.FromSlash(rel))
	var f *os.File
	var err error
	if one == nil {
		f, err = os.Open(path)
	} else {
		name, _ := below(one.real, path)
		f, err = one.held.Open(name)
	}
	return folder{f, path}, err
}

// isReplaced says that a name is no folder any more.
func isReplaced(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func (f folder) close() { f.file.Close() }

// entries lists the folder. The slice is good until the reader's next folder.
func (f folder) entries(ctx context.Context, r *folderReader) ([]folderEntry, error) {
	r.list = r.list[:0]
	for ctx.Err() == nil {
		some, err := f.file.ReadDir(checkEvery)
		for _, e := range some {
			r.list = append(r.list, folderEntry{name: e.Name(), mode: e.Type()})
		}
		switch {
		case errors.Is(err, io.EOF):
			return r.list, nil
		case err != nil:
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// stat tells what a name in the folder is, links followed.
func (f folder) stat(name string) (fileStat, error) {
	info, err := os.Stat(filepath.Join(f.path, name))
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{info.Mode().Type(), info.ModTime(), info.Size()}, nil
}

// open opens a regular file of the folder for reading.
func (f folder) open(name string) (*os.File, error) {
	return openTarget(filepath.Join(f.path, name))
}
