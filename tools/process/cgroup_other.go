//go:build !linux && !windows

package process

import (
	"os"
	"syscall"
	"time"
)

// cgroup is a group of processes that this system does not have.
type cgroup struct{}

func newCgroup(string) *cgroup { return nil }

func (*cgroup) sub(string) *cgroup { return nil }

func (*cgroup) into(*syscall.SysProcAttr) (born func(*os.Process)) { return func(*os.Process) {} }

func (*cgroup) kill() bool { return false }

func (*cgroup) populated() bool { return false }

func (*cgroup) await(time.Time) {}

func (*cgroup) remove() {}
