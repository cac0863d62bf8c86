package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestRepoOverview(t *testing.T) {
	ws := searchable(t, map[string]string{
		"go.mod": "module x\n", "main.go": strings.Repeat("x", 3000), "Makefile": "all:\n",
		"src/main/java/com/x/A.java": strings.Repeat("y", 1024), "src/main/java/com/x/b/B.java": "b",
		"docs/a.md": "a\n", "docs/b": "b\n", ".hidden/x": "",
		".gitignore": "out/\n*.log\n", "out/a.go": "ignored", "a.log": "ignored",
	})
	r := must(t, ws, RepoOverview(), args{})
	want := `.: 9 files in 9 folders, 4.0 KB

Languages by size:
 74.0 %  Go  2.9 KB, 1 file
 25.3 %  Java  1.0 KB, 2 files
  0.3 %  (no extension)  13 bytes, 3 files
  0.2 %  .mod  9 bytes, 1 file
  0.1 %  Make  5 bytes, 1 file
  0.0 %  Markdown  2 bytes, 1 file

Tree (folders with all files below them):
.hidden/  1 file, 0 bytes
  x
docs/  2 files, 4 bytes
  a.md
  b
src/main/java/com/x/  2 files, 1.0 KB
  b/  1 file, 1 byte
    B.java
  A.java
.gitignore
Makefile
go.mod
main.go
(Ignored entries left out: 2 (a.log, out). Give one as path to search it.)`
	if r.Text != want {
		t.Errorf("got\n%s\nwant\n%s", r.Text, want)
	}
	if r.Metadata["files"] != 9 || r.Metadata["folders"] != 9 {
		t.Errorf("%v", r.Metadata)
	}
	r = must(t, ws, RepoOverview(), args{"path": "out"})
	if !strings.HasPrefix(r.Text, "out: 1 file in 1 folder, 7 bytes\n") || !strings.HasSuffix(r.Text, "below them):\na.go") {
		t.Errorf("an ignored folder that is named:\n%s", r.Text)
	}
}

func TestRepoOverviewCard(t *testing.T) {
	ws := searchable(t, map[string]string{"src/a": "x", "f": "x"})
	a, err := prepared(t, ws, RepoOverview(), args{"path": "src"})
	if err != nil || a.Title != "Overview of src" || a.Kind != kinds.KindRead || !a.ReadOnly || !a.Concurrent || a.Paths[0].Access != kinds.List || a.Paths[0].Path != at(ws, "src") {
		t.Errorf("%+v, %v", a, err)
	}
	for path, want := range map[string]string{"f": "f is a file", "scr": "scr does not exist", "": ""} {
		if _, err := prepared(t, ws, RepoOverview(), args{"path": path}); want != "" {
			wants(t, err, want)
		} else if err != nil {
			t.Error(err)
		}
	}
	empty := searchable(t, nil)
	if r := must(t, empty, RepoOverview(), args{}); r.Text != ".: 0 files in 1 folder, 0 bytes" {
		t.Errorf("%q", r.Text)
	}
}

// TestRepoOverviewIsBounded: what does not fit is counted, and nothing is said
// on more lines than the bounds allow.
func TestRepoOverviewIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		for j := range 20 {
			files[fmt.Sprintf("d%02d/f%02d.e%02d", i, j, i)] = "x"
		}
	}
	files["deep/1/x/2/x/3/x/4/x/5/x/6/x"] = "x"
	for _, dir := range []string{"deep", "deep/1/x", "deep/1/x/2/x", "deep/1/x/2/x/3/x", "deep/1/x/2/x/3/x/4/x"} {
		files[dir+"/own"] = "x"
	}
	ws := searchable(t, files)
	text := must(t, ws, RepoOverview(), args{}).Text
	for _, want := range []string{
		"1206 files", "e00  20 bytes", "46 other kinds of file", "d00/  20 files, 20 bytes\n", "  … 5 files more\n", "… 21 folders more\n", "folders are not opened in the tree",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n > overviewLines+overviewLanguages+10 {
		t.Errorf("%d lines", n)
	}
	text = must(t, ws, RepoOverview(), args{"path": "deep"}).Text
	if !strings.Contains(text, "        5/x/6/  1 file, 1 byte\n        own\n") || !strings.Contains(text, "3 folders are not opened") {
		t.Errorf("\n%s", text)
	}
}

func TestRepoOverviewOfOddThings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names and links need Unix")
	}
	ws := searchable(t, map[string]string{"new\nline\x1b[2J/\ttab": "x", strings.Repeat("long", 60): "x", "big": strings.Repeat("x", 1000)})
	for from, to := range map[string]string{"again": "big", "loop": ".", "broken": "nowhere"} {
		if err := os.Symlink(to, at(ws, from)); err != nil {
			t.Fatal(err)
		}
	}
	r := must(t, ws, RepoOverview(), args{})
	for _, want := range []string{`new\nline\e[2J/`, `\ttab`, "longlong", "…", "Links to folders, not followed: 1 (loop)", "4 files in 2 folders, 1002 bytes"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is missing in\n%s", want, r.Text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, err := prepared(t, ws, RepoOverview(), args{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(ctx, func(Output) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// BenchmarkRepoOverview is one overview of a hundred thousand files.
func BenchmarkRepoOverview(b *testing.B) {
	ws := diskWorkspace(b, nil)
	for i := range 1000 {
		dir := filepath.Join(ws.Dir(), fmt.Sprint(i%10), fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.go", j)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		must(b, ws, RepoOverview(), args{})
	}
}
