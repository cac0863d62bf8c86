package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

type applyPatchInput struct {
	Patch string `json:"patch"`
}

// ApplyPatch is the tool that changes several files by one patch, all of them or
// none (spec/tools.md, "extensions"). Files are created, deleted, renamed and
// copied, and their executable bits set, as git's extended diffs say it.
//
// Names may turn: where one file comes in the place of another that is moved away
// or deleted, the old one gets a name beside it for the time of the change, which a
// crash may leave.
//
// A hunk goes where its lines stand, and the result tells where that is not
// where it says; context is compared exactly, but for line ends. Wrong line
// counts in a hunk's title are forgiven. Binary files are moved and removed, but
// not patched; symbolic links are left alone.
func ApplyPatch() Tool {
	return Func(Spec{
		ID:    "apply_patch",
		Title: "Patch files",
		Description: "Changes, creates, deletes and renames files by one patch, all or nothing. The patch is a unified diff " +
			"(--- a/NAME, +++ b/NAME, @@ -1,3 +1,4 @@; /dev/null for a file that is not there; git's headers for renames and modes), " +
			"or the form that begins with *** Begin Patch. Give about three unchanged lines around each change, exactly as in the file: " +
			"hunks are found by their lines, also a little beside the line numbers they tell. Line ends are LF here whatever a file has. " +
			"If a file changed since you read it, the call fails and asks you to read it again. For one change in one file use edit.",
		SearchHint: "patch unified diff several files rename move delete",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"patch": {"type": "string", "minLength": 1, "description": "The whole patch"}
			},
			"required": ["patch"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindEdit,
		Requires: Requires{Read: fileSurface, Write: fileSurface},
		Block:    true,
	}, prepareApplyPatch)
}

func prepareApplyPatch(ctx context.Context, ws *Workspace, in applyPatchInput) (*Action, error) {
	files, err := parsePatch(in.Patch)
	if err != nil {
		return nil, err
	}
	parts, err := resolveParts(ws, files)
	if err != nil {
		return nil, err
	}
	a := &Action{Facts: kinds.Facts{Paths: patchAccess(parts)}}
	if !allInside(parts) { // the content waits for permission
		a.Card = unreadCard(ws, parts)
		a.Card.Text = kinds.Fence("diff", kinds.Escape(in.Patch))
		a.Run = func(ctx context.Context, _ func(Output)) (Result, error) {
			p, err := planPatch(ctx, ws, parts)
			if err != nil {
				return Result{}, err
			}
			return runPatch(ctx, p)
		}
		return a, nil
	}
	p, err := planPatch(ctx, ws, parts)
	if err != nil {
		return nil, err
	}
	a.Card = p.card()
	a.Run = func(ctx context.Context, _ func(Output)) (Result, error) { return runPatch(ctx, p) }
	return a, nil
}

// patchAccess is what the permission engine is told: each path with what is done
// to it. What is moved or copied can be read afterwards under another name.
func patchAccess(parts []patchPart) []kinds.PathAccess {
	var all []kinds.PathAccess
	told := map[kinds.PathAccess]bool{}
	tell := func(t target, what kinds.Access, gone bool) {
		one := t.access(what)[0]
		if one.Gone = gone; !told[one] {
			told[one] = true
			all = append(all, one)
		}
	}
	for _, p := range parts {
		if p.copied || p.renamed() {
			tell(p.from, kinds.Read, false)
		}
		if p.old != "" && !p.copied {
			tell(p.from, kinds.Write, p.new == "")
		}
		if p.new != "" {
			tell(p.to, kinds.Write, false)
		}
	}
	return all
}

func allInside(parts []patchPart) bool {
	for _, p := range parts {
		if p.old != "" && !p.from.Inside || p.new != "" && !p.to.Inside {
			return false
		}
	}
	return true
}

// unreadCard is the card where no file may be looked at yet.
func unreadCard(ws *Workspace, parts []patchPart) kinds.Card {
	var places []kinds.Location
	var deeds []kinds.Deed
	for _, p := range parts {
		d := kinds.Deed{Path: p.to.Asked, From: p.from.Asked, Edits: true} // of what nobody has looked at, a rename may change it
		switch {
		case p.new == "":
			d = kinds.Deed{Does: kinds.Deletes, Path: p.from.Asked}
		case p.copied:
			d.Does = kinds.Copies
		case p.renamed():
			d.Does = kinds.Moves
		default:
			d.From = ""
		}
		deeds, places = append(deeds, d), append(places, kinds.Location{Path: d.Path})
	}
	return kinds.Root(ws.Dir()).Patch(deeds, places)
}

