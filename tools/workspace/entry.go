package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Mode is the mode of a regular file; the error wraps fs.ErrNotExist where there
// is none.
func (d *Disk) Mode(p Path) (fs.FileMode, error) {
	f, err := d.roots.Open(p)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("looking at %s: %w", p.Asked, plain(err))
	}
	return info.Mode(), nil
}

// SetMode gives a regular file the permission bits of a mode.
func (d *Disk) SetMode(ctx context.Context, p Path, mode fs.FileMode) error {
	return d.entry(ctx, p, "changing the mode of", func(f *parent) error {
		file, err := f.at.OpenFile(f.name, os.O_RDONLY|nonblock, 0)
		if errors.Is(err, fs.ErrPermission) { // its owner may change the mode of what he cannot read
			return f.at.Chmod(f.name, mode.Perm())
		}
		if err != nil {
			return err
		}
		defer file.Close()
		return file.Chmod(mode.Perm())
	})
}

// Remove removes a file that holds old. Where it holds something else or is
// gone, the error wraps ErrChanged and it stays. A link is not removed, and
// neither is what it leads to: the path's target is what counts.
func (d *Disk) Remove(ctx context.Context, p Path, old []byte) error {
	return d.entry(ctx, p, "removing", func(f *parent) error {
		if err := f.holds(old); err != nil {
			return err
		}
		if err := f.at.Remove(f.name); err != nil {
			return err
		}
		f.sync()
		return nil
	})
}

// Move gives a file that holds old another name, which nothing may have yet;
// missing folders are made. The file stays the same one, with its mode and its
// owner, where both names lie in one file system; else it is copied. Where the
// file holds something else, or the new name is taken, the error wraps
// ErrChanged and nothing happens.
func (d *Disk) Move(ctx context.Context, from, to Path, old []byte) error {
	return d.entry(ctx, from, "moving", func(f *parent) error {
		if err := f.holds(old); err != nil {
			return err
		}
		g, err := d.parent(to, true)
		if err != nil {
			return fmt.Errorf("to %s: %w", to.Asked, explain(err))
		}
		defer g.close()
		if err := f.moveTo(ctx, g, old); err != nil {
			g.unmake()
			return fmt.Errorf("to %s: %w", to.Asked, explain(err))
		}
		f.sync()
		g.sync()
		return nil
	})
}

// moveTo moves the file to where another is to be. The new name comes first, so
// that a crash leaves two names and never none.
func (f *parent) moveTo(ctx context.Context, to *parent, data []byte) error {
	info, err := f.at.Lstat(f.name)
	if err != nil {
		return err
	}
	if _, err := to.at.Lstat(to.name); err == nil {
		return errExists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = f.linkTo(to)
	if err != nil && !errors.Is(err, fs.ErrExist) { // another file system, or one without links
		err = to.copyOf(ctx, data, info)
	}
	if errors.Is(err, fs.ErrExist) {
		return errExists
	}
	if err != nil {
		return err
	}
	if err := f.at.Remove(f.name); err != nil {
		to.at.Remove(to.name)
		return err
	}
	return nil
}

// copyOf writes a file that must not exist, with the mode and the owner that
// info tells.
func (f *parent) copyOf(ctx context.Context, data []byte, info fs.FileInfo) error {
	file, err := f.at.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return errExists
	}
	if err != nil {
		return err
	}
	err = fill(file, data, info)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		f.at.Remove(f.name)
	}
	return err
}

// entry does something to a regular file that exists, in its folder.
func (d *Disk) entry(ctx context.Context, p Path, doing string, do func(f *parent) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f, err := d.parent(p, false)
	if err == nil {
		defer f.close()
		err = f.regular()
	}
	if err == nil {
		err = do(f)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, p.Asked, explain(err))
	}
	return nil
}

// regular is the error where there is no regular file of the name.
func (f *parent) regular() error {
	info, err := f.at.Lstat(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it is gone: %w", ErrChanged)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is %s, not a file: %w", describe(info.Mode()), ErrChanged)
	}
	return nil
}

// RemoveFolders removes the folders that hold a path, the deepest first, as far
// as they are empty and lie below dir, which is absolute and resolved. It undoes
// what WriteFile made of them.
func (d *Disk) RemoveFolders(p Path, dir string) {
	for at := filepath.Dir(p.Target); at != dir; at = filepath.Dir(at) {
		if _, inside := below(dir, at); !inside {
			return
		}
		f, err := d.parent(Path{Asked: at, Target: at}, false)
		if err != nil {
			return
		}
		info, err := f.at.Lstat(f.name)
		if err == nil && info.IsDir() {
			err = f.at.Remove(f.name) // fails where something is in it
		}
		f.close()
		if err != nil || !info.IsDir() {
			return
		}
	}
}
