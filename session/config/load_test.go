package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/session/permission"
)

// env is an environment of exactly these variables.
func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// home is a user's folders, and a project beside them.
func home(t testing.TB) (paths Paths, project string) {
	t.Helper()
	dir := t.TempDir()
	project = filepath.Join(dir, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	paths = NewPaths(env(map[string]string{
		"HOME": filepath.Join(dir, "home"), "USERPROFILE": filepath.Join(dir, "home"),
		"XDG_CONFIG_HOME": filepath.Join(dir, "config"), "XDG_DATA_HOME": filepath.Join(dir, "data"), "XDG_STATE_HOME": filepath.Join(dir, "state"),
	}))
	paths.Manifest = filepath.Join(dir, "etc", "config.json")
	return paths, project
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// loaded reads a user's file of that text.
func loaded(t testing.TB, text string) (*Config, []string) {
	t.Helper()
	paths, _ := home(t)
	write(t, paths.UserFile(), text)
	c, problems := Load(LoadOptions{Paths: paths})
	var told []string
	for _, p := range problems {
		told = append(told, strings.TrimPrefix(p.String(), paths.UserFile()+":"))
	}
	return c, told
}

func TestLoadWithoutFiles(t *testing.T) {
	paths, project := home(t)
	c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: true})
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if c.MaxTurnRequests != 200 || c.Retry != (Retry{5, 500 * time.Millisecond, time.Minute}) || c.Mode != permission.Default || c.Trust != TrustAsk || c.LogLevel != "warn" {
		t.Errorf("defaults: %+v", c)
	}
}

func TestLoadEveryKey(t *testing.T) {
	c, told := loaded(t, `// mine
{
  "model": "anthropic/x", "smallModel": "anthropic/y", "mode": "plan", "maxTurnRequests": 7,
  "retry": {"max": 0, "baseDelayMs": 10, "maxDelayMs": 20}, /* short */
  "permissions": {"rules": [{"permission": "bash", "pattern": "go test *", "action": "allow"}], "askReason": true},
  "additionalDirectories": ["~/extra", "/abs/x/../y"], "trust": "always",
  "proxy": "http://p.example:1", "noProxy": ["a"], "caFile": "/ca", "env": {"A": "b", "C": null},
  "providers": {"mine": {"type": "openai-compatible", "baseURL": "http://127.0.0.1:1/v1", "apiKeyEnv": "MINE", "headers": {"x": "y"}, "models": ["m"]}},
  "models": {"mine/m": {"images": true, "thinking": []}},
  "mcpServers": {}, "mcp": {"startTimeoutMs": 1, "callTimeoutMs": 1}, "toolSearch": {"threshold": 1},
  "lsp": {"enabled": true, "servers": {}, "diagnosticsWaitMs": 1, "requestTimeoutMs": 1, "startTimeoutMs": 1, "idleStopMs": 1, "memoryLimitMb": 1},
  "web": {"allowPrivate": false, "timeoutMs": 1, "search": []},
  "hooks": {"sessionStart": [], "sessionEnd": [], "userPromptSubmit": [], "preToolUse": [], "postToolUse": [],
            "postToolUseFailure": [], "turnEnd": [], "preCompact": [], "notification": []},
  "skills": {"paths": ["~/skills", "/abs/s/"]}, "compaction": {"auto": true, "at": 0.8, "keepTurns": 2},
  "sandbox": {"mode": "auto", "network": false, "writable": []},
  "log": {"level": "debug", "file": "/tmp/x"},
}`)
	if len(told) > 0 {
		t.Errorf("problems: %q", told)
	}
	if c.Model != "anthropic/x" || c.Mode != permission.Plan || c.MaxTurnRequests != 7 || c.Retry.Max != 0 || c.Retry.MaxDelay != 20*time.Millisecond ||
		!c.AskReason || c.Trust != TrustAlways || c.Proxy != "http://p.example:1" || c.Env["C"] != nil || *c.Env["A"] != "b" || c.LogLevel != "debug" {
		t.Errorf("%+v", c)
	}
	if len(c.AdditionalDirectories) != 2 || filepath.Base(c.AdditionalDirectories[0]) != "extra" || c.AdditionalDirectories[1] != filepath.FromSlash("/abs/y") {
		t.Errorf("directories: %q", c.AdditionalDirectories)
	}
	if len(c.Skills) != 2 || filepath.Base(c.Skills[0].Path) != "skills" || c.Skills[1] != (SkillFolder{Path: filepath.FromSlash("/abs/s")}) {
		t.Errorf("skills: %+v", c.Skills)
	}
	if len(c.Rules) != 1 || c.Rules[0].Scope != permission.Session || !strings.HasSuffix(c.Rules[0].Source, "config.json:5") {
		t.Errorf("rules: %+v", c.Rules)
	}
	if c.Providers["mine"].APIKeyEnv != "MINE" || !slices.Equal(c.Secrets(), []string{"MINE"}) || c.Models["mine/m"].Thinking == nil {
		t.Errorf("providers: %+v, models: %+v", c.Providers, c.Models)
	}
}

