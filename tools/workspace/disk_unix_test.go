//go:build unix

package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWriteFileKeepsMode(t *testing.T) {
	dir := realDir(t)
	d, r := diskOf(t, dir)
	for _, mode := range []fs.FileMode{0o755, 0o600, 0o664, 0o750 | fs.ModeSetgid} {
		path := filepath.Join(dir, "run.sh")
		if err := errors.Join(os.WriteFile(path, []byte("a"), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := d.WriteFile(t.Context(), resolved(t, r, "run.sh"), []byte("a"), []byte("b")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("mode %v, want %v (%v)", info.Mode(), mode, err)
		}
	}
}

func TestWriteFileObeysUmask(t *testing.T) {
	dir := realDir(t)
	d, r := diskOf(t, dir)
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(probe)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.WriteFile(t.Context(), resolved(t, r, "new"), nil, []byte("b")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(filepath.Join(dir, "new")); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v (%v)", got.Mode(), want.Mode(), err)
	}
}

func TestWriteFileKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the superuser may give a file away")
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"a.txt": "a"})
	path := filepath.Join(dir, "a.txt")
	if err := os.Chown(path, 1234, 4321); err != nil {
		t.Skip("files cannot be given away here:", err)
	}
	d, r := diskOf(t, dir)
	if _, err := d.WriteFile(t.Context(), resolved(t, r, "a.txt"), []byte("a"), []byte("b")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if sys := info.Sys().(*syscall.Stat_t); sys.Uid != 1234 || sys.Gid != 4321 {
		t.Errorf("owner %d:%d", sys.Uid, sys.Gid)
	}
}

func TestWriteFileKeepsHardLinks(t *testing.T) {
	dir := realDir(t)
	for _, c := range []struct{ old, new string }{{"short", "much longer"}, {"much longer", "short"}, {"same", "SAME"}, {"x", ""}, {"", "x"}} {
		one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
		os.Remove(two)
		if err := errors.Join(os.WriteFile(one, []byte(c.old), 0o644), os.Link(one, two)); err != nil {
			t.Fatal(err)
		}
		d, r := diskOf(t, dir)
		if _, err := d.WriteFile(t.Context(), resolved(t, r, "one"), []byte("else"), []byte(c.new)); !errors.Is(err, ErrChanged) {
			t.Errorf("%v", err)
		}
		if _, err := d.WriteFile(t.Context(), resolved(t, r, "one"), []byte(c.old), []byte(c.new)); err != nil {
			t.Fatal(err)
		}
		a, _ := os.Stat(one)
		b, _ := os.Stat(two)
		if !os.SameFile(a, b) || content(t, two) != c.new {
			t.Errorf("%q became %q, of the same file: %v", c.old, content(t, two), os.SameFile(a, b))
		}
	}
	if got := names(t, dir); got != "one two" {
		t.Errorf("left: %s", got)
	}
}

func TestWriteFileReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may write to every folder")
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"ro/a.txt": "a"})
	ro := filepath.Join(dir, "ro")
	if err := os.Chmod(ro, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(ro, 0o755) })
	d, r := diskOf(t, dir)
	for path, old := range map[string][]byte{"ro/a.txt": []byte("a"), "ro/new": nil, "ro/x/new": nil} {
		_, err := d.WriteFile(t.Context(), resolved(t, r, path), old, []byte("b"))
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "cannot be written to") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := names(t, ro); got != "a.txt" || content(t, filepath.Join(ro, "a.txt")) != "a" {
		t.Errorf("left: %s", got)
	}
}

// limitedChild marks the process that TestWriteFileWithoutSpace starts.
const limitedChild = "WORKSPACE_TEST_LIMITED"

// TestWriteFileWithoutSpace has a limit on the size of files stand for a disk
// that gets full in the middle of a write.
func TestWriteFileWithoutSpace(t *testing.T) {
	if dir := os.Getenv(limitedChild); dir != "" {
		writeWithoutSpace(dir)
		return
	}
	dir := realDir(t)
	old := strings.Repeat("old\n", 1000)
	tree(t, dir, map[string]string{"a.txt": old, "linked": old})
	if err := os.Link(filepath.Join(dir, "linked"), filepath.Join(dir, "linked2")); err != nil {
		t.Skip("the file system has no hard links:", err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestWriteFileWithoutSpace$")
	child.Env = append(os.Environ(), limitedChild+"="+dir)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := bytes.Count(out, []byte("refused:")); got != 3 {
		t.Errorf("%d of 3 writes were refused: %s", got, out)
	}
	if bytes.Contains(out, []byte(".tmp")) {
		t.Errorf("an error names a temporary file: %s", out)
	}
	if got := names(t, dir); got != "a.txt linked linked2" {
		t.Errorf("left: %s", got)
	}
	for _, name := range []string{"a.txt", "linked", "linked2"} {
		if content(t, filepath.Join(dir, name)) != old {
			t.Errorf("%s lost its content", name)
		}
	}
}

// writeWithoutSpace is the child's part: three writes, each of which must fail.
func writeWithoutSpace(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	limit := unix.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println("limit:", err)
		return
	}
	r, err := NewRoots(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	old, data := []byte(strings.Repeat("old\n", 1000)), bytes.Repeat([]byte("new\n"), 100_000)
	for name, old := range map[string][]byte{"a.txt": old, "linked": old, "x/new.txt": nil} {
		p, err := r.Resolve(name)
		if err == nil {
			_, err = NewDisk(r).WriteFile(context.Background(), p, old, data)
		}
		if err != nil {
			fmt.Println("refused:", err)
		}
	}
}
