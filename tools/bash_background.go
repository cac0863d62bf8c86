package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
)

// firstLook is how long a call that starts something in the background waits for
// it to say or to fail at something, since a server that cannot start says so at
// once.
const firstLook = 500 * time.Millisecond

// begin starts the command as a background job and looks at it once.
func (b bashCall) begin(ctx context.Context, ws *Workspace) (Result, error) {
	if ws.Background == nil || ws.Jobs == nil {
		return Result{}, fmt.Errorf("bash: %w", ErrNoBash)
	}
	started := make(chan error, 1)
	job, err := ws.Jobs.Start("bash", kinds.Title(b.text), func(ctx context.Context, out io.Writer) (string, error) {
		return b.work(ctx, ws.Background, out, started)
	})
	if err != nil {
		return Result{}, fmt.Errorf("bash: %w", err)
	}
	if err := <-started; err != nil {
		<-job.Done()
		job.Report() // this answer tells of its end
		return Result{}, fmt.Errorf("bash: %w", err)
	}
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	select {
	case <-job.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
	text := fmt.Sprintf("%s was started in the background; task_output reads on, task_stop ends it.\n\n%s", job.ID, job.Report().Text())
	return Result{Text: text, Shown: fenced(excerpt(text)), Metadata: map[string]any{"job": job.ID}}, nil
}

// work runs the command until it ends or ctx does, and then ends all that it
// started. Whether it could be started is told first.
func (b bashCall) work(ctx context.Context, shell Shell, out io.Writer, started chan<- error) (string, error) {
	text := &plainText{emit: func(p []byte) { _, _ = out.Write(p) }} // a job's output takes all
	p, err := shell.Start(ctx, Command{Text: b.text, Dir: b.dir, Output: text})
	started <- err
	if err != nil {
		return "", err
	}
	defer p.Close()
	if b.limit > 0 {
		limited, stop := context.WithTimeoutCause(ctx, b.limit, errTimeout)
		defer stop()
		ctx = limited
	}
	exit, err := p.Wait(ctx)
	text.Flush()
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
