package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A secret file that git tracks is as it is for git, which would else take it as
// changed; for all others it is masked, and so is one that git does not track.
func TestGitSeesWhatItTracks(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		must(t, os.RemoveAll(filepath.Join(p.root, ".git")))
		must(t, os.RemoveAll(filepath.Join(p.root, "sub", "repo")))
		out, err := exec.Command("bash", "-c", `cd "$0" && git init -q && echo sub/.env > .gitignore && git add . && git -c user.name=x -c user.email=x@y commit -qm first && git worktree add -q "$0/linked"`, p.root).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, level := range []Level{Reads, Unasked} {
			for _, dir := range []string{".", "linked"} {
				if out, code := p.run(level, true, git+" -C "+dir+" --no-optional-locks status --short -uno && "+git+" -C "+dir+" diff"); code != 0 || strings.TrimSpace(out) != "" {
					t.Errorf("level %d in %s: status %d, %q", level, dir, code, out)
				}
			}
			for _, name := range []string{".env", "sub/.env"} {
				if out, _ := p.run(level, false, "cat "+name); (strings.Contains(out, "=")) != (w == files) {
					t.Errorf("level %d: %s is shown: %q", level, name, out)
				}
			}
			if out, _ := p.run(level, true, "cat sub/.env"); strings.Contains(out, p.secret) != (w == files) {
				t.Errorf("level %d: what git does not track is shown to it: %q", level, out)
			}
		}
	})
}

func TestIndexed(t *testing.T) {
	entry := func(name, flags string) string {
		return "DIRC" + strings.Repeat("\x01", 60) + flags + name + "\x00\x00"
	}
	for _, c := range []struct {
		data, name string
		want       bool
	}{
		{entry(".env", "\x00\x04"), ".env", true},
		{entry("a/.env", "\x00\x06"), "a/.env", true},
		{entry("a/.env", "\x00\x06"), ".env", false},
		{entry("a/.env", "\x00\x06") + entry(".env", "\xa0\x04"), ".env", true},
		{entry(".env", "\x40\x04\x20\x00"), ".env", true},
		{entry(".env.local", "\x00\x0a"), ".env", false},
		{"DIRC", ".env", false},
		{".env\x00", ".env", false},
		{"DIRC.env\x00", ".env", false},
		{"", ".env", false},
	} {
		if got := indexed([]byte(c.data), c.name); got != c.want {
			t.Errorf("%q in %q: %v", c.name, c.data, got)
		}
	}
}

func FuzzIndexed(f *testing.F) {
	f.Add([]byte("DIRC\x00\x04.env\x00"), ".env")
	f.Fuzz(func(t *testing.T, data []byte, name string) { indexed(data, name) })
}
