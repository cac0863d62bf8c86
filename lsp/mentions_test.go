package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mentioningProject has a server that knows open documents alone, and is not asked
// about any file yet.
func mentioningProject(t *testing.T, files ...string) *project {
	c := fakeConfig("symbols")
	fake := c.Servers["fake"]
	fake.RootMarkers = []string{"mark"}
	c.Servers["fake"] = fake
	p := newProject(t, c, append([]string{"mark", ""}, files...)...)
	for _, s := range p.view.set.Load().specs {
		if s.Name == "fake" {
			s.importing = fakeImporting
		}
	}
	return p
}

// TestMentions: a symbol of a file that nobody opened is found, by a server that
// knows open files alone.
func TestMentions(t *testing.T) {
	files := []string{"a.fake", "def a\n", "deep/cart.fake", "\ndef cart\n", "other.fake", "def cartwheel\nuse cart\n", "text.txt", "def lone\n"}
	for _, name := range []string{"cart", "cartwheel"} { // each asked first
		p := mentioningProject(t, files...)
		target, err := p.view.Locate(p.context(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if want := map[string]string{"cart": "deep/cart.fake", "cartwheel": "other.fake"}[name]; target.Path != p.path(want) {
			t.Errorf("%s is in %s, want %s", name, target.Path, want)
		}
	}
	p := mentioningProject(t, files...)
	for _, name := range []string{"lone", "car", "nothing"} { // in no file of the language, or not as a word
		if target, err := p.view.Locate(p.context(), name); err == nil {
			t.Errorf("%s is found in %s", name, target.Path)
		}
	}
	if list, failed := p.view.WorkspaceSymbols(p.context(), "a"); len(list) != 1 || list[0].Path != p.path("a.fake") || len(failed) != 0 {
		t.Errorf("with one file open: %+v, %v", list, failed)
	}
}

// TestMentionsAreBounded: a name that stands everywhere opens no more files than a
// bound, and a second question none.
func TestMentionsAreBounded(t *testing.T) {
	var files []string
	for i := range 3 * maxMentions {
		files = append(files, fmt.Sprintf("n%02d.fake", i), "use everywhere\n")
	}
	p := mentioningProject(t, files...)
	for range 2 {
		if target, err := p.view.Locate(p.context(), "everywhere"); err == nil {
			t.Fatalf("found in %s", target.Path)
		}
		if list := p.view.Status(); len(list) != 1 || list[0].Open != maxMentions {
			t.Errorf("%+v, want %d files open", list, maxMentions)
		}
	}
}

// TestPartly: what a server judges that knows open files alone is not the project.
func TestPartly(t *testing.T) {
	p := mentioningProject(t, "a.fake", "good\n", "b.fake", "BAD\n", "c.txt", "BAD\n")
	for _, tt := range []struct {
		ask    string
		items  int
		partly []string
	}{
		{"a.fake", 0, []string{"fake judges only files that it is shown, so far 1 of 2"}},
		{"b.fake", 1, nil},
	} {
		if _, err := p.view.Diagnostics(p.context(), p.path(tt.ask)); err != nil {
			t.Fatal(err)
		}
		found, err := p.view.Diagnostics(p.context(), "")
		if err != nil || len(found.Items) != tt.items || !slices.Equal(found.Partly, tt.partly) {
			t.Errorf("after %s: %+v, %v", tt.ask, found, err)
		}
	}
}

// TestProjectOfOneThatJudgesAll: such a server judges the project at the first
// question about it, before one about a file.
func TestProjectOfOneThatJudgesAll(t *testing.T) {
	p := mentioningProject(t, "a.fake", "use gone\n")
	for _, s := range p.view.set.Load().specs {
		if s.Name == "fake" {
			s.importing, s.JudgeAll = nil, judgeCommand
			s.Env[fakeVariable] += " judges-all"
		}
	}
	found, err := p.view.Diagnostics(p.context(), "")
	if err != nil || len(found.Items) != 1 || !strings.Contains(found.Items[0].Message, "undefined: gone") || len(found.NotReady) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestOwnDefinition: a symbol that is asked for by its name alone is where the project
// declares it, also where the server leads from there to another declaration.
func TestOwnDefinition(t *testing.T) {
	const symbol = `[{"name": "foo", "kind": 12, "location": {"uri": "ROOT/b.fake", "range": {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 7}}}}]`
	for definition, want := range map[string]string{
		`[{"uri": "ROOT/a.fake", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}}]`: "b.fake:2 a.fake:1",
		`[{"uri": "ROOT/b.fake", "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 7}}}]`: "b.fake:2",
		`null`: "b.fake:2",
	} {
		p := newProject(t, scriptedConfig("symbols"), "a.fake", "def foo\n", "b.fake", "\ndef foo\n", scriptFile,
			`{"Answers": {"workspace/symbol": `+symbol+`, "textDocument/definition": `+definition+`}}`)
		if _, err := p.view.Diagnostics(p.context(), p.path("a.fake")); err != nil {
			t.Fatal(err)
		}
		target, err := p.view.Locate(p.context(), "foo")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := p.view.LookUp(p.context(), Definition, target)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range answer.Found {
			got = append(got, fmt.Sprintf("%s:%d", filepath.Base(f.Path), f.At.Line))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", definition, got, want)
		}
	}
}
