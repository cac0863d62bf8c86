package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// walked lists what a walk from path finds.
func walked(t *testing.T, r *Roots, path string, opts WalkOptions) ([]string, *Listing) {
	t.Helper()
	p, err := r.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Walk(t.Context(), r, p, opts)
	if err != nil {
		t.Fatalf("walking %s: %v", path, err)
	}
	var names []string
	for _, f := range list.Files {
		names = append(names, f.Path)
	}
	return names, list
}

func TestWalk(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", realDir(t))
	repo := map[string]string{
		".git/config":              "x",
		".git/info/exclude":        "excluded\n",
		".gitignore":               "gen/*\nnode_modules/\n*.log\n!keep.log\n/top.txt\n",
		".ignore":                  "*.tmp\n!wanted.log\n",
		"gen/w.py":                 "needle",
		"gen/sub/v.py":             "needle",
		"gen/a.log":                "x",
		"node_modules/p/README.md": "inner",
		"node_modules/p/x.log":     "x",
		"README.md":                "outer",
		"top.txt":                  "x",
		"sub/top.txt":              "x",
		"sub/.gitignore":           "local\n",
		"sub/local":                "x",
		"sub/deep/local":           "x",
		"sub/keep.log":             "x",
		"sub/wanted.log":           "x",
		"sub/other.log":            "x",
		"sub/a.tmp":                "x",
		"excluded":                 "x",
		".config/app/x.conf":       "x",
		".venv/.gitignore":         "*\n",
		".venv/lib/m.py":           "x",
		"nested/.git/config":       "x",
		"nested/a.log":             "the outer repository's rules end here",
	}
	for _, c := range []struct {
		name, start string
		want        []string
		ignored     int
	}{
		{"the whole", ".", []string{".config/app/x.conf", ".gitignore", ".ignore", "README.md", "nested/a.log", "sub/.gitignore", "sub/keep.log", "sub/top.txt", "sub/wanted.log"}, 12},
		{"a named folder all of which is ignored", "gen", []string{"sub/v.py", "w.py"}, 1},
		{"below it", "gen/sub", []string{"v.py"}, 0},
		{"an ignored folder", "node_modules", []string{"p/README.md"}, 1},
		{"below an ignored folder", "node_modules/p", []string{"README.md"}, 1},
		{"a folder that ignores itself", ".venv", []string{".gitignore", "lib/m.py"}, 0},
		{"below it", ".venv/lib", []string{"m.py"}, 0},
		{"rules from above", "sub", []string{".gitignore", "keep.log", "top.txt", "wanted.log"}, 4},
		{"hidden", ".config", []string{"app/x.conf"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := realDir(t)
			tree(t, dir, repo)
			r := rootsOf(t, dir)
			got, list := walked(t, r, c.start, WalkOptions{})
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q\nwant  %q", got, c.want)
			}
			if list.Ignored.Count != c.ignored {
				t.Errorf("%d ignored: %q, want %d", list.Ignored.Count, list.Ignored.First, c.ignored)
			}
		})
	}
}

func TestWalkHoldsRulesAboveTheRoot(t *testing.T) {
	config := realDir(t)
	t.Setenv("XDG_CONFIG_HOME", config)
	dir := realDir(t)
	tree(t, config, map[string]string{"git/ignore": "*.bak\n"})
	tree(t, dir, map[string]string{
		".gitignore":           "*.out\n",
		"repo/.git/HEAD":       "x",
		"repo/.gitignore":      "*.log\nvendor/\n",
		"repo/ws/a.go":         "x",
		"repo/ws/a.log":        "x",
		"repo/ws/a.bak":        "x",
		"repo/ws/a.out":        "above the repository",
		"repo/vendor/p/a.go":   "x",
		"repo/vendor/p/b.log":  "x",
		"plain/.gitignore":     "*.log\n",
		"plain/a.log":          "x",
		"plain/b.bak":          "the user's file is for repositories",
		"worktree/.git":        "gitdir: ../repo/.git/worktrees/w\n",
		"worktree/mine":        "x",
		"worktree/other":       "x",
		"repo/.git/worktrees/": "",
	})
	tree(t, dir, map[string]string{
		"repo/.git/worktrees/w/commondir": "../..\n",
		"repo/.git/info/exclude":          "mine\n",
	})
	for start, want := range map[string][]string{
		"repo/ws":       {"a.go", "a.out"},
		"repo/vendor/p": {"a.go"}, // the session's root is named by being it
		"plain":         {".gitignore", "b.bak"},
		"worktree":      {"other"},
	} {
		r := rootsOf(t, filepath.Join(dir, start))
		if got, _ := walked(t, r, ".", WalkOptions{}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", start, got, want)
		}
	}
}

