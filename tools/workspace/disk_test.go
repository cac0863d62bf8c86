package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func diskOf(t testing.TB, dir string) (*Disk, *Roots) {
	r := rootsOf(t, dir)
	return NewDisk(r), r
}

func resolved(t testing.TB, r *Roots, path string) Path {
	t.Helper()
	p, err := r.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// names lists everything below dir, to see that nothing was left behind.
func names(t testing.TB, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteFile(t *testing.T) {
	top := realDir(t)
	dir := filepath.Join(top, "ws")
	tree(t, top, map[string]string{
		"ws/a.txt": "old", "ws/empty": "", "ws/sub/b.txt": "b", "ws/link": "-> sub/b.txt",
		"ws/dangling": "-> sub/made.txt", "outside/c.txt": "c",
	})
	d, r := diskOf(t, dir)
	for _, c := range []struct {
		path, old, new string
		create         bool
		at             string // where the content is then
	}{
		{"a.txt", "old", "new", false, "ws/a.txt"},
		{"empty", "", "x", false, "ws/empty"},
		{"a.txt", "new", "", false, "ws/a.txt"},
		{"link", "b", "through the link", false, "ws/sub/b.txt"},
		{"dangling", "", "made", true, "ws/sub/made.txt"},
		{"new.txt", "", "n", true, "ws/new.txt"},
		{"x/y/z.txt", "", "deep", true, "ws/x/y/z.txt"},
		{filepath.Join(top, "outside/c.txt"), "c", "C", false, "outside/c.txt"},
		{filepath.Join(top, "outside/p/q.txt"), "", "q", true, "outside/p/q.txt"},
	} {
		old := []byte(c.old)
		if c.create {
			old = nil
		}
		got, err := d.WriteFile(t.Context(), resolved(t, r, c.path), old, []byte(c.new))
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if string(got) != c.new || content(t, filepath.Join(top, c.at)) != c.new {
			t.Errorf("%s: %q, on disk %q", c.path, got, content(t, filepath.Join(top, c.at)))
		}
		read, err := d.ReadFile(t.Context(), resolved(t, r, c.path))
		if err != nil || string(read) != c.new || read == nil {
			t.Errorf("%s: read %q, %v", c.path, read, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(dir, "link")); err != nil || to != "sub/b.txt" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if got, want := names(t, dir), "a.txt dangling empty link new.txt sub sub/b.txt sub/made.txt x x/y x/y/z.txt"; got != want {
		t.Errorf("left: %s", got)
	}
}

func TestWriteFileRefusesWhatChanged(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"a.txt": "now", "d/": "", "gone/x.txt": "x"})
	d, r := diskOf(t, dir)
	gone := resolved(t, r, "gone/x.txt")
	if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		p    Path
		old  []byte
	}{
		{"other content", resolved(t, r, "a.txt"), []byte("old")},
		{"other length", resolved(t, r, "a.txt"), []byte("n")},
		{"there by now", resolved(t, r, "a.txt"), nil},
		{"gone", resolved(t, r, "b.txt"), []byte("b")},
		{"gone with its folder", gone, []byte("x")},
		{"a folder by now", resolved(t, r, "d"), []byte("x")},
		{"a folder in the place of a new file", resolved(t, r, "d"), nil},
	} {
		if _, err := d.WriteFile(t.Context(), c.p, c.old, []byte("new")); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", c.name, err)
		} else if strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v names a temporary file", c.name, err)
		}
	}
	if got := names(t, dir); got != "a.txt d" || content(t, filepath.Join(dir, "a.txt")) != "now" {
		t.Errorf("left: %s", got)
	}
}

