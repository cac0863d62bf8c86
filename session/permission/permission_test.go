package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// project is a policy over a small project on disk.
func project(t testing.TB) *Policy {
	t.Helper()
	s := newScene(t, layout(t))
	return s.policy(t, &cases.Case{})
}

func bash(p *Policy, cmd string) Verdict {
	return p.Decide(kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: cmd, Dir: p.Roots.Dir()}})
}

func touch(t testing.TB, p *Policy, access kinds.Access, path string) Verdict {
	t.Helper()
	at, err := p.Roots.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	tool := map[kinds.Access]string{kinds.Read: "read", kinds.Write: "write", kinds.List: "glob"}[access]
	return p.Decide(kinds.Facts{Tool: tool, Paths: []kinds.PathAccess{{Access: access, Path: at.Asked, Target: at.Target}}})
}

func allow(permission, pattern string) Rule {
	return Rule{Permission: permission, Pattern: pattern, Action: Allow, Scope: Session}
}
func deny(permission, pattern string) Rule {
	return Rule{Permission: permission, Pattern: pattern, Action: Deny, Scope: Session}
}

func TestZeroPolicyAsks(t *testing.T) {
	var p Policy
	for _, f := range []kinds.Facts{
		{},
		{Tool: "bash", Command: &kinds.Command{Text: "cat x", Dir: "/"}},
		{Tool: "read", Paths: []kinds.PathAccess{{Access: kinds.Read, Path: "/x/y", Target: "/x/y"}}},
		{Tool: "write", Paths: []kinds.PathAccess{{Path: "/x/y", Target: "/x/y"}}},
	} {
		if v := p.Decide(f); v.Action < Ask || v.Reason == "" {
			t.Errorf("%+v: %v %q", f, v.Action, v.Reason)
		}
	}
	if v := p.Decide(kinds.Facts{Tool: "todo", Harmless: true}); v.Action != Allow {
		t.Errorf("a harmless call: %v", v)
	}
}

func TestHarmlessIsAllowedInEveryModeButNotAgainstARule(t *testing.T) {
	for _, mode := range []Mode{Default, Plan, DontAsk, AcceptEdits, BypassPermissions, "no such mode"} {
		p := project(t)
		p.Mode, p.Headless = mode, true
		if v := p.Decide(kinds.Facts{Tool: "todo", Harmless: true}); v.Action != Allow {
			t.Errorf("%s: %v", mode, v)
		}
		p.Rules = []Rule{deny("todo", "")}
		if v := p.Decide(kinds.Facts{Tool: "todo", Harmless: true}); v.Action != Deny {
			t.Errorf("%s, denied: %v", mode, v)
		}
	}
}

func TestModesForEdits(t *testing.T) {
	tests := []struct {
		mode              Mode
		trusted, headless bool
		path              string
		want              Action
	}{
		{Default, true, false, "main.go", Ask},
		{"", true, false, "main.go", Ask},
		{"no such mode", true, false, "main.go", Ask},
		{AcceptEdits, true, false, "main.go", Allow},
		{AcceptEdits, true, true, "main.go", Allow},
		{AcceptEdits, false, false, "main.go", Ask},
		{AcceptEdits, true, false, ".env", ForcedAsk},
		{AcceptEdits, true, true, ".env", Deny},
		{Plan, true, false, "main.go", Deny},
		{DontAsk, true, false, "main.go", Deny},
		{BypassPermissions, true, false, "main.go", Allow},
		{BypassPermissions, true, false, ".git/config", ForcedAsk},
		{BypassPermissions, true, false, "../outside/f.txt", ForcedAsk},
		{Default, true, true, "main.go", Deny},
	}
	for _, tt := range tests {
		p := project(t)
		p.Mode, p.Trusted, p.Headless = tt.mode, tt.trusted, tt.headless
		if v := touch(t, p, kinds.Write, tt.path); v.Action != tt.want {
			t.Errorf("%s trusted=%v headless=%v %s: %v (%s), want %v", tt.mode, tt.trusted, tt.headless, tt.path, v.Action, v.Reason, tt.want)
		}
	}
}

