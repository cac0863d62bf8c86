package tools

import (
	"context"
	"encoding/json"
	"fmt"
)

// Func makes a tool of its spec and a typed function. The tool checks a call's
// arguments against the schema and decodes them into In before prepare sees
// them, and fills in the tool's id in the facts of the action.
func Func[In any](spec Spec, prepare func(ctx context.Context, ws *Workspace, in In) (*Action, error)) Tool {
	return &function[In]{spec, NewSchema(spec.ID, spec.Parameters), prepare}
}

type function[In any] struct {
	spec    Spec
	checks  *Schema
	prepare func(ctx context.Context, ws *Workspace, in In) (*Action, error)
}

func (f *function[In]) Spec() *Spec     { return &f.spec }
func (f *function[In]) schema() *Schema { return f.checks }

func (f *function[In]) Prepare(ctx context.Context, ws *Workspace, input json.RawMessage) (*Action, error) {
	args, err := f.checks.Check(input)
	if err != nil {
		return nil, err
	}
	var in In
	if err := decodeArguments(args, &in); err != nil {
		return nil, fmt.Errorf("%s: the arguments do not fit: %w%s", f.spec.ID, err, f.checks.expected())
	}
	action, err := f.prepare(ctx, ws, in)
	if err != nil {
		return nil, err
	}
	action.Facts.Tool = f.spec.ID
	return action, nil
}
