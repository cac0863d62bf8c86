package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/tools"
)

// Times that an editor gets for its answers about terminals.
const (
	createTime  = 10 * time.Second
	outputTime  = 10 * time.Second
	killTime    = 2 * time.Second
	releaseTime = 10 * time.Second
	// leaveTime is how long each of a cancelled command's two steps, reading
	// and releasing, is waited for. It goes on behind.
	leaveTime = 40 * time.Millisecond
	// stopTime is the same for a command in the background, whose end nobody
	// waits for at the keyboard.
	stopTime = 2 * time.Second
)

// terminalLimit is how many bytes of output the editor is asked to keep.
const terminalLimit = 1 << 20

// editorShell runs commands in terminals of the editor, each from a script file
// (spec/clients.md, rule 24), or as child processes where the editor makes no
// terminal. It is safe for concurrent use.
type editorShell struct {
	conn      *jsonrpc.Conn
	sessionID string
	exec      *tools.ExecShell
}

// newEditorShell is exec itself on Windows, where an editor's shell may know
// neither bash nor the script's path.
func newEditorShell(conn *jsonrpc.Conn, sessionID string, exec *tools.ExecShell) tools.Shell {
	if runtime.GOOS == "windows" {
		return exec
	}
	return &editorShell{conn, sessionID, exec}
}

// Start makes a terminal for the command.
func (s *editorShell) Start(ctx context.Context, c tools.Command) (tools.Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	made, err := s.exec.Script(c)
	if err != nil {
		return nil, err
	}
	script, err := writeScript(made.Text)
	if err != nil {
		made.Done()
		return s.exec.Start(ctx, c)
	}
	id, err := s.create(ctx, c.Dir, script, made.Empty)
	switch {
	case err != nil:
		made.Sweep() // what it may have started all the same
		made.Done()
		return nil, err
	case id == "":
		_ = os.Remove(script)
		made.Done()
		return s.exec.Start(ctx, c)
	}
	leave := leaveTime
	if c.Linger {
		leave = stopTime
	}
	return &editorProcess{editorShell: s, id: id, script: script, output: c.Output, leave: leave, sweep: made.Sweep, held: made.Held, done: made.Done,
		reading: make(chan struct{}, 1), killed: make(chan struct{}), released: make(chan struct{})}, nil
}

// create asks for the terminal; the id is empty where the editor refuses, or
// answers nothing that is one. An error is the end of ctx, or an editor that is
// silent: then the script is gone, and a terminal that comes late is released.
func (s *editorShell) create(ctx context.Context, dir, script string, empty []string) (string, error) {
	limit := uint64(terminalLimit)
	request := CreateTerminalRequest{SessionID: s.sessionID, Command: "bash", Args: []string{"--noprofile", "--norc", script}, Cwd: dir, OutputByteLimit: &limit}
	for _, name := range empty {
		request.Env = append(request.Env, EnvVariable{Name: name})
	}
	created := make(chan string, 1)
	go func() { // ends with the answer or the connection: a late answer must be seen
		var answer *struct {
			TerminalID string `json:"terminalId"`
		}
		if s.conn.Call(context.WithoutCancel(ctx), MethodTerminalCreate, request, &answer) != nil || answer == nil {
			created <- ""
			return
		}
		created <- answer.TerminalID
	}()
	timer := time.NewTimer(createTime)
	defer timer.Stop()
	var err error
	select {
	case id := <-created:
		return id, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("the editor made no terminal within %v: try again", createTime)
	}
	_ = os.Remove(script)
	go func() { // ends with the goroutine above
		if id := <-created; id != "" {
			s.release(id)
		}
	}()
	return "", err
}

// release ends the terminal's command, where it runs, and frees the terminal.
func (s *editorShell) release(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	// What an editor says against it cannot be helped.
	_ = s.conn.Call(ctx, MethodTerminalRelease, ReleaseTerminalRequest{SessionID: s.sessionID, TerminalID: id}, nil)
}

// editorProcess is a command in a terminal of the editor.
type editorProcess struct {
	*editorShell
	id     string
	script string
	output io.Writer
	leave  time.Duration // how long each step of ending it is waited for
	sweep  func()        // ends what its end does not reach
	held   tools.Confinement
	done   func() // it is no more

	reading chan struct{} // holds one while the output is read, or the terminal is released
	seen    string        // what of the output the writer has
	told    bool          // that the editor does not keep all

	kill     sync.Once
	killed   chan struct{} // closed when the editor has answered terminal/kill
	close    sync.Once
	released chan struct{} // closed when the editor has answered terminal/release
}

// TerminalID is the id that the editor gave.
func (p *editorProcess) TerminalID() string { return p.id }

// Held is how it is confined, where what confines is on the terminal's host.
func (p *editorProcess) Held() tools.Confinement { return p.held }

// Wait gives the output to the command's writer at the end. When ctx is done it
// kills the command and takes the output so far, as quickly as the editor
// answers.
func (p *editorProcess) Wait(ctx context.Context) (tools.Exit, error) {
	var answer json.RawMessage
	waitErr := p.conn.Call(ctx, MethodTerminalWaitForExit, WaitForTerminalExitRequest{SessionID: p.sessionID, TerminalID: p.id}, &answer)
	if ctx.Err() != nil {
		p.abandon(ctx)
		return tools.Exit{}, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, outputTime)
	defer cancel()
	late, err := p.readOutput(limited)
	switch {
	case ctx.Err() != nil:
		return tools.Exit{}, context.Cause(ctx)
	case waitErr != nil:
		return tools.Exit{}, fmt.Errorf("waiting for the command in the editor's terminal: %v", waitErr)
	case err != nil:
		fmt.Fprintf(p.output, "[the editor gives no output of its terminal: %v]\n", err)
	}
	var status exitStatus
	_ = json.Unmarshal(answer, &status) // an odd answer is like null: not known
	if status == (exitStatus{}) {
		status = late
	}
	return status.exit(), nil
}

