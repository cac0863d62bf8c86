package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// misfit is a hunk that has no place.
type misfit struct {
	*hunk
	number int // from 1
	why    error
	sheet  *sheet // the text that was looked in
}

func (m *misfit) Error() string { return fmt.Sprintf("hunk %d: %v", m.number, m.why) }

// patched is a text after its hunks.
type patched struct {
	text   *workspace.Text
	placed []*placement // rising
	lines  []int        // the first of each change, in the new text
}

// patchText applies hunks to a text. What the patch says of line ends holds
// where it fits the text; a patch with LF fits a text with CRLF too, which keeps
// them. The error is a misfit, or says what the text cannot hold.
func patchText(ctx context.Context, before *workspace.Text, hunks []*hunk) (*patched, error) {
	if marked(before, hunks, '-') {
		return patchMarked(ctx, before, hunks)
	}
	folded := newSheet(before.LF())
	if folded.count() > maxPatchLines {
		return nil, fmt.Errorf("it has %d lines, too many to patch (at most %d)", folded.count(), maxPatchLines)
	}
	if before.Body() != before.LF() || anyCR(hunks) {
		if p, fault := placeAll(ctx, newSheet(before.Body()), hunks); fault == nil && speaksOfEnds(p.done, before) {
			return p.apply(before, before.ApplyExact, false)
		}
		hunks = mapHunks(hunks, (*hunk).fold)
	}
	p, fault := placeAll(ctx, folded, hunks)
	bare := false
	if fault != nil && before.LF() != "" && !strings.HasSuffix(before.LF(), "\n") && !anyBare(hunks) {
		// Who does not know that the last line has no end leaves it so.
		if q, _ := placeAll(ctx, newSheet(before.LF()+"\n"), hunks); q != nil {
			p, fault, bare = q, nil, true
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if fault != nil {
		return nil, fault
	}
	return p.apply(before, before.Apply, bare)
}

// placeAll finds the places of all hunks in a text.
func placeAll(ctx context.Context, text *sheet, hunks []*hunk) (*placer, *misfit) {
	p := &placer{sheet: text}
	for i, h := range hunks {
		err := ctx.Err()
		if err == nil {
			err = p.place(newPlacement(h))
		}
		if err != nil {
			return nil, &misfit{h, i + 1, err, text}
		}
	}
	slices.SortStableFunc(p.done, func(a, b *placement) int { return a.at - b.at })
	return p, nil
}

// anyCR reports whether a line of the hunks ends in CR.
func anyCR(hunks []*hunk) bool {
	return anyLine(hunks, func(text string) bool { return strings.HasSuffix(text, "\r\n") })
}

// anyBare reports whether a line of the hunks has no end.
func anyBare(hunks []*hunk) bool {
	return anyLine(hunks, func(text string) bool { return !strings.HasSuffix(text, "\n") })
}

func anyLine(hunks []*hunk, is func(text string) bool) bool {
	return slices.ContainsFunc(hunks, func(h *hunk) bool {
		return slices.ContainsFunc(h.lines, func(l hunkLine) bool { return is(l.text) })
	})
}

const byteOrderMark = "\ufeff"

// marked reports whether hunks have the byte order mark of a text on a side.
func marked(before *workspace.Text, hunks []*hunk, side byte) bool {
	if e := before.Encoding(); e != workspace.UTF8BOM && e != workspace.UTF16LE && e != workspace.UTF16BE {
		return false
	}
	return slices.ContainsFunc(hunks, func(h *hunk) bool {
		return slices.ContainsFunc(h.side(side), func(text string) bool { return strings.HasPrefix(text, byteOrderMark) })
	})
}

// patchMarked applies hunks that have the byte order mark of the text, which
// stands without it.
func patchMarked(ctx context.Context, before *workspace.Text, hunks []*hunk) (*patched, error) {
	bare := mapHunks(hunks, func(h *hunk) {
		for i := range h.lines {
			h.lines[i].text = strings.TrimPrefix(h.lines[i].text, byteOrderMark)
		}
	})
	done, err := patchText(ctx, before, bare)
	if err != nil || marked(before, hunks, '+') {
		return done, err
	}
	if before.Encoding() != workspace.UTF8BOM {
		return nil, errors.New("the patch takes the byte order mark off, without which its encoding is not known: use a command")
	}
	done.text, err = workspace.Decode(bytes.TrimPrefix(done.text.Bytes(), []byte(byteOrderMark)))
	return done, err
}

// mapHunks changes copies of the hunks.
func mapHunks(hunks []*hunk, change func(h *hunk)) []*hunk {
	changed := make([]*hunk, len(hunks))
	for i, h := range hunks {
		one := *h
		one.lines = slices.Clone(h.lines)
		change(&one)
		changed[i] = &one
	}
	return changed
}

// speaksOfEnds reports whether hunks that fit a text as it is tell the ends of
// new lines: each has a line of the text to compare with, or the text has LF.
func speaksOfEnds(done []*placement, text *workspace.Text) bool {
	return text.Body() == text.LF() || !slices.ContainsFunc(done, func(h *placement) bool { return len(h.old) == 0 })
}

// apply makes the changes of hunks that have their places, which rise. Bare says
// that they do not know that the last line has no end.
func (p *placer) apply(before *workspace.Text, apply func(...workspace.Splice) (*workspace.Text, error), bare bool) (*patched, error) {
	lf := newSheet(before.LF())
	var splices []workspace.Splice
	for i := range p.done {
		splices = append(splices, p.done[i].splices(lf, bare)...)
	}
	after, err := apply(splices...)
	if err != nil {
		return nil, noContent("what the patch adds", err)
	}
	return &patched{after, p.done, splicedLines(before, splices)}, nil
}

// splices are the changes of a hunk, each a run of lines that go and come.
func (p *placement) splices(lf *sheet, bare bool) []workspace.Splice {
	var splices []workspace.Splice
	at := p.at
	for i := 0; i < len(p.lines); {
		if p.lines[i].op == ' ' {
			at, i = at+1, i+1
			continue
		}
		from := at
		var b strings.Builder
		for ; i < len(p.lines) && p.lines[i].op != ' '; i++ {
			if p.lines[i].op == '-' {
				at++
			} else {
				b.WriteString(p.lines[i].text)
			}
		}
		splices = append(splices, lf.splice(from, at, b.String(), bare))
	}
	return splices
}

// splice replaces lines. Where the last one has no end and the hunk does not
// know it, the new last line gets none either, unless it is empty: without its end it
// would be none.
func (s *sheet) splice(from, to int, text string, bare bool) workspace.Splice {
	one := workspace.Splice{Start: s.starts[from], End: s.starts[to], New: text}
	behind := from == s.count() && from > 0 && !strings.HasSuffix(s.text, "\n")
	if behind {
		one.New = "\n" + one.New
	}
	if behind || bare && to == s.count() {
		if last := strings.TrimSuffix(one.New, "\n"); last != "" && !strings.HasSuffix(last, "\n") {
			one.New = last
		}
	}
	return one
}
