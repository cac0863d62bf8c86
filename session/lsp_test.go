package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// diagnosed is a list of n diagnostics, and more that are only counted.
func diagnosed(n, more int) lsp.List {
	out := lsp.List{More: more}
	for i := range n {
		out.Items = append(out.Items, lsp.Diagnostic{Path: "/p/a", At: lsp.Place{Line: i + 1, Column: 1}, Severity: lsp.Error, Message: fmt.Sprintf("m%d", i)})
	}
	return out
}

// TestDeltaText: an edit tells in at most twenty lines what it broke and fixed, with
// honest counts, and never as clean what was not judged.
func TestDeltaText(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("reason %d", i))
	}
	for _, tt := range []struct {
		name  string
		delta lsp.Delta
		has   []string
		lines int
	}{
		{"nothing asked", lsp.Delta{}, nil, 0},
		{"clean", lsp.Delta{Servers: []string{"x"}}, []string{"No new problems (x)."}, 1},
		{"not judged", lsp.Delta{NotReady: []string{"x is not ready"}}, []string{"is not known yet: x is not ready"}, 1},
		{"not judged for two reasons", lsp.Delta{NotReady: many[:2]}, []string{"is not known yet. Ask with lsp diagnostics.", "- reason 0", "- reason 1"}, 3},
		{"one", lsp.Delta{Servers: []string{"x"}, New: diagnosed(1, 0)}, []string{"New problems since this change (x):", "a:1:1 error m0"}, 2},
		{"as many as fit", lsp.Delta{New: diagnosed(19, 0)}, []string{"m18"}, 20},
		{"one too many", lsp.Delta{New: diagnosed(20, 0)}, []string{"m17", "(and 2 more)"}, 20},
		{"very many", lsp.Delta{New: diagnosed(100, 9900)}, []string{"(and 9982 more)"}, 20},
		{"all sorts", lsp.Delta{New: diagnosed(100, 1), Fixed: diagnosed(50, 0), Present: diagnosed(7, 0), NotReady: many}, []string{"Fixed by this change", ": 50", ": 7", "(and 27 more reasons)"}, 20},
		{"some of all", lsp.Delta{New: diagnosed(2, 0), Fixed: diagnosed(3, 0), NotReady: many[:1]}, []string{"m1", "m2", "reason 0"}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := deltaText(tt.delta, func(path string) string { return strings.TrimPrefix(path, "/p/") })
			lines := strings.Split(got, "\n")
			if got == "" {
				lines = nil
			}
			if len(lines) != tt.lines {
				t.Errorf("%d lines, want %d:\n%s", len(lines), tt.lines, got)
			}
			for _, want := range tt.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing:\n%s", want, got)
				}
			}
			if strings.Contains(got, "No new problems") && (len(tt.delta.NotReady) > 0 || len(tt.delta.New.Items) > 0) {
				t.Errorf("told as clean:\n%s", got)
			}
			if n := strings.Count(got, "is not known yet"); n > 1 {
				t.Errorf("said %d times:\n%s", n, got)
			}
		})
	}
	odd := lsp.Delta{New: lsp.List{Items: []lsp.Diagnostic{{Path: "/p/a", At: lsp.Place{Line: 1, Column: 1}, Severity: lsp.Error, Code: "E\n1\u202e", Source: "s\x1b[31m", Message: "a\x1b[2J\u202eb\n\nc\u0000d " + strings.Repeat("x", 5000)}}}}
	if got := deltaText(odd, strings.Clone); strings.ContainsAny(got, "\x1b\u202e\x00") || strings.Count(got, "\n") != 1 || len(got) > 1000 {
		t.Errorf("told as %q", got)
	}
}

// buffers are the files of an editor, which may have others than the disk.
type buffers struct {
	tools.Files
	text string
}

func (b buffers) ReadFile(context.Context, workspace.Path) ([]byte, error) {
	return []byte(b.text), nil
}

// TestSavedInEditor: what an editor has as the disk has it is saved.
func TestSavedInEditor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.h")
	if err := os.WriteFile(path, []byte("int a;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	for text, want := range map[string]bool{"int a;\n": true, "int b;\n": false, "int a, b;\n": false} {
		s := &Session{workspace: &tools.Workspace{Roots: roots}, ends: Ends{Files: buffers{text: text}}}
		if body, saved, err := s.readForLSP(t.Context(), path); body != text || saved != want || err != nil {
			t.Errorf("%q is saved: %v, %v", body, saved, err)
		}
	}
}
