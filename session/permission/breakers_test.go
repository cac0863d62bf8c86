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

// A rule that names `git config` does not open what git runs by its configuration.
func TestConfigurationOfGitIsNeverSilent(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "git config *"), allow("bash", "git config core.pager ./x")}
	for _, cmd := range []string{`git config core.pager ./x`, `git config user.name x`, `git config --add core.editor ./x`} {
		if v := bash(p, cmd); v.Action < ForcedAsk {
			t.Errorf("%q: %v", cmd, v.Action)
		}
	}
}

// To ask where a program is does not run it; to run it past its aliases does.
func TestTellingWhereIsNoRun(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{deny("bash", "curl *")}
	for cmd, want := range map[string]Action{
		`command -v curl`: Allow, `command -V curl`: Allow, `command -v curl && ls`: Allow,
		`command curl -v`: Deny, `command -p curl x`: Deny, `command -pv curl`: Deny, `command -v x; curl y`: Deny,
		`timeout 5 bash -c 'curl x'`: Deny, `nice sh -c 'ls; curl x'`: Deny,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
	p.Rules = []Rule{deny("bash", "nice *")}
	if v := bash(p, `timeout 5 nice bash -c ls`); v.Action != Deny {
		t.Errorf("a wrapper that is denied: %v", v.Action)
	}
}

func TestOpenURLForShells(t *testing.T) {
	p := project(t)
	for address, want := range map[string]Action{
		"https://auth.example.com/authorize?client_id=x&scope=a+b&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcb": ForcedAsk,
		"https://auth.example.com/a'b(c)":       ForcedAsk,
		"https://auth.example.com/$(calc)":      Deny,
		"https://auth.example.com/a|b":          Deny,
		"https://auth.example.com/?x=a^%26calc": Deny,
	} {
		if v := p.OpenURL(address); v.Action != want {
			t.Errorf("%s: %v (%s), want %v", address, v.Action, v.Reason, want)
		}
	}
}
