package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// stderrLimit is how many bytes of the agent's stderr are kept, the last ones.
const stderrLimit = 64 << 10

// DefaultGrace is how long an agent may take to end once its input has ended.
const DefaultGrace = 5 * time.Second

// ErrKilled is returned by Close where the agent did not end by itself in time.
var ErrKilled = errors.New("the agent did not end when its input did and was killed")

// Command is an agent to be launched.
type Command struct {
	Path  string
	Args  []string
	Env   []string // "NAME=value"; nil: this process's own
	Dir   string   // empty: this process's own
	Grace time.Duration
	// Options are those of the connection.
	Options jsonrpc.Options
}

// Process is an agent that runs as a child, in a process group of its own.
type Process struct {
	*Client

	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *tail
	grace  time.Duration

	exited  chan struct{} // closed when the child is reaped
	waitErr error         // set before exited is closed
	ended   chan struct{} // closed when the connection's Run has returned
}

// Start launches the agent at exe over stdio; see Command.
func Start(ctx context.Context, exe string, args, env []string, dir string, h Handler) (*Process, error) {
	return Command{Path: exe, Args: args, Env: env, Dir: dir}.Start(ctx, h)
}

// Start launches the agent and runs the connection to it. Close must be called.
// When ctx ends, the agent is killed.
func (cmd Command) Start(ctx context.Context, h Handler) (*Process, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), stdin.Close())
	}
	p := &Process{
		cmd: exec.Command(cmd.Path, cmd.Args...), stdin: stdin, stdout: stdout,
		stderr: newTail(stderrLimit), grace: cmd.Grace,
		exited: make(chan struct{}), ended: make(chan struct{}),
	}
	if p.grace <= 0 {
		p.grace = DefaultGrace
	}
	p.cmd.Env, p.cmd.Dir = cmd.Env, cmd.Dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, p.stderr
	p.cmd.WaitDelay = p.grace // for a grandchild that holds stderr
	ownGroup(p.cmd)
	err = p.cmd.Start()
	_ = childIn.Close() // the child has its own
	_ = childOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the agent %s: %w", cmd.Path, err), stdin.Close(), stdout.Close())
	}
	p.Client = New(stdout, stdin, h, cmd.Options)
	p.run(ctx)
	return p, nil
}

// run begins the two goroutines that Close waits for.
func (p *Process) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, p.kill)
	go func() {
		defer close(p.exited)
		p.waitErr = p.cmd.Wait()
		stop()
	}()
	go func() {
		defer close(p.ended)
		_ = p.Client.Run(ctx) // callers learn of the end by ErrClosed, and why from Close
	}()
}

// kill ends the agent and what it started, as long as it was not reaped.
func (p *Process) kill() {
	select {
	case <-p.exited:
	default:
		killGroup(p.cmd.Process)
	}
}

// PID is the agent's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the agent has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Stderr is what the agent wrote to its stderr, at most the last 64 KiB.
func (p *Process) Stderr() string {
	text, _ := p.stderr.text()
	return text
}

// CloseInput closes the agent's stdin, which tells it to end, and does not wait.
func (p *Process) CloseInput() error { return p.stdin.Close() }

// Close closes the agent's stdin, waits for its end for the grace, and then kills
// it with its process group (ErrKilled). The state has the exit status; it is
// never nil. Close may be called more than once.
func (p *Process) Close() (*os.ProcessState, error) {
	_ = p.stdin.Close() // it may be closed already
	err := error(nil)
	if !within(p.grace, p.exited) {
		p.kill()
		err = ErrKilled
		<-p.exited
	}
	if !within(p.grace, p.ended) { // a grandchild holds the agent's stdout
		_ = p.stdout.Close()
		<-p.ended
	}
	_ = p.stdout.Close()
	return p.cmd.ProcessState, err
}

// within waits for done, at most for d, and says whether it came.
func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
