package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
)

// How long a call that starts something in the background waits for it to say or
// to fail at something, since a server that cannot start says so at once.
const (
	firstLook = time.Second            // for its first words
	moreLook  = 250 * time.Millisecond // for what comes with them
)

// begin starts the command as a background job and looks at it once.
func (b bashCall) begin(ctx context.Context, ws *Workspace) (Result, error) {
	if ws.Shell == nil || ws.Jobs == nil {
		return Result{}, fmt.Errorf("bash: %w", ErrNoBash)
	}
	if err := folderExists(b.dir); err != nil {
		return Result{}, fmt.Errorf("bash: cwd: %w", err)
	}
	started := make(chan Process, 1) // closed where the command could not be started
	spoke := make(chan struct{})
	text := &plainWriter{spoke: spoke}
	job, err := ws.Jobs.Start("bash", kinds.Title(b.text), func(ctx context.Context, out io.Writer) (string, error) {
		text.to = out
		return b.work(ctx, ws.Shell, text, started)
	})
	if err != nil {
		return Result{}, fmt.Errorf("bash: %w", err)
	}
	var p Process
	select {
	case p = <-started:
	case <-ctx.Done():
		job.abandon()
		return Result{}, context.Cause(ctx)
	}
	if p == nil {
		<-job.Done()
		return Result{}, fmt.Errorf("bash: %w", job.Report().Err) // so its end is told
	}
	var fetch func(context.Context)
	if f, ok := p.(Fetcher); ok {
		fetch = f.Fetch
	}
	job.Attach(fetch, text.Pending, p.Close)
	look(ctx, job, spoke)
	job.Fetch(ctx)
	report := job.Report().Text()
	said := fmt.Sprintf("%s was started in the background; task_output reads on, task_stop ends it.%s\n\n%s", job.ID, reachNote(p), report)
	shown := b.whole(fmt.Sprintf("Started in the background as `%s`.\n\n%s", job.ID, fenced(excerpt(report))))
	return Result{Text: said, Shown: shown, TerminalID: p.TerminalID(), Metadata: map[string]any{"job": job.ID}}, nil
}

// reachNote says who does not reach a confined one.
func reachNote(p Process) string {
	if h, ok := p.(Held); ok && h.Held().Listens != "" {
		return " If it is a server: " + h.Held().Listens + ". With sandbox.network, which the user can set, it has the host's network."
	}
	return ""
}

// look waits until the job has ended or has spoken, for a while.
func look(ctx context.Context, job *Job, spoke <-chan struct{}) {
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		select {
		case <-job.Done():
		case <-timer.C:
		case <-ctx.Done():
		case <-spoke:
			timer.Reset(moreLook)
			spoke = nil
			continue
		}
		return
	}
}

// work runs the command until it has ended and nothing that it started holds its
// output, or until ctx ends, and then ends all that. It says first what it
// started.
func (b bashCall) work(ctx context.Context, shell Shell, text *plainWriter, started chan<- Process) (string, error) {
	c := b.command(text)
	c.Linger = true
	p, err := shell.Start(ctx, c)
	if err != nil {
		close(started)
		return "", err
	}
	started <- p
	if b.limit > 0 {
		limited, stop := context.WithTimeoutCause(ctx, b.limit, errTimeout)
		defer stop()
		ctx = limited
	}
	exit, err := p.Wait(ctx)
	exit = signalled(p, exit)
	text.Flush()
	if err != nil || p.TerminalID() != "" {
		p.Close() // else what it left running, with its output elsewhere, goes on
	}
	switch end := ending(exit); {
	case errors.Is(err, errTimeout):
		return "", b.tookTooLong()
	case err != nil:
		return "", err
	case end != "":
		return "", errors.New(end)
	}
	return "", nil
}

// plainWriter hands plain text on to a job's output. It is safe for concurrent
// use.
type plainWriter struct {
	to    io.Writer
	spoke chan<- struct{} // closed when there is text

	mu   sync.Mutex
	text plainText
}

// Write never fails.
func (w *plainWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.emit = w.emit
	n, err := w.text.Write(p)
	if len(w.text.Pending()) > 0 {
		w.tell()
	}
	return n, err
}

// Pending is the line under way, such as a question that waits for an answer.
func (w *plainWriter) Pending() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text.Pending())
}

// Flush ends the text.
func (w *plainWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.emit = w.emit
	w.text.Flush()
}

func (w *plainWriter) emit(p []byte) {
	if len(p) == 0 {
		return
	}
	w.tell()
	_, _ = w.to.Write(p) // a job's output takes all
}

// tell says, once, that there is text.
func (w *plainWriter) tell() {
	if w.spoke != nil {
		close(w.spoke)
		w.spoke = nil
	}
}
