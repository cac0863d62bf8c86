package process

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sweepMarked kills every process that has the mark, and looks again until none is
// left or the time is over. Reached are also those that began a session of their
// own or were orphaned and, where their limits tell them, those that were started
// with an empty environment, write over it, or do not let it be read.
func sweepMarked(m mark, deadline time.Time) {
	for time.Now().Before(deadline) {
		found := false
		for _, pid := range processes() {
			is, known := marked(pid, m)
			if is && kill(pid, m, deadline) || !known {
				found = true
			}
		}
		if !found {
			return
		}
	}
}

// kindred is processes by their ids, each held by a descriptor, so that none of
// the ids can become another's.
type kindred map[int]int

// descendants holds what descends from the process, unless it was reaped: those
// whose parents live, whatever session and environment they took on. They are
// stopped with it, so that none is born meanwhile.
func descendants(root int, reaped <-chan struct{}) kindred {
	kin := kindred{}
	if !kin.hold(root, reaped) {
		return nil
	}
	for {
		children := map[int][]int{}
		for _, pid := range processes() {
			parent := parentOf(pid)
			children[parent] = append(children[parent], pid)
		}
		grown := false
		for list := []int{root}; len(list) > 0; list = list[1:] {
			list = append(list, children[list[0]]...)
			grown = kin.hold(list[0], nil) || grown
		}
		if !grown {
			return kin
		}
	}
}

// hold takes one more process and stops it, unless it was reaped; it reports
// whether there was one.
func (k kindred) hold(pid int, reaped <-chan struct{}) bool {
	if _, known := k[pid]; known {
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	select {
	case <-reaped: // this is another's id by now
		unix.Close(fd)
		return false
	default:
	}
	k[pid] = fd
	_ = unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0)
	return true
}

// kill kills them and lets them go.
func (k kindred) kill() {
	for _, fd := range k {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
	k.free()
}

func (k kindred) free() {
	for _, fd := range k {
		unix.Close(fd)
	}
}

// Fields of proc_pid_stat(5), less the two that come first, since the second may
// hold blanks.
const (
	statState  = 0
	statParent = 1
	statFlags  = 6
	statEnvEnd = 48
)

// statOf is what the kernel says of a process, from its state on; nil: it is gone.
func statOf(pid int) []string {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= statEnvEnd {
		return nil
	}
	return fields
}

// ended reports whether a process is gone, or waits for its parent to see that.
func ended(stat []string) bool {
	return stat == nil || stat[statState] == "Z" || stat[statState] == "X"
}

// parentOf is the id of a process's parent; 0: it is gone.
func parentOf(pid int) int {
	stat := statOf(pid)
	if stat == nil {
		return 0
	}
	parent, _ := strconv.Atoi(stat[statParent])
	return parent
}

// beginning reports whether a process, which may be looked into, is in the middle
// of becoming another program, when it has no environment yet.
func beginning(pid int) bool {
	const kernelThread = 0x00200000
	stat := statOf(pid)
	if ended(stat) || stat[statEnvEnd] != "0" {
		return false
	}
	flags, _ := strconv.Atoi(stat[statFlags])
	return flags&kernelThread == 0
}

// processes lists the ids of all processes but our own. Others' are among them,
// since what may be killed may be owned by another, or seem to be.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	self := os.Getpid()
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != self {
			pids = append(pids, pid)
		}
	}
	return pids
}

// marked reports whether a process has the mark, as a limit or in the environment
// that it was started with. One that has ended has none, also where nobody has
// reaped it; of one that is in the middle of becoming another program it may not
// be known.
func marked(pid int, m mark) (is, known bool) {
	if m.is(limitOf(pid)) {
		return !ended(statOf(pid)), true
	}
	const limit = 4 << 20 // the kernel's own for arguments and environment together is 2 MiB
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, true
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, limit))
	if len(env) == 0 && err == nil {
		return false, !beginning(pid)
	}
	needle := m.needle()
	return bytes.HasPrefix(env, needle) || bytes.Contains(env, append([]byte{0}, needle...)), true
}

// kill ends one process and waits for its end. The process is held by a
// descriptor while its mark is looked at, so that a new one with the same id
// is never hit. It reports whether there was something to end.
func kill(pid int, m mark, deadline time.Time) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ENOSYS { // Linux before 5.3
		return syscall.Kill(pid, syscall.SIGKILL) == nil
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if is, _ := marked(pid, m); !is || unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return false
	}
	wait := max(0, int(time.Until(deadline).Milliseconds()))
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, wait)
		if err != unix.EINTR {
			return true
		}
	}
}
