package lsp

import (
	"path/filepath"
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
