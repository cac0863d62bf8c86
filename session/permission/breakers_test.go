package permission

import (
	"os"
	"path/filepath"
	"testing"
)

// What the policy's text names as silent is silent in its other spellings too,
// and what stands beside it is not.
func TestPolicySpellings(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "go test *"), allow("bash", "python3 *"), deny("bash", "rm *")}
	for _, test := range []struct {
		want Action
		cmds []string
	}{
		{Allow, []string{`bash -lc 'go test ./...'`, `bash -ec 'ls; pwd'`, `sh -c ls`, `dash -lc 'ls | wc -l'`, `sh -c 'go test ./src'`, `ionice -c 3 ls`, `ionice -c2 -n 7 ls`, `ls {}`, `git log HEAD@{1}`, `find src | xargs -I{} cat {}`,
			`diff <(sort main.go) <(sort src/a.go)`, `cat src/[ab].go`, `cat src/[a-b].go`, `ls [a-z]*.go`, `ls docs/[a-c0-9]*.txt`, `git branch --contains HEAD`, `git branch --merged`, `git tag --contains HEAD`, `git diff --check`}},
		{ForcedAsk, []string{`sh -c 'echo a &>/dev/null ./x'`, `sh -c "ls $'a\\' ; ./x '"`, `sh -c 'cat {main.go,src/a.go}'`, `dash -c '[[ -f x ]]'`, "sh -c 'bash -c \"ls\npwd\"'", `bash -lic ls`, `python3 <(ls)`, `cat >(ls)`, `cat src/[!a].go`, `cat [a-z]*`, `cat src/[A-z].go`, `cat src/[[:alpha:]].go`}},
		{Ask, []string{`bash -lc 'make'`, `cat <(make)`, `git branch --contains -D x`, `git branch --merged main x`, `git tag --contains HEAD -d v1`, `fd -H '^\.env$' | xargs cat`, `find . -regex '.*\.env' | xargs cat`}},
		{Deny, []string{`cat <(rm a)`, `sh -lc 'rm a'`, `ionice -c3 rm a`, `script -qc 'rm a' x`}},
	} {
		for _, cmd := range test.cmds {
			if v := bash(p, cmd); v.Action != test.want && !(test.want == Ask && v.Action == ForcedAsk) {
				t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, test.want)
			}
		}
	}
}

// A login shell would read files that may do anything: it runs without them.
func TestLoginShellRunsPlain(t *testing.T) {
	if v := bash(project(t), `bash -lc 'ls'`); v.Text != "bash -c ls" && v.Text != "bash -c 'ls'" {
		t.Errorf("it would run %q", v.Text)
	}
}

// A secret is not moved to a name under which it would be read silently, and a
// file named like a flag is none for what xargs runs.
func TestNamesThatChangeMeaning(t *testing.T) {
	p := project(t)
	p.Mode = AcceptEdits
	for _, name := range []string{"id_rsa", "--files0-from=x"} {
		if err := os.WriteFile(filepath.Join(p.Roots.Dir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range []string{`mv id_rsa x`, `cp id_rsa x`, `git ls-files | xargs wc -l`, `fd | xargs wc`} {
		if v := bash(p, cmd); v.Action == Allow {
			t.Errorf("%q is silent", cmd)
		}
	}
	if v := bash(p, `git ls-files | xargs wc -l --`); v.Action != Allow {
		t.Errorf("behind --: %v (%s)", v.Action, v.Reason)
	}
}
