//go:build unix

package process

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// killGroup kills the group of a process that was not yet reaped.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// killOrphans kills what is left of the group of a process that was reaped.
// Its id may belong to somebody else by now, who then leads another group.
func killOrphans(pid int) {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		killGroup(pid)
	}
}

// groupAlive reports whether the group of a process that was reaped has members.
func groupAlive(pid int) bool {
	return syscall.Kill(pid, 0) == syscall.ESRCH && syscall.Kill(-pid, 0) != syscall.ESRCH
}

// signalName is the name of a signal, as in SIGKILL; those of real time have none.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return strconv.Itoa(int(s))
}

// signalOfSystem names the further ones of SignalOf.
func signalOfSystem(s syscall.Signal) string {
	switch s {
	case unix.SIGXCPU, unix.SIGXFSZ, unix.SIGSYS:
		return signalName(s)
	}
	return ""
}

// readNow reads what is there; 0 or less says that there is nothing.
func readNow(fd uintptr, buf []byte) int {
	n, _ := syscall.Read(int(fd), buf)
	return n
}
