package sandbox

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are how the kernel calls those of which the filter knows the
// system calls.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// denySockets keeps this thread, and what it becomes, from making sockets other
// than those within the host, by a filter of system calls.
func denySockets() error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return errors.New("the system calls of " + runtime.GOARCH + " are not known")
	}
	const (
		number, archAt, firstArgument = 0, 4, 16
		x32                           = 0x40000000
		deny                          = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
		absent                        = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	// unless goes on with the next one where the value is k, else past that one.
	unless := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: 0, Jf: 1}
	}
	program := []unix.SockFilter{
		load(archAt),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1, Jf: 0},
		ret(deny), // another architecture has other numbers
		load(number),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jt: 0, Jf: 1},
		ret(absent),
		unless(unix.SYS_IO_URING_SETUP), // which makes sockets too
		ret(absent),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jt: 1, Jf: 0},
		ret(unix.SECCOMP_RET_ALLOW),
		load(firstArgument),
		unless(unix.AF_UNIX),
		ret(unix.SECCOMP_RET_ALLOW),
		unless(unix.AF_NETLINK), // which tells of the interfaces
		ret(unix.SECCOMP_RET_ALLOW),
		ret(deny),
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	runtime.KeepAlive(program)
	return nil
}
