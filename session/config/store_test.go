package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
)

func TestPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the names of the folders are those of Unix")
	}
	p := NewPaths(env(map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "relative"}))
	if want := (Paths{"/h", "/h/.config/acp-agent", "/d/acp-agent", "/h/.local/state/acp-agent", "/h/.cache/acp-agent", "/etc/acp-agent/config.json"}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	bare := NewPaths(env(nil))
	for _, dir := range []string{bare.Config, bare.Data, bare.State, bare.Cache} {
		if !filepath.IsAbs(dir) {
			t.Errorf("a bare environment gives %q", dir)
		}
	}
	if odd := NewPaths(env(map[string]string{"HOME": "not/absolute"})); !filepath.IsAbs(odd.Config) {
		t.Errorf("a relative home gives %+v", odd)
	}
}

func TestFoldersThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	paths := NewPaths(env(map[string]string{"HOME": filepath.Join(dir, "file", "none"), "USERPROFILE": filepath.Join(dir, "file", "none")}))
	c, problems := Load(LoadOptions{Paths: paths})
	if c.MaxTurnRequests != 200 {
		t.Errorf("%+v", c)
	}
	if len(problems) > 1 {
		t.Errorf("problems: %v", problems)
	}
	if err := paths.Login("anthropic", "sk-a-secret"); err == nil || strings.Contains(err.Error(), "sk-a-secret") {
		t.Errorf("login: %v", err)
	}
	if ok, why := paths.Trusted(dir); ok || why == "" {
		t.Error("trusted without a place to keep it")
	}
}

func TestCredentials(t *testing.T) {
	paths, _ := home(t)
	if key, err := paths.StoredKey("anthropic"); key != "" || err != nil {
		t.Fatalf("%q, %v", key, err)
	}
	if n, err := paths.Logout(""); n != 0 || err != nil {
		t.Errorf("logout of nothing: %d, %v", n, err)
	}
	for provider, key := range map[string]string{"anthropic": " sk-1\n", "openai-compatible": "sk-2"} {
		if err := paths.Login(provider, key); err != nil {
			t.Fatal(err)
		}
	}
	if key, _ := paths.StoredKey("anthropic"); key != "sk-1" {
		t.Errorf("the key is %q", key)
	}
	file := filepath.Join(paths.Data, "credentials.json")
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{file: 0o600, paths.Data: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if n, err := paths.Logout("anthropic"); n != 1 || err != nil {
		t.Errorf("logout: %d, %v", n, err)
	}
	if key, _ := paths.StoredKey("openai-compatible"); key != "sk-2" {
		t.Error("logout of one forgot another")
	}
	if n, err := paths.Logout(""); n != 1 || err != nil {
		t.Errorf("logout of all: %d, %v", n, err)
	}
	if data, _ := os.ReadFile(file); strings.Contains(string(data), "sk-") {
		t.Errorf("a key is left: %s", data)
	}
	for _, bad := range [][2]string{{"", "k"}, {"a", ""}, {"a", " \n"}, {"a", "sk-secret\nsk-other"}} {
		if err := paths.Login(bad[0], bad[1]); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("login %q: %v", bad, err)
		}
	}
}

func TestDamagedCredentialsAreNamedNotShown(t *testing.T) {
	paths, _ := home(t)
	file := filepath.Join(paths.Data, "credentials.json")
	write(t, file, `{"anthropic": "sk-secret`)
	_, err := paths.StoredKey("anthropic")
	if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("%v", err)
	}
	if err := paths.Login("x", "y"); err == nil {
		t.Error("a login overwrites what cannot be read")
	}
}