func TestAgentsOwnFoldersAreNeverWritten(t *testing.T) {
	p := project(t)
	own := t.TempDir()
	p.Mode, p.Own = BypassPermissions, []string{own}
	for _, path := range []string{filepath.Join(own, "trust.json"), filepath.Join(p.Home, ".local/share/acp-agent/credentials.json")} {
		if v := touch(t, p, kinds.Write, path); v.Action != Deny {
			t.Errorf("%s: %v", path, v)
		}
		if v := bash(p, "cp main.go "+path); v.Action != Deny {
			t.Errorf("cp to %s: %v", path, v)
		}
		if v := bash(p, "echo x > "+path); v.Action != Deny {
			t.Errorf("redirect to %s: %v", path, v)
		}
	}
}

// TestReadable: what may be read outside is read by file tools in every mode,
// against no rule and no secret name, and by no command.
func TestReadable(t *testing.T) {
	p := project(t)
	outside := filepath.Join(p.Home, "shelf")
	p.Readable = []string{outside, filepath.Join(p.Home, "one.md")}
	for _, mode := range []Mode{Default, AcceptEdits, Plan, DontAsk, BypassPermissions} {
		p.Mode = mode
		for path, want := range map[string]bool{"shelf/a.md": true, "shelf/b/c.md": true, "shelf": true, "one.md": true,
			"shelf/.env": false, "shelf2/a.md": false, "SHELF/a.md": false, "one.md2": false, "two.md": false, "": false} {
			if v := touch(t, p, kinds.Read, filepath.Join(p.Home, path)); (v.Action == Allow) != want {
				t.Errorf("%s: reading %q: %+v", mode, path, v)
			}
		}
		if v := touch(t, p, kinds.List, outside); v.Action != Allow {
			t.Errorf("%s: listing: %+v", mode, v)
		}
		if v := touch(t, p, kinds.Write, filepath.Join(outside, "a.md")); v.Action == Allow {
			t.Errorf("%s: writing: %+v", mode, v)
		}
		if v := bash(p, "cat "+filepath.Join(outside, "a.md")); v.Action == Allow {
			t.Errorf("%s: a command: %+v", mode, v)
		}
	}
	p.Mode, p.Rules = Default, []Rule{deny("read", "~/shelf/a.md")}
	if v := touch(t, p, kinds.Read, filepath.Join(outside, "a.md")); v.Action != Deny {
		t.Errorf("against a rule: %+v", v)
	}
}

func TestCommandPatterns(t *testing.T) {
	tests := []struct {
		pattern, cmd string
		want         bool
	}{
		{"git status", "git status", true},
		{"git status", "git status -s", false},
		{"git status *", "git status", true},
		{"git status *", "git status -s a", true},
		{"git status*", "git status -s", true},
		{"git status*", "git statusx", false},
		{"npm run test:*", "npm run test:unit", true},
		{"npm run test:*", "npm run test", false},
		{"npm run test:*", "npm run test:unit x", false},
		{"git commit -m 'a b'", "git commit -m 'a b'", true},
		{"git commit -m 'a *'", "git commit -m 'a b'", false},
		{"*", "anything at all", true},
		{"a*b-*c d", "ab-xc d", false}, // the program's name is to the letter
		{"x -*-y", "x -a-y", true},
		{"x -*-y", "x --y", true},
		{"x -*-y", "x -y", false},
	}
	for _, tt := range tests {
		p := parseCommand(tt.pattern)
		argv, _ := splitPattern(tt.cmd)
		got := p.matches(argv, false) || tt.pattern == "*"
		if tt.pattern == "a*b-*c d" {
			got = p.check(true) == nil
		}
		if got != tt.want {
			t.Errorf("%q against %q: %v", tt.pattern, tt.cmd, got)
		}
	}
}

