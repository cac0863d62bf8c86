package sandbox

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-agent/acp-agent/tools/process"
)

const installAdvice = "install bubblewrap (on Debian and Ubuntu: `apt install bubblewrap`) and let this user make user namespaces"

// probeTime is how long a trial of a way may take.
const probeTime = 10 * time.Second

// places where bubblewrap is installed to; the user's PATH may lead elsewhere.
var bubblewrapPlaces = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

func (p *Prober) look() ability {
	// What the editor left open in this process is not for its commands.
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // absent before Linux 5.11
	a := ability{root: hasCapability(unix.CAP_SYS_ADMIN), problem: "bubblewrap is not installed"}
	if !p.avoids(bubblewrap) {
		for _, program := range bubblewrapPlaces {
			if info, err := os.Stat(program); err != nil || info.IsDir() {
				continue
			}
			try := ability{way: bubblewrap, program: program, root: a.root}
			err := try.works(nil)
			if err == nil {
				return try
			}
			a.problem = "bubblewrap does not work: " + err.Error()
			break
		}
	}
	if len(p.Helper) == 0 {
		return a
	}
	a.program, a.first = p.Helper[0], p.Helper[1:]
	if landlockABI() < 1 {
		a.problem += "; the kernel has no Landlock"
		return a
	}
	for _, w := range []way{namespaces, files} {
		a.way = w
		if p.avoids(w) {
			continue
		}
		if err := a.works(nil); err != nil {
			a.problem += fmt.Sprintf("; %s: %v", w, err)
			continue
		}
		return a
	}
	a.way = none
	return a
}

// works tries it, in the network; nil: in one of its own.
func (a ability) works(n *network) error {
	var s process.Supervisor
	defer s.Close()
	words := a.confine(&plan{level: Unasked, join: n}, "--", "/bin/sh", "-c", "exit 42")
	out := process.NewTail(400)
	p, err := s.Start(process.Command{Path: words[0], Args: words[1:], Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Output: out})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	exit, err := p.Wait(ctx)
	switch {
	case err != nil:
		return err
	case exit.Code != 42:
		return fmt.Errorf("it ended with status %d: %s", exit.Code, strings.Join(strings.Fields(string(out.Bytes())), " "))
	}
	return nil
}

// hasCapability reports whether this process has a capability.
func hasCapability(c uint) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	return data[c/32].Effective&(1<<(c%32)) != 0
}
