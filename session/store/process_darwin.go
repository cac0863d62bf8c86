package store

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// startOf returns when a process started, and whether it runs. A zombie does not.
func startOf(pid int) (started string, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", false
	}
	const zombie = 5 // SZOMB of sys/proc.h
	if info.Proc.P_stat == zombie {
		return "", false
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec, 10) + "." + strconv.Itoa(int(at.Usec)), true
}

// processSpace is the machine: process starts are absolute times.
func processSpace() string { return "" }
