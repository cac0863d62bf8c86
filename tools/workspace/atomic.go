package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// create writes a file that must not exist. It appears whole.
func (f *parent) create(ctx context.Context, data []byte) error {
	switch _, err := f.at.Lstat(f.name); {
	case err == nil:
		return errExists
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temp, err := f.temporary(data, nil)
	if err != nil {
		return err
	}
	defer f.at.Remove(temp)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// A link, unlike a rename, fails where the name is taken by now.
	switch err := f.at.Link(temp, f.name); {
	case err == nil:
		f.sync()
		return nil
	case errors.Is(err, fs.ErrExist):
		return errExists
	}
	return f.createPlain(data) // a file system without hard links
}

var errExists = fmt.Errorf("it exists by now: %w", ErrChanged)

// createPlain writes a file that must not exist under its own name.
func (f *parent) createPlain(data []byte) error {
	file, err := f.at.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return errExists
	}
	if err != nil {
		return err
	}
	if err := fill(file, data, nil); err != nil {
		f.at.Remove(f.name)
		return err
	}
	f.sync()
	return nil
}

// replace exchanges a file that holds old for one that holds data.
func (f *parent) replace(ctx context.Context, old, data []byte) error {
	info, err := f.at.Lstat(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it is gone: %w", ErrChanged)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is %s by now: %w", describe(info.Mode()), ErrChanged)
	case info.Mode().Perm()&0o222 == 0: // a rename would not mind
		return fmt.Errorf("it is marked read-only: %w", fs.ErrPermission)
	case links(info) > 1 && f.names == 1: // nobody was asked about what it shares
		return fmt.Errorf("it has further names (hard links) by now: %w", ErrChanged)
	case links(info) > 1:
		return f.overwrite(old, data)
	}
	temp, err := f.temporary(data, info)
	if err != nil {
		return err
	}
	defer f.at.Remove(temp) // nothing is there any more where all went well
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := f.holds(old); err != nil {
		return err
	}
	err = f.at.Rename(temp, f.name)
	if errors.Is(err, syscall.EBUSY) { // the file itself is a mount point
		return f.overwrite(old, data)
	}
	if err == nil {
		f.sync()
	}
	return err
}

// holds reports as ErrChanged that the file holds something else than old.
func (f *parent) holds(old []byte) error {
	file, err := f.at.OpenFile(f.name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return compare(file, old)
}

func compare(file *os.File, old []byte) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(old)) {
		return ErrChanged
	}
	now, err := readAll(file, info.Size())
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return ErrChanged
	}
	return nil
}

// overwrite puts data into the file where it stands, so that it stays the same
// file. The end goes first: where the disk is full, the beginning is untouched.
func (f *parent) overwrite(old, data []byte) error {
	file, err := f.at.OpenFile(f.name, os.O_RDWR|nonblock, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = compare(file, old)
	}
	if err != nil {
		return err
	}
	if special := fs.ModeSetuid | fs.ModeSetgid; info.Mode()&special != 0 {
		defer file.Chmod(info.Mode() & modeBits) // writing takes these off
	}
	err = put(file, data, min(len(old), len(data)))
	if err == nil {
		return nil
	}
	if back := put(file, old, min(len(old), len(data))); back != nil {
		return fmt.Errorf("%w; and its old content could not be put back: %w", err, back)
	}
	return err
}

// put makes data of what a file holds, beginning with what stands after from.
func put(file *os.File, data []byte, from int) error {
	if _, err := file.WriteAt(data[from:], int64(from)); err != nil {
		return errors.Join(err, file.Truncate(int64(from)))
	}
	if _, err := file.WriteAt(data[:from], 0); err != nil {
		return err
	}
	if err := file.Truncate(int64(len(data))); err != nil {
		return err
	}
	return file.Sync()
}

// temporary writes data to a new file of another name beside the file, with the
// mode and the owner that info tells, and returns the name.
func (f *parent) temporary(data []byte, info fs.FileInfo) (string, error) {
	mode := fs.FileMode(0o666) // less what the umask takes
	if info != nil {
		mode = 0o600
	}
	name := TemporaryName()
	file, err := f.at.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	if err := fill(file, data, info); err != nil {
		f.at.Remove(name)
		return "", err
	}
	return name, nil
}

// TemporaryName is a name that no file has, and that tells whose it is: of a file
// that is being written, or that is being moved out of another's way. A crash may
// leave one.
func TemporaryName() string { return ".acp-agent-" + rand.Text() + ".tmp" }

// fill writes a new file to the disk and closes it. It gets the owner and the
// mode that info tells (nil: stays as it was made), after its content, since
// writing takes the bits off that change the user.
func fill(file *os.File, data []byte, info fs.FileInfo) error {
	_, err := file.Write(data)
	if err == nil && info != nil {
		mode := info.Mode()
		if !keepOwner(file, info) {
			mode &^= fs.ModeSetuid | fs.ModeSetgid // not with another owner
		}
		err = file.Chmod(mode & modeBits)
	}
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}

// modeBits are those that Chmod sets.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
