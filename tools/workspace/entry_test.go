package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRemove(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{"ws/a.txt": "a", "ws/b.txt": "b", "ws/link": "-> b.txt", "ws/d/x": "x", "outside/c.txt": "c"})
	d, r := diskOf(t, filepath.Join(top, "ws"))
	for path, c := range map[string]struct {
		old     string
		changed bool
	}{
		"a.txt": {"other", true}, "none": {"", true}, "d": {"", true}, "nowhere/x": {"", true},
	} {
		if err := d.Remove(t.Context(), resolved(t, r, path), []byte(c.old)); err == nil || errors.Is(err, ErrChanged) != c.changed {
			t.Errorf("%s: %v", path, err)
		}
	}
	link := resolved(t, r, "link")
	b := resolved(t, r, "b.txt")
	if err := errors.Join(os.Remove(b.Target), os.Symlink("a.txt", b.Target)); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(t.Context(), link, []byte("b")); !errors.Is(err, ErrChanged) { // it became a link since
		t.Errorf("%v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Remove(cancelled, resolved(t, r, "a.txt"), []byte("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"a.txt", filepath.Join(top, "outside", "c.txt")} {
		p := resolved(t, r, path)
		if err := d.Remove(t.Context(), p, []byte(content(t, p.Target))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := names(t, top); got != "outside ws ws/b.txt ws/d ws/d/x ws/link" {
		t.Error(got)
	}
}

func TestMove(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{"ws/a.sh": "a", "ws/b.txt": "b", "ws/f/x": "x", "outside/c.txt": "c"})
	d, r := diskOf(t, filepath.Join(top, "ws"))
	if err := os.Chmod(filepath.Join(top, "ws", "a.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(top, "ws", "a.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, old string }{
		{"a.sh", "b.txt", "a"}, {"a.sh", "new/n.sh", "other"}, {"none", "n", ""}, {"f", "n", ""}, {"a.sh", "b.txt/n", "a"},
	} {
		if err := d.Move(t.Context(), resolved(t, r, c.from), resolved(t, r, c.to), []byte(c.old)); err == nil {
			t.Errorf("%+v went well", c)
		}
	}
	if err := d.Move(t.Context(), resolved(t, r, "a.sh"), resolved(t, r, "new/deep/n.sh"), []byte("a")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(top, "ws", "new", "deep", "n.sh"))
	if err != nil || after.Mode() != before.Mode() || runtime.GOOS != "windows" && !os.SameFile(before, after) {
		t.Errorf("%v, %v", after, err)
	}
	if err := d.Move(t.Context(), resolved(t, r, "b.txt"), resolved(t, r, filepath.Join(top, "outside", "b.txt")), []byte("b")); err != nil {
		t.Error(err)
	}
	if got := names(t, top); got != "outside outside/b.txt outside/c.txt ws ws/f ws/f/x ws/new ws/new/deep ws/new/deep/n.sh" {
		t.Error(got)
	}
}

// TestMoveByCopy is a move where a second name cannot be given.
func TestMoveByCopy(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"a.sh": "a", "taken": "t"})
	if err := os.Chmod(filepath.Join(dir, "a.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, r := diskOf(t, dir)
	to, err := d.parent(resolved(t, r, "b.sh"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer to.close()
	from, err := d.parent(resolved(t, r, "a.sh"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer from.close()
	info, err := from.at.Lstat("a.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := to.copyOf(t.Context(), []byte("a"), info); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(filepath.Join(dir, "b.sh"))
	if err != nil || runtime.GOOS != "windows" && now.Mode() != info.Mode() || content(t, filepath.Join(dir, "b.sh")) != "a" {
		t.Errorf("%v, %v", now, err)
	}
	if err := to.copyOf(t.Context(), []byte("a"), info); !errors.Is(err, ErrChanged) {
		t.Errorf("over a file: %v", err)
	}
}

func TestSetMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"a.sh": "a", "d/x": "x"})
	d, r := diskOf(t, dir)
	p := resolved(t, r, "a.sh")
	for _, mode := range []fs.FileMode{0o755, 0o200, 0o644, 0} {
		if err := d.SetMode(t.Context(), p, mode); err != nil {
			t.Errorf("%v: %v", mode, err)
		}
		if info, err := os.Stat(p.Target); err != nil || info.Mode() != mode {
			t.Errorf("%v, %v, want %v", info.Mode(), err, mode)
		}
	}
	if err := d.SetMode(t.Context(), resolved(t, r, "d"), 0o600); err == nil {
		t.Error("the mode of a folder was changed")
	}
	if _, err := d.Mode(resolved(t, r, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestRemoveFolders(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"a/b/keep": "x", "a/b/c/d/e/gone": "x"})
	if err := os.Remove(filepath.Join(dir, "a/b/c/d/e/gone")); err != nil {
		t.Fatal(err)
	}
	d, r := diskOf(t, dir)
	d.RemoveFolders(resolved(t, r, "a/b/c/d/e/gone"), filepath.Join(dir, "a", "b", "c"))
	if got := names(t, dir); got != "a a/b a/b/c a/b/keep" {
		t.Error(got)
	}
	d.RemoveFolders(resolved(t, r, "a/b/c/gone"), dir)
	if got := names(t, dir); got != "a a/b a/b/keep" {
		t.Error(got)
	}
	d.RemoveFolders(resolved(t, r, "a/b/keep"), filepath.Join(dir, "elsewhere"))
	if got := names(t, dir); got != "a a/b a/b/keep" {
		t.Error(got)
	}
}
