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

// firstLook is how long a call that starts something in the background waits for
// it to say or to fail at something, since a server that cannot start says so at
// once.
const firstLook = 500 * time.Millisecond

// begin starts the command as a background job and looks at it once.
func (b bashCall) begin(ctx context.Context, ws *Workspace) (Result, error) {
	if ws.Shell == nil || ws.Jobs == nil {
		return Result{}, fmt.Errorf("bash: %w", ErrNoBash)
	}
	started := make(chan Process, 1) // closed where the command could not be started
	job, err := ws.Jobs.Start("bash", kinds.Title(b.text), func(ctx context.Context, out io.Writer) (string, error) {
		return b.work(ctx, ws.Shell, out, started)
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
	job.Attach(fetch, p.Close)
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	select {
	case <-job.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
	job.Fetch(ctx)
	text := fmt.Sprintf("%s was started in the background; task_output reads on, task_stop ends it.\n\n%s", job.ID, job.Report().Text())
	return Result{Text: text, Shown: fenced(excerpt(text)), TerminalID: p.TerminalID(), Metadata: map[string]any{"job": job.ID}}, nil
}

// work runs the command until it has ended and nothing that it started holds its
// output, or until ctx ends, and then ends all that. It says first what it
// started.
func (b bashCall) work(ctx context.Context, shell Shell, out io.Writer, started chan<- Process) (string, error) {
	text := newPlainWriter(out)
	p, err := shell.Start(ctx, Command{Text: b.text, Dir: b.dir, Output: text, Linger: true})
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

// plainWriter hands plain text on to another writer. It is safe for concurrent
// use.
type plainWriter struct {
	mu   sync.Mutex
	text plainText
}

func newPlainWriter(to io.Writer) *plainWriter {
	return &plainWriter{text: plainText{emit: func(p []byte) { _, _ = to.Write(p) }}} // a job's output takes all
}

// Write never fails.
func (w *plainWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// Flush ends the text.
func (w *plainWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Flush()
}
