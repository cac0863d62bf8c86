package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Open opens for reading what Resolve checked: beneath the held root where the
// target lies inside, else at the resolved target, in both cases without
// following a link that was put there since. Only regular files are opened; a
// folder, a FIFO, a socket, a device, and anything in /dev, /proc and /sys is an
// error that says what it is. It never blocks (policy 10.3). The error wraps
// fs.ErrNotExist where there is no such file.
func (r *Roots) Open(p Path) (*os.File, error) {
	one, rel, inside := r.within(p.Target)
	if !inside && isPseudo(p.Target) {
		return nil, fmt.Errorf("%s lies in a file system of the kernel and is not read", p.Asked)
	}
	// Looking first keeps a device from noticing that it is opened.
	var info fs.FileInfo
	var err error
	if inside {
		info, err = one.held.Lstat(rel) // whatever the root is called by now
	} else {
		info, err = os.Lstat(p.Target)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("opening %s: what it names as a folder is not a folder", p.Asked)
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", p.Asked, plain(err))
	}
	if err := regular(p, info); err != nil {
		return nil, err
	}
	var f *os.File
	if inside {
		f, err = openBeneath(one, rel)
	} else {
		f, err = openTarget(p.Target)
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", p.Asked, plain(err))
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(p, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// regular is the error of a file that is none.
func regular(p Path, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a folder: list it with glob, or name a file in it", p.Asked)
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s became a link while it was being opened: try again", p.Asked)
	default:
		return fmt.Errorf("%s is %s: only regular files are read", p.Asked, describe(mode))
	}
}
