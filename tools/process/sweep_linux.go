package process

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sweep kills every process of this user whose environment holds the mark, and
// looks again until none is left or the time is over. Reached are those that
// began a session of their own or were orphaned; not those that were started
// with an empty environment.
func sweep(mark string, deadline time.Time) {
	needle := []byte(mark)
	for time.Now().Before(deadline) {
		found := false
		for _, pid := range processes() {
			if marked(pid, needle) && kill(pid, needle, deadline) {
				found = true
			}
		}
		if !found {
			return
		}
	}
}

// processes lists the ids of this user's processes but our own.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	uid, self := uint32(os.Getuid()), os.Getpid()
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		var stat syscall.Stat_t
		if syscall.Stat("/proc/"+name, &stat) == nil && stat.Uid == uid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// marked reports whether the environment a process was started with holds the
// mark. One that is gone or ending has none.
func marked(pid int, mark []byte) bool {
	const limit = 4 << 20 // the kernel's own for arguments and environment together is 2 MiB
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer f.Close()
	env, _ := io.ReadAll(io.LimitReader(f, limit))
	return bytes.HasPrefix(env, mark) || bytes.Contains(env, append([]byte{0}, mark...))
}

// kill ends one process and waits for its end. The process is held by a
// descriptor while its mark is looked at, so that a new one with the same id
// is never hit. It reports whether there was something to end.
func kill(pid int, mark []byte, deadline time.Time) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ENOSYS { // Linux before 5.3
		return syscall.Kill(pid, syscall.SIGKILL) == nil
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if !marked(pid, mark) || unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
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
