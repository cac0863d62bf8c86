package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/tools/process"
)

// Limits of a server's process.
const (
	maxMessage = 64 << 20               // bytes of one message
	keptStderr = 4 << 10                // bytes of what it says last
	stopTime   = 300 * time.Millisecond // for a server to end by itself
	maxSilent  = 3                      // requests in a row without a sign of life
	maxSurvey  = 15 * time.Second       // for a server to read the project before its first request
)

// run is one process of a server, from its start to its end.
type run struct {
	server  *server
	started time.Time
	ready   chan struct{} // closed when it can be asked, or has failed; err is set before
	err     error         // why it cannot be asked
	ended   chan struct{} // closed when it is gone; why is set before
	why     error

	proc   *process.Process // nil: it could not be started
	conn   *jsonrpc.Conn
	stdin  *os.File
	stderr *process.Tail
	cancel context.CancelCauseFunc // *aborted says that this is a crash

	caps    capabilities
	unit    encoding
	version string // what it calls itself

	told   atomic.Uint64 // counts what the server was told of files
	judged atomic.Uint64 // one more than told was when it had judged the whole project last

	obsolete atomic.Bool // only another process will go by the projects' settings as they are now
	replaced atomic.Bool // and it is ended for that

	asked  atomic.Bool  // the first request has come to an end
	silent atomic.Int32 // requests that were out of time since it last said anything

	documents documents
	lastOpen  []string // the documents that were open when it ended
	verdicts  verdicts
	flights   flights
	disk      disk
	importers importers
	arrivals  arrivals
	client    client
}

// start begins a process and returns at once.
func (s *server) start() *run {
	r := &run{
		server: s, started: time.Now(),
		ready: make(chan struct{}), ended: make(chan struct{}),
		stderr: process.NewTail(keptStderr),
	}
	r.documents.init()
	r.verdicts.init(s.spec)
	r.client.init(r)
	var ctx context.Context
	ctx, r.cancel = context.WithCancelCause(context.Background())
	s.owner.tasks.Go(func() { r.live(ctx) })
	return r
}

// live is the whole life of the process.
func (r *run) live(ctx context.Context) {
	defer close(r.ended)
	defer r.cancel(nil)
	s := r.server
	out, err := r.spawn()
	if err != nil {
		r.fail(err)
		return
	}
	s.owner.tasks.Go(func() { r.watchMemory(ctx) })
	r.conn = jsonrpc.New(out, r.stdin, r.client.handle, jsonrpc.Options{Framing: jsonrpc.Headers, MaxMessage: maxMessage, Grace: stopTime, Logger: s.owner.log})
	initialized := make(chan struct{})
	go func() { // ends with the connection, which the end of live awaits below
		defer close(initialized)
		if err := r.initialize(ctx); err != nil {
			r.fail(err)
			r.cancel(nil)
			return
		}
		close(r.ready)
	}()
	if err = r.conn.Run(ctx); ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	<-initialized
	r.proc.Close()
	_ = r.stdin.Close()
	r.why = r.reason(err)
	r.verdicts.end()
	closing, cancel := context.WithTimeout(context.Background(), stopTime)
	r.lastOpen, _ = r.opened(closing)
	cancel()
	s.ended(r, r.why)
	s.owner.log.Info("language server ended", "server", s.spec.Name, "root", s.root, "reason", r.why)
}

// fail makes the run one that cannot be asked, unless it could be before.
func (r *run) fail(err error) {
	r.err = err
	r.why = err
	r.server.ended(r, err)
	close(r.ready)
}

// spawn starts the process; what it writes can be read from out.
func (r *run) spawn() (out io.Reader, err error) {
	s := r.server
	stdin, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.spec.Name, err)
	}
	defer stdin.Close()
	from, stdout := io.Pipe()
	// Without a guard only the servers of an agent that is killed live on, and most
	// of them end when their input does.
	_ = s.owner.processes.GuardBy(s.owner.guard, s.bash)
	r.proc, err = s.owner.processes.Start(process.Command{
		Path: s.command[0], Args: s.command[1:], Dir: s.root, Env: s.env,
		Stdin: stdin, Output: stdout, Stderr: r.stderr,
	})
	if err != nil {
		_ = to.Close()
		return nil, notStarted(s.spec.Name, s.command[0], err)
	}
	r.stdin = to
	s.owner.tasks.Go(func() { // ends with the process
		_, _ = r.proc.Wait(context.Background())
		_ = stdout.Close()
	})
	return from, nil
}

