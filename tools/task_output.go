package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
)

// TaskOutput is the tool that reads on in what a background job says
// (spec/tools.md, "The locked set", extensions).
func TaskOutput() Tool {
	return Func(Spec{
		ID:      "task_output",
		Title:   "Output of {id}",
		Aliases: []string{"TaskOutput", "BashOutput"},
		Description: `Shows what a background job (bash or task with background) has put out since it was last looked at, and whether it still runs.

- With wait_ms it waits for the job's end, at most that long: use it in place of asking again and again.
- With offset it shows the output again from there; the last 200 KB of a job's output are kept.`,
		SearchHint: "background job output log server running sub-agent result wait",
		Parameters: json.RawMessage(`{
	"type": "object",
	"properties": {
		"id": {"type": "string", "description": "the job's id, such as bash_1"},
		"wait_ms": {"type": "integer", "minimum": 0, "maximum": 600000, "description": "how long to wait for the job's end, in milliseconds; 0 if not given"},
		"offset": {"type": "integer", "minimum": 0, "description": "the byte of the whole output to show it from; where the last call ended if not given"}
	},
	"required": ["id"],
	"additionalProperties": false
}`),
		Kind:      kinds.KindRead,
		ReadOnly:  true,
		MaxOutput: jobOutput + 1<<10,
	}, prepareTaskOutput)
}

type taskOutputInput struct {
	ID     string `json:"id"`
	WaitMS int    `json:"wait_ms"`
	Offset *int64 `json:"offset"`
}

func prepareTaskOutput(_ context.Context, ws *Workspace, in taskOutputInput) (*Action, error) {
	job, err := ws.Jobs.Find(in.ID)
	if err != nil {
		return nil, fmt.Errorf("task_output: %w", err)
	}
	return &Action{
		Card:  kinds.Output("Output of " + job.ID + ": " + job.Title),
		Facts: kinds.Facts{ReadOnly: true, Harmless: true, Concurrent: true},
		Run: func(ctx context.Context, _ func(Output)) (Result, error) {
			if err := awaitJob(ctx, job, time.Duration(in.WaitMS)*time.Millisecond); err != nil {
				return Result{}, err
			}
			job.Fetch(ctx)
			report := in.read(job)
			text := report.Text()
			return Result{Text: text, Shown: fenced(excerpt(text)), Metadata: map[string]any{"status": report.State.String()}}, nil
		},
	}, nil
}

func (in taskOutputInput) read(job *Job) Report {
	if in.Offset != nil {
		return job.ReportFrom(*in.Offset)
	}
	return job.Report()
}

// awaitJob waits for the job's end, for a time.
func awaitJob(ctx context.Context, job *Job, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-job.Done():
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
