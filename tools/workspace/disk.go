package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// MaxFile is the longest file in bytes that is read whole.
const MaxFile = 512 << 20

// Disk reads and writes whole files on the disk. It is safe for concurrent use.
type Disk struct{ roots *Roots }

// NewDisk is the disk as seen from the roots, which must stay open.
func NewDisk(roots *Roots) *Disk { return &Disk{roots} }

// InDir reports whether the path lies in the working directory, which is what an
// editor has open, and not in a further root.
func (d *Disk) InDir(p Path) bool { return p.Inside && !filepath.IsAbs(d.roots.Name(p.Asked)) }

// ReadFile returns the bytes of a regular file of at most MaxFile, as Open does.
// The error wraps fs.ErrNotExist where there is no such file.
func (d *Disk) ReadFile(ctx context.Context, p Path) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f, err := d.roots.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p.Asked, plain(err))
	}
	if info.Size() > MaxFile {
		return nil, fmt.Errorf("reading %s: it has %d bytes, more than the %d that are read at once", p.Asked, info.Size(), MaxFile)
	}
	data, err := readAll(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p.Asked, plain(err))
	}
	return data, nil
}

// readAll reads a file of about size bytes without growing a buffer by steps.
func readAll(f *os.File, size int64) ([]byte, error) {
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := data.ReadFrom(io.LimitReader(f, MaxFile))
	return data.Bytes(), err
}

// WriteFile replaces what the file holds, old, by new, and returns new. Nil for
// old means that the file does not exist; missing folders are made then. Where
// the file holds something else, is gone, or is there already, the error wraps
// ErrChanged and nothing is written.
//
// A file is replaced in one step: a reader sees the old or the new content, and
// so does who comes after a crash (spec/tools.md, "write / edit"). Mode and,
// where the system lets us, owner stay; a link stays one, since it is the target
// that is written. A file with several names (hard links) cannot both stay one
// file and be replaced in one step: it is written in place, and gets its old
// content back where that fails. An error leaves the old content and nothing
// else behind.
func (d *Disk) WriteFile(ctx context.Context, p Path, old, new []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f, err := d.parent(p, old == nil)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", p.Asked, explain(err))
	}
	defer f.close()
	if old == nil {
		err = f.create(ctx, new)
	} else {
		err = f.replace(ctx, old, new)
	}
	if err != nil {
		f.unmake()
		return nil, fmt.Errorf("writing %s: %w", p.Asked, explain(err))
	}
	return new, nil
}

// explain puts an error of the system into words that help. The names of
// temporary files do not show.
func explain(err error) error {
	switch e := err.(type) { // only the outermost: what stands around it says more
	case *fs.PathError:
		err = e.Err
	case *os.LinkError:
		err = e.Err
	}
	switch {
	case errors.Is(err, ErrChanged):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: free some space and try again", err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: the file or its folder cannot be written to", err)
	}
	return err
}

// parent is where a file is written: its parent, held open, so that what is done
// there is done there, whatever becomes of the path (policy 10.3).
type parent struct {
	at     *os.Root
	name   string // of the file
	names  uint64 // that it had when it was resolved; 0: not known
	opened []*os.Root
	made   []madeFolder
}

// madeFolder is a folder that did not exist before.
type madeFolder struct {
	in   *os.Root
	name string
}

// parent opens the folder of a resolved path, from its root down, one folder
// after the other, none of which may have become a link since. Missing ones are
// made if need be.
func (d *Disk) parent(p Path, missing bool) (*parent, error) {
	one, rel, inside := d.roots.within(p.Target)
	f := &parent{names: p.names}
	if inside {
		f.at = one.held
	} else {
		if isPseudo(p.Target) {
			return nil, errors.New("it lies in a file system of the kernel, where nothing is written")
		}
		top, err := existing(filepath.Dir(p.Target))
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(top)
		if err != nil {
			return nil, err
		}
		f.at, f.opened = root, []*os.Root{root}
		if rel, err = filepath.Rel(top, p.Target); err != nil {
			f.close()
			return nil, err
		}
	}
	names := strings.Split(filepath.ToSlash(rel), "/")
	f.name = names[len(names)-1]
	for _, name := range names[:len(names)-1] {
		if err := f.descend(name, missing); err != nil {
			f.unmake()
			f.close()
			return nil, err
		}
	}
	if f.name == "." {
		return nil, errors.New("it is a folder: name a file in it")
	}
	return f, nil
}

// existing is the deepest folder at or above dir that exists. Dir was resolved,
// so it is the same when it is resolved again.
func existing(dir string) (string, error) {
	for {
		now, err := filepath.EvalSymlinks(dir)
		switch {
		case err == nil && now != dir && !foldsCase:
			return "", fmt.Errorf("%s became a link: %w", dir, ErrChanged)
		case err == nil:
			return now, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

// descend goes into a folder below.
func (f *parent) descend(name string, missing bool) error {
	info, err := f.at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if !missing {
			return fmt.Errorf("the folder %s is gone: %w", name, ErrChanged)
		}
		if err := f.at.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		} else if err == nil {
			f.made = append(f.made, madeFolder{f.at, name})
		}
		info, err = f.at.Lstat(name)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is %s, not a folder", name, describe(info.Mode()))
	}
	below, err := f.at.OpenRoot(name)
	if err != nil {
		return err
	}
	f.opened = append(f.opened, below)
	now, err := below.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(info, now) {
		return fmt.Errorf("the folder %s was exchanged: %w", name, ErrChanged)
	}
	f.at = below
	return nil
}

// unmake removes the folders that were made for a file that was not written.
func (f *parent) unmake() {
	for i := len(f.made) - 1; i >= 0; i-- {
		f.made[i].in.Remove(f.made[i].name) // one that something was put into stays
	}
}

func (f *parent) close() {
	for _, root := range f.opened {
		root.Close()
	}
}
