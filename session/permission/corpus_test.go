package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// The corpus itself is judged by package corpus. Here its commands and its tree
// are what the engine's properties are tried on.

const corpus = "../../testdata/security"

func readCorpus(t testing.TB, name string) []*cases.Case {
	t.Helper()
	var out []*cases.Case
	for c, err := range cases.Read(filepath.Join(corpus, name)) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func layout(t testing.TB) []cases.File {
	t.Helper()
	list, err := cases.ReadLayout(filepath.Join(corpus, "layout.json"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// newScene builds a tree that is removed with the test.
func newScene(t testing.TB, files ...[]cases.File) scene {
	t.Helper()
	tree, err := cases.NewTree(files...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return scene{tree}
}

type scene struct{ *cases.Tree }

// policy is the policy of a session in the tree, with the mode and the rules of a
// case.
func (s scene) policy(t testing.TB, c *cases.Case) *Policy {
	t.Helper()
	dirs := []string{s.At("ws")}
	for _, d := range c.Additional {
		dirs = append(dirs, s.Expand(d))
	}
	roots, err := workspace.NewRoots(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { roots.Close() })
	p := &Policy{Mode: Mode(c.Mode), Roots: roots, Home: s.At("home"), Headless: c.Headless, Trusted: c.Trusted == nil || *c.Trusted}
	if c.PATH == nil {
		p.Lookup = func(string) bool { return true }
	} else {
		p.Path, p.RemovedPath = process.RebuildPath(strings.Join(c.PATH, string(os.PathListSeparator)), dirs)
	}
	scopes := map[string]Scope{"project": Project, "session": Session, "manifest": Manifest}
	for _, r := range c.Rules {
		var a Action
		if err := a.UnmarshalText([]byte(r.Action)); err != nil {
			t.Fatal(err)
		}
		p.Rules = append(p.Rules, Rule{Permission: r.Permission, Pattern: s.Expand(r.Pattern), Action: a, Scope: scopes[r.Scope]})
	}
	return p
}
