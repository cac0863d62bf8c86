package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openBeneath opens a resolved name below a root. No part of it may be a link:
// the name was resolved, so one that is there now is a change.
func openBeneath(one *root, rel string) (*os.File, error) {
	fd, err := one.beneath(func(dir int) (int, error) {
		return openat2(dir, rel, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
	})
	if unsupported(err) {
		return one.held.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	}
	return opened(fd, rel, err)
}

// beneath opens by the root's descriptor, which stays open meanwhile, also where
// the roots are closed: its number could be that of another folder then. Of roots
// that are closed the error is os.ErrClosed.
func (one *root) beneath(open func(dir int) (int, error)) (fd int, err error) {
	held, err := one.at.SyscallConn()
	if err != nil {
		return -1, err
	}
	if closed := held.Control(func(dir uintptr) { fd, err = open(int(dir)) }); closed != nil {
		return -1, os.ErrClosed
	}
	return fd, err
}

// openTarget opens a resolved path outside the roots, without following links.
func openTarget(target string) (*os.File, error) {
	fd, err := openat2(unix.AT_FDCWD, target, unix.RESOLVE_NO_SYMLINKS)
	if unsupported(err) {
		return os.OpenFile(target, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	}
	return opened(fd, target, err)
}

// unsupported says that the kernel (before 5.6) or a filter has no openat2.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM)
}

func opened(fd int, name string, err error) (*os.File, error) {
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openat2(dir int, name string, resolve uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW,
		Resolve: resolve,
	}
	return retry(func() (int, error) { return unix.Openat2(dir, name, &how) })
}

// retry calls open again where it was interrupted, or where something was
// renamed meanwhile (EAGAIN, which also says that a lease is held: not for ever).
func retry(open func() (int, error)) (int, error) {
	for tries := 0; ; tries++ {
		fd, err := open()
		again := errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) && tries < 32
		if !again {
			return fd, err
		}
	}
}
