package lsp

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestRootOfWorkspaces: packages that something holds together have one server.
func TestRootOfWorkspaces(t *testing.T) {
	const member = "packages/a/package.json"
	for _, tt := range []struct {
		name  string
		files []string
		want  string
	}{
		{"nothing holds it", []string{"package.json:{}", member + ":{}"}, "packages/a"},
		{"workspaces", []string{`package.json:{"workspaces": ["packages/*"]}`, member + ":{}"}, "."},
		{"no workspaces", []string{`package.json:{"workspaces": null}`, member + ":{}"}, "packages/a"},
		{"broken", []string{`package.json:{"workspaces"`, member + ":{}"}, "packages/a"},
		{"pnpm", []string{"pnpm-workspace.yaml:", "package.json:{}", member + ":{}"}, "."},
		{"a lock file of its own", []string{`package.json:{"workspaces": ["x"]}`, member + ":{}", "packages/a/yarn.lock:"}, "packages/a"},
	} {
		dir := layout(t, tt.files...)
		l := lookup{dirs: []string{dir}}
		for _, s := range builtin {
			if s.Name != "typescript" {
				continue
			}
			root, ok := l.root(&s, filepath.Join(dir, "packages", "a", "a.ts"))
			if rel, _ := filepath.Rel(dir, root); !ok || filepath.ToSlash(rel) != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, rel, tt.want)
			}
		}
	}
}

// TestHostileSettings: a pipe that has the name of a project's settings keeps nobody.
func TestHostileSettings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no pipes with names there")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "package.json")
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if hasKey(path, "workspaces") || sumOf(path) != (sum{}) {
		t.Error("a pipe has a key, or a sum")
	}
}

// TestTooManyProjects: where a server was not shown all files in which a name stands, that
// is said of what uses it, and of a rename.
func TestTooManyProjects(t *testing.T) {
	for _, tt := range []struct {
		users int
		want  string
	}{
		{maxProjects, ""},
		{maxProjects + 1, "fake was not shown all files in which foo stands"},
	} {
		files := []string{"a.fake", "def foo\n", "none.fake", "food\n"}
		for i := range tt.users {
			files = append(files, fmt.Sprintf("n%d.fake", i), "foo\n")
		}
		fresh := func() (*project, Target) { // each of a server that was shown nothing yet
			p := importingProject(t, "ok", files...)
			for _, s := range p.view.set.Load().specs {
				s.Projects = []string{"no.project"}
			}
			return p, Target{Path: p.path("a.fake"), Symbol: "foo"}
		}
		p, foo := fresh()
		if a, err := p.view.LookUp(p.context(), References, foo); err != nil || a.Left != tt.want {
			t.Errorf("%d: %q, %v", tt.users, a.Left, err)
		}
		p, foo = fresh()
		if e, err := p.view.Rename(p.context(), foo, "bar"); err != nil || e.Left != tt.want {
			t.Errorf("%d: %q, %v", tt.users, e.Left, err)
		}
	}
}

// TestProjectOfFile: what no settings hold together is a project of its own.
func TestProjectOfFile(t *testing.T) {
	dir := layout(t, "a/tsconfig.json", "a/src/b.ts", "c/d.js")
	p := projects{root: dir, markers: scriptProjects, of: map[string]string{}}
	for name, want := range map[string]string{"a/src/b.ts": "a", "a/c.ts": "a", "c/d.js": "c/d.js", "c/e.js": "c/e.js"} {
		if got := p.project(filepath.Join(dir, filepath.FromSlash(name))); got != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s is of %s", name, got)
		}
	}
}