// One language server that is wrong takes none of the others with it.
func TestLanguageServersThatHold(t *testing.T) {
	c, told := loaded(t, `{"lsp": {"servers": {
		"gopls": {"command": ["gopls", "-remote=auto"], "disabled": false, "initializationOptions": {"a": [1]}, "settings": {"gopls": {}}},
		"bad":   {"disabled": 1},
		"mine":  {"command": ["mine"], "extensions": [".my"], "languageId": "my", "rootMarkers": [], "env": {"A": "b"}}, // with a comment
	}}}`)
	if len(told) != 1 || !strings.Contains(told[0], "3:12: lsp.servers.bad.disabled must be true or false; this server is left out") {
		t.Errorf("told %q", told)
	}
	want := map[string]LanguageServer{
		"gopls": {Command: []string{"gopls", "-remote=auto"}, Options: map[string]any{"a": []any{1.0}}, Settings: map[string]any{"gopls": map[string]any{}}},
		"mine":  {Command: []string{"mine"}, Extensions: []string{".my"}, LanguageID: "my", RootMarkers: []string{}, Env: map[string]string{"A": "b"}},
	}
	if !reflect.DeepEqual(c.LSP.Servers, want) {
		t.Errorf("servers: %+v", c.LSP.Servers)
	}
}

func TestLoadTellsWhatDoesNotHold(t *testing.T) {
	tests := []struct{ name, text, told string }{
		{"an unknown key", "{\n \"modell\": \"x\"}", "2:2: unknown key modell, did you mean model?"},
		{"an unknown key in a group", `{"retry": {"maxx": 1}}`, "1:12: unknown key retry.maxx, did you mean retry.max?"},
		{"a key in another case", `{"Model": "x"}`, "1:2: unknown key Model, did you mean model?"},
		{"a wrong type", "{\"model\":\n 3}", "2:2: model must be a string; its default holds"},
		{"a number too small", `{"maxTurnRequests": 0}`, "1:21: maxTurnRequests must be a whole number from 1; its default holds"},
		{"a broken number", `{"maxTurnRequests": 1.5}`, "1:21: maxTurnRequests must be a whole number from 1; its default holds"},
		{"no such mode", `{"mode": "fast"}`, "1:10: mode must be one of default"},
		{"a group that is none", `{"retry": 1}`, "1:11: retry must be an object"},
		{"no object", `[1]`, "1:1: must be an object"},
		{"a broken file", "{\n  \"model\": \"x\",\n  \"mode\" \"plan\"\n}", "3:10: "},
		{"a rule without an action", `{"permissions": {"rules": [{"permission": "bash"}]}}`, "1:28: a rule has no action"},
		{"a rule of no use", `{"permissions": {"rules": [{"permission": "bash", "pattern": "git c* *", "action": "allow"}]}}`, "1:28: rule allow bash `git c* *`: "},
		{"a relative directory", `{"additionalDirectories": ["x"]}`, `1:27: additionalDirectories has "x", which is not absolute`},
		{"a relative folder of skills", `{"skills": {"paths": ["x"]}}`, `1:22: skills.paths has "x", which is not absolute`},
		{"a provider of no type", `{"providers": {"a": {"type": "b"}}}`, `1:15: the provider a has the unknown type "b"`},
		{"language servers that are none", `{"lsp": {"servers": ["gopls"]}}`, "1:21: lsp.servers must be an object of servers by name, each {command, disabled, env, extensions, "},
		{"a language server that is none", `{"lsp": {"servers": {"gopls": false}}}`, "1:31: lsp.servers.gopls must be an object: {command, "},
		{"a command in one text", "{\"lsp\": {\"servers\": {\n\"gopls\": {\"command\": \"gopls -v\"}}}}", "2:10: lsp.servers.gopls.command must be the program and its arguments as a list, such as"},
		{"an empty command", `{"lsp": {"servers": {"gopls": {"command": []}}}}`, "1:31: lsp.servers.gopls.command names no program; this server is left out"},
		{"an ending without its dot", `{"lsp": {"servers": {"x": {"extensions": ["go"]}}}}`, `1:27: lsp.servers.x.extensions has "go", which must begin with a dot`},
		{"a marker that is no glob", `{"lsp": {"servers": {"x": {"rootMarkers": ["[a"]}}}}`, `1:27: lsp.servers.x.rootMarkers has "[a", which must be`},
		{"settings of a server that are a list", `{"lsp": {"servers": {"x": {"settings": []}}}}`, `1:27: lsp.servers.x.settings must be an object`},
		{"an unknown key of a server", `{"lsp": {"servers": {"gopls": {"cmd": ["gopls"]}}}}`, "1:32: unknown key lsp.servers.gopls.cmd; there are command, "},
		{"trust", `{"trust": "yes"}`, "1:11: trust must be ask, always or never"},
	}
	for _, tt := range tests {
		c, told := loaded(t, tt.text)
		if len(told) != 1 || !strings.HasPrefix(told[0], tt.told) {
			t.Errorf("%s: told %q, want %q", tt.name, told, tt.told)
		}
		if c.MaxTurnRequests != 200 || c.Mode != permission.Default || c.Model != "" || c.Retry.Max != 5 {
			t.Errorf("%s: the defaults do not hold: %+v", tt.name, c)
		}
	}
}