// abandon kills the command and takes its output: for a short while where the user
// waits for the end, longer where only its time is over.
func (p *editorProcess) abandon(ended context.Context) {
	leave := p.leave
	if errors.Is(ended.Err(), context.DeadlineExceeded) {
		leave = stopTime
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), leave)
	defer cancel()
	p.Kill()
	select {
	case <-p.killed:
		_, _ = p.readOutput(ctx)
	case <-ctx.Done():
	}
}

// Fetch gives what came since the last time to the command's writer.
func (p *editorProcess) Fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, outputTime)
	defer cancel()
	// What the editor does not give now it gives later, or at the end, where
	// an error is told.
	_, _ = p.readOutput(ctx)
}

// readOutput gives what the terminal keeps, and the writer does not have yet, to
// the writer.
func (p *editorProcess) readOutput(ctx context.Context) (exitStatus, error) {
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	case <-p.released:
		return exitStatus{}, errors.New("it is released")
	case <-ctx.Done():
		return exitStatus{}, context.Cause(ctx)
	}
	var answer *struct {
		Output     *string         `json:"output"`
		Truncated  bool            `json:"truncated"`
		ExitStatus json.RawMessage `json:"exitStatus"`
	}
	err := p.conn.Call(ctx, MethodTerminalOutput, TerminalOutputRequest{SessionID: p.sessionID, TerminalID: p.id}, &answer)
	if err != nil {
		return exitStatus{}, err
	}
	if answer == nil || answer.Output == nil {
		return exitStatus{}, errors.New("it answers no text")
	}
	if answer.Truncated && !p.told {
		p.told = true
		fmt.Fprintf(p.output, "[the editor kept only a part of the output, of about %d bytes]\n", terminalLimit)
	}
	fresh, ok := strings.CutPrefix(*answer.Output, p.seen)
	if !ok { // the head of it is dropped by now
		fresh = fresh[overlap(p.seen, fresh):]
	}
	_, _ = io.WriteString(p.output, fresh)
	p.seen = *answer.Output
	var status exitStatus
	_ = json.Unmarshal(answer.ExitStatus, &status)
	return status, nil
}

// Kill tells the editor to end the command, and does not wait for the answer.
func (p *editorProcess) Kill() {
	p.kill.Do(func() {
		go func() { // ends with the answer or killTime; Close waits for it
			defer close(p.killed)
			ctx, cancel := context.WithTimeout(context.Background(), killTime)
			defer cancel()
			// An editor that cannot kill ends the command when it releases.
			_ = p.conn.Call(ctx, MethodTerminalKill, KillTerminalRequest{SessionID: p.sessionID, TerminalID: p.id}, nil)
			p.sweep()
		}()
	})
}

// Close frees the terminal, once. Where the editor takes its time, that goes on
// behind.
func (p *editorProcess) Close() {
	p.close.Do(func() {
		_ = os.Remove(p.script)               // bash has read it, or is not to any more
		p.kill.Do(func() { close(p.killed) }) // nothing is killed: releasing need not wait
		go func() {                           // ends with the answers or their times
			defer close(p.released)
			<-p.killed
			p.reading <- struct{}{} // for good: a terminal that is released can be asked nothing
			p.release(p.id)
			p.done()
		}()
	})
	timer := time.NewTimer(p.leave)
	defer timer.Stop()
	select {
	case <-p.released:
	case <-timer.C:
	}
}

// overlap is the length of the longest end of a that b begins with
// (Knuth, Morris and Pratt's matching of b against a).
func overlap(a, b string) int {
	if len(a) > len(b) {
		a = a[len(a)-len(b):]
	}
	if b == "" {
		return 0
	}
	border := make([]int, len(b)) // of each beginning of b: its longest end that b begins with
	for i, k := 1, 0; i < len(b); i++ {
		for k > 0 && b[i] != b[k] {
			k = border[k-1]
		}
		if b[i] == b[k] {
			k++
		}
		border[i] = k
	}
	k := 0
	for i := range len(a) {
		for k > 0 && (k == len(b) || a[i] != b[k]) {
			k = border[k-1]
		}
		if a[i] == b[k] {
			k++
		}
	}
	return k
}

// exitStatus is how a command ended, as editors say it.
type exitStatus struct {
	code   int
	signal string
	known  bool
}

// UnmarshalJSON reads any number as the code and any text as the signal.
func (s *exitStatus) UnmarshalJSON(data []byte) error {
	var fields struct {
		ExitCode any `json:"exitCode"`
		Signal   any `json:"signal"`
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if code, ok := fields.ExitCode.(float64); ok {
		s.code, s.known = int(int32(int64(code))), true
	}
	if signal, ok := fields.Signal.(string); ok && signal != "" {
		s.signal, s.known = signal, true
	}
	return nil
}

// exit is never a success where the editor does not say that it is one.
func (s exitStatus) exit() tools.Exit {
	if !s.known || s.signal != "" && s.code == 0 {
		return tools.Exit{Code: -1, Signal: s.signal}
	}
	return tools.Exit{Code: s.code, Signal: s.signal}
}

// writeScript puts the text into a file that only the user may read, under a
// name that is one plain word in any shell.
func writeScript(text string) (string, error) {
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if !plainWord(dir) {
			continue
		}
		f, err := os.CreateTemp(dir, "acp-agent-*.sh") // mode 0600
		if err != nil {
			continue
		}
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name())
			continue
		}
		return f.Name(), nil
	}
	return "", errors.New("no folder for temporary files can be used")
}

func plainWord(path string) bool {
	return strings.IndexFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-", r)
	}) < 0
}
