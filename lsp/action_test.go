package lsp

import (
	"fmt"
	"strings"
	"testing"
)

// offers is a script of a server with actions.
func offers(capabilities string, more string, actions ...string) string {
	return fmt.Sprintf(`{"Capabilities": {"codeActionProvider": %s}, "Answers": {"textDocument/codeAction": [%s], "workspace/executeCommand": null %s}`,
		capabilities, strings.Join(actions, ", "), more)
}

// action is one with an edit that replaces the first word of a.fake.
func action(title, kind, text, more string) string {
	return fmt.Sprintf(`{"title": %q, "kind": %q, "edit": %s %s}`, title, kind, steps(edit("a.fake", 0, 3, text)), more)
}

func TestActions(t *testing.T) {
	p := newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile, offers("true", "}",
		action("Plain", "quickfix", "x", ""), action("Best\n of all", "quickfix", "y", `, "isPreferred": true`),
		action("Not now", "refactor", "z", `, "disabled": {"reason": "no selection"}`),
		`{"title": "Browse", "command": "fake.browse"}`, `{"title": "Fix", "command": {"title": "", "command": "clangd.applyFix"}}`,
		`{"title": "Nothing", "kind": "source", "edit": {"changes": {}}}`, `null`, `{"title": "Odd", "edit": {"documentChanges": [{"kind": "odd"}]}}`,
	))
	list, err := p.view.Actions(p.context(), Target{Path: p.path("a.fake")}, Lines{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range list {
		got = append(got, fmt.Sprint(a.Title, " ", a.Disabled, a.Runs))
	}
	if want := "Best of all |Plain |Fix |Odd |Not now no selection|Browse fake.browse"; strings.Join(got, "|") != want {
		t.Errorf("offered %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestApply(t *testing.T) {
	const x, y = "a.fake: \"x foo\\n\"\n", "a.fake: \"y foo\\n\"\n"
	command := func(name string) string {
		return fmt.Sprintf(`{"title": "Do", "command": {"title": "Do", "command": %q, "arguments": [%s]}}`, name, steps(edit("a.fake", 0, 3, "y")))
	}
	applies := `}, "Applies": [` + steps(edit("a.fake", 0, 3, "x")) + `]`
	for _, tt := range []struct{ name, script, title, want, err string }{
		{name: "its title", script: offers("true", "}", action("Do it", "quickfix", "x", ""), action("Do it all", "quickfix", "y", "")), title: "Do it", want: x},
		{name: "as it is listed", script: offers("true", "}", action("Do it", "quickfix", "x", "")), title: "do  it [quickfix] (preferred)", want: x},
		{name: "a part", script: offers("true", "}", action("Do it", "quickfix", "x", ""), action("Leave", "quickfix", "y", "")), title: "leav", want: y},
		{name: "a kind", script: offers("true", "}", action("Sort", "source.organizeImports", "x", ""), action("Leave", "quickfix", "y", "")), title: "source.organizeImports", want: x},
		{name: "a part of two", script: offers("true", "}", action("Do it", "quickfix", "x", ""), action("Do not", "quickfix", "y", "")), title: "do", err: `"do" may be any of "Do it", "Do not"; give the whole title`},
		{name: "twice the same", script: offers("true", "}", action("Do it", "quickfix", "x", ""), action("Do it", "quickfix", "x", "")), title: "Do it", want: x},
		{name: "two of one title", script: offers("true", "}", action("Do it", "quickfix", "x", ""), action("Do it", "quickfix", "y", "")), title: "Do it", err: `2 actions are named "Do it" there; say which by its line`},
		{name: "unknown", script: offers("true", "}", action("Do it", "quickfix", "x", ""), action("Not", "refactor", "z", `, "disabled": {"reason": "no selection"}`)), title: "Undo", err: `no action is named "Undo" there; there are: "Do it"`},
		{name: "disabled", script: offers("true", "}", action("Not", "refactor", "z", `, "disabled": {"reason": "no selection"}`)), title: "Not", err: `"Not" cannot be done: no selection`},
		{name: "none", script: offers("true", "}"), title: "Do it", err: "no action is offered there"},
		{name: "an edit that cannot be made", script: offers("true", "}", `{"title": "Odd", "edit": {"documentChanges": [{"kind": "odd"}]}}`), title: "Odd", err: "fake wants an edit that cannot be made: a step of an unknown kind"},
		{name: "resolved", script: offers(`{"resolveProvider": true}`, `, "codeAction/resolve": `+action("Do", "quickfix", "x", "")+`}`, `{"title": "Do", "data": 1}`), title: "Do", want: x},
		{name: "resolved to nothing", script: offers(`{"resolveProvider": true}`, `, "codeAction/resolve": {"title": "Do"}}`, `{"title": "Do", "data": 1}`), title: "Do", err: `"Do" changes no file`},
		{name: "not resolved", script: offers(`{"resolveProvider": true}`, `}, "Errors": {"codeAction/resolve": "cannot"}`, `{"title": "Do", "data": 1}`), title: "Do", err: "fake answered: cannot"},
		{name: "a bare command that edits is not resolved", script: offers(`{"resolveProvider": true}`, applies, `{"title": "Do", "command": "clangd.applyFix"}`), title: "Do", want: x},
		{name: "a command that edits", script: offers("true", applies, command("gopls.apply_fix")), title: "Do", want: x},
		{name: "a command with its edit", script: offers("true", "}", command("java.apply.workspaceEdit")), title: "Do", want: y},
		{name: "another command", script: offers("true", applies, command("fake.run")), title: "Do", err: "it runs the server's command fake.run, which may do more than change files; it is not run"},
		{name: "a move of TypeScript, which writes unasked", script: offers("true", applies, strings.Replace(command("_typescript.applyRefactoring"), `"command"`, `"kind": "refactor.move.newFile", "command"`, 1)), title: "Do", err: "it is not run"},
		{name: "an edit outside", script: offers("true", "}", `{"title": "Do", "edit": `+steps(edit("../x.fake", 0, 3, "x"))+`}`), title: "Do", err: "lies outside of the project"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile, tt.script)
			e, err := p.view.Apply(p.context(), Target{Path: p.path("a.fake")}, Lines{}, tt.title)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%q, error %v; want %q", p.edited(e), err, tt.err)
				}
				return
			}
			if got := p.edited(e); err != nil || got != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// TestUnaskedEdit: an edit that a server wants while nobody applies an action is
// refused.
func TestUnaskedEdit(t *testing.T) {
	p := newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile,
		`{"Capabilities": {"hoverProvider": true}, "Answers": {"textDocument/hover": null}, "Unasked": true, "Applies": [`+steps(edit("a.fake", 0, 3, "x"))+`]}`)
	got, err := p.view.Hover(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo"})
	if err != nil || !strings.Contains(got.Text, `"applied":false`) {
		t.Errorf("%v, %v", got, err)
	}
}