func TestOneMistakeLosesNothingElse(t *testing.T) {
	c, told := loaded(t, `{"model": 3, "modle": "x", "mode": "plan", "retry": {"max": "x", "baseDelayMs": 9}}`)
	if len(told) != 3 || c.Mode != permission.Plan || c.Retry.Max != 5 || c.Retry.BaseDelay != 9*time.Millisecond {
		t.Errorf("told %q: %+v", told, c)
	}
}

func TestBrokenFileKeepsItsDenyRulesAndTheOtherFiles(t *testing.T) {
	paths, project := home(t)
	write(t, paths.UserFile(), `{"model": "a/b", "permissions": {"rules": [
		{"permission": "bash", "pattern": "rm *", "action": "deny"}, // no more
		{"permission": "bash", "pattern": "go test *", "action": "allow"}
	]} oops`)
	write(t, filepath.Join(project, ".acp-agent", "config.json"), `{"mode": "plan"}`)
	c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: true})
	if len(problems) != 1 || problems[0].Line != 4 || problems[0].Column == 0 {
		t.Errorf("problems: %v", problems)
	}
	if c.Model != "" || c.Mode != permission.Plan || len(c.Rules) != 1 || c.Rules[0].Action != permission.Deny {
		t.Errorf("%+v", c)
	}
}

func TestInvalidRestrictionStillRestricts(t *testing.T) {
	c, told := loaded(t, `{"permissions": {"rules": [{"permission": "bash", "pattern": "a && b *", "action": "deny"}]}}`)
	if len(told) != 1 || len(c.Rules) != 1 || c.Rules[0].Action != permission.Deny {
		t.Errorf("told %q: %+v", told, c.Rules)
	}
}

func TestNearerFilesReplaceAndRulesAddUp(t *testing.T) {
	paths, project := home(t)
	rule := func(pattern string) string {
		return `"permissions": {"rules": [{"permission": "bash", "pattern": "` + pattern + `", "action": "ask"}]}`
	}
	write(t, paths.UserFile(), `{"model": "a/user", "retry": {"max": 1, "baseDelayMs": 1}, "env": {"A": "1", "B": "1"}, `+rule("one")+`}`)
	write(t, ProjectFiles(project)[0], `{"model": "a/project", "retry": {"max": 2}, "env": {"B": "2"}, `+rule("two")+`}`)
	write(t, ProjectFiles(project)[1], `{"model": "a/local", `+rule("three")+`}`)
	c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: true})
	if len(problems) > 0 {
		t.Error(problems)
	}
	if c.Model != "a/local" || c.Retry.Max != 2 || c.Retry.BaseDelay != time.Millisecond || *c.Env["A"] != "1" || *c.Env["B"] != "2" {
		t.Errorf("%+v", c)
	}
	var patterns []string
	for _, r := range c.Rules {
		patterns = append(patterns, r.Scope.String()+" "+r.Pattern)
	}
	if want := []string{"session one", "project two", "project three"}; !slices.Equal(patterns, want) {
		t.Errorf("rules %q, want %q", patterns, want)
	}
}

