//go:build unix && !linux

package process

import (
	"syscall"
	"time"
)

// attributes puts a child into a session and group of its own, away from any
// terminal that it could wait at. Nothing here ends it when the agent is killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// sweepMarked would end descendants that left their group; other processes'
// environments cannot be read here, so those stay.
func sweepMarked(mark, time.Time) {}
