package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// edits is a call that changes files as a server works it out: one card with the
// differences of all files, one request, all or nothing.
func (a *lspCall) edits(ctx context.Context, ask func(context.Context, lsp.Target) (lsp.Edit, error)) (*Action, error) {
	if a.in.Path != "" && !a.file.Inside {
		return nil, fmt.Errorf("%s lies outside of the project; lsp changes only the project's files", a.file.name)
	}
	t, err := a.target(ctx)
	var edit lsp.Edit
	if err == nil {
		edit, err = ask(ctx, t)
	}
	if err != nil {
		return nil, a.withheld(a.worded(err))
	}
	p, err := a.plan(ctx, edit)
	if err != nil {
		return nil, err
	}
	card := kinds.Root(a.ws.Dir()).Refactor(title(edit, p.steps), p.places(), p.changes()...)
	card.Text = p.unseen()
	if edit.Left != "" {
		card.Text = strings.TrimSpace(card.Text + "\n\n" + kinds.Escape(mayBeMore(edit.Left)))
	}
	if !slices.ContainsFunc(p.steps, func(s *patchStep) bool { return s.does != patchDeletes }) {
		card.Kind = kinds.KindDelete
	}
	return &Action{
		Card:  card,
		Facts: kinds.Facts{Paths: p.access()},
		Run: func(ctx context.Context, _ func(Output)) (Result, error) {
			r, err := runPatch(ctx, p)
			if err == nil {
				_, files, _ := strings.Cut(r.Text, "\n")
				r.Text = kinds.Capital(edit.Title) + " is done:\n" + files
				if edit.Left != "" {
					r.Text = strings.TrimRight(r.Text, "\n") + "\n" + mayBeMore(edit.Left)
					r.Shown = card.Text
				}
			}
			return r, err
		},
	}, nil
}

// withheld is an error of a server, which may say something of what is in the file.
func (a *lspCall) withheld(err error) error {
	if a.in.Path == "" {
		return err // the file's name is all that it may say
	}
	return &ContentError{
		Path: a.file.access(kinds.Read)[0],
		Err:  err,
		Safe: fmt.Sprintf("that change of %s, which may not be read, cannot be made: ask the user", a.file.name),
	}
}

// title names an edit, how many files it touches, and how many of them go from where they
// are: some editors show nothing else.
func title(edit lsp.Edit, steps []*patchStep) string {
	text := fmt.Sprintf("%s in %s", edit.Title, count(len(steps), "file"))
	var more []string
	for _, one := range []struct {
		does patchDoes
		word string
	}{{patchMoves, "moved"}, {patchDeletes, "deleted"}} {
		n := 0
		for _, s := range steps {
			if s.does == one.does {
				n++
			}
		}
		if n > 0 {
			more = append(more, fmt.Sprintf("%d %s", n, one.word))
		}
	}
	if len(more) > 0 {
		text += ": " + strings.Join(more, ", ")
	}
	return text
}

// plan makes the steps of an edit. Only files of the project are changed: what
// lies outside was never shown to anybody.
func (a *lspCall) plan(ctx context.Context, edit lsp.Edit) (*patchPlan, error) {
	p := &patchPlan{ws: a.ws, known: map[string]*patchStep{}, gone: map[string]*patchStep{}}
	for _, f := range edit.Files {
		s, err := a.step(ctx, p, f)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, s)
		if p.size > maxChanged {
			return nil, fmt.Errorf("the files of the change have more than %d bytes together", maxChanged)
		}
	}
	for _, s := range p.steps {
		if err := p.room(ctx, s); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// inside resolves a file that an edit touches.
func (a *lspCall) inside(path string) (target, error) {
	p, err := a.ws.Follow(a.asked(path))
	if err == nil && !p.Inside {
		err = fmt.Errorf("the change would touch %s, which lies outside of the project; nothing was changed", path)
	}
	return target{p, a.ws, a.ws.Name(p.Asked)}, err
}

// step is what an edit does to one file.
func (a *lspCall) step(ctx context.Context, p *patchPlan, f lsp.FileEdit) (*patchStep, error) {
	t, err := a.inside(f.Path)
	if err != nil {
		return nil, err
	}
	s := &patchStep{change: change{target: t}}
	if f.Old == nil {
		s.does = patchCreates
		if s.after, err = workspace.Decode([]byte(*f.New)); err != nil {
			return nil, noContent("the new file", err)
		}
		return s, p.touch(t, s)
	}
	raw, text, err := p.load(ctx, t)
	if err != nil {
		return nil, err
	}
	if text == nil || text.Body() != *f.Old {
		return nil, fmt.Errorf("%s changed while the change was worked out; try again", t.name)
	}
	s.before, s.raw = text, raw
	if f.New == nil {
		s.does = patchDeletes
		return s, errors.Join(p.leave(t, s), t.plain())
	}
	if s.after, err = text.Apply(splice(text.LF(), workspace.FoldLineEnds(*f.New))); err != nil {
		return nil, noContent("the change", err)
	}
	s.lines = diffedLines(text.LF(), s.after.LF())
	if f.MovedTo == "" {
		return s, p.touch(t, s)
	}
	to, err := a.inside(f.MovedTo)
	if err != nil {
		return nil, err
	}
	s.does, s.source, s.target = patchMoves, t, to
	return s, errors.Join(p.leave(t, s), p.touch(to, s), t.plain())
}

// splice is the one change that makes a text another.
func splice(old, now string) workspace.Splice {
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	for head > 0 && head < len(old) && old[head]&0xC0 == 0x80 { // never inside of a character
		head--
	}
	for tail > 0 && old[len(old)-tail]&0xC0 == 0x80 {
		tail--
	}
	return workspace.Splice{Start: head, End: len(old) - tail, New: now[head : len(now)-tail]}
}

// access is what the permission engine is told of a plan.
func (p *patchPlan) access() []kinds.PathAccess {
	var all []kinds.PathAccess
	for _, s := range p.steps {
		one := s.target.access(kinds.Write)[0]
		one.Gone = s.does == patchDeletes
		all = append(all, one)
		if s.does == patchMoves {
			all = append(all, s.source.access(kinds.Write)...)
			all = append(all, s.source.access(kinds.Read)...)
		}
	}
	return all
}