func TestManyLoginsAtOnce(t *testing.T) {
	paths, _ := home(t)
	var wg sync.WaitGroup
	const n = 20
	for i := range n {
		wg.Go(func() {
			if err := paths.Login(fmt.Sprint("p", i), "k"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range n {
		if key, err := paths.StoredKey(fmt.Sprint("p", i)); key != "k" || err != nil {
			t.Errorf("p%d: %q, %v", i, key, err)
		}
	}
}

func TestTrust(t *testing.T) {
	paths, project := home(t)
	check := func(want bool, when string) {
		t.Helper()
		if ok, why := paths.Trusted(project); ok != want || ok == (why != "") {
			t.Errorf("%s: trusted %v, %q", when, ok, why)
		}
	}
	check(false, "at first")
	if _, err := paths.Trust(project); err != nil {
		t.Fatal(err)
	}
	check(true, "after trust")
	write(t, filepath.Join(project, "main.go"), "package main")
	check(true, "after a change of a source file")
	for i, file := range append(ProjectFiles(project), ClaudeFiles(project)...) {
		rule, other := `{"permissions": {"rules": [{"permission": "bash", "pattern": "go test *", "action": "allow"}]}}`, `{"permissions": {"rules": [{"permission": "bash", "pattern": "go *", "action": "allow"}]}}`
		if strings.Contains(file, ".claude") {
			rule, other = `{"permissions": {"allow": ["Bash(make x)"]}}`, `{"permissions": {"allow": ["Bash(make *)"]}}`
		}
		rule = strings.ReplaceAll(rule, "make x", fmt.Sprint("make x", i)) // another one in each
		rule = strings.ReplaceAll(rule, "go test", fmt.Sprint("go test ", i))
		write(t, file, `{"permissions": {"deny": ["Bash(make *)"], "rules": [{"permission": "bash", "pattern": "x", "action": "deny"}]}}`)
		check(true, "after a new settings file that only restricts")
		write(t, file, rule)
		check(false, "after a new settings file")
		if _, err := paths.Trust(project); err != nil {
			t.Fatal(err)
		}
		check(true, "after trusting anew")
		write(t, file, "// words\n"+rule)
		check(true, "after a comment")
		write(t, file, other)
		check(false, "after a change of a settings file")
		write(t, file, rule)
		check(true, "after the change was taken back")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		check(true, "after a settings file went, and with it what it enabled")
	}
}

func TestTrustIsAgreedToAsItWasShown(t *testing.T) {
	paths, project := home(t)
	file := ProjectFiles(project)[0]
	hook := func(command string) string { return `{"hooks": {"sessionStart": [{"command": "` + command + `"}]}}` }
	write(t, file, hook("one"))
	shown := paths.Open(project)
	if len(shown.Pending) != 1 || shown.Pending[0].Text != "sessionStart: one" || shown.Trusted || shown.Known {
		t.Fatalf("opened as %+v", shown)
	}
	if len(shown.Config.Hooks) != 0 {
		t.Fatal("a hook holds before trust")
	}
	write(t, file, hook("two")) // while the question stands open
	if err := paths.Agree(shown); err != nil {
		t.Fatal(err)
	}
	o := paths.Open(project)
	if o.Trusted || !o.Known || len(o.Pending) != 1 || o.Pending[0].Text != "sessionStart: two" {
		t.Fatalf("opened as %+v", o)
	}
	if err := paths.Agree(o); err != nil {
		t.Fatal(err)
	}
	write(t, file, hook("one"))
	if o := paths.Open(project); o.Trusted {
		t.Error("what was agreed to before another thing took its place holds again")
	}
}

func TestTrustNeverStandsUntilItIsTrustedAfterAll(t *testing.T) {
	paths, project := home(t)
	if err := paths.Refuse(project); err != nil {
		t.Fatal(err)
	}
	write(t, ProjectFiles(project)[0], `{"mode": "plan"}`)
	if o := paths.Open(project); o.Trusted || !o.Never {
		t.Errorf("opened as %+v", o)
	}
	if _, err := paths.Trust(project); err != nil {
		t.Fatal(err)
	}
	if o := paths.Open(project); !o.Trusted || o.Never || o.Config.Mode != permission.Plan {
		t.Errorf("opened as %+v", o)
	}
	write(t, paths.UserFile(), `{"trust": "never"}`)
	if o := paths.Open(project); o.Trusted || !o.Never || o.Config.Mode == permission.Plan {
		t.Errorf("opened as %+v", o)
	}
}

func TestWhatAProjectEnables(t *testing.T) {
	paths, project := home(t)
	write(t, ProjectFiles(project)[0], `{
		// words
		"mode": "bypassPermissions", "model": "a/b", "providers": {"x": {}}, "unknown": 1, "env": {"A": "b"},
		"hooks": {"preToolUse": [{"command": "c", "match": "bash"}, {"command": ""}]},
		"mcpServers": {"s": {"command": "srv", "args": ["-x"]}},
		"permissions": {"rules": [
			{"permission": "bash", "pattern": "make *", "action": "allow"}, {"permission": "bash", "action": "allow"}, {"permission": "bash", "action": "deny"}]}
	}`)
	write(t, ClaudeFiles(project)[0], `{"permissions": {"allow": ["Bash(git log:*)"], "deny": ["Read(./secrets/**)"]}, "hooks": {"Stop": []}}`)
	var got []string
	for _, e := range Sorted(paths.Open(project).Pending) {
		got = append(got, fmt.Sprintf("%s (%s:%d)", e.Text, filepath.Base(e.File), e.Line))
	}
	want := []string{"preToolUse (bash): c (config.json:4)", `s = {"command":"srv","args":["-x"]} (config.json:5)`,
		"allow bash (config.json:7)", "allow bash `git log *` (settings.json:1)", "allow bash `make *` (config.json:7)", `model = "a/b" (config.json:3)`, `env = {"A":"b"} (config.json:3)`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestTrustIsNotInherited(t *testing.T) {
	paths, project := home(t)
	inner, nested := filepath.Join(project, "inner"), filepath.Join(project, "nested")
	for _, dir := range []string{inner, filepath.Join(nested, ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := paths.Trust(project); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{inner, nested, filepath.Dir(project)} {
		if ok, _ := paths.Trusted(dir); ok {
			t.Errorf("%s is trusted with its neighbour", dir)
		}
	}
	worktree := filepath.Join(project, "worktree")
	write(t, filepath.Join(worktree, ".git"), "gitdir: ../.git/worktrees/x\n")
	if ok, _ := paths.Trusted(worktree); ok {
		t.Error("a worktree is trusted with its repository")
	}
}

func TestTrustOfARepositoryHoldsInItsFolders(t *testing.T) {
	paths, project := home(t)
	sub := filepath.Join(project, "a", "b")
	for _, dir := range []string{sub, filepath.Join(project, ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(filepath.Dir(project), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	if _, err := paths.Trust(filepath.Join(link, "a")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{project, sub, link} {
		if ok, why := paths.Trusted(dir); !ok {
			t.Errorf("%s: %s", dir, why)
		}
	}
}

func TestGrants(t *testing.T) {
	paths, project := home(t)
	rule := permission.Rule{Permission: "bash", Pattern: "go test *", Action: permission.Allow, Scope: permission.Session}
	for range 2 {
		if err := paths.AddGrants(project, []permission.Rule{rule, {Permission: "bash", Pattern: "git c* *", Action: permission.Allow}}); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := paths.Grants(project)
	if err != nil || len(rules) != 1 || rules[0].Pattern != "go test *" || rules[0].Scope != permission.Project || rules[0].Action != permission.Allow {
		t.Errorf("%+v, %v", rules, err)
	}
	if rules, err := paths.Grants(filepath.Dir(project)); err != nil || len(rules) > 0 {
		t.Errorf("another folder: %v, %v", rules, err)
	}
}
