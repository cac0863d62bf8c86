package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is read of a folder is what the command's own words take of it: it asks where a
// file that usually holds secrets is among that, and nothing masks it (policy 10.4).
func TestReadingFolders(t *testing.T) {
	p := project(t)
	index := "DIRC\x00\x00\x00\x02...main.go\x00..certs/server.key\x00"
	if err := os.WriteFile(filepath.Join(p.Roots.Dir(), ".git", "index"), []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	silent := []string{
		`grep -rn x src`, `grep -rn x --include='*.go' .`, `grep -rn x --include='*.go' --include='*.md' .`, `grep -rn x . --include=*.go --exclude-dir=vendor`, `rg -g '*.go' x`, `rg -t go x`, `rg -g '*.{ts,tsx}' x`, `rg x src`, `rg x docs -uu`,
		`find . -type f -print0 | xargs -0 grep -l TODO`, `find . -type f | xargs wc -l`, `find . -type f | xargs stat`, `find . -name '*.go' | xargs cat`, `find . \( -name '*.go' -o -name '*.md' \) | xargs cat`, `find . -path ./node_modules -prune -o -name '*.js' -print | xargs cat`, `find . -type f -not -name '.env' -name '*.txt' | xargs cat`, `find src -type f | xargs cat`, `find . -maxdepth 1 -path '*/s*' | xargs cat`, `find . -type d | xargs cat`,
		`find . -name package.json -not -path '*/node_modules/*' | xargs -n1 dirname`, `fd -e go | xargs cat`, `fd '\.go$' | xargs head -5`, `rg --files -g '*.go' | xargs cat`, `rg --files src | xargs cat`, `git ls-files '*.go' | xargs cat`, `git ls-files docs | xargs cat`,
	}
	asks := []string{
		`grep -rn x .`, `grep -rn x --exclude='*.go' .`, `grep -rn x --exclude=a --include='*.go' .`, `grep -rn x --include='*' .`, `grep -rn x --include='*.k*' .`, `grep -rn x --include='[!a]*' .`, `rg x`, `rg -g '!*.go' x`, `rg -g '*.{go,key}' x`, `rg -t foo x`, `rg -uu x config`, `rg --hidden -g '*production' x`, `rg x -g 'certs/*'`,
		`find certs -type f | xargs cat`, `find . -type f | xargs cat`, `find . -type f | xargs grep x`, `find . -type f -print0 | xargs -0 head -1`, `find . \( -name '*.go' -o -type f \) | xargs cat`, `find . ! \( -name '*.go' \) | xargs cat`, `find . -name '*.go' , -type f | xargs cat`, `find . -not -name '*.go' | xargs cat`, `find . -path './certs/*' | xargs cat`, `fd server | xargs cat`, `fd . certs | xargs cat`, `fd -H . config | xargs cat`, `rg --files | xargs cat`, `rg --files certs | xargs cat`, `git ls-files | xargs cat`, `git ls-files certs | xargs cat`, `git ls-files -o config | xargs cat`, `diff -r certs docs`,
	}
	for _, cmd := range silent {
		if v := bash(p, cmd); v.Action != Allow {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
	for _, cmd := range asks {
		if v := bash(p, cmd); v.Action != Ask || !strings.Contains(v.Reason, "which usually holds secrets") {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
	p.Masked = func() bool { return true }
	for _, cmd := range asks {
		if v := bash(p, cmd); v.Action != Allow {
			t.Errorf("%q where it is masked: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
}

// Only a command that nobody is asked about, and that does not get the network, runs
// where secret files are masked; and rules hold there all the same.
func TestMaskedReading(t *testing.T) {
	asked := 0
	p := project(t)
	p.Masked = func() bool { asked++; return true }
	p.Rules = []Rule{allow("bash", "git push origin main"), allow("bash", "npm ci"), allow("bash", "make *")}
	if bash(p, `grep -rn x src && ls && make all`); asked > 0 {
		t.Error("it was asked where it does not matter")
	}
	for cmd, want := range map[string]Action{
		`grep -rn x .`: Allow, `grep -rn x . && make all`: Allow, `grep -rn x . | head && ls`: Allow,
		`grep -rn x . && git push origin main`: Ask, `npm ci && rg x`: Ask, `rg x; ./x.sh`: Ask, `grep x .env`: ForcedAsk, `find . -name '*.key' | xargs cat`: ForcedAsk,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
	parts := bash(p, `grep -rn x . && git push origin main`).Parts
	if len(parts) != 2 || !strings.Contains(parts[0].Why, "holds secrets") || parts[0].Text != "grep -rn x ." {
		t.Errorf("the parts are %+v", parts)
	}
	p.Rules = []Rule{deny("read", "docs/a.txt")}
	for cmd, want := range map[string]Action{
		`grep -rn x docs`: Ask, `grep -rn x --include='*.txt' .`: Ask, `grep -rn x --include='*.go' .`: Allow, `grep -rn x --include=a.txt .`: Deny, `rg x -g 'docs/a*'`: Deny, `find docs -type f | xargs cat`: Ask,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("with a rule for the file, %q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
	p.Rules = []Rule{allow("bash", "grep *")}
	p.Masked = nil
	if v := bash(p, `grep -rn x .`); v.Action != Allow {
		t.Errorf("with a rule for the command: %v (%s)", v.Action, v.Reason)
	}
}