// notStarted says that the system does not run a server's program.
func notStarted(name, program string, err error) error {
	why := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		why = p.Err
	}
	if errors.Is(why, fs.ErrNotExist) { // it was there just now
		why = errors.New("what its first line says that it is run with is not there")
	}
	return fmt.Errorf("%s cannot be started: the system does not run %s (%w); install it anew, or mend lsp.servers.%s.command in the settings", name, program, why, name)
}

// initialize makes the server ready, within the time it has for its start.
func (r *run) initialize(ctx context.Context) error {
	s := r.server
	ctx, cancel := context.WithTimeout(ctx, s.config.StartTimeout)
	defer cancel()
	params, err := initializeParams(s.spec, s.root, os.Getpid())
	if err != nil {
		return err
	}
	var result initializeResult
	if err := r.conn.Call(ctx, "initialize", params, &result); err != nil {
		return r.startError(ctx, err)
	}
	r.caps, r.unit = result.Capabilities, result.encoding()
	r.version = versionOf(result.Version)
	if err := r.conn.Notify(ctx, "initialized", struct{}{}); err != nil {
		return r.startError(ctx, err)
	}
	settings := nested(s.spec.Settings)
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	if err := r.conn.Notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": settings}); err != nil {
		return r.startError(ctx, err)
	}
	if err := r.survey(ctx, r.conn.Done()); err != nil {
		return r.startError(ctx, err)
	}
	return nil
}

// survey waits until a server that reads the project at its start has done so, or its
// connection has ended. One that keeps its log to itself is waited for in vain, so that
// has a bound.
func (r *run) survey(ctx context.Context, ended <-chan struct{}) error {
	if len(r.server.spec.Surveys) == 0 {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, maxSurvey)
	defer cancel()
	select {
	case <-r.client.surveyed:
	case <-ended:
		return jsonrpc.ErrClosed
	case <-bound.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
	}
	return nil
}

// versionOf is a server's version in a word: gopls gives its whole build
// information, clangd a sentence.
func versionOf(told string) string {
	var build struct {
		Version string
	}
	if json.Unmarshal([]byte(told), &build) == nil && build.Version != "" {
		return build.Version
	}
	for _, word := range strings.Fields(told) {
		if strings.ContainsAny(word, "0123456789") && len(word) < 40 {
			return word
		}
	}
	return ""
}

// startError is why a start failed.
func (r *run) startError(ctx context.Context, err error) error {
	name := r.server.spec.Name
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %s of its start%s", name, r.server.config.StartTimeout, r.said())
	case errors.Is(err, jsonrpc.ErrClosed), ctx.Err() != nil:
		_, _ = r.exit() // or what it said last may not be there yet
		return fmt.Errorf("%s ended while it was starting%s", name, r.said())
	default:
		return fmt.Errorf("%s could not be started: %v%s", name, err, r.said())
	}
}

// exit is how the process ended, whose connection has. It waits for that a moment: a
// process may go on without one.
func (r *run) exit() (process.Exit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	return r.proc.Wait(ctx)
}

