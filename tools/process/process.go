// Package process runs child processes so that none outlives its use: each in
// a session and group of its own, with a cleaned environment and an empty
// standard input, its output through one pipe, and an end that reaches children
// and grandchildren, also those that left the group.
//
// It leaves out what may run (package session/permission), confinement
// (package tools/sandbox), and what a command's output means (package tools).
package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Path   string    // absolute
	Args   []string  // without the program's name
	Dir    string    // absolute
	Env    []string  // all of it, as Environment makes it
	Stdin  *os.File  // nil: empty; stays the caller's
	Output io.Writer // standard output, and standard error unless Stderr is set; nil: dropped
	Stderr io.Writer // nil: joins Output, in the order of writing
	// Linger: what the command leaves running belongs to it. Its output is
	// complete only when nobody holds it any more.
	Linger bool
	// Gone is called once, when the process has ended and, as far as can be told,
	// all it started; nil: nobody wants to know. It is not called where nothing
	// was started.
	Gone func()
}

// Exit is how a process ended. Signal names the signal that ended it, as in
// SIGKILL; then Code is 128 and the signal's number, as shells say it.
type Exit struct {
	Code   int
	Signal string
}

// Success reports whether the process ended by itself with code 0.
func (e Exit) Success() bool { return e == Exit{} }

// SignalOf is the signal that an exit code of 128 and more tells of, as shells and
// what confines commands give it; empty: the code tells of none. It holds for those
// that end programs, but for SIGHUP, by whose code git says that it was called wrongly.
func SignalOf(code int) string {
	switch s := syscall.Signal(code - 128); s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTERM:
		return signalName(s)
	default:
		return signalOfSystem(s)
	}
}

// Limits of waiting.
const (
	// drainTime is how long after its exit a process's output may still come
	// from children that hold the pipe (as in `echo a > >(cat)`).
	drainTime = 100 * time.Millisecond
	// leaveTime is how long who leaves waits for what the pipes hold already.
	leaveTime = 20 * time.Millisecond
	// endTime is how long ending waits for what was killed.
	endTime = time.Second
)

// Process is a running child, or one that has ended.
type Process struct {
	pid     int
	mark    mark
	owner   *Supervisor
	group   *cgroup // nil: none
	outlets []*outlet
	linger  bool
	gone    func() // Command.Gone, once

	exited chan struct{} // closed when it has ended; exit is set before
	done   chan struct{} // closed when its output is complete too
	exit   Exit
}

// PID is the process's id, which is its group's too where groups exist.
func (p *Process) PID() int { return p.pid }

// Wait returns when the process has ended and its output is complete, or when
// ctx is done, with its cause; what was written until then is there. Children
// that still hold the output do not count, unless it is to linger: a short while
// after the process's own end, what they write is dropped.
// Nothing is written to the command's writers after Wait has returned.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
		return p.exit, nil
	case <-ctx.Done():
		deadline := time.Now().Add(leaveTime)
		for _, o := range p.outlets {
			o.leave(deadline)
		}
		return Exit{}, context.Cause(ctx)
	}
}

// Kill ends the process and its group at once and returns. Descendants that
// left the group are looked for behind it, which Close waits for.
func (p *Process) Kill() {
	p.killTree()
	p.owner.behind(func() { sweepMarked(p.mark, time.Now().Add(endTime)) })
}

// Close ends the process and all its descendants, waits until they are gone,
// at most a second, and frees what is left. Calling it again is fine.
func (p *Process) Close() {
	p.killTree()
	deadline := time.Now().Add(endTime)
	sweepMarked(p.mark, deadline)
	p.group.await(deadline)
	p.free(deadline)
}

// free waits for the process that was killed, and closes its pipes.
func (p *Process) free(deadline time.Time) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C: // in the kernel, and beyond any signal
	}
	for _, o := range p.outlets {
		o.close()
	}
	p.owner.forget(p)
	p.gone()
}

