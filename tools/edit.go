package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

type editInput struct {
	Path       string `json:"path"`
	Old        string `json:"old_string"`
	New        string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// Edit is the tool that replaces a piece of a file's text by another, exactly
// and literally. Line ends are compared as LF; nothing else is forgiven. Where
// the text does not occur, the error shows the lines that come closest; where it
// occurs more than once, their numbers. An empty old_string makes a new file, as
// in other agents' tools, or fills an empty one.
func Edit() Tool {
	return Func(Spec{
		ID:      "edit",
		Title:   "Edit {path}",
		Aliases: []string{"Edit"},
		Description: "Replaces old_string by new_string in a file. old_string must be the file's text exactly, with its indentation and " +
			"without line numbers, and occur once; give more lines around it to make it unique, or set replace_all. " +
			"Line ends are LF here whatever the file has; the file keeps its own. An empty old_string creates a new file. " +
			"If the file changed since you read it, the call fails and asks you to read it again.",
		SearchHint: "replace change modify file text",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "minLength": 1, "description": "The file, relative to the workspace or absolute"},
				"old_string": {"type": "string", "description": "The text to replace, exactly as it stands in the file"},
				"new_string": {"type": "string", "description": "The text to put in its place, taken literally"},
				"replace_all": {"type": "boolean", "description": "Replace every occurrence (default false)"}
			},
			"required": ["path", "old_string", "new_string"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindEdit,
		Requires: Requires{Read: fileSurface, Write: fileSurface},
		Block:    true,
	}, prepareEdit)
}

// edit is a change of some places of a file.
type edit struct {
	change
	count int   // of replacements
	lines []int // the first of each changed hunk, in the new text
}

func prepareEdit(ctx context.Context, ws *Workspace, in editInput) (*Action, error) {
	in.Old, in.New = workspace.FoldLineEnds(in.Old), workspace.FoldLineEnds(in.New)
	if in.Old == in.New {
		return nil, errors.New("old_string and new_string are identical: there is no change to make")
	}
	t, err := resolve(ws, in.Path)
	if err != nil {
		return nil, err
	}
	a := &Action{Facts: kinds.Facts{Paths: t.access(kinds.Write)}}
	if !t.Inside { // the content waits for permission
		a.Card = t.root().Edit(t.Asked, 0)
		a.Run = func(ctx context.Context, _ func(Output)) (Result, error) {
			e, err := planEdit(ctx, t, in)
			if err != nil {
				return Result{}, err
			}
			return runEdit(ctx, e)
		}
		return a, nil
	}
	e, err := planEdit(ctx, t, in)
	if err != nil {
		return nil, err
	}
	a.Card = t.root().Edit(t.Asked, e.lines[0], e.card())
	a.Run = func(ctx context.Context, _ func(Output)) (Result, error) { return runEdit(ctx, e) }
	return a, nil
}

// planEdit works out what the file will hold.
func planEdit(ctx context.Context, t target, in editInput) (*edit, error) {
	before, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	if in.Old == "" {
		return planFill(t, before, in.New)
	}
	if before == nil {
		return nil, t.missing(ctx)
	}
	found := occurrences(before.LF(), in.Old)
	if len(found) == 1 && !in.ReplaceAll { // two places that overlap are two as well
		if i := strings.Index(before.LF()[found[0]+1:], in.Old); i >= 0 {
			found = append(found, found[0]+1+i)
		}
	}
	size := len(before.LF()) + len(found)*(len(in.New)-len(in.Old))
	switch {
	case len(found) == 0:
		return nil, t.mismatch(fmt.Sprintf("old_string was not found in %s. %s", t.name, closest(ctx, before.LF(), in.Old)))
	case len(found) > 1 && !in.ReplaceAll:
		return nil, t.mismatch(fmt.Sprintf("old_string occurs %d times in %s, at lines %s: give more of the text around the one you mean, or set replace_all",
			len(found), t.name, lineNumbers(before.LF(), found)))
	case size > maxChanged:
		return nil, fmt.Errorf("%s would have %d bytes, too many to change as a whole (at most %d): change it with a command", t.name, size, maxChanged)
	}
	splices := make([]workspace.Splice, len(found))
	for i, at := range found {
		splices[i] = workspace.Splice{Start: at, End: at + len(in.Old), New: in.New}
	}
	after, err := before.Apply(splices...)
	if err != nil {
		return nil, noContent("new_string", err)
	}
	return &edit{change{target: t, before: before, after: after}, len(found), splicedLines(before, splices)}, nil
}

// planFill puts the text into a file that does not exist or is empty.
func planFill(t target, before *workspace.Text, text string) (*edit, error) {
	var after *workspace.Text
	var err error
	switch {
	case before == nil:
		after, err = workspace.Decode([]byte(text))
	case before.LF() != "":
		return nil, fmt.Errorf("old_string is empty, but %s is not: give the text to replace, or replace all of it with write", t.name)
	default:
		after, err = before.Replace(text)
	}
	if err != nil {
		return nil, noContent("new_string", err)
	}
	return &edit{change{target: t, before: before, after: after}, 1, []int{1}}, nil
}

// mismatch is an error that says something of what is in the file. Where the
// model may not read that, it learns neither whether the text occurs nor where.
func (t target) mismatch(text string) error {
	return &ContentError{
		Path: t.access(kinds.Read)[0],
		Err:  errors.New(text),
		Safe: fmt.Sprintf("old_string does not occur exactly once in %s, which may not be read: ask the user for the text", t.name),
	}
}

func runEdit(ctx context.Context, e *edit) (Result, error) {
	note, err := e.commit(ctx)
	if err != nil {
		return Result{}, err
	}
	if note != "" && e.before != nil { // an editor may have changed more
		if lines := diffedLines(e.before.LF(), e.after.LF()); len(lines) > 0 {
			e.lines = lines
		}
	}
	times := "1 occurrence"
	if e.count > 1 {
		times = fmt.Sprintf("%d occurrences", e.count)
	}
	text := fmt.Sprintf("Replaced %s in %s; first changed line: %d.", times, e.name, e.lines[0])
	if e.before == nil {
		text = fmt.Sprintf("Created %s (%d bytes).", e.name, len(e.after.Bytes()))
	}
	return Result{Text: text + note, Locations: e.places(e.lines), Changes: []kinds.Change{e.card()}}, nil
}

// occurrences lists where old stands in text, without overlaps.
func occurrences(text, old string) []int {
	var found []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return found
		}
		found = append(found, from+i)
		from += i + len(old)
	}
}

// lineNumbers names the lines of offsets that rise, as many as help.
func lineNumbers(text string, offsets []int) string {
	const most = 20
	var names []string
	line, counted := 1, 0
	for _, at := range offsets[:min(len(offsets), most)] {
		line += strings.Count(text[counted:at], "\n")
		counted = at
		names = append(names, strconv.Itoa(line))
	}
	if more := len(offsets) - most; more > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
