package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	Left  string     // why there may be more to change, a clause; empty: it is not known to be so
}

// changed are the files that an edit changes.
func (e Edit) changed() map[string]bool {
	out := map[string]bool{}
	for _, f := range e.Files {
		out[f.Path] = true
	}
	return out
}

// draft is a file while the steps of an edit are applied to it.
type draft struct {
	path    string
	old     *string
	new     *string
	movedTo string
}

// settle asks for an edit and works out what it makes of the files, which it must be
// meant for as they are: a file that the server has not open may be another on the
// disk than in the editor, or be written in another way than it reads it. Such a
// file is shown to it, and it is asked again.
func (v *View) settle(ctx context.Context, s session, ask func() (*workspaceEdit, error)) (Edit, error) {
	for try := 1; ; try++ {
		w, err := ask()
		if err != nil {
			return Edit{}, err
		}
		out, behind, err := v.apply(ctx, s, w)
		if err != nil || len(behind) == 0 {
			return out, err
		}
		if try == 3 {
			return Edit{}, fmt.Errorf("%s has changed meanwhile; try again", strings.Join(behind, ", "))
		}
		for _, path := range append(behind, s.doc.path) { // the one that is asked about last, so that it stays open
			if _, err := v.show(ctx, s.run, path); err != nil {
				return Edit{}, err
			}
		}
	}
}

// apply works out what an edit makes of the files; behind are those of which the
// server has another text.
func (v *View) apply(ctx context.Context, s session, w *workspaceEdit) (_ Edit, behind []string, err error) {
	a := applier{view: v, session: s, drafts: map[string]*draft{}}
	if err := a.steps(ctx, w.steps); err != nil {
		return Edit{}, nil, fmt.Errorf("%s wants an edit that cannot be made: %w", s.server.spec.Name, err)
	}
	var out Edit
	for _, d := range a.order {
		changed := (d.old == nil) != (d.new == nil) || d.old != nil && *d.old != *d.new
		if !changed && d.movedTo == "" {
			continue
		}
		out.Files = append(out.Files, FileEdit{Path: d.path, Old: d.old, New: d.new, MovedTo: d.movedTo, First: firstChange(d.old, d.new)})
	}
	slices.SortStableFunc(out.Files, func(a, b FileEdit) int { return strings.Compare(a.Path, b.Path) })
	return out, a.behind, nil
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
	behind  []string // files of which the server has another text
}

// inside is the path that a URI names, links in it resolved: one file has one path.
// A step that names the file itself, and not what it holds, means a link as such.
func (a *applier) inside(uri string, itself bool) (string, error) {
	path, err := filePath(uri)
	if err != nil {
		return "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil && !itself {
		path = whole
	}
	if _, inside := a.view.find.folder(path); !inside {
		return "", fmt.Errorf("%s lies outside of the project", path)
	}
	return path, nil
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

// documentEdits are edits of one document, all of them of its text as it was before.
type documentEdits struct {
	path    string
	version *int32
	edits   []textEdit
}

// steps applies steps in their order. Edits of one document that only edits of
// others stand between are meant for the same text, as editors take them.
func (a *applier) steps(ctx context.Context, steps []editStep) error {
	for len(steps) > 0 {
		if steps[0].Kind != "" {
			if err := a.operate(ctx, steps[0]); err != nil {
				return err
			}
			steps = steps[1:]
			continue
		}
		n := slices.IndexFunc(steps, func(s editStep) bool { return s.Kind != "" })
		if n < 0 {
			n = len(steps)
		}
		list, err := a.grouped(steps[:n])
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := a.edits(ctx, one); err != nil {
				return err
			}
		}
		steps = steps[n:]
	}
	return nil
}

// grouped puts the edits of each document together, but for those of a version that
// others led to.
func (a *applier) grouped(steps []editStep) ([]*documentEdits, error) {
	var list []*documentEdits
	last := map[string]*documentEdits{}
	for _, s := range steps {
		if len(s.Edits) == 0 {
			continue
		}
		path, err := a.inside(s.TextDocument.URI, false)
		if err != nil {
			return nil, err
		}
		one := last[path]
		version := s.TextDocument.Version
		if one == nil || one.version != nil && version != nil && *one.version != *version {
			one = &documentEdits{path: path, version: version}
			last[path] = one
			list = append(list, one)
		}
		one.edits = append(one.edits, s.Edits...)
	}
	return list, nil
}

