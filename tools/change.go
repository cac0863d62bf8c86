package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
	"github.com/aymanbagabas/go-udiff"
)

// maxChanged is the longest file in bytes that is changed: its card holds the
// text twice.
const maxChanged = 32 << 20

// change is what a call does to one file, worked out before it is done.
type change struct {
	target
	before *workspace.Text // nil: there is no file
	after  *workspace.Text
	now    []byte // what the file holds once the change is made
}

// current reads the file that is to be changed; nil where there is none. It is
// an error if it is no text, or not what the session knows.
func (t target) current(ctx context.Context) (*workspace.Text, error) {
	data, err := t.bytes(ctx)
	if err != nil || data == nil {
		return nil, err
	}
	return t.decode(data)
}

// bytes is what the file holds, as current has it, text or not.
func (t target) bytes(ctx context.Context) ([]byte, error) {
	data, err := t.read(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(data) > maxChanged:
		return nil, fmt.Errorf("%s has %d bytes, too many to change as a whole (at most %d): change it with a command", t.name, len(data), maxChanged)
	}
	return data, t.stale(data)
}

// noContent words why a text that a call brings cannot stand in a file.
func noContent(what string, err error) error {
	if errors.Is(err, workspace.ErrBinary) {
		return fmt.Errorf("%s cannot stand in a text file: it has a NUL or other characters that no text has; write such a file with a command%w", what, quiet{err})
	}
	return fmt.Errorf("%s cannot stand in the file: it %w", what, err)
}

// card is the change as the editor shows it.
func (c *change) card() kinds.Change {
	shown := kinds.Change{Path: c.Asked, New: c.after.Body()}
	if c.before != nil {
		old := c.before.Body()
		shown.Old = &old
	}
	return shown
}

// same reports whether nothing is to be written.
func (c *change) same() bool {
	return c.before != nil && string(c.before.Bytes()) == string(c.after.Bytes())
}

// commit writes the change if the file still holds what it was made from. It
// sets after to what the file holds then, and returns what to tell the model
// where that is something else than was sent, as with an editor that formats.
func (c *change) commit(ctx context.Context) (note string, err error) {
	var old []byte
	if c.before != nil {
		old = c.before.Bytes()
	}
	sent := c.after
	now, err := c.ws.Files.WriteFile(ctx, c.Path, old, sent.Bytes())
	if err != nil {
		return "", c.changed(err)
	}
	c.now = now
	c.ws.Seen.Saw(c.Target, now)
	if string(now) == string(sent.Bytes()) {
		return "", nil
	}
	text, err := c.decode(now)
	if err != nil {
		return "\nThe file holds something else than was sent: " + err.Error(), nil
	}
	c.after = text
	return "\nThe file was changed when it was saved. What it holds now, against what was sent:\n" + brief(sent.LF(), text.LF()), nil
}

// brief is a unified diff for the model, cut where it is long.
func brief(old, new string) string {
	const most = 4 << 10
	diff := udiff.Unified("sent", "saved", old, new)
	if short := head(diff, most); len(short) < len(diff) {
		return short + "\n[the rest of the diff is cut: read the file]"
	}
	return strings.TrimSuffix(diff, "\n")
}

// maxLocations is how many places of one change are told to the editor.
const maxLocations = 100

// places are lines of the file, the first of each changed hunk, as locations.
func (t target) places(lines []int) []kinds.Location {
	places := []kinds.Location{}
	for _, line := range lines[:min(len(lines), maxLocations)] {
		places = append(places, kinds.Location{Path: t.Asked, Line: line})
	}
	return places
}

// splicedLines are the first lines of what changes, in the new text, when the
// changes are made. Changes in neighbouring lines are one.
func splicedLines(before *workspace.Text, splices []workspace.Splice) []int {
	text := before.LF()
	var lines []int
	line, at := 1, 0 // line: in the new text, of the offset at in the old one
	last := -1       // the last line that changed
	for _, s := range splices {
		s = before.Narrow(s)
		line += strings.Count(text[at:s.Start], "\n")
		at = s.End
		added := strings.Count(s.New, "\n")
		first, end := line, line+added
		lineEnds := s.Start == len(text) || text[s.Start] == '\n'
		switch {
		case s.Start == at && s.Start > 0 && lineEnds && strings.HasPrefix(s.New, "\n"):
			first++ // what is added begins after this line
		case strings.HasSuffix(s.New, "\n"):
			end--
		}
		if last < 0 || first > last+1 {
			lines = append(lines, first)
		}
		last = max(last, end)
		line += added
	}
	return lines
}

// diffedLines are the first lines of what differs in new, for texts of which
// nothing else is known; nil where they are too long to compare.
func diffedLines(old, new string) []int {
	const most = 1 << 20
	if len(old)+len(new) > most {
		return nil
	}
	diff, err := udiff.ToUnifiedDiff("", "", old, udiff.Lines(old, new), 0)
	if err != nil {
		return nil
	}
	var lines []int
	for _, hunk := range diff.Hunks {
		lines = append(lines, max(hunk.ToLine, 1))
	}
	return lines
}
