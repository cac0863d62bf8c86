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

// A comparison of folders follows links, wherever they lead (policy 10.4, 10.2).
func TestComparedLinks(t *testing.T) {
	p := project(t)
	p.Masked = func() bool { return true }
	root, outside := p.Roots.Dir(), t.TempDir()
	for _, dir := range []string{"one", "two", "three", "four/round"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"one/out": outside, "two/key": "../certs/server.key", "three/src": "../src", "four/round/up": "..", "three/gone": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for cmd, want := range map[string]Action{
		`diff -rN one src`: ForcedAsk, `diff -r src one`: ForcedAsk, `diff -r three src`: Allow, `grep -rn x one`: Allow, `diff -r two src`: Allow, `diff -r four src`: ForcedAsk,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
	p.Masked = nil
	if v := bash(p, `diff -r two src`); v.Action != Ask {
		t.Errorf("where nothing is masked: %v (%s)", v.Action, v.Reason)
	}
}

// What stands in the place of an index is not waited for, and one that does not name
// all that is tracked says nothing of what it does not name.
func TestOddIndex(t *testing.T) {
	p := project(t)
	index := filepath.Join(p.Roots.Dir(), ".git", "index")
	for name, put := range map[string]func() error{
		"a device":  func() error { return os.Symlink("/dev/zero", index) },
		"version 4": func() error { return os.WriteFile(index, []byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x00"), 0o600) },
		"split": func() error {
			return os.WriteFile(index, []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x14"), 0o600)
		},
		"sparse": func() error {
			return os.WriteFile(index, []byte("DIRC\x00\x00\x00\x03\x00\x00\x00\x00TREE\x00\x00\x00\x01xsdir\x00\x00\x00\x00"), 0o600)
		},
	} {
		_ = os.Remove(index)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if v := bash(p, `git ls-files | xargs cat`); v.Action == Allow {
			t.Errorf("%s: it is silent, though nobody knows what is tracked", name)
		}
	}
	_ = os.Remove(index)
	if err := os.WriteFile(index, []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01\x00\x04link\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := bash(p, `git ls-files | xargs cat`); v.Action != Allow {
		t.Errorf("with a file named link: %v (%s)", v.Action, v.Reason)
	}
}
