package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/acp-agent/acp-agent/tools/process"
)

// Limits of what runs in the background.
const (
	maxJobs   = 16        // that run at once, a session
	keptJobs  = 64        // that ended and whose output can still be read
	jobOutput = 200 << 10 // bytes of a job's latest output
)

// ErrNoJob is wrapped where a session has no job of the id.
var ErrNoJob = errors.New("no such background job")

// errStopped is the cause of the end of a job that was told to end.
var errStopped = errors.New("stopped")

// Jobs is what a session runs in the background: commands and sub-agents that
// go on beside and between its turns. It is safe for concurrent use.
type Jobs struct {
	*jobList
	above *Jobs // nil: nobody
	left  bool  // nobody looks at it any more; under the list's lock
}

// jobList is the jobs themselves.
type jobList struct {
	ctx  context.Context
	stop context.CancelCauseFunc

	mu     sync.Mutex
	list   []*Job // in the order of their start
	counts map[string]int
	closed bool
	work   sync.WaitGroup
}

// NewJobs makes an empty list. It must be closed.
func NewJobs() *Jobs {
	j := &Jobs{jobList: &jobList{counts: map[string]int{}}}
	j.ctx, j.stop = context.WithCancelCause(context.Background())
	return j
}

// Part is the same jobs as a sub-agent sees them: all can be read and stopped, and
// the ends of those that it starts are told to it, or, once it has left, above.
func (j *Jobs) Part() *Jobs { return &Jobs{jobList: j.jobList, above: j} }

// Leave says that nobody is told anything by this part any more.
func (j *Jobs) Leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.left = true
}

// Work is what a job does. It ends soon after ctx does. What it writes to out is
// the job's output; the text it returns is what it came to.
type Work func(ctx context.Context, out io.Writer) (string, error)

// Start runs work as a job, whose id is the prefix and a number.
func (j *Jobs) Start(prefix, title string, work Work) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := 0
	for _, job := range j.list {
		if job.running() {
			running++
		}
	}
	switch {
	case j.closed:
		return nil, errors.New("the session is closed: nothing can be started in it")
	case running >= maxJobs:
		return nil, fmt.Errorf("%d jobs run in the background already, the most allowed (%s): end one with task_stop", running, j.namesLocked())
	}
	j.counts[prefix]++
	job := &Job{ID: fmt.Sprintf("%s_%d", prefix, j.counts[prefix]), Title: title,
		starter: j, done: make(chan struct{}), out: process.NewTail(jobOutput)}
	ctx, stop := context.WithCancelCause(j.ctx)
	job.stop = stop
	j.list = append(j.list, job)
	j.dropLocked()
	j.work.Go(func() {
		defer stop(nil)
		job.run(ctx, work)
	})
	return job, nil
}

// dropLocked forgets the oldest of too many jobs that ended.
func (j *Jobs) dropLocked() {
	ended := 0
	for _, job := range j.list {
		if !job.running() {
			ended++
		}
	}
	j.list = slices.DeleteFunc(j.list, func(job *Job) bool {
		if ended <= keptJobs || job.running() {
			return false
		}
		ended--
		return true
	})
}

// Find is the job of that id. Its error wraps ErrNoJob and lists those there are.
func (j *Jobs) Find(id string) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, job := range j.list {
		if job.ID == id {
			return job, nil
		}
	}
	if len(j.list) == 0 {
		return nil, fmt.Errorf("%w %q: nothing was started in the background", ErrNoJob, id)
	}
	return nil, fmt.Errorf("%w %q: there are %s", ErrNoJob, id, j.namesLocked())
}

func (j *Jobs) namesLocked() string {
	names := make([]string, 0, len(j.list))
	for _, job := range j.list {
		names = append(names, job.ID+" ("+job.State().String()+")")
	}
	return strings.Join(names, ", ")
}

// Ended is the jobs that were started here, or by one who has left, and ended since
// it was last asked, but for those whose end a reader or a stop has seen.
func (j *Jobs) Ended() []*Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	var ended []*Job
	for _, job := range j.list {
		if job.toldLocked() == j && !job.running() && job.tell() {
			ended = append(ended, job)
		}
	}
	return ended
}

// toldLocked is who is told of the job's end.
func (j *Job) toldLocked() *Jobs {
	at := j.starter
	for at.left && at.above != nil {
		at = at.above
	}
	return at
}

// Cancel tells all jobs to end and does not wait. None can be started then.
func (j *Jobs) Cancel() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.stop(errStopped)
}

// Close ends all jobs and waits for them.
func (j *Jobs) Close() {
	j.Cancel()
	j.work.Wait()
}

// JobState is how far a job is.
type JobState int

