//go:build !linux

package sandbox

import (
	"os"
	"runtime"
)

const installAdvice = "run the agent on Linux, or in a container"

// look: nothing here confines a child process.
func (p *Prober) look() ability {
	return ability{problem: "there is no confinement on " + runtime.GOOS}
}

// Enter is for Linux alone.
func Enter([]string) error { return ErrUnavailable }

func hostSockets() []string { return nil }

// network is for Linux alone.
type network struct{}

func (p *Prober) network() *network { return nil }

func (n *network) within() (args []string, path string) { return nil, "" }

func (n *network) listening() map[int]bool { return nil }

func listening() map[int]bool { return nil }

func (n *network) close() {}

func holdPlace(path string) (lock *os.File, held bool) { return nil, exists(path) }

func lockAlone(*os.File) bool { return true }