func TestWriteFileRefusesLinksThatWerePutThere(t *testing.T) {
	top := realDir(t)
	tree(t, top, map[string]string{"ws/sub/a.txt": "a", "out/a.txt": "a", "ws/other/a.txt": "a"})
	d, r := diskOf(t, filepath.Join(top, "ws"))
	p := resolved(t, r, "sub/a.txt")
	for _, to := range []string{"../out", "other"} {
		if err := os.RemoveAll(filepath.Join(top, "ws/sub")); err != nil {
			t.Fatal(err)
		}
		tree(t, top, map[string]string{"ws/sub": "-> " + to})
		if _, err := d.ReadFile(t.Context(), p); err == nil || to == "../out" && !strings.Contains(err.Error(), "a folder of its path became a link that leads out of the project; try again") {
			t.Errorf("reading through a link to %s: %v", to, err)
		}
		for _, old := range [][]byte{nil, []byte("a")} {
			if _, err := d.WriteFile(t.Context(), p, old, []byte("evil")); err == nil {
				t.Errorf("wrote through a link to %s", to)
			}
		}
	}
	for _, path := range []string{"out/a.txt", "ws/other/a.txt"} {
		if got := content(t, filepath.Join(top, path)); got != "a" {
			t.Errorf("%s holds %q", path, got)
		}
	}
}

func TestWriteFileNeedsAFolder(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"file": "x"})
	d, r := diskOf(t, dir)
	_, err := d.WriteFile(t.Context(), resolved(t, r, "file/new.txt"), nil, []byte("new"))
	if err == nil || !strings.Contains(err.Error(), "file is a file, not a folder") {
		t.Errorf("%v", err)
	}
	if _, err := d.WriteFile(t.Context(), resolved(t, r, "."), nil, nil); err == nil {
		t.Error("wrote the root")
	}
}

func TestWriteFileCancelled(t *testing.T) {
	dir := realDir(t)
	d, r := diskOf(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user cancelled")
	cancel(cause)
	if _, err := d.WriteFile(ctx, resolved(t, r, "x/a.txt"), nil, []byte("new")); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if _, err := d.ReadFile(ctx, resolved(t, r, "x/a.txt")); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if got := names(t, dir); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestWriteFileRespectsReadOnlyFiles(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"a.txt": "a"})
	path := filepath.Join(dir, "a.txt")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	d, r := diskOf(t, dir)
	_, err := d.WriteFile(t.Context(), resolved(t, r, "a.txt"), []byte("a"), []byte("b"))
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v", err)
	}
	if content(t, path) != "a" {
		t.Error("it was written")
	}
}

func TestReadFileMissing(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"d/": ""})
	d, r := diskOf(t, dir)
	if _, err := d.ReadFile(t.Context(), resolved(t, r, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := d.ReadFile(t.Context(), resolved(t, r, "d")); err == nil {
		t.Error("read a folder")
	}
}

func TestReadFileTooLarge(t *testing.T) {
	dir := realDir(t)
	f, err := os.Create(filepath.Join(dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(f.Truncate(MaxFile+1), f.Close())
	if err != nil {
		t.Skip("the file system has no sparse files:", err)
	}
	d, r := diskOf(t, dir)
	if _, err := d.ReadFile(t.Context(), resolved(t, r, "huge")); err == nil || !strings.Contains(err.Error(), "536870913 bytes") {
		t.Errorf("%v", err)
	}
}

func TestSiblingsAndElsewhere(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"src/main.go": "", "src/util.go": "", "deep/er/main.go": "", ".gitignore": "/built\n", "built/main.go": ""})
	r := rootsOf(t, dir)
	got := r.Siblings(resolved(t, r, "src/mian.go"))
	if len(got) != 2 {
		t.Errorf("siblings: %v", got)
	}
	for _, path := range []string{"none/x", "src/main.go/x", "/nowhere/x"} {
		if got := r.Siblings(resolved(t, r, path)); len(got) != 0 {
			t.Errorf("siblings of %s: %v", path, got)
		}
	}
	found := r.Elsewhere(t.Context(), func(rel string) bool { return strings.HasSuffix(rel, "main.go") })
	if strings.Join(found, " ") != "deep/er/main.go src/main.go" {
		t.Errorf("elsewhere: %v", found)
	}
}
