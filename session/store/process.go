package store

import "os"

// process is one run of a program: the id is used again by later ones, which
// started tells apart.
type process struct {
	pid     int
	started string // in the system's own terms; empty: not known
}

func ownProcess() process {
	pid := os.Getpid()
	started, _ := startOf(pid)
	return process{pid, started}
}

// running says whether the process has not ended.
func (p process) running() bool {
	started, ok := startOf(p.pid)
	return ok && (p.started == "" || started == "" || started == p.started)
}
