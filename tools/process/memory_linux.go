package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Memory is what a process and its children, and theirs, have in memory, in bytes.
// What several of them share counts for each. 0: not known.
func Memory(pid int) int64 {
	total, next := int64(0), []int{pid}
	for met := 0; len(next) > 0 && met < maxKin; met++ {
		pid, next = next[0], next[1:]
		total += resident(pid)
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, thread := range threads {
			list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
			for _, field := range bytes.Fields(list) {
				if child, err := strconv.Atoi(string(field)); err == nil {
					next = append(next, child)
				}
			}
		}
	}
	return total
}

// MachineMemory is how many bytes of memory the machine has. 0: not known.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}

// maxKin is how many processes Memory looks at.
const maxKin = 1000

// resident is what one process has in memory.
func resident(pid int) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)) // in pages: all, resident, …
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}
