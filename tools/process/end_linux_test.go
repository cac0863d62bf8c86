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

// daemon is a command that leaves its group, its parents and its environment.
const daemon = "env -i sh -c \"(setsid sh -c '(echo \\$\\$; exec sleep 100) &' &)\";"

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
		{"no environment, own session", "env -i setsid sh -c 'echo $$; sleep 100' & wait"},
		{"no environment, own session, orphan", "(env -i setsid sh -c 'echo $$; sleep 100' >&1 &); sleep 100"},
		{"no environment, own session, left behind", "env -i setsid sleep 100 & echo $!"},
		{"daemon", daemon + " sleep 100"},
		{"daemon, left behind", daemon},
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
				noCgroups(t, s)
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

// A signal of real time has no name, and is none the less a signal.
func TestSignalWithoutName(t *testing.T) {
	exit, err := sh(t, supervisor(t), "kill -34 $$", nil).Wait(t.Context())
	if want := (Exit{Code: 162, Signal: "34"}); err != nil || exit != want {
		t.Errorf("got %+v, %v; want %+v", exit, err, want)
	}
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

// noCgroups makes a supervisor do without control groups, as where the system
// lets it make none.
func noCgroups(t *testing.T, s *Supervisor) {
	t.Helper()
	p := sh(t, s, ":", nil)
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.group.remove()
	s.group = nil
}

// What the kernel keeps together ends whatever it does: a daemon that nothing
// ties to its command any more, and what forks on and on.
func TestCgroupEnds(t *testing.T) {
	s := supervisor(t)
	out, next := lines(t)
	p := sh(t, s, "(env -i setsid sh -c '(setsid sh -c \"echo \\$\\$; sleep 100\" &)' &); sleep 100", out)
	if p.group == nil {
		t.Skip("control groups cannot be made here")
	}
	h := holdNext(t, next)
	q := sh(t, s, "echo $$; f() { [ $1 = 0 ] && return; (env -i setsid sleep 100 &); (f $(($1-1))) & (f $(($1-1))) & }; f 7; sleep 100", out)
	bomb := holdNext(t, next)
	q.Close()
	if !bomb.ended(0) || q.group.populated() {
		t.Error("the fork bomb goes on")
	}
	p.Kill()
	if !h.ended(5 * time.Second) {
		t.Errorf("process %d lives", h.pid)
	}
	left := sh(t, s, "(env -i setsid sh -c 'echo $$; sleep 100' >&1 &)", out)
	daemon := holdNext(t, next)
	if _, err := left.Wait(t.Context()); err != nil || daemon.ended(0) {
		t.Errorf("a daemon that was left behind ended with its command: %v", err)
	}
	dir := s.group.dir
	s.Close()
	if !daemon.ended(5 * time.Second) {
		t.Errorf("process %d lives", daemon.pid)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s stays", dir)
	}
}

// The agent may be killed itself, and then its guard is left to end what there is.
func TestGuard(t *testing.T) {
	const role = "TEST_PROCESS_AGENT"
	text := "(setsid sh -c 'echo $$; sleep 100' >&1 &); trap '' TERM; echo $$; sleep 100"
	if os.Getenv(role) != "" {
		var s Supervisor
		if os.Getenv(role) == "first" {
			if err := s.GuardBy(new(Guard), bash(t)); err != nil {
				t.Fatal(err)
			}
		}
		sh(t, &s, ":", nil)
		if os.Getenv(role) == "bare" {
			noCgroups(t, &s)
		}
		fmt.Println(s.group.path())
		p := sh(t, &s, text, os.Stdout)
		if err := s.GuardBy(new(Guard), bash(t)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(s.guard.bash.Process.Pid)
		_, _ = p.Wait(t.Context())
		return
	}
	for _, kind := range []string{"groups", "bare", "first"} {
		t.Run(kind, func(t *testing.T) {
			agent := exec.Command(os.Args[0], "-test.run=^TestGuard$")
			agent.Env = append(os.Environ(), role+"="+kind)
			out, err := agent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := agent.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = agent.Process.Kill() })
			var all []held
			line := bufio.NewScanner(out)
			line.Scan()
			group := line.Text()
			for len(all) < 3 && line.Scan() {
				all = append(all, holdNext(t, line.Text))
			}
			if err := agent.Process.Kill(); err != nil || len(all) < 3 {
				t.Fatal(err, all)
			}
			_ = agent.Wait()
			for _, h := range all {
				if !h.ended(10 * time.Second) {
					t.Errorf("process %d outlives the agent", h.pid)
					_ = unix.Kill(h.pid, unix.SIGKILL)
				}
			}
			if _, err := os.Stat(group); group != "" && err == nil {
				t.Errorf("%s outlives the agent", group)
			}
		})
	}
}

// The guard is there as long as there is something to guard, and touches nothing
// when all has ended in order.
func TestGuardLeaves(t *testing.T) {
	var g Guard
	var list []*Supervisor
	for range 2 {
		s := supervisor(t)
		sh(t, s, "sleep 100", nil)
		for range 2 {
			if err := s.GuardBy(&g, bash(t)); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, s)
	}
	h := hold(t, g.bash.Process.Pid)
	list[0].Close()
	list[0].Close()
	if h.ended(0) {
		t.Error("the guard left early")
	}
	list[1].Close()
	if !h.ended(0) || g.bash != nil {
		t.Error("the guard stays")
	}
	s := supervisor(t)
	sh(t, s, "sleep 100", nil)
	if err := s.GuardBy(&g, bash(t)); err != nil {
		t.Fatal(err)
	}
	_ = g.bash.Process.Kill() // it may be killed itself
	s.Close()
	if g.bash != nil {
		t.Error("a guard that was killed is kept")
	}
	s = supervisor(t)
	sh(t, s, "sleep 100", nil)
	if err := s.GuardBy(&g, bash(t)); err != nil {
		t.Fatal(err)
	}
	stopped := hold(t, g.bash.Process.Pid)
	_ = g.bash.Process.Signal(unix.SIGSTOP) // or stopped, by a command
	s.Close()
	if !stopped.ended(0) {
		t.Error("a guard that was stopped stays")
	}
}

// Whom somebody else started is found by its mark.
func TestMark(t *testing.T) {
	s, other := supervisor(t), supervisor(t)
	start := func(text string) (held, func()) {
		mark, sweep := s.Mark()
		cmd := exec.Command(bash(t), "-c", mark+text)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := bufio.NewReader(out)
		h := holdNext(t, func() string { s, _ := line.ReadString('\n'); return s })
		go func() { _ = cmd.Wait() }() // ends with sleep
		return h, sweep
	}
	a, sweep := start("echo $$; exec sleep 100")
	b, _ := start("echo $$; exec env -i sleep 100")
	other.Close()
	sweep()
	if !a.ended(5*time.Second) || b.ended(0) {
		t.Error("sweeping missed the one, or hit the other")
	}
	s.Close()
	if !b.ended(5 * time.Second) {
		t.Error("the supervisor's end did not reach what has its mark")
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