func TestWalkLinks(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{
		"ws/d/f":        "x",
		"ws/d/loop":     "-> ..",
		"ws/self":       "-> self",
		"ws/broken":     "-> nowhere",
		"ws/file":       "-> d/f",
		"ws/out":        "-> ../outside/s.txt",
		"ws/outdir":     "-> ../outside",
		"ws/named/g":    "x",
		"outside/s.txt": "s",
	})
	r := rootsOf(t, top+"/ws")
	got, list := walked(t, r, ".", WalkOptions{Stat: true})
	if want := []string{"d/f", "file", "named/g", "out"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if list.Broken.Count != 2 || !slices.Equal(list.Broken.First, []string{"broken", "self"}) {
		t.Errorf("broken: %+v", list.Broken)
	}
	if !slices.Equal(list.Linked.First, []string{"d/loop"}) || !slices.Equal(list.Away.First, []string{"outdir"}) {
		t.Errorf("linked: %+v, away: %+v", list.Linked, list.Away)
	}
	for _, f := range list.Files {
		if f.ModTime.IsZero() || f.Size != 1 {
			t.Errorf("%s has no time", f.Path)
		}
	}
	if got, _ := walked(t, r, "d/loop/named", WalkOptions{}); !slices.Equal(got, []string{"g"}) {
		t.Errorf("through a link that was named: %q", got)
	}
}

func TestWalkSkipsWhatIsNoFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no FIFOs in folders here")
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"a": "x", "sub/b": "x"})
	for _, name := range []string{"fifo", "sub/.gitignore"} {
		if err := mkfifo(filepath.Join(dir, name)); err != nil {
			t.Skip("a FIFO cannot be made here:", err)
		}
	}
	got, list := walked(t, rootsOf(t, dir), ".", WalkOptions{})
	if !slices.Equal(got, []string{"a", "sub/b"}) || list.Special.Count != 2 {
		t.Errorf("found %q, special %+v", got, list.Special)
	}
}

func TestWalkErrors(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"file": "x"})
	r := rootsOf(t, dir)
	for path, want := range map[string]string{"missing": "no folder", "file": "a file, not a folder", "/proc": "kernel"} {
		p, err := r.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Walk(t.Context(), r, p, WalkOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", path, err, want)
		}
	}
}

func TestWalkCancel(t *testing.T) {
	dir := realDir(t)
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = "x"
	}
	tree(t, dir, files)
	r := rootsOf(t, dir)
	p, err := r.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = Walk(ctx, r, p, WalkOptions{Match: func(string) bool { cancel(why); return true }})
	if !errors.Is(err, why) {
		t.Errorf("%v, want the cause", err)
	}
	if names, _ := walked(t, r, ".", WalkOptions{Depth: 1}); len(names) != 0 {
		t.Errorf("files in subfolders at depth 1: %q", names)
	}
	if names, _ := walked(t, r, ".", WalkOptions{Depth: 2}); len(names) != 3000 {
		t.Errorf("%d files at depth 2", len(names))
	}
	for _, workers := range []int{1, 2, 8} {
		if names, _ := walked(t, r, ".", WalkOptions{Workers: workers}); len(names) != 3000 || !slices.IsSorted(names) {
			t.Errorf("%d workers: %d files", workers, len(names))
		}
	}
}

