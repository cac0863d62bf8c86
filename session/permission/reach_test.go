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

// A command gets the network unasked only where all of it that does more than read is
// a use of the network which a rule names: what one part is let do opens nothing for
// the others (policy section 13).
func TestNetworkOfACompound(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "git push *"), allow("bash", "curl https://example.com"), allow("bash", "npm *"), allow("bash", "go test *"), allow("bash", "./x.sh"), allow("bash", "docker compose *"), allow("bash", "npm ci && make all")}
	for cmd, want := range map[string]bool{
		`git push origin main`: true, `curl https://example.com`: true, `npm ci`: true, `git push origin main 2>&1 | tail -3`: true, `cd src && git push origin main`: true, `git status && git push origin main && echo ok`: true, `timeout 60 npm ci`: true, `bash -c 'npm ci'`: true, `npm ci && git push origin main`: true, `docker compose up`: true, `npm ci && make all`: true,
		`go test ./... && git push origin main`: false, `npm ci && npm test`: false, `npm ci; ./x.sh`: false, `curl https://example.com | ./x.sh`: false, `npm run build`: false, `go test ./...`: false, `ls`: false, `npm ci && make`: false, `git push origin main; wget x`: false, `git commit -m x && git push origin main`: false, `bash -c 'go test ./... && git push origin main'`: false, `x=$(go test ./...); git push origin main`: false,
	} {
		if got := p.Reach(facts(p, cmd)).Network; got != want {
			t.Errorf("%q: %v", cmd, got)
		}
	}
	p.Rules = []Rule{allow("bash", "*"), allow("*", "")}
	for _, cmd := range []string{`git push origin main`, `curl https://example.com`} {
		if p.Reach(facts(p, cmd)).Network {
			t.Errorf("%q has the network by a rule that does not name it", cmd)
		}
	}
}

// A command is git's where nothing but git may change anything in it.
func TestGitOfACompound(t *testing.T) {
	p := project(t)
	for cmd, want := range map[string]bool{
		`git commit -m x`: true, `git add . && git commit -m x`: true, `cd src && git add . 2>&1 | sed -n 1p`: true, `git commit -m x; awk '{print}' main.go`: true,
		`make && git commit -m x`: false, `git commit -m x | sh`: false, `echo x`: false, `sed -i p x; git add x`: false, `sh -c 'git add x; make'`: false,
	} {
		if got := p.Reach(facts(p, cmd)).Git; got != want {
			t.Errorf("%q: %v", cmd, got)
		}
	}
}

func facts(p *Policy, cmd string) kinds.Facts {
	return kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: cmd, Dir: p.Roots.Dir()}}
}