// operate creates, renames or deletes a file.
func (a *applier) operate(ctx context.Context, step editStep) error {
	switch step.Kind {
	case "create":
		return a.create(ctx, step)
	case "rename":
		return a.rename(ctx, step)
	default:
		return a.delete(ctx, step)
	}
}

func (a *applier) edits(ctx context.Context, one *documentEdits) error {
	d, err := a.draft(ctx, one.path)
	if err != nil {
		return err
	}
	if d.new == nil {
		return fmt.Errorf("%s does not exist", one.path)
	}
	if d.new == d.old && !slices.Contains(a.behind, d.path) {
		current, err := a.session.current(ctx, d.path, *d.old, one.version)
		if err != nil {
			return err
		}
		if !current {
			a.behind = append(a.behind, d.path)
		}
	}
	if slices.Contains(a.behind, d.path) { // it does not fit
		return nil
	}
	next, err := applyEdits(*d.new, one.edits, a.session.unit)
	if err != nil {
		return fmt.Errorf("%s: %w", one.path, err)
	}
	d.new = &next
	return nil
}

// current reports whether the server has a text of a file, in that version where
// one is given: the one that it has open, else what is on the disk.
func (r *run) current(ctx context.Context, path, body string, version *int32) (bool, error) {
	if err := r.documents.hold(ctx); err != nil {
		return false, err
	}
	doc := r.documents.find(path)
	r.documents.free()
	if doc != nil {
		return doc.text.body == body && (version == nil || *version == doc.version), nil
	}
	data, err := os.ReadFile(path)
	return err == nil && string(data) == body, nil
}

// target is the file that a step puts something in the place of; skip: the step does
// nothing where there is one.
func (a *applier) target(ctx context.Context, path string, step editStep) (d *draft, skip bool, err error) {
	d, err = a.draft(ctx, path)
	switch {
	case err != nil || d.new == nil || step.Options.Overwrite:
		return d, false, err
	case step.Options.IgnoreIfExists:
		return d, true, nil
	}
	return nil, false, fmt.Errorf("%s exists already", path)
}

func (a *applier) create(ctx context.Context, step editStep) error {
	path, err := a.inside(step.URI, true)
	if err != nil {
		return err
	}
	d, skip, err := a.target(ctx, path, step)
	if err != nil || skip {
		return err
	}
	empty := ""
	d.new = &empty
	return nil
}

func (a *applier) rename(ctx context.Context, step editStep) error {
	from, err := a.inside(step.OldURI, true)
	if err != nil {
		return err
	}
	to, err := a.inside(step.NewURI, true)
	if err != nil {
		return err
	}
	d, err := a.draft(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case d.new == nil:
		return fmt.Errorf("%s does not exist, or is a folder", from)
	case from == to:
		return nil
	}
	target, skip, err := a.target(ctx, to, step)
	if err != nil || skip {
		return err
	}
	if target.old == nil && d.old != nil { // nothing was there: the file moves
		a.order = slices.DeleteFunc(a.order, func(o *draft) bool { return o == target })
		gone := &draft{path: from}
		a.order = append(a.order, gone)
		if d.movedTo, a.drafts[from], a.drafts[to] = to, gone, d; to == d.path {
			d.movedTo = "" // it is back
		}
		return nil
	}
	target.new, d.new = d.new, nil
	return nil
}

func (a *applier) delete(ctx context.Context, step editStep) error {
	path, err := a.inside(step.URI, true)
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
	var splices []splice
	known := map[textEdit]bool{}
	for _, edit := range edits {
		one := splice{t.offset(edit.Range.Start, e), t.offset(edit.Range.End, e), edit.NewText}
		if one.to < one.from {
			return "", errors.New("a range ends before it begins")
		}
		if one.from < one.to && known[edit] { // said twice
			continue
		}
		known[edit] = true
		splices = append(splices, one)
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
