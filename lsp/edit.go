package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// FileEdit is what becomes of one file.
type FileEdit struct {
	Path    string  // absolute
	Old     *string // its text as the agent sees it; nil: it is to be created
	New     *string // nil: it is to be deleted
	MovedTo string  // empty: it stays where it is
	First   int     // the first line that changes, from 1
}

// Edit is a change of several files, to be made as a whole or not at all.
type Edit struct {
	Title string
	Files []FileEdit // one a file, those that change nothing left out
}

// Rename is what renaming a symbol changes. Nothing is changed yet.
func (v *View) Rename(ctx context.Context, q Target, to string) (Edit, error) {
	var out Edit
	if strings.TrimSpace(to) == "" {
		return out, errors.New("new_name is empty")
	}
	err := v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		if !s.can("renameProvider") {
			return s.cannot("rename")
		}
		places, err := s.places(ctx, q)
		if err != nil {
			return err
		}
		at := places[0]
		if s.server.spec.AtDeclaration {
			s, at = v.declaration(ctx, s, at)
		}
		name, err := s.renamable(ctx, at)
		if err != nil {
			return err
		}
		var answer *workspaceEdit
		params := struct {
			positionParams
			NewName string `json:"newName"`
		}{positionParams{identifier{fileURI(s.doc.path)}, at}, to}
		if err := s.ask(ctx, "textDocument/rename", params, &answer); err != nil {
			return err
		}
		if answer == nil {
			return fmt.Errorf("%s finds nothing to rename there", s.server.spec.Name)
		}
		if out, err = v.apply(ctx, s, answer); err != nil {
			return err
		}
		if len(out.Files) == 0 {
			return fmt.Errorf("renaming %s to %s changes nothing", name, to)
		}
		out.Title = fmt.Sprintf("rename %s to %s", name, to)
		return nil
	})
	return out, err
}

// declaration is where the symbol at a place is declared, if that is in the
// project: TypeScript renames an imported name only in the file that imports it.
func (v *View) declaration(ctx context.Context, s session, at Position) (session, Position) {
	var found locations
	params := positionParams{identifier{fileURI(s.doc.path)}, at}
	if s.ask(ctx, "textDocument/definition", params, &found) != nil || len(found) != 1 {
		return s, at
	}
	path, err := filePath(found[0].URI)
	if err != nil {
		return s, at
	}
	if _, inside := v.find.folder(path); !inside || strings.Contains(path, string(filepath.Separator)+"node_modules"+string(filepath.Separator)) {
		return s, at
	}
	doc, err := v.show(ctx, s.run, path)
	if err != nil {
		return s, at
	}
	return session{run: s.run, doc: doc}, found[0].Range.Start
}

// renamable asks whether what stands at a place can be renamed; it returns its name.
func (s session) renamable(ctx context.Context, at Position) (string, error) {
	name := s.wordAt(at)
	if !member(s.caps.Rename, "prepareProvider") {
		return name, nil
	}
	var answer json.RawMessage
	if err := s.ask(ctx, "textDocument/prepareRename", positionParams{identifier{fileURI(s.doc.path)}, at}, &answer); err != nil {
		return "", err
	}
	if !truthy(answer) {
		return "", fmt.Errorf("what stands on line %d cannot be renamed (%s)", at.Line+1, name)
	}
	var place struct {
		Placeholder string `json:"placeholder"`
	}
	if json.Unmarshal(answer, &place) == nil && place.Placeholder != "" {
		name = place.Placeholder
	}
	return name, nil
}

// wordAt is the word at a place.
func (s session) wordAt(at Position) string {
	body := s.doc.text.body
	from := s.doc.text.offset(at, s.unit)
	to := from
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(body[:from])
		if !inWord(r) {
			break
		}
		from -= size
	}
	for to < len(body) {
		r, size := utf8.DecodeRuneInString(body[to:])
		if !inWord(r) {
			break
		}
		to += size
	}
	return body[from:to]
}

// draft is a file while the steps of an edit are applied to it.
type draft struct {
	path    string
	old     *string
	new     *string
	movedTo string
}

