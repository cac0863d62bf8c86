//go:build !linux

package process

import (
	"syscall"
	"time"
)

// cgroup is a group of processes that Linux alone has.
type cgroup struct{}

func newCgroup(string) *cgroup                          { return nil }
func (*cgroup) sub(string) *cgroup                      { return nil }
func (*cgroup) into(*syscall.SysProcAttr) (done func()) { return func() {} }
func (*cgroup) kill() bool                              { return false }
func (*cgroup) populated() bool                         { return false }
func (*cgroup) await(time.Time)                         {}
func (*cgroup) remove()                                 {}

// kindred is the descendants of a process, which Linux alone is asked for.
type kindred struct{}

func descendants(int, <-chan struct{}) kindred { return kindred{} }

func (kindred) kill() {}
