package client

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// outputLimit is how many bytes of output are kept where the agent does not say.
const outputLimit = 1 << 20

// outputDelay is how long a command's output is read after its end, where
// something that it started still holds it.
const outputDelay = 500 * time.Millisecond

// Terminals serves terminal/* by child processes: the command and its arguments
// are run as they are, without a shell, in a process group of their own, with an
// empty stdin; stdout and stderr are one output. Its methods are callbacks of a
// Handler. Close must be called at the end.
type Terminals struct {
	mu     sync.Mutex
	last   int
	open   map[string]*terminal
	closed bool
}

// terminal is one command.
type terminal struct {
	cmd    *exec.Cmd
	output *tail
	ended  chan struct{} // closed when the child is reaped
}

// NewTerminals has no terminals yet.
func NewTerminals() *Terminals { return &Terminals{open: map[string]*terminal{}} }

// CreateTerminal starts a command.
func (ts *Terminals) CreateTerminal(_ context.Context, r acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	limit := uint64(outputLimit)
	if r.OutputByteLimit != nil {
		limit = min(*r.OutputByteLimit, math.MaxInt32)
	}
	t := &terminal{cmd: exec.Command(r.Command, r.Args...), output: newTail(int(limit)), ended: make(chan struct{})}
	t.cmd.Dir = r.Cwd
	t.cmd.Env = os.Environ()
	for _, v := range r.Env {
		t.cmd.Env = append(t.cmd.Env, v.Name+"="+v.Value)
	}
	t.cmd.Stdout, t.cmd.Stderr = t.output, t.output
	t.cmd.WaitDelay = outputDelay
	ownGroup(t.cmd)

	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed {
		return acp.CreateTerminalResponse{}, fmt.Errorf("starting %s: the terminals are closed", r.Command)
	}
	if err := t.cmd.Start(); err != nil {
		return acp.CreateTerminalResponse{}, fmt.Errorf("starting %s: %w", r.Command, err)
	}
	go func() { // release and Close wait for it
		defer close(t.ended)
		_ = t.cmd.Wait() // how it ended is in its state
	}()
	ts.last++
	id := "term-" + strconv.Itoa(ts.last)
	ts.open[id] = t
	return acp.CreateTerminalResponse{TerminalID: id}, nil
}

// TerminalOutput is the output so far.
func (ts *Terminals) TerminalOutput(_ context.Context, r acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	t, err := ts.find(r.TerminalID)
	if err != nil {
		return acp.TerminalOutputResponse{}, err
	}
	var resp acp.TerminalOutputResponse
	select {
	case <-t.ended: // looked at first: the output is whole then
		code, signal := t.status()
		resp.ExitStatus = &acp.TerminalExitStatus{ExitCode: code, Signal: signal}
	default:
	}
	resp.Output, resp.Truncated = t.output.text()
	return resp, nil
}

// WaitForTerminalExit waits for the end of the command.
func (ts *Terminals) WaitForTerminalExit(ctx context.Context, r acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	t, err := ts.find(r.TerminalID)
	if err != nil {
		return acp.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-t.ended:
	case <-ctx.Done():
		return acp.WaitForTerminalExitResponse{}, ctx.Err()
	}
	code, signal := t.status()
	return acp.WaitForTerminalExitResponse{ExitCode: code, Signal: signal}, nil
}

// KillTerminal kills the command's process group; the output stays.
func (ts *Terminals) KillTerminal(_ context.Context, r acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	t, err := ts.find(r.TerminalID)
	if err != nil {
		return acp.KillTerminalResponse{}, err
	}
	t.kill()
	return acp.KillTerminalResponse{}, nil
}

// ReleaseTerminal kills the command, if it runs, and forgets the terminal.
func (ts *Terminals) ReleaseTerminal(_ context.Context, r acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	t, err := ts.find(r.TerminalID)
	if err != nil {
		return acp.ReleaseTerminalResponse{}, err
	}
	ts.mu.Lock()
	delete(ts.open, r.TerminalID)
	ts.mu.Unlock()
	t.kill()
	<-t.ended
	return acp.ReleaseTerminalResponse{}, nil
}

// Open is how many terminals were not released.
func (ts *Terminals) Open() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.open)
}

// Close releases all terminals; no new ones can be made.
func (ts *Terminals) Close() {
	ts.mu.Lock()
	ts.closed = true
	open := ts.open
	ts.open = map[string]*terminal{}
	ts.mu.Unlock()
	for _, t := range open {
		t.kill()
	}
	for _, t := range open {
		<-t.ended
	}
}

func (ts *Terminals) find(id string) (*terminal, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.open[id]
	if t == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeNotFound, Message: "no such terminal: " + id}
	}
	return t, nil
}

// kill ends the command and what it started, as long as it was not reaped.
func (t *terminal) kill() {
	select {
	case <-t.ended:
	default:
		killGroup(t.cmd.Process)
	}
}

// status is how the command ended: a code or a signal.
func (t *terminal) status() (*uint32, string) {
	if signal := signalOf(t.cmd.ProcessState); signal != "" {
		return nil, signal
	}
	return new(uint32(t.cmd.ProcessState.ExitCode())), ""
}
