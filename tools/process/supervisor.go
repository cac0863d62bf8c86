package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the session is closed; no process can be started")

// Supervisor starts processes and ends what is left of them. The zero value is
// ready to use. It is safe for concurrent use.
type Supervisor struct {
	tasks sync.WaitGroup // all goroutines it started, but for the forking thread

	mu     sync.Mutex
	closed bool
	mark   mark    // of all its processes; zero: there was none yet
	group  *cgroup // of the groups of its processes; nil: none
	count  int     // processes started
	forks  chan func()
	live   map[*Process]struct{}
	guard  *Guard // nil: none watches yet
}

// Start runs the command. An error names the program or the folder.
func (s *Supervisor) Start(c Command) (*Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.beginLocked()
	p := &Process{
		mark:   s.markLocked(),
		owner:  s,
		linger: c.Linger,
		gone: sync.OnceFunc(func() {
			if c.Gone != nil {
				c.Gone()
			}
		}),
		group:  s.group.sub(strconv.Itoa(s.count)),
		exited: make(chan struct{}),
		done:   make(chan struct{}),
	}
	cmd, err := s.spawn(p, c)
	if err != nil {
		for _, o := range p.outlets {
			o.close()
		}
		p.group.remove()
		return nil, fmt.Errorf("starting %s in %s: %w", c.Path, c.Dir, err)
	}
	p.pid = cmd.Process.Pid
	s.live[p] = struct{}{}
	for _, o := range p.outlets {
		s.tasks.Go(o.run)
	}
	s.tasks.Go(func() { p.watch(cmd) })
	return p, nil
}

// beginLocked makes what the processes have in common.
func (s *Supervisor) beginLocked() {
	if s.mark == (mark{}) {
		s.mark = newMark()
	}
	if s.live == nil {
		s.live = map[*Process]struct{}{}
		s.group = newCgroup(fmt.Sprintf("acp-agent-%d-%s", os.Getpid(), rand.Text()[:8]))
		s.forks = make(chan func())
		go forkThread(s.forks) // ends when Close closes the channel
	}
}

// markLocked is a mark for a process that is about to be.
func (s *Supervisor) markLocked() mark {
	if s.mark == (mark{}) {
		s.mark = newMark()
	}
	s.count++
	return s.mark.of(s.count)
}

// Mark is bash text that marks a process which somebody else starts. What descends
// from it ends with sweep, and with Close.
func (s *Supervisor) Mark() (script string, sweep func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.markLocked()
	return m.script(), func() {
		s.behind(func() { sweepMarked(m, time.Now().Add(endTime)) })
	}
}

// GuardBy has the guard, with the bash given, end what is started here if the
// agent is killed. What starts before that is called may be left by an agent that is
// killed in between. Calling it again is fine.
func (s *Supervisor) GuardBy(g *Guard, bash string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g == nil || s.guard != nil || s.closed {
		return nil
	}
	s.beginLocked()
	s.guard = g
	return g.watch(bash, s.mark, s.group)
}

// spawn starts the command and gives p its outlets.
func (s *Supervisor) spawn(p *Process, c Command) (*exec.Cmd, error) {
	cmd := &exec.Cmd{
		Path: c.Path,
		Args: append([]string{c.Path}, c.Args...),
		Dir:  c.Dir,
		Env:  append([]string{p.mark.entry()}, c.Env...),
	}
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	out, err := p.outlet(c.Output)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	cmd.Stdout, cmd.Stderr = out, out
	if c.Stderr != nil {
		out, err := p.outlet(c.Stderr)
		if err != nil {
			return nil, err
		}
		defer out.Close()
		cmd.Stderr = out
	}
	return s.fork(p, cmd)
}

// fork starts the command on the forking thread, in the process's group unless the
// system does not let it be born there.
func (s *Supervisor) fork(p *Process, cmd *exec.Cmd) (*exec.Cmd, error) {
	try := func(cmd *exec.Cmd) error {
		cmd.SysProcAttr = attributes()
		born := p.group.into(cmd.SysProcAttr)
		defer func() { born(cmd.Process) }()
		started := make(chan error)
		s.forks <- func() { started <- startMarked(p.mark, cmd.Start) }
		return <-started
	}
	err := try(cmd)
	if err == nil || p.group == nil || errors.Is(err, fs.ErrNotExist) {
		return cmd, err
	}
	p.group.remove()
	p.group = nil
	cmd = &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr}
	return cmd, try(cmd)
}

// outlet makes a pipe from the child to w and returns the child's end.
func (p *Process) outlet(w io.Writer) (*os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.outlets = append(p.outlets, newOutlet(ours, w))
	return theirs, nil
}

// forkThread runs the work on one thread that lives as long as the supervisor.
// On Linux the kernel kills a child when the thread that forked it ends, which
// is what ends children when the agent itself is killed; on a thread that the
// runtime may end at any time it would kill them early.
func forkThread(work <-chan func()) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for f := range work {
		f()
	}
}

// Close ends all processes that are left, with their descendants, and waits
// until they are gone, at most a second. Nothing can be started afterwards.
// Calling it again is fine.
func (s *Supervisor) Close() {
	s.mu.Lock()
	again := s.closed
	mark, forks, guard := s.mark, s.forks, s.guard
	live := slices.Collect(maps.Keys(s.live))
	s.closed = true
	s.mu.Unlock()
	if again || mark.text == "" {
		return
	}
	deadline := time.Now().Add(endTime)
	if !s.group.kill() {
		for _, p := range live {
			p.killTree()
		}
	}
	sweepMarked(mark, deadline)
	s.group.await(deadline)
	for _, p := range live {
		p.free(deadline)
	}
	s.group.remove()
	if forks != nil {
		close(forks)
	}
	s.await(deadline)
	if guard != nil {
		guard.leave(mark)
	}
}

// await waits for the supervisor's goroutines. One that hangs on a process that
// no signal ends is left to the program's end.
func (s *Supervisor) await(deadline time.Time) {
	ended := make(chan struct{})
	go func() { // ends with the last task
		s.tasks.Wait()
		close(ended)
	}()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

// behind runs f on a goroutine that Close waits for; after Close, not at all.
func (s *Supervisor) behind(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.tasks.Go(f)
	}
}

func (s *Supervisor) forget(p *Process) {
	s.mu.Lock()
	delete(s.live, p)
	s.mu.Unlock()
	p.group.remove()
}
