//go:build !linux

package sandbox

import "runtime"

const installAdvice = "run the agent on Linux, or in a container"

// look: nothing here confines a child process.
func (p *Prober) look() ability {
	return ability{problem: "there is no confinement on " + runtime.GOOS}
}

// Enter is for Linux alone.
func Enter([]string) error { return ErrUnavailable }

func hostSockets() []string { return nil }
