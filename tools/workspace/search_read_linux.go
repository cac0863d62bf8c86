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
// It asks the kernel directly: a search opens thousands of small files, and
// os.File would cost as much again.
func (r *fileReader) read(one *root, name string) ([]byte, error) {
	fd, err := openListed(one, name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errNotRegular
	case st.Size > MaxSearched:
		return nil, errLarge
	}
	r.claim(st.Size)
	return r.fill(int(st.Size), func(buf []byte) (int, error) {
		for {
			n, err := unix.Read(fd, buf)
			if !errors.Is(err, unix.EINTR) {
				return max(n, 0), err
			}
		}
	})
}

// openListed opens a file as openBeneath or openTarget do.
func openListed(one *root, name string) (int, error) {
	dir, resolve := unix.AT_FDCWD, uint64(unix.RESOLVE_NO_SYMLINKS)
	if one != nil {
		dir, resolve = int(one.at.Fd()), resolve|unix.RESOLVE_BENEATH
	}
	fd, err := openat2(dir, name, resolve)
	if !unsupported(err) {
		return fd, err
	}
	f, err := openFile(one, name)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

func openFile(one *root, name string) (*os.File, error) {
	if one == nil {
		return openTarget(name)
	}
	return openBeneath(one, name)
}