// apply works out what an edit makes of the files.
func (v *View) apply(ctx context.Context, s session, w *workspaceEdit) (Edit, error) {
	a := applier{view: v, session: s, drafts: map[string]*draft{}}
	for _, step := range w.steps {
		if err := a.step(ctx, step); err != nil {
			return Edit{}, fmt.Errorf("%s wants an edit that cannot be made: %w", s.server.spec.Name, err)
		}
	}
	var out Edit
	for _, d := range a.order {
		changed := (d.old == nil) != (d.new == nil) || d.old != nil && *d.old != *d.new
		if !changed && d.movedTo == "" {
			continue
		}
		out.Files = append(out.Files, FileEdit{Path: d.path, Old: d.old, New: d.new, MovedTo: d.movedTo, First: firstChange(d.old, d.new)})
	}
	slices.SortFunc(out.Files, func(a, b FileEdit) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// firstChange is the first line, from 1, in which two texts differ.
func firstChange(old, new *string) int {
	if old == nil || new == nil {
		return 1
	}
	line := 1
	for i := 0; i < len(*old) && i < len(*new) && (*old)[i] == (*new)[i]; i++ {
		if (*old)[i] == '\n' {
			line++
		}
	}
	return line
}

// applier applies the steps of an edit to texts, in their order.
type applier struct {
	view    *View
	session session
	drafts  map[string]*draft // by the path at this point
	order   []*draft
}

// draft is a file as the steps so far left it.
func (a *applier) draft(ctx context.Context, path string) (*draft, error) {
	if d := a.drafts[path]; d != nil {
		return d, nil
	}
	d := &draft{path: path}
	body, _, err := a.view.opts.Read(ctx, path)
	switch {
	case err == nil:
		d.old, d.new = &body, &body
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	a.drafts[path] = d
	a.order = append(a.order, d)
	return d, nil
}

// step applies one step.
func (a *applier) step(ctx context.Context, step editStep) error {
	switch step.Kind {
	case "":
		return a.edits(ctx, step)
	case "create":
		return a.create(ctx, step)
	case "rename":
		return a.rename(ctx, step)
	default:
		return a.delete(ctx, step)
	}
}

func (a *applier) edits(ctx context.Context, step editStep) error {
	path, err := filePath(step.TextDocument.URI)
	if err != nil {
		return err
	}
	if len(step.Edits) == 0 {
		return nil
	}
	d, err := a.draft(ctx, path)
	if err != nil {
		return err
	}
	if d.new == nil {
		return fmt.Errorf("%s does not exist", path)
	}
	if err := a.current(path, step.TextDocument.Version); err != nil {
		return err
	}
	next, err := applyEdits(*d.new, step.Edits, a.session.unit)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	d.new = &next
	return nil
}

// current reports whether an edit is for the version of a document that the server
// has last.
func (a *applier) current(path string, version *int32) error {
	if version == nil || path != a.session.doc.path || *version == a.session.doc.version {
		return nil
	}
	return fmt.Errorf("%s has changed meanwhile; try again", path)
}

func (a *applier) create(ctx context.Context, step editStep) error {
	path, err := filePath(step.URI)
	if err != nil {
		return err
	}
	d, err := a.draft(ctx, path)
	if err != nil {
		return err
	}
	if d.new != nil {
		switch {
		case step.Options.Overwrite:
		case step.Options.IgnoreIfExists:
			return nil
		default:
			return fmt.Errorf("%s exists already", path)
		}
	}
	empty := ""
	d.new = &empty
	return nil
}

func (a *applier) rename(ctx context.Context, step editStep) error {
	from, err := filePath(step.OldURI)
	if err != nil {
		return err
	}
	to, err := filePath(step.NewURI)
	if err != nil {
		return err
	}
	d, err := a.draft(ctx, from)
	if err != nil {
		return err
	}
	if d.new == nil {
		return fmt.Errorf("%s does not exist, or is a folder", from)
	}
	target, err := a.draft(ctx, to)
	if err != nil {
		return err
	}
	if target.new != nil {
		switch {
		case step.Options.Overwrite:
		case step.Options.IgnoreIfExists:
			return nil
		default:
			return fmt.Errorf("%s exists already", to)
		}
	}
	if target.old == nil { // nothing is there: the file moves
		a.order = slices.DeleteFunc(a.order, func(o *draft) bool { return o == target })
		d.movedTo = to
		delete(a.drafts, from)
		a.drafts[to] = d
		a.drafts[from] = &draft{path: from}
		return nil
	}
	target.new, d.new = d.new, nil
	return nil
}

func (a *applier) delete(ctx context.Context, step editStep) error {
	path, err := filePath(step.URI)
	if err != nil {
		return err
	}
	d, err := a.draft(ctx, path)
	if err != nil {
		return err
	}
	if d.new == nil && !step.Options.IgnoreIfNotExists {
		return fmt.Errorf("%s does not exist, or is a folder", path)
	}
	d.new = nil
	return nil
}

// applyEdits applies edits of one document, whose ranges are all of the text as it
// was. Ranges must not overlap; of several insertions at one place the order holds.
func applyEdits(body string, edits []textEdit, e encoding) (string, error) {
	type splice struct {
		from, to int
		text     string
	}
	t := newText(body)
	splices := make([]splice, len(edits))
	for i, edit := range edits {
		splices[i] = splice{t.offset(edit.Range.Start, e), t.offset(edit.Range.End, e), edit.NewText}
		if splices[i].to < splices[i].from {
			return "", errors.New("a range ends before it begins")
		}
	}
	slices.SortStableFunc(splices, func(a, b splice) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to // insertions before what begins at the same place
	})
	var out strings.Builder
	at := 0
	for _, s := range splices {
		if s.from < at {
			return "", errors.New("two edits overlap")
		}
		out.WriteString(body[at:s.from])
		out.WriteString(s.text)
		at = s.to
	}
	out.WriteString(body[at:])
	return out.String(), nil
}