func TestProjectCannotSetWhatIsTheUsers(t *testing.T) {
	for _, text := range []string{
		`{"providers": {"x": {"type": "openai-compatible", "baseURL": "https://attacker.example"}}}`,
		`{"sandbox": {"mode": "off"}}`, `{"web": {"allowPrivate": true}}`, `{"mode": "bypassPermissions"}`, `{"trust": "always"}`,
		`{"additionalDirectories": ["/"]}`, `{"proxy": "http://attacker.example:1"}`, `{"caFile": "/x"}`, `{"log": {"file": "/x"}}`,
		`{"skills": {"paths": ["/"]}}`, `{"skills": {"paths": ["~/.ssh"]}}`, `{"skills": {"paths": ["../x"]}}`, `{"skills": {"paths": ["a/../../x"]}}`,
		`{"permissions": {"rules": [{"permission": "bash", "pattern": "*", "action": "allow"}]}}`,
		`{"permissions": {"rules": [{"permission": "*", "action": "allow"}]}}`,
		`{"permissions": {"rules": [{"permission": "edit", "pattern": "**", "action": "allow"}]}}`,
	} {
		paths, project := home(t)
		write(t, ProjectFiles(project)[0], text)
		c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: true})
		if len(problems) != 1 || problems[0].Line != 1 {
			t.Errorf("%s: told %v", text, problems)
		}
		if len(c.Providers)+len(c.Rules)+len(c.AdditionalDirectories)+len(c.Skills) > 0 || c.Mode != permission.Default || c.Trust != TrustAsk || c.Proxy != "" || c.CAFile != "" || c.LogFile != "" {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func TestUntrustedProjectOnlyRestricts(t *testing.T) {
	paths, project := home(t)
	write(t, ProjectFiles(project)[0], `{"model": "a/b", "mode": "acceptEdits", "env": {"A": "b"}, "models": {"a/b": {}}, "permissions": {"askReason": true, "rules": [
		{"permission": "bash", "pattern": "curl *", "action": "deny"},
		{"permission": "bash", "pattern": "make *", "action": "ask"},
		{"permission": "bash", "pattern": "touch *", "action": "allow"}]}}`)
	c, _ := Load(LoadOptions{Paths: paths, Project: project})
	if len(c.Rules) != 2 || c.Rules[0].Action != permission.Deny || c.Rules[1].Action != permission.Ask {
		t.Errorf("rules: %v", c.Rules)
	}
	if c.Model != "" || c.Mode != permission.Default || c.AskReason || c.Env != nil || c.Models != nil {
		t.Errorf("%+v", c)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	paths, project := home(t)
	write(t, paths.UserFile(), "\xef\xbb\xbf  \n")
	if err := os.MkdirAll(ProjectFiles(project)[0], 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, ProjectFiles(project)[1], strings.Repeat(" ", maxFile+1))
	c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: true})
	if len(problems) != 2 || c.MaxTurnRequests != 200 {
		t.Errorf("told %v", problems)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"model": "a/b"} // x`, `{"permissions": {"rules": [{"permission": "bash", "action": "deny"},]}}`, `{"retry": {"max": 1e9}}`,
		`{"env": {"a": null}}`, "\xef\xbb\xbf{}", `{"a": {"b": {"c": []}}}`, `{"permissions": {"rules": [{"permission": "bash", "action": "deny"}`, `{"\ud800": 1}`, `{"model": "\xff"}`,
	} {
		f.Add(s, true)
	}
	paths, project := home(f)
	f.Fuzz(func(t *testing.T, text string, trusted bool) {
		write(t, paths.UserFile(), text)
		write(t, ProjectFiles(project)[0], text)
		c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: trusted})
		if c.MaxTurnRequests < 1 || c.Retry.Max < 0 || !c.Mode.Valid() {
			t.Errorf("%q gives %+v", text, c)
		}
		for _, r := range c.Rules {
			if r.Scope == permission.Project && r.Action == permission.Allow && (!trusted || r.Pattern == "" || r.Pattern == "*") {
				t.Errorf("%q: the project may %s", text, r)
			}
		}
		for _, p := range problems {
			if p.Text == "" {
				t.Errorf("%q: a problem without words", text)
			}
		}
	})
}
