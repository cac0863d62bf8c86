package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acp-agent/acp-agent/kinds"
)

// TaskStop is the tool that ends a background job with all that it started
// (spec/tools.md, "The locked set", extensions).
func TaskStop() Tool {
	return Func(Spec{
		ID:          "task_stop",
		Title:       "Stop {id}",
		Aliases:     []string{"TaskStop", "KillShell"},
		Description: `Ends a background job (bash or task with background) with everything it started, also after its own end, and returns the output that was not read yet.`,
		SearchHint:  "background job kill end stop server sub-agent",
		Parameters: json.RawMessage(`{
	"type": "object",
	"properties": {"id": {"type": "string", "description": "the job's id, such as bash_1"}},
	"required": ["id"],
	"additionalProperties": false
}`),
		Kind:      kinds.KindOther,
		MaxOutput: jobOutput + 1<<10,
	}, prepareTaskStop)
}

type taskStopInput struct {
	ID string `json:"id"`
}

func prepareTaskStop(_ context.Context, ws *Workspace, in taskStopInput) (*Action, error) {
	job, err := ws.Jobs.Find(in.ID)
	if err != nil {
		return nil, fmt.Errorf("task_stop: %w", err)
	}
	return &Action{
		Card:  kinds.Other("Stop " + job.ID + ": " + job.Title),
		Facts: kinds.Facts{Harmless: true}, // it undoes what was allowed before
		Run: func(ctx context.Context, _ func(Output)) (Result, error) {
			job.Fetch(ctx)
			if err := job.Stop(ctx); err != nil {
				return Result{}, err
			}
			text := job.Report().Text()
			return Result{Text: text, Shown: fenced(excerpt(text))}, nil
		},
	}, nil
}