func TestTally(t *testing.T) {
	var a, b Tally
	for i := range 10 {
		a.Add(fmt.Sprint("n", 9-i))
		b.Add(fmt.Sprint("m", i))
	}
	a.Join(b)
	if a.Count != 20 || !slices.Equal(a.First, []string{"m0", "m1", "m2", "m3", "m4"}) {
		t.Errorf("%+v", a)
	}
}

func TestOpenOnlyRegularFiles(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{"ws/a": "inside", "ws/dir/": "", "outside": "out", "ws/link": "-> a", "ws/away": "-> ../outside"})
	r := rootsOf(t, top+"/ws")
	if err := mkfifo(top + "/ws/fifo"); err != nil {
		t.Log("a FIFO cannot be made here:", err)
	} else {
		tree(t, top, map[string]string{"ws/tofifo": "-> fifo"})
	}
	for path, want := range map[string]string{"a": "inside", "link": "inside", "away": "out", "../outside": "out"} {
		p, _ := r.Resolve(path)
		f, err := r.Open(p)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		buf := make([]byte, 100)
		n, _ := f.Read(buf)
		f.Close()
		if string(buf[:n]) != want {
			t.Errorf("%s: %q", path, buf[:n])
		}
	}
	for path, want := range map[string]string{"dir": "a folder", "fifo": "FIFO", "tofifo": "FIFO", "missing": "no such file", "/dev/null": "kernel", "/proc/self/environ": "kernel"} {
		p, err := r.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Exists && path != "missing" {
			continue // not on this system
		}
		if f, err := r.Open(p); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", path, err, want)
		}
	}
}

func TestOpenWhatWasChecked(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{"ws/d/a": "inside", "outside/a": "SECRET", "ws/e": "inside"})
	r := rootsOf(t, top+"/ws")
	deep, _ := r.Resolve("d/a")
	last, _ := r.Resolve("e")
	for _, err := range []error{
		os.Rename(top+"/ws/d", top+"/ws/moved"), os.Symlink("../outside", top+"/ws/d"),
		os.Remove(top + "/ws/e"), os.Symlink("../outside/a", top+"/ws/e"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []Path{deep, last} {
		if f, err := r.Open(p); err == nil {
			f.Close()
			t.Errorf("%s was opened through a link that was put there since", p.Asked)
		}
	}
}

func TestOpenWithoutBlocking(t *testing.T) {
	dir := realDir(t)
	if err := mkfifo(dir + "/fifo"); err != nil {
		t.Skip("a FIFO cannot be made here:", err)
	}
	r := rootsOf(t, dir)
	done := make(chan error, 1)
	go func() { // awaited below
		p, err := r.Resolve("fifo")
		if err == nil {
			_, err = r.Open(p)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the FIFO was opened")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("opening a FIFO blocks")
	}
}

// peer is a program to compare with.
func peer(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(tb, name+" is not installed", err)
	}
	return path
}

// missing ends a test for which something is not here: in CI, where all is to be
// here, it fails.
func missing(tb testing.TB, what string, err error) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("%s, and nothing is skipped in CI: %v", what, err)
	}
	tb.Skipf("%s: %v", what, err)
}

// goSources is the standard library, as a large tree.
func goSources(tb testing.TB) string {
	tb.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		missing(tb, "the go command does not say where its sources are", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src")
	if _, err := os.Stat(dir); err != nil {
		missing(tb, "the Go sources are not here", err)
	}
	return dir
}

func BenchmarkWalk(b *testing.B) {
	r := rootsOf(b, goSources(b))
	p, err := r.Resolve(".")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		list, err := Walk(b.Context(), r, p, WalkOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(list.Files)), "files")
	}
}
