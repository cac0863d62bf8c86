package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestGrep(t *testing.T) {
	out := outsideOf(t, map[string]string{"r1/deploy/conf/main.toml": "needle\n"})
	ws := searchable(t, map[string]string{
		".gitignore": "gen/*\n", ".git/HEAD": "needle", "gen/w.py": "needle\n", "a.txt": "one\nneedle here\nthree\n",
		"src/b.go": "Needle\nneedle\n", "src/deep/c.go": "x needle\n", ".config/app/x.conf": "needle\n", "crlf.txt": "needle\r\nx\r\n",
		"bin": "needle\x00", ".env": "needle=1\n",
	})
	const tail = "\n(Binary files, not searched: 1 (bin).)\n(Files that usually hold secrets, not searched: 1 (.env). Give one as path to search it.)" +
		"\n(Ignored entries left out: 1 (gen/w.py). Give one as path to search it.)"
	for _, c := range []struct {
		name string
		in   args
		want string
	}{
		{"all", args{}, ".config/app/x.conf:1:needle\na.txt:2:needle here\ncrlf.txt:1:needle\nsrc/b.go:2:needle\nsrc/deep/c.go:1:x needle" + tail},
		{"in a folder", args{"path": "src"}, "src/b.go:2:needle\nsrc/deep/c.go:1:x needle"},
		{"files", args{"path": "src", "output_mode": "files"}, "src/b.go\nsrc/deep/c.go"},
		{"count", args{"path": "src", "output_mode": "count", "case_insensitive": true}, "src/b.go:2\nsrc/deep/c.go:1"},
		{"a file", args{"path": "a.txt"}, "a.txt:2:needle here"},
		{"context", args{"path": "a.txt", "context": 1}, "a.txt-1-one\na.txt:2:needle here\na.txt-3-three"},
		{"hidden", args{"path": ".config/app"}, ".config/app/x.conf:1:needle"},
		{"an ignored folder", args{"path": "gen"}, "gen/w.py:1:needle"},
		{"an ignored file", args{"path": "gen/w.py"}, "gen/w.py:1:needle"},
		{"a secret file", args{"path": ".env"}, ".env:1:needle=1"},
		{"include by name", args{"include": "*.go"}, "src/b.go:2:needle\nsrc/deep/c.go:1:x needle" + tail},
		{"include by path", args{"include": "src/*.go"}, "src/b.go:2:needle" + tail},
		{"include relative to the workspace", args{"path": "src", "include": "src/deep/**"}, "src/deep/c.go:1:x needle"},
		{"include relative to the folder", args{"path": "src", "include": "deep/*.go"}, "src/deep/c.go:1:x needle"},
		{"include others", args{"path": "src", "include": "!c.*"}, "src/b.go:2:needle"},
		{"include a folder", args{"include": "src/deep/"}, "src/deep/c.go:1:x needle" + tail},
		{"include absolute", args{"include": at(ws, "src/*.go")}, "src/b.go:2:needle" + tail},
		{"line end", args{"pattern": "e$", "path": "crlf.txt"}, "crlf.txt:1:needle"},
		{"literal", args{"pattern": "needle.", "literal": true, "path": "src"}, `No matches for "needle." in src.`},
		{"multiline", args{"pattern": "Needle.needle", "multiline": true, "path": "src"}, "src/b.go:1:Needle\nsrc/b.go:2:needle"},
		{"elsewhere", args{"path": out}, out + "/r1/deploy/conf/main.toml:1:needle"},
		{"a filter that leaves nothing", args{"path": out, "include": "deploy/conf/*.toml"},
			`No file matches include "deploy/conf/*.toml", so nothing was searched. A pattern with a slash is relative to the folder that is searched (` + out + `); begin it with **/ for any depth.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.in["pattern"] == nil {
				c.in["pattern"] = "needle"
			}
			r := must(t, ws, Grep(), c.in)
			// A filter hides the secret file, too.
			want := c.want
			if c.in["include"] != nil {
				want = strings.Replace(want, tail, tail[strings.LastIndex(tail, "\n"):], 1)
			}
			if r.Text != want || r.Truncated {
				t.Errorf("got %q\nwant %q", r.Text, want)
			}
		})
	}
	if r := must(t, ws, Grep(), args{"pattern": "needle"}); fmt.Sprint(r.Metadata["binary_files"]) != "map[count:1 first:[bin]]" || r.Metadata["matches"] != 5 {
		t.Errorf("%v", r.Metadata)
	}
}

func TestGrepLimits(t *testing.T) {
	files := map[string]string{"long": strings.Repeat("ä", 3000) + "needle\n"}
	for i := range 1500 {
		files[fmt.Sprintf("d/f%05d", i)] = "needle\nneedle\nneedle\n"
	}
	ws := searchable(t, files)
	r := must(t, ws, Grep(), args{"pattern": "needle", "path": "d"})
	if n := strings.Count(r.Text, ":needle"); n != 200 || !r.Truncated || !strings.Contains(r.Text, "(Only the first 200 matches are shown: the limit was reached") {
		t.Errorf("%d matches, truncated %v: %q", n, r.Truncated, r.Text[len(r.Text)-200:])
	}
	for _, mode := range []string{"files", "count"} {
		r := must(t, ws, Grep(), args{"pattern": "needle", "output_mode": mode})
		if n := strings.Count(r.Text, "\n"); n != 1000 || !strings.Contains(r.Text, "(501 more files have matches") {
			t.Errorf("%s: %d line ends", mode, n)
		}
	}
	if r := must(t, ws, Grep(), args{"pattern": "needle", "path": "long"}); !strings.Contains(r.Text, "needle") || !strings.Contains(r.Text, "[…]") {
		t.Errorf("the long line: %.100q", r.Text)
	}
	wide := map[string]string{}
	for i := range 100 {
		wide[fmt.Sprintf("f%d", i)] = strings.Repeat("needle ", 300) + "\n"
	}
	if r := must(t, searchable(t, wide), Grep(), args{"pattern": "needle"}); len(r.Text) > 100_000 || !strings.Contains(r.Text, "size limit") {
		t.Errorf("%d bytes", len(r.Text))
	}
}

func TestGrepPrepare(t *testing.T) {
	ws := searchable(t, map[string]string{"source/a.go": "needle"})
	out := outsideOf(t, map[string]string{"a": "needle"})
	for _, c := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "a("}, "missing closing )"},
		{args{"pattern": "(?<=a)b"}, "literal"},
		{args{"pattern": `a\nb`}, "multiline"},
		{args{"pattern": "x", "path": "sorce"}, "source"},
		{args{"pattern": "x", "include": "[a"}, "malformed"},
		{args{"pattern": "x", "output_mode": "lines"}, "output_mode"},
		{args{"pattern": ""}, "pattern"},
	} {
		_, err := prepared(t, ws, Grep(), c.in)
		wants(t, err, c.want)
	}
	a, err := prepared(t, ws, Grep(), args{"pattern": "x", "path": out})
	if err != nil {
		t.Fatal(err)
	}
	want := kinds.Facts{Tool: "grep", ReadOnly: true, Concurrent: true,
		Paths: []kinds.PathAccess{{Access: kinds.Read, Path: out, Target: out}}}
	if fmt.Sprint(a.Facts) != fmt.Sprint(want) || a.Kind != kinds.KindSearch || !strings.Contains(a.Title, out) {
		t.Errorf("%+v %+v", a.Facts, a.Card)
	}
	missing, err := prepared(t, ws, Grep(), args{"pattern": "x", "path": filepath.Join(out, "nowhere")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = missing.Run(t.Context(), func(Output) {})
	wants(t, err, "nowhere", "does not exist")
}

func TestGrepIsCancelled(t *testing.T) {
	ws := searchable(t, map[string]string{"a": "needle"})
	for _, tool := range []Tool{Grep(), Glob()} {
		a, err := prepared(t, ws, tool, args{"pattern": "*a"[1:]})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Run(ctx, func(Output) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool.Spec().ID, err)
		}
	}
}

func TestGrepLinksOut(t *testing.T) {
	ws := searchable(t, map[string]string{"a": "x"})
	out := outsideOf(t, map[string]string{"secret": "needle"})
	if err := os.Symlink(filepath.Join(out, "secret"), at(ws, "link")); err != nil {
		t.Fatal(err)
	}
	r := must(t, ws, Grep(), args{"pattern": "needle"})
	if want := "No matches for \"needle\" in the workspace.\n(Links out of the workspace, not followed: 1 (link).)"; r.Text != want {
		t.Errorf("%q, want %q", r.Text, want)
	}
}

func TestSearchToolsAreRegistered(t *testing.T) {
	r, err := NewRegistry(Glob(), Grep())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"glob", "Glob", "grep", "Grep"} {
		if _, err := r.Find(name); err != nil {
			t.Error(err)
		}
	}
	for _, tool := range []Tool{Glob(), Grep()} {
		if !json.Valid(tool.Spec().Parameters) || !tool.Spec().ReadOnly {
			t.Errorf("%+v", tool.Spec())
		}
	}
}

func TestGrepSearchesTheEditorsText(t *testing.T) {
	ws := searchable(t, map[string]string{"seen": "old\n", "unseen": "old\n", "sub/x": "x\n"})
	ws.Files = &editor{Files: ws.Files, buffers: map[string]string{
		at(ws, "seen"): "needle\r\n", at(ws, "unseen"): "needle\n", at(ws, "new"): "needle\n", at(ws, "sub/new"): "needle\n"}}
	for _, name := range []string{"seen", "new", "sub/new"} {
		must(t, ws, Read(), args{"path": name})
	}
	for path, want := range map[string]string{
		".":    "seen:1:needle\nnew:1:needle\nsub/new:1:needle",
		"seen": "seen:1:needle",
		"sub":  "sub/new:1:needle",
	} {
		r := must(t, ws, Grep(), args{"pattern": "needle", "path": path})
		got := strings.Split(r.Text, "\n")
		slices.Sort(got)
		wanted := strings.Split(want, "\n")
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: %q, want %q", path, got, wanted)
		}
	}
	if r := must(t, ws, Grep(), args{"pattern": "old", "include": "seen"}); r.Text != `No matches for "old" in the workspace.` {
		t.Errorf("the disk's text was searched: %q", r.Text)
	}
}

// TestGrepSaysWhatItLeftOut: what was not searched is named, so that "no
// matches" is not taken for "there are none".
func TestGrepSaysWhatItLeftOut(t *testing.T) {
	out := outsideOf(t, map[string]string{"x": "needle"})
	ws := searchable(t, map[string]string{
		".gitignore": "build/\n", ".git/HEAD": "needle", "build/x": "needle", "image": "\x00needle", "key.pem": "needle", "a": "x\n",
		"late": strings.Repeat("x\n", 8000) + "\x00needle\n",
	})
	for link, to := range map[string]string{"away": out, "within": "build", "out.txt": filepath.Join(out, "x"), "broken": "nowhere"} {
		if err := os.Symlink(to, at(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := must(t, ws, Grep(), args{"pattern": "^needle"})
	for _, line := range []string{
		`No matches for "^needle" in the workspace.`,
		"(Binary files, not searched: 1 (image).)",
		"(Files that usually hold secrets, not searched: 1 (key.pem). Give one as path to search it.)",
		"(Links out of the workspace, not followed: 1 (out.txt).)",
		"(Links to folders elsewhere, not followed: 1 (away). Give one as path to search it.)",
		"(Ignored entries left out: 1 (build). Give one as path to search it.)",
	} {
		if !strings.Contains(r.Text, line) {
			t.Errorf("%q is not said in %q", line, r.Text)
		}
	}
	for _, key := range []string{"binary_files", "secret_files", "links_outside", "folder_links", "folder_links_away", "broken_links", "ignored", "git_folders"} {
		if r.Metadata[key] == nil {
			t.Errorf("%s is not in %v", key, r.Metadata)
		}
	}
	if r := must(t, ws, Grep(), args{"pattern": "needle", "path": "late"}); r.Metadata["matches"] != 1 {
		t.Errorf("a NUL far behind the beginning: %+v", r.Metadata)
	}
	long := searchable(t, map[string]string{"a": "begin\n" + strings.Repeat("x\n", 200) + "end\nafter\n"})
	if r := must(t, long, Grep(), args{"pattern": "begin.*end", "multiline": true}); !strings.HasSuffix(r.Text, "\na:100:x\n(102 more lines of this match are not shown)") {
		t.Errorf("a long match ends in %q", r.Text[len(r.Text)-80:])
	}
}
