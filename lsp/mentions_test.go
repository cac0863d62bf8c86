package lsp

import (
	"fmt"
	"path/filepath"
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

// TestPartly: a server that judges only what it is shown is shown some files where it
// is asked about the project, and how many of all it was shown is said.
func TestPartly(t *testing.T) {
	for _, more := range []int{0, maxImporters} {
		files := []string{"a.fake", "BAD it\n", "b.fake", "BAD too\n", "c.txt", "BAD\n"}
		for i := range more {
			files = append(files, fmt.Sprintf("n%02d.fake", i), "text\n")
		}
		p := mentioningProject(t, files...)
		for _, ask := range []string{"", "b.fake"} {
			if ask != "" {
				ask = p.path(ask)
			}
			if _, err := p.view.Diagnostics(p.context(), ask); err != nil {
				t.Fatal(err)
			}
			found, err := p.view.Diagnostics(p.context(), "")
			if err != nil || len(found.Items) != 2 || len(found.NotReady) != 0 || len(found.Partly) != min(more, 1) {
				t.Errorf("of %d files: %+v, %v", more+2, found, err)
			}
			if want := fmt.Sprintf("so far %d of %d", maxImporters, more+2); more > 0 && !strings.Contains(strings.Join(found.Partly, "; "), want) {
				t.Errorf("%q, want %q", found.Partly, want)
			}
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
