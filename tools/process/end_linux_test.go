package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// held is a process that is watched by a descriptor, so that its end is known
// without asking again and again, and not mistaken for another's.
type held struct {
	pid int
	fd  int
}

func hold(t *testing.T, pid int) held {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return held{pid, fd}
}

// ended waits for the process's end, up to the time given.
func (h held) ended(limit time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(limit.Milliseconds()))
	for err == unix.EINTR {
		n, err = unix.Poll(fds, int(limit.Milliseconds()))
	}
	return n == 1
}

func holdNext(t *testing.T, next func() string) held {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(next()))
	if err != nil {
		t.Fatal(err)
	}
	return hold(t, pid)
}

// Whatever way descendants take, they end.
func TestDescendantsEnd(t *testing.T) {
	tests := []struct{ name, text string }{
		{"child", "sleep 100 & echo $!; wait"},
		{"grandchild", "sh -c 'sleep 100 & echo $!; wait'"},
		{"orphan", "(sh -c 'sleep 100 & echo $!' &); sleep 100"},
		{"own session", "setsid sh -c 'echo $$; sleep 100; :' & wait"},
		{"own session, orphan", "(setsid sh -c 'echo $$; sleep 100' >&1 &); sleep 100"},
		{"twice", "(setsid sh -c '(setsid sh -c \\'echo $$; sleep 100\\' &)' &); sleep 100"},
		{"deaf", "trap '' TERM HUP INT; echo $$; sleep 100; sleep 100"},
		{"stopped", "sh -c 'echo $$; kill -STOP $$' & wait"},
		{"left behind", "setsid sleep 100 & echo $!"},
		{"left behind in the group", "sleep 100 & echo $!"},
		{"no environment", "env -i sleep 100 & echo $!; wait"},
	}
	ways := map[string]func(*Supervisor, *Process){
		"Kill":      func(_ *Supervisor, p *Process) { p.Kill() },
		"Close":     func(_ *Supervisor, p *Process) { p.Close() },
		"Close all": func(s *Supervisor, _ *Process) { s.Close() },
	}
	for _, tt := range tests {
		for way, end := range ways {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				s := supervisor(t)
				out, next := lines(t)
				p := sh(t, s, strings.ReplaceAll(tt.text, `\'`, `'\''`), out)
				h := holdNext(t, next)
				end(s, p)
				if !h.ended(5 * time.Second) {
					t.Errorf("process %d lives", h.pid)
				}
			})
		}
	}
}

// One session's end must not touch another's processes.
func TestEndIsForOneOnly(t *testing.T) {
	s := supervisor(t)
	out, next := lines(t)
	p := sh(t, s, "setsid sleep 100 & echo $!; wait", out)
	a := holdNext(t, next)
	q := sh(t, s, "setsid sleep 100 & echo $!; wait", out)
	b := holdNext(t, next)
	other := supervisor(t)
	r := sh(t, other, "setsid sleep 100 & echo $!; wait", out)
	c := holdNext(t, next)
	p.Close()
	if !a.ended(5*time.Second) || b.ended(0) || c.ended(0) {
		t.Error("closing one process ended another's child")
	}
	s.Close()
	if !b.ended(5*time.Second) || c.ended(0) {
		t.Error("closing one supervisor ended another's child")
	}
	<-q.exited
	r.Close()
}

func TestKillIsQuick(t *testing.T) {
	s := supervisor(t)
	out, next := lines(t)
	best := time.Hour
	for range 5 {
		p := sh(t, s, "echo ready; sleep 100", out)
		next()
		begin := time.Now()
		p.Kill()
		best = min(best, time.Since(begin))
	}
	if best > 20*time.Millisecond {
		t.Errorf("killing takes %v", best)
	}
}

// The agent may be killed itself, and then nobody is left to end a child.
func TestChildDiesWithAgent(t *testing.T) {
	const role = "TEST_PROCESS_AGENT"
	if os.Getenv(role) != "" {
		var s Supervisor
		p, err := s.Start(Command{Path: os.Getenv(role), Args: []string{"-c", "exec sleep 100"}, Dir: "/"})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(p.PID())
		_, _ = p.Wait(t.Context())
		return
	}
	agent := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	agent.Env = append(os.Environ(), role+"="+bash(t))
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	child := holdNext(t, func() string { line.Scan(); return line.Text() })
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = agent.Wait()
	if !child.ended(5 * time.Second) {
		t.Error("the child outlives the agent")
		_ = unix.Kill(child.pid, unix.SIGKILL)
	}
}

// The kernel kills a child when the thread that forked it ends; threads of
// goroutines that end locked do.
func TestChildOutlivesThreads(t *testing.T) {
	s := supervisor(t)
	out, next := lines(t)
	started := make(chan *Process)
	go func() {
		runtime.LockOSThread()
		p, err := s.Start(Command{Path: bash(t), Args: []string{"-c", "echo $$; exec sleep 100"}, Dir: "/", Output: out})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	if p == nil {
		return
	}
	h := holdNext(t, next)
	if h.ended(50 * time.Millisecond) {
		t.Error("the child died early")
	}
	p.Close()
}
