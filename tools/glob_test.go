package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
)

// searchable is a workspace for glob and grep, without the user's ignore file.
func searchable(t *testing.T, files map[string]string) *Workspace {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	return diskWorkspace(t, files)
}

// outsideOf makes files in a folder beside the workspace and returns the folder.
func outsideOf(t *testing.T, files map[string]string) string {
	t.Helper()
	return diskWorkspace(t, files).Dir()
}

func TestGlob(t *testing.T) {
	out := outsideOf(t, map[string]string{"sub/x.txt": "x", "y.txt": "y"})
	ws := searchable(t, map[string]string{
		".gitignore": "gen/*\nnode_modules/\n", ".git/HEAD": "x", "gen/w.py": "x", "node_modules/p/README.md": "x",
		"README.md": "x", "src/a.go": "x", "src/a_test.go": "x", "src/deep/b.go": "x", "main.go": "x",
		".config/app/x.conf": "x", "naïve.txt": "x", "src/view.ts": "x", "src/view.tsx": "x", "a[1].txt": "x",
	})
	const ignored = "\n(Ignored entries left out: 2 (gen/w.py, node_modules). Give one as path to search it.)"
	for _, c := range []struct {
		name, pattern, path string
		want                string // names, joined by spaces in order of name
	}{
		{"any depth", "*.go", "", "main.go src/a.go src/a_test.go src/deep/b.go"},
		{"two stars", "**/*.md", "", "README.md"},
		{"a slash", "src/*.go", "", "src/a.go src/a_test.go"},
		{"below", "src/**/*.go", "", "src/a.go src/a_test.go src/deep/b.go"},
		{"in a folder", "*.go", "src", "src/a.go src/a_test.go src/deep/b.go"},
		{"relative to the folder", "deep/*.go", "src", "src/deep/b.go"},
		{"this folder only", "./*.go", "", "main.go"},
		{"either", "*.{ts,tsx}", "", "src/view.ts src/view.tsx"},
		{"hidden", ".config/**/*.conf", "", ".config/app/x.conf"},
		{"not ASCII", "*.txt", "", "a[1].txt naïve.txt"},
		{"escaped", `a\[1\].txt`, "", "a[1].txt"},
		{"an ignored folder that the pattern names", "gen/*.py", "", "gen/w.py"},
		{"an ignored folder that is named", "*", "gen", "gen/w.py"},
		{"an ignored file that is named", "gen/w.py", "", "gen/w.py"},
		{"below an ignored folder", "**/*.md", "node_modules/p", "node_modules/p/README.md"},
		{"absolute", ws.Dir() + "/src/*.go", "", "src/a.go src/a_test.go"},
		{"a folder", "src/deep/", "", "src/deep/b.go"},
		{"elsewhere", "sub/*.txt", out, out + "/sub/x.txt"},
		{"absolute elsewhere", out + "/**/*.txt", "", out + "/sub/x.txt " + out + "/y.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t, ws, Glob(), args{"pattern": c.pattern, "path": c.path})
			text, _, _ := strings.Cut(r.Text, "\n(")
			got := strings.Split(text, "\n")
			slices.Sort(got)
			if strings.Join(got, " ") != c.want || r.Truncated {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for pattern, want := range map[string]string{
		"*.rs":       `No files match "*.rs".` + ignored,
		"*.md":       "README.md" + ignored,
		"src":        `No files match "src": it is a folder; "src/**" finds the files in it.` + ignored,
		"nowhere/*":  `No files match "nowhere/*": there is no folder nowhere.`,
		"src/*.rs":   `No files match "src/*.rs". A pattern with a slash is relative to the folder that is searched (src); begin it with **/ for any depth.`,
		"node*/**":   `No files match "node*/**". A pattern with a slash is relative to the folder that is searched (.); begin it with **/ for any depth.` + ignored,
		"main.go/*":  `No files match "main.go/*": there is no folder main.go.`,
		"**/.git/**": `No files match "**/.git/**".` + ignored,
	} {
		if r := must(t, ws, Glob(), args{"pattern": pattern}); r.Text != want {
			t.Errorf("%s: %q\nwant %q", pattern, r.Text, want)
		}
	}
}

func TestGlobNewestFirst(t *testing.T) {
	ws := searchable(t, map[string]string{"a": "", "b": "", "c": "", "d": ""})
	now := time.Now()
	for name, age := range map[string]time.Duration{"a": 3, "b": 1, "c": 2, "d": 1} {
		if err := os.Chtimes(at(ws, name), now, now.Add(-age*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if r := must(t, ws, Glob(), args{"pattern": "*"}); r.Text != "b\nd\nc\na" {
		t.Errorf("%q", r.Text)
	}
}

func TestGlobLimit(t *testing.T) {
	files := map[string]string{}
	for i := range 1200 {
		files[fmt.Sprintf("d/f%04d", i)] = ""
		files[fmt.Sprintf("%s/%03d", strings.Repeat("long", 60), i)] = ""
	}
	ws := searchable(t, files)
	if err := os.Symlink(".", at(ws, "d/loop")); err != nil {
		t.Fatal(err)
	}
	r := must(t, ws, Glob(), args{"pattern": "d/**"})
	if n := strings.Count(r.Text, "\n"); n != 1000 || !r.Truncated || !strings.Contains(r.Text, "\n(200 more files match: the limit was reached") {
		t.Errorf("%d line ends, truncated %v, ends in %q", n, r.Truncated, r.Text[len(r.Text)-100:])
	}
	if strings.Contains(r.Text, "loop") || r.Metadata["folder_links"] == nil {
		t.Errorf("the loop: %v", r.Metadata)
	}
	if r := must(t, ws, Glob(), args{"pattern": "long*/*"}); len(r.Text) > 100_000 || !r.Truncated {
		t.Errorf("%d bytes, truncated %v", len(r.Text), r.Truncated)
	}
}

func TestGlobPrepare(t *testing.T) {
	ws := searchable(t, map[string]string{"source/a.go": "x", "file": "x"})
	out := outsideOf(t, map[string]string{"a": "x"})
	for path, want := range map[string]string{"sorce": "source", "file": "is a file", "a\x00b": "NUL"} {
		_, err := prepared(t, ws, Glob(), args{"pattern": "*", "path": path})
		wants(t, err, want)
	}
	_, err := prepared(t, ws, Glob(), args{"pattern": "[a"})
	wants(t, err, "malformed")
	a, err := prepared(t, ws, Glob(), args{"pattern": out + "/*"})
	if err != nil {
		t.Fatal(err)
	}
	want := kinds.Facts{Tool: "glob", ReadOnly: true, Concurrent: true,
		Paths: []kinds.PathAccess{{Access: kinds.List, Path: out, Target: out}}}
	if fmt.Sprint(a.Facts) != fmt.Sprint(want) || a.Kind != kinds.KindSearch {
		t.Errorf("%+v %+v", a.Facts, a.Card)
	}
	// A folder elsewhere is not looked at before that is allowed.
	if _, err := prepared(t, ws, Glob(), args{"pattern": "*", "path": filepath.Join(out, "nowhere")}); err != nil {
		t.Error(err)
	}
	// A link is judged by where it leads.
	if err := os.Symlink(out, at(ws, "link")); err != nil {
		t.Fatal(err)
	}
	if a, err = prepared(t, ws, Glob(), args{"pattern": "link/*"}); err != nil || a.Paths[0].Target != out {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestGlobFindsWhatOnlyTheEditorHas(t *testing.T) {
	ws := searchable(t, map[string]string{"a.go": "", "sub/b.go": ""})
	buffers := map[string]string{at(ws, "new.go"): "x\n", at(ws, "fresh/new.go"): "x\n", at(ws, "closed.go"): "x\n", at(ws, "a.go"): "unsaved\n"}
	ws.Files = &editor{Files: ws.Files, buffers: buffers}
	for _, name := range []string{"new.go", "fresh/new.go", "closed.go", "a.go"} {
		must(t, ws, Read(), args{"path": name})
	}
	delete(buffers, at(ws, "closed.go"))
	for pattern, want := range map[string]string{
		"*.go": "a.go fresh/new.go new.go sub/b.go", "fresh/*": "fresh/new.go", "fresh/new.go": "fresh/new.go", "sub/*": "sub/b.go", "new.go": "fresh/new.go new.go",
	} {
		got := strings.Split(must(t, ws, Glob(), args{"pattern": pattern}).Text, "\n")
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

func TestGlobLeadsNowhereElse(t *testing.T) {
	for pattern, away := range map[string]bool{
		"{src,../outside}/*": true, "*/../../x": true, "{a,..}/x": true, "{..,a}": true, "{src,/etc}/*": true, "{~/x,a}": true,
		"{a,{b,../c}}": true, "**/..": true,
		"**/*.go": false, "{a,b}/*": false, "*..": false, "{a..b,c}/x": false, "*,../x": false, "a{,b}/c": false, "{a/b,c/d}/*": false,
	} {
		if got := leadsAway(pattern); got != away {
			t.Errorf("%q: %t", pattern, got)
		}
	}
}