// killTree kills what the process and all that descends from it are by now: as
// one, where the kernel keeps them together, else one by one.
func (p *Process) killTree() {
	if p.group.kill() {
		return
	}
	kin := descendants(p.pid, p.exited)
	p.killGroup()
	kin.kill()
}

func (p *Process) killGroup() {
	select {
	case <-p.exited:
		killOrphans(p.pid)
	default:
		killGroup(p.pid)
	}
}

// watch reaps the process and then sees its output to the end. It returns when
// nothing holds the output any more.
func (p *Process) watch(cmd *exec.Cmd) {
	// The error repeats the state, or says that a descriptor was closed twice.
	_ = cmd.Wait()
	p.exit = exitOf(cmd.ProcessState)
	close(p.exited)
	deadline := time.Now().Add(drainTime)
	for _, o := range p.outlets {
		if !p.linger {
			o.endBy(deadline)
		}
	}
	for _, o := range p.outlets {
		<-o.complete
	}
	close(p.done)
	for _, o := range p.outlets {
		<-o.ended
	}
	p.group.await(time.Now().Add(leaveTime)) // nobody holds the output: what is left is ending
	if !p.leftOver() {
		p.owner.forget(p)
		p.gone()
	}
}

// leftOver reports whether anything lives that descends from the process, which
// was reaped, as far as that can be told.
func (p *Process) leftOver() bool {
	if p.group != nil {
		return p.group.populated()
	}
	return groupAlive(p.pid)
}

func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Code: -1}
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: signalName(status.Signal())}
	}
	return Exit{Code: state.ExitCode()}
}

// outlet carries one pipe of a process to its writer.
type outlet struct {
	pipe     *os.File
	complete chan struct{} // closed when the writer has all it gets
	ended    chan struct{} // closed when nobody holds the pipe, or it was closed
	once     sync.Once     // closes complete

	mu sync.Mutex
	to io.Writer // nil: dropped
}

func newOutlet(pipe *os.File, to io.Writer) *outlet {
	return &outlet{pipe: pipe, to: to, complete: make(chan struct{}), ended: make(chan struct{})}
}

// run copies until the pipe's end. When the time after the process's end is
// over, it takes what is in the pipe and drops the rest, reading on so that a
// background child never stands before a full or a broken pipe.
func (o *outlet) run() {
	defer close(o.ended)
	defer o.shut()
	buf := make([]byte, 64<<10)
	for {
		n, err := o.pipe.Read(buf)
		o.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_ = o.pipe.SetReadDeadline(time.Time{})
			o.takeRest(buf)
			o.shut()
			continue
		}
		if err != nil {
			return
		}
	}
}

// takeRest reads what the pipe holds, without waiting for more.
func (o *outlet) takeRest(buf []byte) {
	const pipeSize = 1 << 20 // the largest that an unprivileged process gets
	raw, err := o.pipe.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < pipeSize; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n = readNow(fd, buf)
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		o.write(buf[:n])
		total += n
	}
}

func (o *outlet) write(data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to != nil && len(data) > 0 {
		_, _ = o.to.Write(data) // a writer that fails loses output, not the process
	}
}

// shut lets nothing more through to the writer.
func (o *outlet) shut() {
	o.mu.Lock()
	o.to = nil
	o.mu.Unlock()
	o.once.Do(func() { close(o.complete) })
}

// endBy sets when the output counts as complete though somebody holds the pipe.
func (o *outlet) endBy(deadline time.Time) {
	if o.pipe.SetReadDeadline(deadline) == nil {
		return
	}
	timer := time.NewTimer(time.Until(deadline)) // pipes without deadlines
	defer timer.Stop()
	select {
	case <-o.complete:
	case <-timer.C:
		o.shut()
	}
}

// leave takes what the pipe holds by now and drops what comes later.
func (o *outlet) leave(deadline time.Time) {
	if o.pipe.SetReadDeadline(time.Now()) == nil {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		select {
		case <-o.complete:
		case <-timer.C:
		}
	}
	o.shut()
}

func (o *outlet) close() {
	o.shut()
	_ = o.pipe.Close()
}
