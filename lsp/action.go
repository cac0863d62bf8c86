package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Action is something that a server offers to do to the code.
type Action struct {
	Title     string // on one line
	Kind      string // quickfix, refactor.extract, …
	Preferred bool
	Disabled  string // why it cannot be done now; empty: it can
	Runs      string // the server's command that is all that it does, and is not run; empty: it changes files
	Server    string

	action codeAction
}

// Lines is a range of lines, from 1, both ends included.
type Lines struct {
	First, Last int
}

// Actions are what the servers of a file offer for some of its lines, or, with a
// symbol, for where that stands: what is preferred first, what cannot be done last.
func (v *View) Actions(ctx context.Context, q Target, lines Lines) ([]Action, error) {
	var out []Action
	err := v.actions(ctx, q, lines, func(_ context.Context, _ session, list []Action) (bool, error) {
		out = append(out, list...)
		return true, nil
	})
	rank := func(a Action) int {
		switch {
		case !a.possible():
			return 2
		case a.Preferred:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b Action) int { return cmp.Compare(rank(a), rank(b)) })
	return out, err
}

// possible reports whether the action can be applied.
func (a Action) possible() bool { return a.Disabled == "" && a.Runs == "" }

// Apply is what the action of that title changes. A part of a title, or a kind, does
// where it means one action alone. Nothing is changed yet.
func (v *View) Apply(ctx context.Context, q Target, lines Lines, title string) (Edit, error) {
	var out Edit
	var offered []Action
	done := false
	err := v.actions(ctx, q, lines, func(ctx context.Context, s session, list []Action) (bool, error) {
		offered = append(offered, list...)
		chosen := choose(list, title)
		if len(chosen) == 0 {
			return true, nil
		}
		var err error
		out, err = v.settle(ctx, s, func() (*workspaceEdit, error) {
			if list == nil { // the server was shown another text since
				if list, err = v.offered(ctx, s, q, lines); err != nil {
					return nil, err
				}
				chosen = choose(list, title)
			}
			list = nil
			return s.wanted(ctx, chosen, title)
		})
		done = err == nil
		if done && len(out.Files) == 0 {
			return false, fmt.Errorf("%q changes no file", chosen[0].Title)
		}
		if len(chosen) > 0 {
			out.Title = chosen[0].Title
		}
		return false, err
	})
	switch {
	case err != nil:
		return Edit{}, err
	case done:
		return out, nil
	}
	return Edit{}, notOffered(offered, title)
}

// maxTitles is how many titles an error lists.
const maxTitles = 20

// notOffered says that there is no such action, and which there are.
func notOffered(offered []Action, title string) error {
	var titles []string
	for _, a := range offered {
		if t := strconv.Quote(a.Title); a.possible() && !slices.Contains(titles, t) {
			titles = append(titles, t)
		}
	}
	switch {
	case len(titles) == 0:
		return errors.New("no action is offered there")
	case len(titles) > maxTitles:
		titles = append(titles[:maxTitles], fmt.Sprintf("and %d more", len(titles)-maxTitles))
	}
	return fmt.Errorf("no action is named %q there; there are: %s", title, strings.Join(titles, ", "))
}

// choose are the actions that a title means: those of that title, else of that kind,
// else those whose title it is a part of.
func choose(list []Action, title string) []Action {
	title = oneLine(title)
	for _, name := range []string{title, strings.TrimSuffix(title, " (preferred)")} {
		for _, means := range []func(a Action) bool{
			func(a Action) bool { return a.Title == name },
			func(a Action) bool {
				return strings.EqualFold(a.Title, name) || strings.EqualFold(a.Title+" ["+a.Kind+"]", name)
			},
			func(a Action) bool { return a.Kind == name && a.possible() },
			func(a Action) bool {
				return name != "" && a.possible() && strings.Contains(strings.ToLower(a.Title), strings.ToLower(name))
			},
		} {
			var out []Action
			for _, a := range list {
				if means(a) {
					out = append(out, a)
				}
			}
			possible := slices.DeleteFunc(slices.Clone(out), func(a Action) bool { return !a.possible() })
			switch {
			case len(possible) > 0:
				return possible
			case len(out) > 0:
				return out
			}
		}
	}
	return nil
}

