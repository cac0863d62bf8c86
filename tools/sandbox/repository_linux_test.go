package sandbox

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A session in a folder of a repository, or in a further working tree of it, reads
// the repository, and commits where the user approves.
func TestRepositoryOutsideOfTheRoot(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		miss(t, "git is not installed")
	}
	forEachWay(t, func(t *testing.T, w way) {
		base := resolved(t.TempDir())
		out, err := exec.Command("bash", "-c", `cd "$0" && git init -q repo && cd repo && mkdir sub && echo a > sub/a && git add . && git -c user.name=x -c user.email=x@y commit -qm first && git worktree add -q ../tree`, base).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, root := range []string{"repo/sub", "tree", "tree/sub"} {
			p := newProject(t, w, func(o *Options) { o.Roots = []string{filepath.Join(base, root)} })
			p.root = filepath.Join(base, root)
			p.env = append(p.env, "GIT_OPTIONAL_LOCKS=0")
			if out, code := p.run(Reads, true, "git status --short && git log --oneline"); code != 0 || !strings.Contains(out, "first") {
				t.Errorf("%s: status %d: %s", root, code, out)
			}
			const commit = "echo b >> n && git add n && git -c user.name=x -c user.email=x@y commit -qm second && git log --oneline"
			if out, code := p.run(Unasked, true, commit); code == 0 {
				t.Errorf("%s: it commits unasked: %s", root, out)
			}
			if out, code := p.run(Approved, true, commit); code != 0 || !strings.Contains(out, "second") {
				t.Errorf("%s: status %d: %s", root, code, out)
			}
		}
	})
	for _, text := range []string{"gitdir: /", "gitdir: ..", "gitdir: ", "x", ""} {
		p := newProject(t, bubblewrap, nil)
		out, err := exec.Command("bash", "-c", `mkdir "$0/w" && printf %s "$1" > "$0/w/.git"`, p.home, text).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, _ := repositories(filepath.Join(p.home, "w")); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A pipe in the place of a pointer to a repository is not waited for.
func TestPointerIsNoPipe(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(root, ".git"), 0o600); err != nil {
		t.Fatal(err)
	}
	if dirs, pointer := repositories(root); dirs != nil || pointer != "" {
		t.Errorf("found %v by %s", dirs, pointer)
	}
}