// reason is why a process that ran has ended.
func (r *run) reason(err error) error {
	if a, ok := errors.AsType[*aborted](err); ok {
		return fmt.Errorf("%s was ended, since it %s%s", r.server.spec.Name, a.why, r.said())
	}
	if r.replaced.Load() {
		return fmt.Errorf("%s is started again, since its projects' settings changed", r.server.spec.Name)
	}
	text := "stopped"
	if exit, werr := r.exit(); werr == nil {
		switch {
		case exit.Signal != "":
			text = "stopped, ended by " + exit.Signal
		case exit.Code != 0:
			text = fmt.Sprintf("stopped with exit status %d", exit.Code)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		text = fmt.Sprintf("%s (%v)", text, err)
	}
	return fmt.Errorf("%s %s%s", r.server.spec.Name, text, r.said())
}

// said is the last word of the server's standard error, to go behind a reason.
func (r *run) said() string {
	last := lastWord(string(r.stderr.Bytes()))
	if last == "" {
		return ""
	}
	if runes := []rune(last); len(runes) > 300 {
		last = string(runes[:300]) + "…"
	}
	return ": " + last
}

// lastWord is the line of a program's standard error that says why it ended: the last,
// or where that only ends the dump of a runtime (Go's, Node's), the one that is behind the
// dump's reason; empty where that is lost.
func lastWord(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if !strings.HasPrefix(last, "Node.js v") && !strings.Contains(text, "goroutine ") {
		return last
	}
	for _, line := range slices.Backward(lines) {
		word, _, _ := strings.Cut(line, ":")
		if strings.HasSuffix(word, "Error") || word == "panic" || strings.EqualFold(word, "fatal error") || strings.HasPrefix(word, "SIG") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// stop ends the process, by its protocol where it listens, and waits for its end.
func (r *run) stop() {
	select {
	case <-r.ready:
		if r.err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), stopTime)
			if r.conn.Call(ctx, "shutdown", nil, nil) == nil {
				_ = r.conn.Notify(ctx, "exit", nil)
				select {
				case <-r.ended:
				case <-ctx.Done():
				}
			}
			cancel()
		}
	default:
	}
	r.cancel(nil)
	<-r.ended
}

// Codes of errors that ask for another try.
const (
	codeContentModified = -32801
	codeServerCancelled = -32802
)

// ask sends a request, again where the server says that its view of the files
// changed meanwhile.
func (r *run) ask(ctx context.Context, method string, params, result any) error {
	limit := r.limit()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err := r.conn.Call(ctx, method, params, result)
		if err == nil {
			r.answered()
			return nil
		}
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			r.answered()
			again := e.Code == codeContentModified || retriggers(e)
			if again && try < 4 && sleep(ctx, time.Duration(try)*50*time.Millisecond) == nil {
				continue
			}
			return &refusal{r.server.spec.Name, e}
		}
		return r.askError(ctx, method, limit, err)
	}
}

// refusal is an error that a server answered.
type refusal struct {
	server string
	err    *jsonrpc.Error
}

func (e *refusal) Error() string {
	text := strings.TrimSpace(e.err.Message)
	if text == "" {
		text = fmt.Sprintf("an error with no word of what is wrong (code %d)", e.err.Code)
	}
	return e.server + " answered: " + text
}

func (e *refusal) Unwrap() error { return e.err }

// limit is the time that a request has: the first one may find the server loading.
func (r *run) limit() time.Duration {
	c := r.server.config
	if r.asked.Load() {
		return c.RequestTimeout
	}
	return max(c.RequestTimeout, c.StartTimeout)
}

// answered notes that a request was answered.
func (r *run) answered() {
	r.asked.Store(true)
	r.silent.Store(0)
}

// late notes that the server did not do in time what it was to do. One that does
// nothing any more is ended, since only another can help.
func (r *run) late() {
	r.asked.Store(true)
	if r.silent.Add(1) >= maxSilent {
		r.abort("said nothing while %d requests in a row ran out of time", maxSilent)
	}
}

// abort ends the process as one that has crashed.
func (r *run) abort(format string, args ...any) {
	r.cancel(&aborted{fmt.Sprintf(format, args...)})
}

// aborted is why a server was ended that nobody stopped.
type aborted struct{ why string }

func (a *aborted) Error() string { return a.why }

// lost is what is said of a process that has ended, or is about to.
func (r *run) lost() error {
	<-r.ended // it is on its way: the connection has ended
	return fmt.Errorf("%w; it is started again with the next call", r.why)
}

// errTimeout is the cause of a request's own end.
var errTimeout = errors.New("out of time")

// askError is why a request got no answer.
func (r *run) askError(ctx context.Context, method string, limit time.Duration, err error) error {
	name := r.server.spec.Name
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		r.late()
		return fmt.Errorf("%s did not answer %s within %s%s", name, method, limit, r.client.busy())
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, jsonrpc.ErrClosed):
		return r.lost()
	default:
		return fmt.Errorf("asking %s: %w", name, err)
	}
}
