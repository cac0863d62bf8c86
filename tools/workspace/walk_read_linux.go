package workspace

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// folderReader reads folders one after the other with one buffer. It asks the
// kernel directly: the names come unsorted and without a system call each.
type folderReader struct {
	buf  []byte
	list []folderEntry
}

// folderEntry is a name in a folder and what it is.
type folderEntry struct {
	name string
	mode fs.FileMode // the type only
}

// folder is an open folder.
type folder struct{ fd int }

func newFolderReader() *folderReader { return &folderReader{buf: make([]byte, 64<<10)} }

// open opens the folder that is called rel ("" or ending in "/") below start,
// which lies in one. No part of the name may be a link.
func (*folderReader) open(one *root, start, rel string) (folder, error) {
	if one == nil {
		fd, err := openFolder(unix.AT_FDCWD, filepath.Join(start, rel), unix.RESOLVE_NO_SYMLINKS)
		return folder{fd}, err
	}
	name, _ := below(one.real, filepath.Join(start, rel))
	fd, err := one.beneath(func(dir int) (int, error) {
		return openFolder(dir, name, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
	})
	if !unsupported(err) {
		return folder{fd}, err
	}
	f, err := one.held.Open(name)
	if err != nil {
		return folder{}, err
	}
	defer f.Close()
	fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return folder{fd}, err
}

func openFolder(dir int, name string, resolve uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_DIRECTORY | unix.O_NOFOLLOW,
		Resolve: resolve,
	}
	fd, err := retry(func() (int, error) { return unix.Openat2(dir, name, &how) })
	if dir == unix.AT_FDCWD && unsupported(err) {
		return unix.Open(name, int(how.Flags), 0)
	}
	return fd, err
}

// isReplaced says that a name is no folder any more.
func isReplaced(err error) bool {
	return errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

func (f folder) close() { unix.Close(f.fd) }

// entries lists the folder. The slice is good until the reader's next folder.
func (f folder) entries(ctx context.Context, r *folderReader) ([]folderEntry, error) {
	r.list = r.list[:0]
	for ctx.Err() == nil {
		n, err := unix.Getdents(f.fd, r.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return r.list, nil
		}
		r.list = f.parse(r.list, string(r.buf[:n]))
	}
	return nil, ctx.Err()
}

// Offsets in struct linux_dirent64: a 64-bit inode and offset, the record's
// length, the type, the name with a NUL behind it.
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// parse adds the records that the kernel wrote, without "." and "..".
func (f folder) parse(list []folderEntry, records string) []folderEntry {
	for len(records) > direntName {
		size := int(binary.NativeEndian.Uint16([]byte(records[direntLen : direntLen+2])))
		if size <= direntName || size > len(records) {
			return list
		}
		record := records[:size]
		records = records[size:]
		name := record[direntName:]
		if i := bytes.IndexByte([]byte(name), 0); i >= 0 {
			name = name[:i]
		}
		if name == "." || name == ".." {
			continue
		}
		mode, ok := direntMode(record[direntType])
		if !ok { // some file systems do not say
			var st unix.Stat_t
			if unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			mode = statMode(st.Mode)
		}
		list = append(list, folderEntry{name: name, mode: mode})
	}
	return list
}

func direntMode(kind byte) (fs.FileMode, bool) {
	switch kind {
	case unix.DT_REG:
		return 0, true
	case unix.DT_DIR:
		return fs.ModeDir, true
	case unix.DT_LNK:
		return fs.ModeSymlink, true
	case unix.DT_UNKNOWN:
		return 0, false
	}
	return fs.ModeIrregular, true
}

func statMode(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// stat tells what a name in the folder is, links followed.
func (f folder) stat(name string) (fileStat, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &st, 0); err != nil {
		return fileStat{}, err
	}
	return fileStat{statMode(st.Mode), time.Unix(st.Mtim.Unix()), st.Size}, nil
}

// open opens a regular file of the folder for reading.
func (f folder) open(name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW
	fd, err := retry(func() (int, error) { return unix.Openat(f.fd, name, flags, 0) })
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
