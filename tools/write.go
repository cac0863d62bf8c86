package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Write is the tool that creates a file or replaces all of it. The new file is
// written like the old one: encoding, byte order mark, line ends, mode, and
// whether its last line is ended. A file that this session never read may be
// replaced, since the user sees the difference; one that changed since it was
// read may not, and neither may one that is no text.
func Write() Tool {
	return Func(Spec{
		ID:      "write",
		Title:   "Write {path}",
		Aliases: []string{"Write"},
		Description: "Creates a file, or replaces all of an existing one, with the given content. Missing folders are made. " +
			"To change a part of a file use edit. Send LF line ends: a file that has CRLF, a byte order mark or UTF-16 keeps them. " +
			"If the file changed since you read it, the call fails and asks you to read it again.",
		SearchHint: "create file save overwrite",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "minLength": 1, "description": "The file, relative to the workspace or absolute"},
				"content": {"type": "string", "description": "The whole content of the file"}
			},
			"required": ["path", "content"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindEdit,
		Requires: Requires{Read: fileSurface, Write: fileSurface},
		Block:    true,
	}, prepareWrite)
}

// fileSurface is where the file tools work: the workspace, and what the user
// lets them touch beside it.
var fileSurface = []string{"{workspace}/**", "{ad-hoc}/**"}

func prepareWrite(ctx context.Context, ws *Workspace, in writeInput) (*Action, error) {
	t, err := resolve(ws, in.Path)
	if err != nil {
		return nil, err
	}
	a := &Action{Facts: kinds.Facts{Paths: t.access(kinds.Write)}}
	if !t.Inside { // the content waits for permission
		a.Card = t.root().Write(t.Asked)
		a.Run = func(ctx context.Context, _ func(Output)) (Result, error) {
			c, err := planWrite(ctx, t, in.Content)
			if err != nil {
				return Result{}, err
			}
			return runWrite(ctx, c)
		}
		return a, nil
	}
	c, err := planWrite(ctx, t, in.Content)
	if err != nil {
		return nil, err
	}
	a.Card = t.root().Write(t.Asked, c.card())
	a.Run = func(ctx context.Context, _ func(Output)) (Result, error) { return runWrite(ctx, c) }
	return a, nil
}

// planWrite works out what the file will hold.
func planWrite(ctx context.Context, t target, content string) (*change, error) {
	before, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	c := &change{target: t, before: before}
	if before == nil {
		c.after, err = workspace.Decode([]byte(content))
	} else {
		c.after, err = before.Replace(content)
	}
	if err != nil {
		return nil, noContent("the content", err)
	}
	return c, nil
}

func runWrite(ctx context.Context, c *change) (Result, error) {
	if c.same() {
		return Result{Text: c.name + " holds this content already; nothing was written.", Changes: []kinds.Change{c.card()}}, nil
	}
	note, err := c.commit(ctx)
	if err != nil {
		return Result{}, err
	}
	verb := "Created"
	if c.before != nil {
		verb = "Overwrote"
	}
	return Result{
		Text:    fmt.Sprintf("%s %s (%d bytes).%s", verb, c.name, len(c.after.Bytes()), note),
		Changes: []kinds.Change{c.card()},
	}, nil
}
