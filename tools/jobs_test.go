package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestJobIsReadOnAndItsEndIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := NewJobs()
		defer jobs.Close()
		more := make(chan string)
		job, err := jobs.Start("bash", "serve", func(_ context.Context, out io.Writer) (string, error) {
			for text := range more {
				fmt.Fprintln(out, text)
			}
			return "bye", nil
		})
		if err != nil || job.ID != "bash_1" {
			t.Fatal(job, err)
		}
		more <- "one"
		synctest.Wait()
		if got := job.Report().Text(); got != "one\n(running)" {
			t.Errorf("first %q", got)
		}
		if got := job.Report().Text(); got != "(running; no new output)" {
			t.Errorf("second %q", got)
		}
		more <- "two"
		close(more)
		synctest.Wait()
		if ended := jobs.Ended(); len(ended) != 1 || ended[0] != job {
			t.Errorf("ended %v", ended)
		}
		if ended := jobs.Ended(); ended != nil {
			t.Errorf("told again: %v", ended)
		}
		if got := job.Report().Text(); got != "two\n(done)\nbye" {
			t.Errorf("last %q", got)
		}
	})
}

func TestJobEndThatWasReadIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := NewJobs()
		defer jobs.Close()
		job, err := jobs.Start("task", "fail", func(context.Context, io.Writer) (string, error) { return "", errors.New("no luck") })
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := job.Report().Text(); got != "(failed: no luck)" || job.State() != JobFailed {
			t.Errorf("got %q, %v", got, job.State())
		}
		if ended := jobs.Ended(); ended != nil {
			t.Errorf("told %v", ended)
		}
	})
}

func TestJobPanicIsItsFailure(t *testing.T) {
	jobs := NewJobs()
	job, err := jobs.Start("task", "panic", func(context.Context, io.Writer) (string, error) { panic("oh") })
	if err != nil {
		t.Fatal(err)
	}
	jobs.work.Wait()
	if got := job.Report(); got.Err == nil || !strings.Contains(got.Err.Error(), "oh") {
		t.Errorf("got %v", got)
	}
	jobs.Close()
}