// card shows the patch: the difference of each file, and in words what no
// difference shows.
func (p *patchPlan) card() kinds.Card {
	var deeds []kinds.Deed
	for _, s := range p.steps {
		if s.matters() {
			deeds = append(deeds, s.deed())
		}
	}
	card := kinds.Root(p.ws.Dir()).Patch(deeds, p.places(), p.changes()...)
	card.Text = p.unseen()
	return card
}

// deed is what is done to the file, for the card.
func (s *patchStep) deed() kinds.Deed {
	d := kinds.Deed{Path: s.Asked, Edits: s.edits()}
	switch s.does {
	case patchDeletes:
		d.Does = kinds.Deletes
	case patchMoves:
		d.Does, d.From = kinds.Moves, s.source.Asked
	case patchCopies:
		d.Does, d.From = kinds.Copies, s.source.Asked
	}
	return d
}

// places are the changed places of all files.
func (p *patchPlan) places() []kinds.Location {
	places := []kinds.Location{}
	for _, s := range p.steps {
		if !s.matters() {
			continue
		}
		line := 0
		if len(s.lines) > 0 {
			line = s.lines[0]
		}
		places = append(places, kinds.Location{Path: s.Asked, Line: line})
	}
	return places[:min(len(places), maxLocations)]
}

// changes are the differences of all files that have one.
func (p *patchPlan) changes() []kinds.Change {
	changes := []kinds.Change{}
	for _, s := range p.steps {
		switch {
		case s.edits():
			changes = append(changes, s.card())
		case s.does == patchDeletes && s.before != nil:
			old := s.before.Body()
			changes = append(changes, kinds.Change{Path: s.Asked, Old: &old})
		}
	}
	return changes
}

// unseen is what is done that the differences do not show.
func (p *patchPlan) unseen() string {
	var lines []string
	for _, s := range p.steps {
		switch s.does {
		case patchMoves:
			lines = append(lines, "move "+s.source.name+" to "+s.name)
		case patchCopies:
			lines = append(lines, "copy "+s.source.name+" to "+s.name)
		case patchDeletes:
			lines = append(lines, "delete "+s.name)
		}
		switch s.exec {
		case execSet:
			lines = append(lines, "make "+s.name+" executable")
		case execCleared:
			lines = append(lines, "make "+s.name+" not executable")
		}
	}
	if len(lines) == 0 {
		return ""
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(kinds.Escape(line), "\n", `\n`)
	}
	return kinds.Fence("", strings.Join(lines, "\n"))
}

func runPatch(ctx context.Context, p *patchPlan) (Result, error) {
	if err := p.commit(ctx); err != nil {
		return Result{}, err
	}
	var lines []string
	for _, s := range p.steps {
		lines = append(lines, s.report())
	}
	r := Result{
		Text:      "The patch is applied:\n" + strings.Join(lines, "\n"),
		Shown:     p.unseen(),
		Locations: p.places(),
		Changes:   p.changes(),
		Metadata:  map[string]any{"files": len(p.steps)},
	}
	return r, nil
}

// report is what the model is told of the file.
func (s *patchStep) report() string {
	var text string
	switch s.does {
	case patchCreates:
		text = fmt.Sprintf("created %s (%d bytes)", s.name, len(s.after.Bytes()))
	case patchCopies:
		text = "copied " + s.source.name + " to " + s.name
	case patchMoves:
		text = "moved " + s.source.name + " to " + s.name
	case patchDeletes:
		text = "deleted " + s.name
	case patchEdits:
		text = "changed " + s.name
		if !s.matters() {
			text = s.name + " stays as it was"
		}
	}
	if s.hunks > 0 && len(s.lines) > 0 && s.does != patchCreates {
		text += fmt.Sprintf(" (%s, first changed line %d)", count(s.hunks, "hunk"), s.lines[0])
	}
	switch s.exec {
	case execSet:
		text += ", executable"
	case execCleared:
		text += ", not executable"
	}
	if len(s.notes) > 0 {
		text += ": " + strings.Join(s.notes, "; ")
	}
	return text
}
