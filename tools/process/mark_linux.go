package process

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// forking is held while a child is born: the limit that marks it is that of this
// whole process meanwhile, and no other child may get it.
var forking sync.Mutex

// startMarked has the child that start starts be born with the mark's limit, that
// on the time which a real-time thread may run without a pause. Where the system
// or the agent's own parent grants no such time, the child has none.
func startMarked(m mark, start func() error) error {
	forking.Lock()
	defer forking.Unlock()
	var own unix.Rlimit
	if m.limit == 0 || unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &own) != nil {
		return start()
	}
	if unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: m.limit, Max: own.Max}, nil) != nil {
		return start()
	}
	defer func() { _ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &own, nil) }() // it was so before
	return start()
}

// limitOf is the limit of a process that marks it; 0: none.
func limitOf(pid int) uint64 {
	limits, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	_, rest, _ := strings.Cut(string(limits), "Max realtime timeout")
	soft, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	limit, _ := strconv.ParseUint(soft, 10, 64) // that of most is no number
	return limit
}