func TestJobOutputIsBounded(t *testing.T) {
	jobs := NewJobs()
	job, err := jobs.Start("bash", "yes", func(_ context.Context, out io.Writer) (string, error) {
		for range 3 {
			_, _ = out.Write(make([]byte, jobOutput))
		}
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	jobs.work.Wait()
	if r := job.Report(); len(r.Output) != jobOutput || r.Lost != 2*jobOutput {
		t.Errorf("%d bytes, %d lost", len(r.Output), r.Lost)
	}
	jobs.Close()
}

func TestJobsAreLimitedAndEndWithTheSession(t *testing.T) {
	jobs := NewJobs()
	wait := func(ctx context.Context, _ io.Writer) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	for range maxJobs {
		if _, err := jobs.Start("bash", "wait", wait); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := jobs.Start("bash", "wait", wait); err == nil || !strings.Contains(err.Error(), "task_stop") {
		t.Errorf("one too many: %v", err)
	}
	first, err := jobs.Find("bash_1")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context()); err != nil || first.State() != JobStopped {
		t.Errorf("stopped: %v, %v", err, first.State())
	}
	if _, err := jobs.Find("bash_99"); !errors.Is(err, ErrNoJob) || !strings.Contains(err.Error(), "bash_1 (stopped)") {
		t.Errorf("unknown: %v", err)
	}
	jobs.Close()
	if _, err := jobs.Start("bash", "wait", wait); err == nil {
		t.Error("started after the end")
	}
}

func TestJobsForgetTheOldestThatEnded(t *testing.T) {
	jobs := NewJobs()
	defer jobs.Close()
	for range keptJobs + 10 {
		job, err := jobs.Start("bash", "true", func(context.Context, io.Writer) (string, error) { return "", nil })
		if err != nil {
			t.Fatal(err)
		}
		<-job.Done()
	}
	if _, err := jobs.Find("bash_1"); err == nil || len(jobs.list) > keptJobs+1 {
		t.Errorf("%d are kept", len(jobs.list))
	}
}

// runTool prepares and runs a call.
func runTool(t *testing.T, ws *Workspace, tool Tool, input string) (Result, error) {
	t.Helper()
	a, err := tool.Prepare(t.Context(), ws, json.RawMessage(input))
	if err != nil {
		return Result{}, err
	}
	return a.Run(t.Context(), func(Output) {})
}

func TestBackgroundCommand(t *testing.T) {
	ws := shellWorkspace(t)
	ws.Jobs = NewJobs()
	defer ws.Jobs.Close()
	r, err := runTool(t, ws, Bash(), `{"command":"echo ready; read -r x < fifo || sleep 600 & wait","background":true}`)
	if err != nil || r.Metadata["job"] != "bash_1" {
		t.Fatal(r, err)
	}
	if _, err := runTool(t, ws, TaskOutput(), `{"id":"nope"}`); !errors.Is(err, ErrNoJob) {
		t.Errorf("unknown: %v", err)
	}
	stopped, err := runTool(t, ws, TaskStop(), `{"id":"bash_1"}`)
	if err != nil || !strings.Contains(stopped.Text, "(stopped)") || !strings.Contains(r.Text+stopped.Text, "ready\n") {
		t.Errorf("started %q, stopped %q, %v", r.Text, stopped.Text, err)
	}
	ended, err := runTool(t, ws, TaskOutput(), `{"id":"bash_1","wait_ms":600000}`)
	if err != nil || ended.Text != "(stopped)" || ended.Metadata["status"] != "stopped" {
		t.Errorf("ended %q %v", ended.Text, err)
	}
}

func TestBackgroundCommandThatEnds(t *testing.T) {
	ws := shellWorkspace(t)
	ws.Jobs = NewJobs()
	defer ws.Jobs.Close()
	if _, err := runTool(t, ws, Bash(), `{"command":"printf '\\e[31mno\\e[0m newline'; exit 3","background":true}`); err != nil {
		t.Fatal(err)
	}
	job, err := ws.Jobs.Find("bash_1")
	if err != nil {
		t.Fatal(err)
	}
	<-job.Done()
	if job.State() != JobFailed || job.err.Error() != "exit code: 3" {
		t.Errorf("%v: %v", job.State(), job.err)
	}
	if kept, _ := job.out.Snapshot(); string(kept) != "no newline" {
		t.Errorf("output %q", kept)
	}
	if _, err := runTool(t, ws, Bash(), `{"command":"sleep 600","background":true,"timeout_ms":20}`); err != nil {
		t.Fatal(err)
	}
	r, err := runTool(t, ws, TaskOutput(), `{"id":"bash_2","wait_ms":600000}`)
	job, _ = ws.Jobs.Find("bash_2")
	if err != nil || job.State() != JobFailed || !strings.Contains(job.err.Error(), "still running after 20ms") {
		t.Errorf("%q %v %v", r.Text, err, job.err)
	}
}

func TestBackgroundCommandThatCannotStart(t *testing.T) {
	ws := shellWorkspace(t)
	ws.Shell, ws.Jobs = failingShell{}, NewJobs()
	defer ws.Jobs.Close()
	if _, err := runTool(t, ws, Bash(), `{"command":"true","background":true}`); err == nil || !strings.Contains(err.Error(), "no fork") {
		t.Errorf("got %v", err)
	}
	if ended := ws.Jobs.Ended(); ended != nil {
		t.Errorf("told again: %v", ended)
	}
}

// failingShell starts nothing.
type failingShell struct{}

func (failingShell) Start(context.Context, Command) (Process, error) {
	return nil, errors.New("no fork")
}

// A line that is not complete is shown too: it may be a question that waits for an
// answer, or a bar that grows.
func TestBackgroundLineUnderWay(t *testing.T) {
	ws := shellWorkspace(t)
	ws.Jobs = NewJobs()
	defer ws.Jobs.Close()
	spoke := make(chan struct{})
	text := &plainWriter{spoke: spoke}
	next, written := make(chan string), make(chan struct{})
	job, err := ws.Jobs.Start("bash", "ask", func(ctx context.Context, out io.Writer) (string, error) {
		text.to = out
		for s := range next {
			_, _ = io.WriteString(text, s)
			written <- struct{}{}
		}
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	job.Attach(nil, text.Pending, nil)
	for _, tt := range []struct{ write, input, want string }{
		{"first\nProceed? ", `{"id":"bash_1"}`, "first\nProceed? \n(running)"},
		{"", `{"id":"bash_1"}`, "(running; no new output)"},
		{"", `{"id":"bash_1","offset":0}`, "first\nProceed? \n(running)"},
		{"\r10%", `{"id":"bash_1"}`, "10%\n(running)"},
		{"\r20%\n", `{"id":"bash_1"}`, "20%\n(running)"},
		{"", `{"id":"bash_1","offset":0}`, "first\n20%\n(running)"},
	} {
		next <- tt.write
		<-written
		if r, err := runTool(t, ws, TaskOutput(), tt.input); err != nil || r.Text != tt.want {
			t.Errorf("after %q, %s: %q, %v; want %q", tt.write, tt.input, r.Text, err, tt.want)
		}
	}
	close(next)
	<-spoke
}

func TestTaskOutputEndsWithTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := NewJobs()
		defer jobs.Close()
		job, err := jobs.Start("task", "wait", func(ctx context.Context, _ io.Writer) (string, error) { <-ctx.Done(); return "", nil })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("cancelled"))
		defer cancel()
		if err := awaitJob(ctx, job, time.Minute); err == nil || err.Error() != "cancelled" {
			t.Errorf("got %v", err)
		}
	})
}

