package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files below dir: a name ending in a slash is a folder, a content
// that begins with "-> " a link.
func tree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		to, link := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// realDir is a temporary folder without links in its own path.
func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func rootsOf(t testing.TB, dirs ...string) *Roots {
	t.Helper()
	r, err := NewRoots(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestResolve(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{
		"ws/src/a.go":          "x",
		"ws/real/deep/":        "",
		"ws/in":                "-> real/deep",
		"ws/out":               "-> ../outside",
		"ws/abs":               "-> " + top + "/outside/secret.txt",
		"ws/dangling":          "-> ../outside/new.txt",
		"ws/loop":              "-> loop",
		"ws/a1":                "-> a2",
		"ws/a2":                "-> a1/x",
		"ws/tofile":            "-> src/a.go",
		"ws/proc":              "-> /proc/self/cwd",
		"outside/secret.txt":   "s",
		"outside/ws":           "-> ../ws",
		"ws-secret/key.txt":    "k",
		"extra/b.txt":          "b",
		"home/.bashrc":         "x",
		"ws/~/inner.txt":       "a folder that is called ~",
		"ws/$HOME":             "a file that is called $HOME",
		"ws/link-to-extra":     "-> ../extra",
		"ws/chain":             "-> in/../sibling",
		"ws/real/sibling/c.go": "c",
	})
	t.Setenv("HOME", top+"/home")
	r := rootsOf(t, top+"/ws", top+"/extra")
	for _, c := range []struct {
		path, target   string
		inside, exists bool
	}{
		{"src/a.go", "ws/src/a.go", true, true},
		{"./src//a.go", "ws/src/a.go", true, true},
		{"src/a.go/", "ws/src/a.go", true, true},
		{".", "ws", true, true},
		{"..", "", false, true},
		{"src/new/x.go", "ws/src/new/x.go", true, false},
		{"in/x", "ws/real/deep/x", true, false},
		{"in/..", "ws/real", true, true},
		{"in/../src", "ws/real/src", true, false},
		{"in/../sibling/c.go", "ws/real/sibling/c.go", true, true},
		{"chain/c.go", "ws/real/sibling/c.go", true, true},
		{"out/secret.txt", "outside/secret.txt", false, true},
		{"out/..", "", false, true},
		{"out/ws/src/a.go", "ws/src/a.go", true, true},
		{"abs", "outside/secret.txt", false, true},
		{"dangling", "outside/new.txt", false, false},
		{"dangling/more", "outside/new.txt/more", false, false},
		{"tofile", "ws/src/a.go", true, true},
		{"tofile/x", "ws/src/a.go/x", true, false},
		{"missing/../src/a.go", "ws/src/a.go", true, true},
		{"missing/../out/secret.txt", "outside/secret.txt", false, true},
		{"missing/../../ws-secret/key.txt", "ws-secret/key.txt", false, true},
		{"src/a.go/../a.go", "ws/src/a.go", true, true},
		{"../ws-secret/key.txt", "ws-secret/key.txt", false, true},
		{"../ws/src/a.go", "ws/src/a.go", true, true},
		{top + "/ws-secret", "ws-secret", false, true},
		{top + "/extra/b.txt", "extra/b.txt", true, true},
		{"link-to-extra/b.txt", "extra/b.txt", true, true},
		{"~/.bashrc", "home/.bashrc", false, true},
		{"~", "home", false, true},
		{"./~/inner.txt", "ws/~/inner.txt", true, true},
		{"$HOME", "ws/$HOME", true, true},
	} {
		p, err := r.Resolve(c.path)
		if err != nil {
			t.Errorf("Resolve(%q): %v", c.path, err)
			continue
		}
		want := filepath.Join(top, c.target)
		if p.Target != want || p.Inside != c.inside || p.Exists != c.exists {
			t.Errorf("Resolve(%q) = %q inside=%v exists=%v, want %q %v %v",
				c.path, p.Target, p.Inside, p.Exists, want, c.inside, c.exists)
		}
		if !filepath.IsAbs(p.Asked) || p.Asked != filepath.Clean(p.Asked) {
			t.Errorf("Resolve(%q).Asked = %q, not absolute and clean", c.path, p.Asked)
		}
	}
	for path, want := range map[string]error{"loop": ErrLoop, "loop/x": ErrLoop, "a1": ErrLoop, "a\x00b": nil, "": nil} {
		if p, err := r.Resolve(path); err == nil {
			t.Errorf("Resolve(%q) = %+v, want an error", path, p)
		} else if want != nil && !errors.Is(err, want) {
			t.Errorf("Resolve(%q): %v, want %v", path, err, want)
		}
	}
}

func TestResolveStopsAtKernelLinks(t *testing.T) {
	if _, err := os.Lstat("/proc/self/cwd"); err != nil {
		t.Skip("there is no /proc here:", err)
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"up": "-> /proc/self/cwd"})
	r := rootsOf(t, dir)
	for _, path := range []string{"up/resolve.go", "/proc/self/root/etc/passwd", "/proc/self/root/../../../etc/passwd"} {
		p, err := r.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		if !isPseudo(p.Target) || p.Inside {
			t.Errorf("Resolve(%q) = %+v, want a target in /proc", path, p)
		}
		if f, err := r.Open(p); err == nil {
			f.Close()
			t.Errorf("Open(%q) went well", path)
		}
	}
}

func TestRootSpelledThroughALink(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{"real/a.txt": "a", "ws": "-> real"})
	r := rootsOf(t, top+"/ws/")
	if got := r.Dir(); got != top+"/ws" {
		t.Errorf("Dir() = %q", got)
	}
	for _, path := range []string{"a.txt", top + "/ws/a.txt", top + "/real/a.txt"} {
		p, err := r.Resolve(path)
		if err != nil || !p.Inside || p.Target != top+"/real/a.txt" {
			t.Errorf("Resolve(%q) = %+v, %v", path, p, err)
		}
		if got := r.Name(p.Target); got != "a.txt" {
			t.Errorf("Name(%q) = %q", p.Target, got)
		}
	}
	if got, want := r.Name(top+"/ws-2/x"), top+"/ws-2/x"; got != want {
		t.Errorf("Name = %q, want %q", got, want)
	}
	if got := r.Name(top + "/ws"); got != "." {
		t.Errorf("Name of the folder = %q", got)
	}
}

func TestNewRootsSaysWhatIsWrong(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"file": "x", "dangling": "-> nowhere"})
	for path, want := range map[string]string{
		dir + "/missing":  "does not exist",
		dir + "/dangling": "does not exist",
		dir + "/file":     "not a folder",
		"relative/dir":    "relative",
		"":                "empty",
		"/a\x00b":         "NUL",
	} {
		r, err := NewRoots(dir, path)
		if err == nil {
			r.Close()
			t.Errorf("NewRoots(%q) went well", path)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "%!") {
			t.Errorf("NewRoots(%q): %v, want %q in it", path, err, want)
		}
	}
	if _, err := NewRoots(); err == nil {
		t.Error("NewRoots() went well")
	}
	if _, err := NewRoots(dir + "/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap fs.ErrNotExist", err)
	}
}
