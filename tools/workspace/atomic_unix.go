//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps an open from waiting at a FIFO that took a file's place.
const nonblock = syscall.O_NONBLOCK

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Nlink)
	}
	return 1
}

// keepOwner gives a new file the owner and the group of another, and reports
// whether it has them now. Only the superuser may give a file away.
func keepOwner(file *os.File, info fs.FileInfo) bool {
	now, err := file.Stat()
	if err != nil {
		return false
	}
	want, ok := info.Sys().(*syscall.Stat_t)
	have, ok2 := now.Sys().(*syscall.Stat_t)
	if !ok || !ok2 {
		return false
	}
	if want.Uid == have.Uid && want.Gid == have.Gid {
		return true
	}
	if file.Chown(int(want.Uid), int(want.Gid)) == nil {
		return true
	}
	file.Chown(-1, int(want.Gid)) // at least the group, of which the user may be
	return false
}

// sync brings the folder's names to the disk. Some file systems cannot, and the
// file is written all the same.
func (f *parent) sync() {
	if dir, err := f.at.Open("."); err == nil {
		dir.Sync()
		dir.Close()
	}
}

// linkTo gives the file a second name, in another folder.
func (f *parent) linkTo(to *parent) error {
	from, err := f.at.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	into, err := to.at.Open(".")
	if err != nil {
		return err
	}
	defer into.Close()
	return unix.Linkat(int(from.Fd()), f.name, int(into.Fd()), to.name, 0)
}