// A job lasts as long as anything that it started holds its output, and what it
// left with its output elsewhere is ended when it is stopped.
func TestBackgroundCommandLingers(t *testing.T) {
	ws := shellWorkspace(t)
	ws.Jobs = NewJobs()
	defer ws.Jobs.Close()
	r, err := runTool(t, ws, Bash(), `{"command":"mkfifo go gone; (read -r x < go; echo later) & echo now","background":true}`)
	if err != nil || !strings.Contains(r.Text, "(running") {
		t.Fatalf("%q, %v", r.Text, err)
	}
	first := r.Text
	if _, err := runTool(t, ws, Bash(), `{"command":"echo > go"}`); err != nil {
		t.Fatal(err)
	}
	if r, err = runTool(t, ws, TaskOutput(), `{"id":"bash_1","wait_ms":600000}`); err != nil || !strings.Contains(first+r.Text, "now\n") || !strings.HasSuffix(r.Text, "later\n(done)") {
		t.Errorf("%q, %v", r.Text, err)
	}
	if r, err = runTool(t, ws, TaskOutput(), `{"id":"bash_1","offset":2}`); err != nil || r.Text != "w\nlater\n(done)" {
		t.Errorf("again from 2: %q, %v", r.Text, err)
	}
	if r, err = runTool(t, ws, TaskOutput(), `{"id":"bash_1","offset":99}`); err != nil || r.Text != "(done)" {
		t.Errorf("from behind the end: %q, %v", r.Text, err)
	}

	// The reader of the pipe hears of the end of who holds it.
	if _, err = runTool(t, ws, Bash(), `{"command":"exec >/dev/null 2>&1; setsid sleep 600 > gone &","background":true}`); err != nil {
		t.Fatal(err)
	}
	gone, err := os.Open(filepath.Join(ws.Dir(), "gone"))
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	if r, err = runTool(t, ws, TaskOutput(), `{"id":"bash_2","wait_ms":600000}`); err != nil || r.Text != "(done)" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if _, err = runTool(t, ws, TaskStop(), `{"id":"bash_2"}`); err != nil {
		t.Error(err)
	}
	if n, err := gone.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v", n, err)
	}
}

// A turn that is cancelled while its command is being started leaves no job.
func TestBackgroundCommandCancelledAtItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := &Workspace{Jobs: NewJobs(), Shell: hangingShell{}}
		stop := errors.New("the user said stop")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
		defer cancel()
		if _, err := (bashCall{dir: t.TempDir(), text: "serve"}).begin(ctx, ws); !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
		ws.Jobs.work.Wait()
		if ended := ws.Jobs.Ended(); ended != nil {
			t.Errorf("told of %v", ended)
		}
		ws.Jobs.Close()
	})
}

// hangingShell is an editor that makes no terminal and does not say so.
type hangingShell struct{}

func (hangingShell) Start(ctx context.Context, _ Command) (Process, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}