// oneLine is a text with its white space made single blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// maxAlike is how many actions of one title are looked into.
const maxAlike = 4

// wanted is the edit that actions ask for which one title means: one action, or
// several that come to the same.
func (s session) wanted(ctx context.Context, chosen []Action, title string) (*workspaceEdit, error) {
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%q is not offered any more", title)
	}
	if len(chosen) > maxAlike || slices.ContainsFunc(chosen, func(a Action) bool { return a.Title != chosen[0].Title }) {
		return nil, several(chosen, title)
	}
	var out *workspaceEdit
	for i, a := range chosen {
		one, err := s.perform(ctx, a)
		switch {
		case err != nil:
			return nil, err
		case i > 0 && !reflect.DeepEqual(one, out):
			return nil, several(chosen, title)
		}
		out = one
	}
	return out, nil
}

// several says that a title means more than one action.
func several(chosen []Action, title string) error {
	var titles []string
	for _, a := range chosen[:min(len(chosen), maxTitles)] {
		if t := strconv.Quote(a.Title); !slices.Contains(titles, t) {
			titles = append(titles, t)
		}
	}
	if len(titles) > 1 {
		return fmt.Errorf("%q may be any of %s; give the whole title", title, strings.Join(titles, ", "))
	}
	return fmt.Errorf("%d actions are named %s there; say which by its line", len(chosen), titles[0])
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

// offered asks one server. What changes whole files, such as their imports, many
// servers offer only to who asks for that, which is not done for a single place.
func (v *View) offered(ctx context.Context, s session, q Target, lines Lines) ([]Action, error) {
	at, err := s.rangeOf(ctx, q, lines)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, v.wait())
	s.judge(wait)
	cancel()
	list, err := s.codeActions(ctx, at, nil)
	if err != nil {
		return nil, err
	}
	if q.Symbol == "" && q.Column == 0 {
		more, err := s.codeActions(ctx, at, []string{"source"})
		if err != nil && !errors.Is(err, errAnswered) {
			return nil, err
		}
		for _, a := range more { // not all servers heed what they are asked for
			known := slices.ContainsFunc(list, func(o codeAction) bool { return o.Title == a.Title && o.Kind == a.Kind })
			if strings.HasPrefix(a.Kind, "source") && !known {
				list = append(list, a)
			}
		}
	}
	var out []Action
	for _, a := range list {
		if one := s.action(a); one.Title != "" && !a.empty() {
			out = append(out, one)
		}
	}
	return out, nil
}

// codeActions asks for the actions of a range; of all kinds where none is given.
func (s session) codeActions(ctx context.Context, at Range, only []string) (list []codeAction, err error) {
	diagnostics := []json.RawMessage{}
	for _, d := range s.verdicts.of(s.doc.path).items() {
		if d.Range.Start.Line <= at.End.Line && d.Range.End.Line >= at.Start.Line {
			diagnostics = append(diagnostics, d.sent())
		}
	}
	about := map[string]any{"diagnostics": diagnostics, "triggerKind": 1}
	if only != nil {
		about["only"] = only
	}
	err = s.ask(ctx, "textDocument/codeAction", map[string]any{"textDocument": identifier{fileURI(s.doc.path)}, "range": at, "context": about}, &list)
	return list, err
}

// action is an action as the server offers it.
func (s session) action(a codeAction) Action {
	one := Action{Title: oneLine(a.Title), Kind: a.Kind, Preferred: a.IsPreferred, Server: s.server.spec.Name, action: a}
	if a.Disabled != nil {
		one.Disabled = cmp.Or(oneLine(a.Disabled.Reason), "the server says so")
	}
	if c, ok := a.command(); ok && !truthy(a.Edit) && !s.resolves(a) && !onlyEdits(c.Command, a.Kind) {
		one.Runs = c.Command
	}
	return one
}

