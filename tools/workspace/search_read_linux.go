package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// read returns a regular file's bytes, which are good until the next file. The
// name is relative to the root, or without one absolute and resolved; no link in
// it is followed. A file longer than MaxSearched is errLarge.
//
// It asks the kernel directly, and as little as it can: a search opens thousands
// of small files, and most of its time is spent there.
func (r *fileReader) read(one *root, name string) ([]byte, error) {
	fd, err := openListed(one, name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return r.fill(descriptor(fd))
}

// descriptor is an open file.
type descriptor int

func (d descriptor) read(buf []byte) (int, error) {
	for {
		n, err := unix.Read(int(d), buf)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

func (d descriptor) size() (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(d), &st); err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, errNotRegular
	}
	return st.Size, nil
}

// openListed opens a file as openBeneath or openTarget do.
func openListed(one *root, name string) (int, error) {
	var fd int
	var err error
	if one == nil {
		fd, err = openat2(unix.AT_FDCWD, name, unix.RESOLVE_NO_SYMLINKS)
	} else {
		fd, err = one.beneath(func(dir int) (int, error) {
			return openat2(dir, name, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_BENEATH)
		})
	}
	if !unsupported(err) {
		return fd, err
	}
	f, err := openFile(one, name)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // what is none might block
		return -1, errNotRegular
	}
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

func openFile(one *root, name string) (*os.File, error) {
	if one == nil {
		return openTarget(name)
	}
	return openBeneath(one, name)
}
