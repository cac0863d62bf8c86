package process

import "syscall"

// attributes puts a child into a session and group of its own, away from any
// terminal that it could wait at, and has the kernel kill it when the agent
// dies. Its own children the kernel spares then: they are found only by Close.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