// empty reports whether all that an action does is an edit of nothing.
func (a *codeAction) empty() bool {
	var w workspaceEdit
	if _, runs := a.command(); runs || !truthy(a.Edit) || json.Unmarshal(a.Edit, &w) != nil {
		return false
	}
	return !slices.ContainsFunc(w.steps, func(s editStep) bool { return s.Kind != "" || len(s.Edits) > 0 })
}

// resolves reports whether the server may say more of an action.
func (s session) resolves(a codeAction) bool {
	return !a.bare() && truthy(a.Data) && member(s.caps.CodeAction, "resolveProvider")
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

// perform is the edit that an action asks for: its own, resolved where need be, or
// the one of its command.
func (s session) perform(ctx context.Context, a Action) (*workspaceEdit, error) {
	if a.Disabled != "" {
		return nil, fmt.Errorf("%q cannot be done: %s", a.Title, a.Disabled)
	}
	action := a.action
	if !truthy(action.Edit) && !action.bare() && member(s.caps.CodeAction, "resolveProvider") {
		var resolved codeAction
		err := s.ask(ctx, "codeAction/resolve", action.raw, &resolved)
		if _, runs := action.command(); err != nil && !(runs && errors.Is(err, errAnswered)) {
			return nil, err
		}
		if err == nil {
			action = resolved
		}
	}
	var out workspaceEdit
	if truthy(action.Edit) {
		if err := json.Unmarshal(action.Edit, &out); err != nil {
			return nil, fmt.Errorf("%s wants an edit that cannot be made: %w", s.server.spec.Name, err)
		}
		return &out, nil
	}
	if c, ok := action.command(); ok {
		list, err := s.execute(ctx, c, action.Kind)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			out.steps = append(out.steps, e.steps...)
		}
	}
	return &out, nil
}

// edits are the commands of which it is known that all they do is to ask for an
// edit. Others may run programs or write files before anybody was asked.
var edits = map[string]bool{
	"gopls.apply_fix": true, "gopls.change_signature": true, "gopls.extract_to_new_file": true, "gopls.add_test": true, "gopls.modify_tags": true,
	"_typescript.applyWorkspaceEdit": true, "_typescript.applyRefactoring": true, "_typescript.organizeImports": true,
	"clangd.applyFix": true, "clangd.applyTweak": true,
	"pyright.organizeimports": true, "basedpyright.organizeimports": true,
	"ruff.applyAutofix": true, "ruff.applyOrganizeImports": true,
	"eslint.applySingleFix": true, "eslint.applySameFixes": true, "eslint.applyAllFixes": true,
	applyArgument: true,
}

// onlyEdits reports whether all that an action's command does is to ask for an edit.
// TypeScript's language server makes the file that it moves code to before it asks.
func onlyEdits(command, kind string) bool {
	return edits[command] && !(command == "_typescript.applyRefactoring" && strings.HasPrefix(kind, "refactor.move"))
}

// applyArgument is jdtls' command whose argument is the edit; the client is to make
// it.
const applyArgument = "java.apply.workspaceEdit"

// execute has the server execute a command, and returns the edits that it asks for
// meanwhile, of which none is made.
func (s session) execute(ctx context.Context, c command, kind string) ([]*workspaceEdit, error) {
	if !onlyEdits(c.Command, kind) {
		return nil, fmt.Errorf("it runs the server's command %s, which may do more than change files; it is not run", c.Command)
	}
	if c.Command == applyArgument {
		var list []*workspaceEdit
		if err := json.Unmarshal(c.Arguments, &list); err != nil || slices.Contains(list, nil) {
			return nil, fmt.Errorf("%s wants an edit that cannot be made: %s has no edit", s.server.spec.Name, c.Command)
		}
		return list, nil
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
