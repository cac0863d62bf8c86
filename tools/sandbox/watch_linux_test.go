package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wantGone fails where something is at a path of the project.
func (p *project) wantGone(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if exists(filepath.Join(p.root, path)) {
			t.Errorf("%s is there", path)
		}
	}
}

func TestProtectedNamesThatACommandMakesArePutAside(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		out, _ := p.run(Unasked, false, `echo evil > AGENTS.md; echo evil > .mcp.json; mkdir -p sub/.vscode && echo evil > sub/.vscode/tasks.json; echo x > t && mv t sub/AGENTS.md; ln -s t sub/.mcp.json; echo fine > plain.txt`)
		p.wantGone(t, "AGENTS.md", ".mcp.json", "sub/.vscode", "sub/AGENTS.md", "sub/.mcp.json")
		for _, want := range []string{"AGENTS.md.unasked", "sub/.vscode.unasked/tasks.json", "sub/AGENTS.md.unasked", "plain.txt"} {
			if !exists(filepath.Join(p.root, want)) {
				t.Errorf("%s is not there", want)
			}
		}
		if !strings.Contains(out, `made "AGENTS.md", which is protected: it was renamed to AGENTS.md.unasked`) {
			t.Errorf("it says:\n%s", out)
		}
		out, _ = p.run(Unasked, false, `echo evil > AGENTS.md`)
		if !exists(filepath.Join(p.root, "AGENTS.md.unasked2")) {
			t.Errorf("the second one is lost:\n%s", out)
		}
		if out, _ := p.run(Unasked, false, `echo again > plain.txt`); strings.Contains(out, "protected") {
			t.Errorf("it says:\n%s", out)
		}
	})
}

// What stands in the place of nothing is freed while it is looked for what a command
// made: nobody made it, and nothing is renamed.
func TestPlacesThatGoMeanwhileAreNotMade(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	w := p.box.watch(Command{Level: Unasked}, bubblewrap)
	at := func(name string) string { return filepath.Join(p.root, name) }
	hits := []found{
		{hit{name: ".zed", guard: Guarded, dir: true}, at(".zed")},
		{hit{name: ".vscode", guard: Guarded, dir: true}, at(".vscode")},
		{hit{name: "AGENTS.md", guard: Guarded}, at("AGENTS.md")},
	}
	undo, _ := p.box.places.take(at(".vscode"), "", true) // for another command
	defer undo()
	must(t, os.WriteFile(at("AGENTS.md"), nil, 0o600))
	if got := w.fresh(hits); !slices.Equal(got, []string{at("AGENTS.md")}) {
		t.Errorf("made: %q", got)
	}
	if said := w.putAside(at(".zed")); said != "" || exists(at(".zed.unasked")) {
		t.Errorf("of what is not there: %q", said)
	}
}

func TestANewFolderMayHaveWhatProjectsHave(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	out, _ := p.run(Unasked, false, `mkdir -p app/.git/hooks app/.vscode && echo x > app/AGENTS.md && echo x > app/.git/hooks/h`)
	for _, want := range []string{"app/.git/hooks/h", "app/AGENTS.md", "app/.vscode"} {
		if !exists(filepath.Join(p.root, want)) {
			t.Errorf("%s is not there:\n%s", want, out)
		}
	}
	// What it is made of later comes from there all the same.
	out, _ = p.run(Unasked, false, `mkdir -p y/.vscode && echo evil > y/.vscode/tasks.json && mv y/.vscode sub/.vscode; mv app/AGENTS.md AGENTS.md`)
	p.wantGone(t, "sub/.vscode", "AGENTS.md")
	if !strings.Contains(out, "renamed") {
		t.Errorf("it says:\n%s", out)
	}
}

func TestProtectedLinksStay(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	link := filepath.Join(p.root, "AGENTS.md")
	must(t, os.Symlink("a.txt", link))
	for _, text := range []string{`rm AGENTS.md`, `rm AGENTS.md && echo evil > AGENTS.md`, `ln -sfn plain.txt AGENTS.md`, `mv AGENTS.md old`, `rm AGENTS.md && mkdir AGENTS.md`} {
		out, _ := p.run(Unasked, false, text)
		if to, err := os.Readlink(link); err != nil || to != "a.txt" {
			t.Errorf("%s: it leads to %q, %v\n%s", text, to, err, out)
		}
		if !strings.Contains(out, "it is as it was") {
			t.Errorf("%s: it says:\n%s", text, out)
		}
	}
}