// The states of a job.
const (
	JobRunning JobState = iota
	JobDone
	JobFailed
	JobStopped
)

func (s JobState) String() string {
	return [...]string{"running", "done", "failed", "stopped"}[s]
}

// Job is one thing that runs, or ran, in the background.
type Job struct {
	ID    string // what the model calls it by
	Title string // one line

	starter *Jobs
	stop    context.CancelCauseFunc
	done    chan struct{}
	out     *process.Tail

	mu      sync.Mutex
	fetch   func(context.Context) // nil: the output comes by itself
	pending func() string         // the line under way, which is no output yet; nil: there is none
	sweep   func()                // ends what is left of it; nil: nothing is
	read    int64                 // bytes of output that were read
	seen    string                // the line under way when it was read
	state   JobState
	result  string
	err     error
	told    bool // that it ended
}

// Attach says how to get at output that does not come by itself, what the line
// under way is, and how to end what the job may leave running when it is done.
// Each may be nil.
func (j *Job) Attach(fetch func(context.Context), pending func() string, sweep func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fetch, j.pending, j.sweep = fetch, pending, sweep
}

// Fetch has what there is of the job's output brought, so that a Report has it.
func (j *Job) Fetch(ctx context.Context) {
	j.mu.Lock()
	fetch := j.fetch
	j.mu.Unlock()
	if fetch != nil && j.running() {
		fetch(ctx)
	}
}

func (j *Job) run(ctx context.Context, work Work) {
	result, err := func() (result string, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("it broke: %v", p)
			}
		}()
		return work(ctx, j.out)
	}()
	j.mu.Lock()
	j.result, j.err, j.state = result, err, JobDone
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
		j.state, j.err = JobStopped, nil
	case err != nil:
		j.state = JobFailed
	}
	j.mu.Unlock()
	close(j.done)
}

func (j *Job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// State is how far the job is.
func (j *Job) State() JobState {
	if j.running() {
		return JobRunning
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Stop tells the job to end with what it left running, and waits until it has,
// or ctx is done.
func (j *Job) Stop(ctx context.Context) error {
	j.stop(errStopped)
	select {
	case <-j.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	j.mu.Lock()
	sweep := j.sweep
	j.sweep = nil
	j.mu.Unlock()
	if sweep != nil {
		sweep()
	}
	return nil
}

// abandon tells the job to end, and nobody that it did.
func (j *Job) abandon() {
	j.tell()
	j.stop(errStopped)
}

// tell reports, once, that the end is to be told.
func (j *Job) tell() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := !j.told
	j.told = true
	return first
}

// Report is what there is to say of a job at one moment.
type Report struct {
	Output string // what came since the last report, with the line under way
	Lost   int64  // bytes of it that were not kept
	State  JobState
	Result string // what it came to
	Err    error  // why it failed
}

// Report reads on from where the last one ended. An end that it shows need not
// be told any more.
func (j *Job) Report() Report { return j.report(-1) }

// ReportFrom reads from that byte of all output, or, where that is not kept any
// more, from the first that is.
func (j *Job) ReportFrom(offset int64) Report { return j.report(max(offset, 0)) }

// report reads from that byte; below 0: from where the last report ended.
func (j *Job) report(from int64) Report {
	running := j.running() // before the output is read: what it says is then whole
	j.mu.Lock()
	defer j.mu.Unlock()
	kept, total := j.out.Snapshot()
	r := Report{State: JobRunning}
	on := from < 0
	if on {
		from = j.read
	}
	fresh := max(0, total-from)
	if r.Lost = max(0, fresh-int64(len(kept))); r.Lost > 0 {
		fresh = int64(len(kept))
	}
	r.Output = string(kept[int64(len(kept))-fresh:])
	if running && j.pending != nil {
		line := j.pending()
		if r.Output != "" || line != j.seen || !on {
			r.Output += line
		}
		j.seen = line
	}
	j.read = total
	if !running {
		r.State, r.Result, r.Err, j.told = j.state, j.result, j.err, true
	}
	return r
}

// Text is the report as the model reads it.
func (r Report) Text() string {
	var b strings.Builder
	if r.Lost > 0 {
		fmt.Fprintf(&b, "[%d bytes of older output were not kept]\n", r.Lost)
	}
	b.WriteString(r.Output)
	end := ""
	switch {
	case r.State == JobRunning && r.Output == "":
		end = "(running; no new output)"
	case r.State == JobRunning:
		end = "(running)"
	case r.Err != nil:
		end = "(failed: " + r.Err.Error() + ")"
	case r.Result != "":
		end = "(" + r.State.String() + ")\n" + r.Result
	default:
		end = "(" + r.State.String() + ")"
	}
	return lastLine(b.String(), end)
}
