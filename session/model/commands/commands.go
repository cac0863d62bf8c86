// Package commands is what serves where no model is set up: a plain prompt is
// answered with what works without one and how to get one.
//
// It leaves out the direct commands themselves, which the session runs without
// asking any model.
package commands

import (
	"context"
	"iter"

	"github.com/acp-agent/acp-agent/session/model"
)

// answer is all that it says. Editors show Markdown.
const answer = `No language model is set up, so I cannot work on that yet.

**Without a model** these commands run here, with the same permissions:

- ` + "`/read PATH`" + ` shows a file
- ` + "`/grep PATTERN`" + ` searches in files
- ` + "`/glob PATTERN`" + ` finds files by name
- ` + "`/run COMMAND`" + ` runs a shell command
- ` + "`/edit PATH`" + ` changes a file
- ` + "`/def NAME`" + `, ` + "`/refs NAME`" + `, ` + "`/symbols NAME`" + ` and ` + "`/diag`" + ` ask the project's language servers

**To set a model up**, do one of these and begin a new session:

- ` + "`acp-agent login anthropic`" + ` stores a key (or set ` + "`ANTHROPIC_API_KEY`" + `)
- set ` + "`ACP_AGENT_MODEL`" + ` to ` + "`PROVIDER/MODEL`" + `, for example ` + "`ollama/qwen3`" + `
- put ` + "`{\"model\": \"PROVIDER/MODEL\"}`" + ` into ` + "`~/.config/acp-agent/config.json`" + `

` + "`acp-agent doctor`" + ` tells what is found.
`

// Model is the built-in model that is none. It needs no network.
type Model struct{}

var _ model.Model = Model{}

// New makes it.
func New() Model { return Model{} }

// Stream implements model.Model: the same answer to everything, no calls.
func (Model) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	return model.Events(func(emit func(model.Event) error) (model.Done, error) {
		if err := ctx.Err(); err != nil {
			return model.Done{}, err
		}
		if err := emit(model.Text{Text: answer}); err != nil {
			return model.Done{}, err
		}
		return model.Done{Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.PartText, Text: answer}}}}, nil
	})
}
