package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Action is something that a server offers to do to the code.
type Action struct {
	Title     string
	Kind      string // quickfix, refactor.extract, …
	Preferred bool
	Disabled  string // why it cannot be done now; empty: it can
	Server    string

	action codeAction
}

// Lines is a range of lines, from 1, both ends included.
type Lines struct {
	First, Last int
}

// Actions are what the servers of a file offer for some of its lines, or, with a
// symbol, for where that stands.
func (v *View) Actions(ctx context.Context, q Target, lines Lines) ([]Action, error) {
	var out []Action
	err := v.actions(ctx, q, lines, func(_ context.Context, _ session, list []Action) (bool, error) {
		out = append(out, list...)
		return true, nil
	})
	return out, err
}

// Apply is what the action of that title changes. Nothing is changed yet.
func (v *View) Apply(ctx context.Context, q Target, lines Lines, title string) (Edit, error) {
	var out Edit
	var offered []string
	done := false
	err := v.actions(ctx, q, lines, func(ctx context.Context, s session, list []Action) (bool, error) {
		for _, a := range list {
			offered = append(offered, a.Title)
			if !strings.EqualFold(strings.TrimSpace(a.Title), strings.TrimSpace(title)) {
				continue
			}
			if a.Disabled != "" {
				return false, fmt.Errorf("%q cannot be done: %s", a.Title, a.Disabled)
			}
			var err error
			out, err = v.perform(ctx, s, a)
			done = err == nil
			return false, err
		}
		return true, nil
	})
	switch {
	case done:
		return out, nil
	case err != nil:
		return out, err
	case len(offered) == 0:
		return out, errors.New("no action is offered there")
	}
	return out, fmt.Errorf("no action is named %q there; there are: %s", title, strings.Join(offered, "; "))
}

// actions asks each server of a file, until f has enough.
func (v *View) actions(ctx context.Context, q Target, lines Lines, f func(context.Context, session, []Action) (more bool, err error)) error {
	picks, err := v.picks(q.Path)
	if err != nil {
		return err
	}
	var last error
	asked := false
	for _, p := range picks {
		srv, err := v.server(p)
		if err != nil {
			return err
		}
		more := true
		err = v.withServer(ctx, srv, q.Path, func(ctx context.Context, s session) error {
			if !s.can("codeActionProvider") {
				return s.cannot("offer actions")
			}
			list, err := v.offered(ctx, s, q, lines)
			if err != nil {
				return err
			}
			asked = true
			more, err = f(ctx, s, list)
			return err
		})
		if err != nil {
			last = err
		}
		if !more {
			return err
		}
	}
	if !asked {
		return last
	}
	return nil
}

// offered asks one server.
func (v *View) offered(ctx context.Context, s session, q Target, lines Lines) ([]Action, error) {
	at, err := s.rangeOf(ctx, q, lines)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, v.wait())
	s.judge(wait)
	cancel()
	diagnostics := []json.RawMessage{}
	for _, d := range s.verdicts.of(s.doc.path).items() {
		if d.Range.Start.Line <= at.End.Line && d.Range.End.Line >= at.Start.Line {
			diagnostics = append(diagnostics, d.sent())
		}
	}
	var list []codeAction
	err = s.ask(ctx, "textDocument/codeAction", map[string]any{
		"textDocument": identifier{fileURI(s.doc.path)}, "range": at,
		"context": map[string]any{"diagnostics": diagnostics, "triggerKind": 1},
	}, &list)
	if err != nil {
		return nil, err
	}
	var out []Action
	for _, a := range list {
		one := Action{Title: a.Title, Kind: a.Kind, Preferred: a.IsPreferred, Server: s.server.spec.Name, action: a}
		if a.Disabled != nil {
			one.Disabled = a.Disabled.Reason
		}
		out = append(out, one)
	}
	return out, nil
}

// rangeOf is the range that actions are asked for.
func (s session) rangeOf(ctx context.Context, q Target, lines Lines) (Range, error) {
	t := s.doc.text
	if q.Symbol != "" || q.Column > 0 {
		places, err := s.places(ctx, q)
		if err != nil {
			return Range{}, err
		}
		return Range{Start: places[0], End: places[0]}, nil
	}
	if lines.First == 0 {
		lines = Lines{1, t.lines()}
	}
	if lines.Last == 0 {
		lines.Last = lines.First
	}
	if lines.First > t.lines() || lines.Last < lines.First {
		return Range{}, fmt.Errorf("lines %d to %d are not in the file, which has %d", lines.First, lines.Last, t.lines())
	}
	last := min(lines.Last, t.lines()) - 1
	return Range{
		Start: Position{Line: uint32(lines.First - 1)}, //nolint:gosec // lines are few
		End:   t.position(t.starts[last]+len(t.line(last)), s.unit),
	}, nil
}

// perform works out what an action changes: its edit, resolved where need be, and
// what its command asks for.
func (v *View) perform(ctx context.Context, s session, a Action) (Edit, error) {
	action := a.action
	if action.Edit == nil && member(s.caps.CodeAction, "resolveProvider") {
		var resolved codeAction
		if err := s.ask(ctx, "codeAction/resolve", action.raw, &resolved); err != nil {
			return Edit{}, err
		}
		action = resolved
	}
	var steps []editStep
	if action.Edit != nil {
		steps = action.Edit.steps
	}
	if c, ok := action.command(); ok && action.Edit == nil {
		edits, err := s.execute(ctx, c)
		if err != nil {
			return Edit{}, err
		}
		for _, e := range edits {
			steps = append(steps, e.steps...)
		}
	}
	out, err := v.apply(ctx, s, &workspaceEdit{steps: steps})
	if err != nil {
		return Edit{}, err
	}
	if len(out.Files) == 0 {
		return Edit{}, fmt.Errorf("%q changes no file", a.Title)
	}
	out.Title = a.Title
	return out, nil
}

// edits are the commands of which it is known that all they do is to ask for an
// edit. Others may run programs or write files before anybody was asked.
var edits = map[string]bool{
	"gopls.apply_fix": true, "gopls.change_signature": true, "gopls.extract_to_new_file": true,
	"_typescript.applyWorkspaceEdit": true, "_typescript.applyRefactoring": true, "_typescript.organizeImports": true,
	"clangd.applyFix": true, "clangd.applyTweak": true,
	"pyright.organizeimports": true, "basedpyright.organizeimports": true,
	"eslint.applySingleFix": true, "eslint.applySameFixes": true, "eslint.applyAllFixes": true,
	"java.apply.workspaceEdit": true,
}

// execute has the server execute a command, and returns the edits that it asks for
// meanwhile, of which none is made.
func (s session) execute(ctx context.Context, c command) ([]*workspaceEdit, error) {
	if !edits[c.Command] {
		return nil, fmt.Errorf("it runs the server's command %s, which may do more than change files; it is not run", c.Command)
	}
	s.client.mu.Lock()
	if s.client.applying {
		s.client.mu.Unlock()
		return nil, errors.New("the server is at another command; try again")
	}
	s.client.applying, s.client.applied = true, nil
	s.client.mu.Unlock()
	err := s.ask(ctx, "workspace/executeCommand", c, nil)
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	edits := s.client.applied
	s.client.applying, s.client.applied = false, nil
	return edits, err
}
