package permission

import (
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

// What is git alone may see the files that git tracks: nothing beside it may read
// what was not judged.
func TestReachOfGit(t *testing.T) {
	p := project(t)
	for cmd, want := range map[string]bool{
		`git status`: true, `git status --short && git diff`: true, `git diff | head -20`: true, `git log --oneline | grep fix`: true, `git diff --stat | sort | sed -n 1,5p`: true,
		`cd src && git status`: true, `git add -A && git commit -m x`: true, `cat main.go; git status`: true, `bash -c 'git status'`: true,
		`ls`: false, `git status; grep -rn x .`: false, `git status; grep -n --recursive x .`: false, `git status && rg x`: false, `git diff; diff -r src docs`: false, `git grep x`: false, `git -C src grep x`: false,
		`git ls-files | xargs cat`: false, `git add -A && make`: false, `bash -c 'git status; grep -rn x .'`: false, `git commit -m x; grep -r x .`: false,
	} {
		if got := p.Reach(kinds.Facts{Command: &kinds.Command{Text: cmd, Dir: p.Roots.Dir()}}).Git; got != want {
			t.Errorf("%q: %v", cmd, got)
		}
	}
}