func TestParseRule(t *testing.T) {
	good := []Rule{
		{Permission: "bash", Pattern: "go test *", Action: Allow},
		{Permission: "bash", Pattern: "*", Action: Allow},
		{Permission: "bash", Pattern: "make && ./x $(y)", Action: Allow},
		{Permission: "bash", Pattern: "git c* *", Action: Deny},
		{Permission: "bash", Action: Deny},
		{Permission: "read", Pattern: "secrets/**", Action: Deny},
		{Permission: "fs.write", Pattern: "~/x", Action: Ask},
		{Permission: "mcp:srv:*", Action: Allow},
		{Permission: "web_fetch", Pattern: "domain:*.example.com", Action: Allow},
		{Permission: "*", Action: Ask},
		{Permission: "todo", Action: Deny},
	}
	for _, r := range good {
		if _, err := ParseRule(r.Permission, r.Pattern, r.Action, Session, "x"); err != nil {
			t.Errorf("%s: %v", r, err)
		}
	}
	bad := []Rule{
		{Permission: "", Action: Allow},
		{Permission: "ba sh", Action: Allow},
		{Permission: "ba*", Action: Allow},
		{Permission: "bash", Pattern: "git c* *", Action: Allow},
		{Permission: "bash", Pattern: "git* push", Action: Allow},
		{Permission: "bash", Pattern: "make && *", Action: Allow},
		{Permission: "bash", Pattern: "git * push", Action: Allow},
		{Permission: "bash", Pattern: "FOO=1", Action: Allow},
		{Permission: "read", Pattern: "!x", Action: Allow},
		{Permission: "read", Pattern: "../x", Action: Allow},
		{Permission: "read", Pattern: "[", Action: Allow},
		{Permission: "read", Pattern: "/", Action: Allow},
		{Permission: "todo", Pattern: "x", Action: Allow},
		{Permission: "web_fetch", Pattern: "example.com", Action: Allow},
		{Permission: "bash", Pattern: "x", Action: 9},
	}
	for _, r := range bad {
		if _, err := ParseRule(r.Permission, r.Pattern, r.Action, Session, "x"); err == nil {
			t.Errorf("%s passes", r)
		}
	}
}

