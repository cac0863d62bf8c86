//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// asNobody runs a test once more, in a process of a user who may not read
// everything, where this process may: then nothing is left to do here.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nobody") // not the test's: others may not enter that
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skip("no other user can run this test here:", err)
	}
	if err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}
	return true
}

func TestWalkUnreadable(t *testing.T) {
	if asNobody(t) {
		return
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"a": "x", "locked/b": "x"})
	locked := filepath.Join(dir, "locked")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(locked, 0o755) })
	if f, err := os.Open(locked); err == nil {
		f.Close()
		t.Skip("this user may read every folder")
	}
	r := rootsOf(t, dir)
	got, list := walked(t, r, ".", WalkOptions{})
	if !slices.Equal(got, []string{"a"}) || !slices.Equal(list.Unreadable.First, []string{"locked"}) {
		t.Errorf("found %q, unreadable %+v", got, list.Unreadable)
	}
	p, err := r.Resolve("locked")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Walk(t.Context(), r, p, WalkOptions{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("walking the folder itself: %v", err)
	}
}

// TestSearchUnreadableAsRipgrep searches the tree of what goes wrong as a user
// from whom some of it is closed.
func TestSearchUnreadableAsRipgrep(t *testing.T) {
	rg := peer(t, "rg")
	if asNobody(t) {
		return
	}
	c := newComparison(t, rg, nastyTree(t))
	for _, q := range rgQueries[:12] {
		c.compare(t, q)
	}
	found, err := Search(t.Context(), c.roots, c.start, c.files, mustCompile(t, Query{Pattern: "needle"}), SearchOptions{})
	if err != nil || !slices.Equal(found.Unreadable.First, []string{"closed-file"}) {
		t.Errorf("%+v %v", found.Unreadable, err)
	}
}
