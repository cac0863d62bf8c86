package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// startOf returns when a process started, in clock ticks since the system did,
// and whether it runs. A zombie does not.
func startOf(pid int) (started string, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) && pid != os.Getpid() {
		// Also so where /proc is not mounted, or hides other users' processes.
		return "", syscall.Kill(pid, 0) == nil
	}
	if err != nil {
		return "", true
	}
	return parseStat(stat)
}

// parseStat reads /proc/PID/stat: the name stands in brackets and may hold any
// byte; the state is the first field after it, the start the twentieth.
func parseStat(stat []byte) (started string, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) < 20 {
		return "", true
	}
	if state := fields[0][0]; state == 'Z' || state == 'X' {
		return "", false
	}
	return string(fields[19]), true
}

// processSpace names this start of the system and this namespace of process ids.
func processSpace() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return string(bytes.TrimSpace(boot)) + " " + namespace
}