func TestPathPatterns(t *testing.T) {
	tests := []struct {
		pattern, rel string
		want         bool
	}{
		{"*.pem", "a/b/c.pem", true},
		{"*.pem", "c.pemx", false},
		{"secrets", "a/secrets/x", true},
		{"secrets/", "secrets/x", true},
		{"secrets/**", "secrets/a/b", true},
		{"secrets/**", "a/secrets/b", false},
		{"secrets/**", "secrets", false},
		{"src/*.go", "src/a.go", true},
		{"src/*.go", "src/a/b.go", false},
		{"**/x", "a/b/x", true},
		{"a/**/x", "a/x", true},
		{"a/**/x", "a/b/c/x", true},
		{"./src/a.go", "src/a.go", true},
	}
	for _, tt := range tests {
		p, err := parsePath(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.matches(place{abs: "/w/" + tt.rel, rel: tt.rel}, false); got != tt.want {
			t.Errorf("%q against %q: %v", tt.pattern, tt.rel, got)
		}
	}
	home, _ := parsePath("~/.ssh/**")
	abs, _ := parsePath("/etc/**")
	at := place{abs: "/h/.ssh/id", inHome: ".ssh/id"}
	if !home.matches(at, false) || abs.matches(at, false) || !abs.matches(place{abs: "/etc/x"}, false) {
		t.Error("patterns from the home or the top do not match")
	}
}

func TestRulesBySpecificityAndScope(t *testing.T) {
	r := func(pattern string, a Action, s Scope) Rule {
		return Rule{Permission: "bash", Pattern: pattern, Action: a, Scope: s}
	}
	tests := []struct {
		name  string
		rules []Rule
		want  Action
	}{
		{"specific allow lifts a lower deny", []Rule{r("make *", Deny, Project), r("make x", Allow, Session)}, Allow},
		{"a project's allow lifts nothing of the user's", []Rule{r("make *", Deny, Session), r("make x", Allow, Project)}, Deny},
		{"an equal deny wins", []Rule{r("make *", Allow, Session), r("make *", Deny, Project)}, Deny},
		{"an equal ask wins over allow", []Rule{r("make x", Allow, Session), r("make x", Ask, Session)}, ForcedAsk},
		{"a manifest's deny stands", []Rule{r("make *", Deny, Manifest), r("make x", Allow, Manifest)}, Deny},
		{"a manifest's ask stands", []Rule{r("make *", Ask, Manifest), r("make x", Allow, Manifest)}, ForcedAsk},
		{"three deep", []Rule{r("make *", Deny, Project), r("make x *", Ask, Session), r("make x", Allow, Session)}, Allow},
		{"a catch-all of a project allows nothing", []Rule{r("*", Allow, Project)}, Ask},
		{"but one that the user confirmed", []Rule{{Permission: "bash", Pattern: "*", Action: Allow, Scope: Project, Confirmed: true}}, Allow},
		{"which lifts nothing of the user's", []Rule{{Permission: "bash", Action: Allow, Scope: Project, Confirmed: true}, r("make *", Deny, Session)}, Deny},
		{"a catch-all of the user does", []Rule{r("*", Allow, Session)}, Allow},
		{"so does one for all tools", []Rule{{"*", "", Allow, Session, "", false}}, Allow},
		{"an invalid pattern allows nothing", []Rule{r("ma*", Allow, Session)}, Ask},
		{"an invalid pattern still denies", []Rule{r("m*e *", Deny, Session)}, Deny},
	}
	for _, tt := range tests {
		p := project(t)
		p.Rules = tt.rules
		if v := bash(p, "make x"); v.Action != tt.want {
			t.Errorf("%s: %v (%s), want %v", tt.name, v.Action, v.Reason, tt.want)
		}
	}
}

func TestCatchAllInAnUntrustedFolder(t *testing.T) {
	p := project(t)
	p.Trusted, p.Rules = false, []Rule{allow("bash", "*")}
	for cmd, want := range map[string]Action{
		"echo hi": Allow, "sleep 30": Allow, "python3 x.py": Allow,
		"cat ../outside/f.txt": ForcedAsk, "echo x > .git/config": ForcedAsk, "eval x": ForcedAsk, "rm -rf /": Deny,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
}

func TestOffersTool(t *testing.T) {
	tests := []struct {
		rules []Rule
		id    string
		want  bool
	}{
		{nil, "bash", true},
		{[]Rule{deny("bash", "")}, "bash", false},
		{[]Rule{deny("bash", "rm *")}, "bash", true},
		{[]Rule{deny("edit", "")}, "write", false},
		{[]Rule{deny("edit", "")}, "apply_patch", false},
		{[]Rule{deny("edit", "")}, "read", true},
		{[]Rule{deny("*", "")}, "todo", false},
		{[]Rule{deny("mcp:srv:*", "")}, "mcp:srv:x", false},
		{[]Rule{deny("mcp:srv:*", "")}, "mcp:other:x", true},
		{[]Rule{deny("bash", ""), allow("bash", "git *")}, "bash", true},
		{[]Rule{deny("bash", ""), {"bash", "git *", Allow, Project, "", false}}, "bash", false},
	}
	for _, tt := range tests {
		p := Policy{Rules: tt.rules}
		if got := p.Offers()(tt.id); got != tt.want {
			t.Errorf("%v: %s offered: %v", tt.rules, tt.id, got)
		}
	}
}

func TestOffers(t *testing.T) {
	tests := []struct {
		cmd    string
		label  string
		scopes int
	}{
		{"go vet ./...", "`go vet *`", 2},
		{"make hello", "`make hello`", 2},
		{"go test ./... && make x", "`go test *`, `make x`", 2},
		{"git push origin main", "`git push origin main`", 1},
		{"npm install left-pad", "`npm install left-pad`", 1},
		{"make deploy", "", 0},
		{"npm run deploy", "", 0},
		{"pnpm run release:patch", "", 0},
		{"yarn deploy", "", 0},
		{"npm publish", "", 0},
		{"bash -c 'make x'", "", 0},
		{"timeout 5 make x", "`make x`", 2},
		{"go test -exec ./x ./...", "", 0},
		{"go test $(cat x)", "", 0},
		{"touch x", "", 0},
	}
	for _, tt := range tests {
		p := project(t)
		v := bash(p, tt.cmd)
		switch {
		case v.Action < Ask:
			t.Errorf("%q: %v", tt.cmd, v.Action)
		case tt.label == "" && len(v.Always) > 0:
			t.Errorf("%q offers %v", tt.cmd, v.Always)
		case tt.label != "" && (len(v.Always) != 1 || v.Always[0].Label != tt.label || len(v.Always[0].Scopes) != tt.scopes):
			t.Errorf("%q offers %+v, want %s", tt.cmd, v.Always, tt.label)
		case tt.label != "":
			p.Rules = append(p.Rules, v.Always[0].Rules...)
			if again := bash(p, tt.cmd); again.Action != Allow {
				t.Errorf("%q still asks after its grant: %s", tt.cmd, again.Reason)
			}
		}
	}
}

func TestOffersForEdits(t *testing.T) {
	p := project(t)
	v := touch(t, p, kinds.Write, "src/a.go")
	if len(v.Always) != 1 || v.Always[0].Label != "edits in `src/`" || len(v.Always[0].Scopes) != 2 {
		t.Fatalf("src/a.go: %+v", v)
	}
	granted := *p
	granted.Rules = v.Always[0].Rules
	for path, want := range map[string]Action{"src/b.go": Allow, "main.go": Ask, "src/.env": ForcedAsk} {
		if v := touch(t, &granted, kinds.Write, path); v.Action != want {
			t.Errorf("%s after the grant: %v", path, v)
		}
	}
	if v := touch(t, p, kinds.Write, "main.go"); len(v.Always) != 1 || v.Always[0].Mode != AcceptEdits || v.Always[0].Rules != nil {
		t.Errorf("main.go: %+v", v)
	}
	p.Trusted = false
	if v := touch(t, p, kinds.Write, "main.go"); len(v.Always) != 0 {
		t.Errorf("main.go in an untrusted folder: %+v", v)
	}
	if v := touch(t, p, kinds.Write, ".github/x.yml"); len(v.Always) != 0 {
		t.Errorf(".github/x.yml: %+v", v)
	}
}

func TestOffersForMCP(t *testing.T) {
	p := project(t)
	v := p.Decide(kinds.Facts{Tool: "mcp:srv:do", ReadOnly: true})
	if v.Action != Ask || len(v.Always) != 1 || v.Always[0].Label != "`mcp:srv:do`" {
		t.Fatalf("%+v", v)
	}
	p.Rules = v.Always[0].Rules
	if v := p.Decide(kinds.Facts{Tool: "mcp:srv:do"}); v.Action != Allow {
		t.Errorf("after the grant: %v", v)
	}
	if v := p.Decide(kinds.Facts{Tool: "mcp:srv:other"}); v.Action != Ask {
		t.Errorf("another tool: %v", v)
	}
}

func TestProgramsAreFoundInStableFolders(t *testing.T) {
	s := newScene(t, layout(t))
	bin := filepath.Join(s.Root, "bin")
	for _, f := range []string{filepath.Join(bin, "wc"), filepath.Join(s.Root, "ws", "tools", "head")} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := s.policy(t, &cases.Case{PATH: []string{bin, "", "rel", filepath.Join(s.Root, "ws", "tools")}})
	if !slices.Equal(p.Path, []string{bin}) || len(p.RemovedPath) != 3 {
		t.Fatalf("kept %q, removed %q", p.Path, p.RemovedPath)
	}
	for cmd, want := range map[string]Action{"wc main.go": Allow, "head main.go": Ask, "tail main.go": Ask, "pwd": Allow} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
}

func TestGitConfigurationThatRunsPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"[core]\n\tbare = false\n":                          "",
		"[core]\n\tfsmonitor = false\n":                     "",
		"[core] fsmonitor = x":                              "core.fsmonitor",
		"[Core]\nFSMonitor=x":                               "core.fsmonitor",
		"[diff \"x\"]\n\ttextconv = ./x":                    "diff.x.textconv",
		"[diff.x]\n\ttextconv = ./x":                        "diff.x.textconv",
		"[include]\n\tpath = ../x":                          "include.path",
		"[remote \"origin\"]\n\turl = https://example.com/": "",
		"[branch \"main\"]\n\tremote = origin\n":            "",
		"[core]\n\tfsmonitor = true\n":                      "",
		"[core]\n\tfsmonitor = true ./x\n":                  "core.fsmonitor",
		"[core]\n\tfsmonitor\n":                             "core.fsmonitor",
		"[alias]\n\tst = status":                            "",
		"[alias]\n\tst = !id":                               "alias.st",
		"[alias]\n\tst = \"!id\"":                           "alias.st",
		"[alias]\n\tst":                                     "alias.st",
		"[core]\n\tedi\\\ntor = x":                          `core.edi\`,
		"# [core]\n; fsmonitor = x\n":                       "",
	} {
		if got := executableKey(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFoldersAreFollowed(t *testing.T) {
	p := project(t)
	for cmd, want := range map[string]Action{
		"cd src && cat a.go":                    Allow,
		"cd src; cd ..; cat main.go":            Allow,
		"cd src & cat main.go":                  Allow,
		"(cd src); cat main.go":                 Allow,
		"cd nosuch; cat main.go":                Allow,
		"cd nosuch; cat ../main.go":             ForcedAsk,
		"if true; then cd src; fi; cat ../x":    ForcedAsk,
		"while true; do cd ..; done":            ForcedAsk,
		"cd src || cd docs; cat ../main.go":     ForcedAsk,
		"nohup cd src":                          ForcedAsk,
		"cd \"$X\" && ls":                       ForcedAsk,
		"cd src && cd ../.. && ls":              ForcedAsk,
		"for f in $X; do echo x; done":          ForcedAsk,
		"ls src | cd .. | cat main.go":          ForcedAsk,
		"bash -c 'cd src && cat a.go' && ls":    Allow,
		"bash -c 'cd src'; cat ../outside/x":    ForcedAsk,
		"set -euo pipefail; cat main.go":        Allow,
		"set -- x; ls":                          ForcedAsk,
		"echo \"$(cat <<'E'\nhi $X\nE\n)\"":     Allow,
		"wc -l src/*.go":                        Allow,
		"cat src/[!a].go":                       ForcedAsk,
		"cat .e*":                               ForcedAsk,
		"cat nosuch*":                           Allow,
		"grep -rn x src":                        Allow,
		"grep -rn x .":                          Ask,
		"sed -n '1,5p;8p' main.go":              Allow,
		"sed -n '1,5w x' main.go":               Ask,
		"sed -e p -e 'w x' main.go":             Ask,
		"sed 's/a/b/;s/c/d/g' main.go":          Allow,
		"sed 's/a/b/e' main.go":                 Ask,
		"sed --expression=w\\ x main.go":        Ask,
		"git diff HEAD -- src/a.go | head -n 5": Allow,
		"git branch new":                        Ask,
		"git branch --list 'a*'":                Allow,
		"git show HEAD:certs/server.key":        ForcedAsk,
	} {
		if v := bash(p, cmd); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", cmd, v.Action, v.Reason, want)
		}
	}
}

func TestReasonsAreClauses(t *testing.T) {
	p := project(t)
	for _, c := range readCorpus(t, "bash_cases.jsonl") {
		v := bash(p, c.Cmd)
		if (v.Action == Allow) != (v.Reason == "") {
			t.Errorf("%q: %v with the reason %q", c.Cmd, v.Action, v.Reason)
		}
		if strings.HasSuffix(v.Reason, ".") || strings.ContainsAny(v.Reason, "\n\r\x1b") || len(v.Reason) > 400 {
			t.Errorf("%q: the reason %q does not fit into a sentence", c.Cmd, v.Reason)
		}
	}
}

func TestPlanModeEndsOnlyByTheUsersWord(t *testing.T) {
	exit := kinds.Facts{Tool: "plan_exit", LeavesPlan: true, ReadOnly: true}
	for _, tt := range []struct {
		name   string
		policy Policy
		want   Action
	}{
		{"in plan mode", Policy{Mode: Plan}, ForcedAsk},
		{"an allow rule does not answer for the user", Policy{Mode: Plan, Rules: []Rule{{Permission: "plan_exit", Action: Allow, Scope: Manifest}}}, ForcedAsk},
		{"a deny rule", Policy{Mode: Plan, Rules: []Rule{{Permission: "plan_exit", Action: Deny}}}, Deny},
		{"headless", Policy{Mode: Plan, Headless: true}, Deny},
		{"default", Policy{Mode: Default}, Deny},
		{"bypass", Policy{Mode: BypassPermissions}, Deny},
		{"auto", Policy{Mode: Auto}, Deny},
	} {
		if v := tt.policy.Decide(exit); v.Action != tt.want || v.Always != nil {
			t.Errorf("%s: %v (%s) %v", tt.name, v.Action, v.Reason, v.Always)
		}
	}
}
