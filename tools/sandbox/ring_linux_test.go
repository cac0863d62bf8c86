package sandbox

import (
	"encoding/binary"
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openByRing opens a file to write by an io_uring, of the offsets that its set-up
// said. It returns nil where that went through.
func openByRing(fd int, params []byte, path string) error {
	u32 := func(b []byte, at uint32) *uint32 { return (*uint32)(unsafe.Pointer(&b[at])) }
	off := func(at int) uint32 { return binary.NativeEndian.Uint32(params[at:]) }
	const sqOffsets, cqOffsets = 40, 80
	size := int(off(sqOffsets+24)) + 8*4
	cqSize := int(off(cqOffsets+20)) + 16*16
	ring, err := unix.Mmap(fd, 0, max(size, cqSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return err
	}
	entries, err := unix.Mmap(fd, 0x10000000, 8*64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return err
	}
	name := append([]byte(path), 0)
	at := unix.AT_FDCWD
	entries[0] = 18 // IORING_OP_OPENAT
	binary.NativeEndian.PutUint32(entries[4:], uint32(int32(at)))
	binary.NativeEndian.PutUint64(entries[16:], uint64(uintptr(unsafe.Pointer(&name[0]))))
	binary.NativeEndian.PutUint32(entries[28:], unix.O_WRONLY|unix.O_TRUNC)
	*u32(ring, off(sqOffsets+24)) = 0
	*u32(ring, off(sqOffsets+4))++
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(fd), 1, 1, 1, 0, 0); errno != 0 {
		return errno
	}
	runtime.KeepAlive(name)
	if *u32(ring, off(cqOffsets)) == *u32(ring, off(cqOffsets+4)) {
		return errors.New("nothing was completed")
	}
	if result := int32(*u32(ring, off(cqOffsets+20)+8)); result < 0 {
		return unix.Errno(-result)
	}
	return nil
}