// What the user made or approved meanwhile is not the command's.
func TestApprovedMeanwhileStays(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	c, err := p.box.Confine(Command{Path: "/bin/true"})
	must(t, err)
	p.run(Approved, false, `echo theirs > AGENTS.md`)
	if said := c.After(); !strings.Contains(said, "meanwhile") {
		t.Errorf("it says %q", said)
	}
	c.Done()
	if !exists(filepath.Join(p.root, "AGENTS.md")) {
		t.Error("it is gone")
	}
	// One that runs on is only told of.
	c, err = p.box.Confine(Command{Path: "/bin/true"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(p.root, ".env.local"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(p.root, ".mcp.json"), nil, 0o600))
	c.Done()
	out, _ := p.run(Unasked, false, "true")
	if !exists(filepath.Join(p.root, ".mcp.json")) || !strings.Contains(out, "ran on in the background") {
		t.Errorf("it says %q", out)
	}
}

// An agent that is killed leaves what stood in the place of absent files.
func TestPlacesThatAreLeftGo(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	places := []string{".vscode", ".acp-agent", ".husky"}
	for _, name := range places {
		must(t, makePlace(filepath.Join(p.root, name), "", true))
	}
	for _, name := range []string{".git/hooks", ".git/commondir"} {
		content := map[bool]string{true: ".\n"}[name == ".git/commondir"]
		must(t, makePlace(filepath.Join(p.root, name), content, content == ""))
	}
	must(t, os.Mkdir(filepath.Join(p.root, ".github"), 0o755)) // the user's
	p.run(Unasked, false, "true")
	p.wantGone(t, places...)
	p.run(Unasked, true, "true")
	p.wantGone(t, ".git/hooks", ".git/commondir")
	if !exists(filepath.Join(p.root, ".github")) {
		t.Error("the user's is gone")
	}
}

// What stands for one session stays for another one that uses it, and what nobody
// uses goes with the next session.
func TestPlacesOfSeveralSessions(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	other := New(p.box.o)
	defer other.Close()
	one, err := p.box.Confine(Command{Path: "/bin/true"})
	must(t, err)
	two, err := other.Confine(Command{Path: "/bin/true"})
	must(t, err)
	place := filepath.Join(p.root, ".vscode")
	New(p.box.o).Tidy()
	one.Done()
	New(p.box.o).Tidy()
	if !exists(place) {
		t.Error("the second one needs it")
	}
	two.Done()
	p.wantGone(t, ".vscode", ".acp-agent")
	must(t, makePlace(place, "", true))
	must(t, makePlace(filepath.Join(p.root, ".git", "commondir"), ".\n", false))
	must(t, os.Mkdir(filepath.Join(p.root, ".husky"), 0o755)) // the user's
	New(p.box.o).Tidy()
	p.wantGone(t, ".vscode", ".git/commondir")
	if !exists(filepath.Join(p.root, ".husky")) {
		t.Error("the user's is gone")
	}
}

// A checkout in the midst of a command brings protected files that are the user's.
// A command cannot make its own look like that.
func TestFilesOfACheckoutStay(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		head := filepath.Join(p.root, ".git", "HEAD")
		must(t, os.WriteFile(head, []byte("ref: refs/heads/main\n"), 0o644))
		must(t, os.Chtimes(head, time.Unix(1, 0), time.Unix(1, 0)))
		out, _ := p.run(Unasked, false, `echo x > .git/HEAD; touch .git/HEAD .git/index; echo evil > AGENTS.md`)
		p.wantGone(t, "AGENTS.md")
		if !strings.Contains(out, "renamed") {
			t.Errorf("it says:\n%s", out)
		}
		if w == files {
			return // there a command can write to HEAD, which then says nothing
		}
		c, err := p.box.Confine(Command{Path: "/bin/true"})
		must(t, err)
		must(t, os.WriteFile(head, []byte("ref: refs/heads/other\n"), 0o644))
		must(t, os.WriteFile(filepath.Join(p.root, "AGENTS.md"), []byte("theirs"), 0o644))
		if said := c.After(); !strings.Contains(said, "meanwhile") {
			t.Errorf("it says %q", said)
		}
		c.Done()
		if !exists(filepath.Join(p.root, "AGENTS.md")) {
			t.Error("it is gone")
		}
	})
}
