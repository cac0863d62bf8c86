package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

func TestClaudeRules(t *testing.T) {
	const allow, ask, deny = permission.Allow, permission.Ask, permission.Deny
	for _, tt := range []struct {
		action permission.Action
		text   string
		want   []string // action permission pattern; in order
		told   bool     // it is not what was meant
	}{
		{allow, "Bash(git status)", []string{"allow bash `git status`"}, false},
		{allow, "Bash(git *)", []string{"allow bash `git *`"}, false},
		{allow, "Bash(git:*)", []string{"allow bash `git *`"}, false},
		{allow, "Bash(npm run test:*)", []string{"allow bash `npm run test *`"}, false},
		{allow, "Bash(git status*)", []string{"allow bash `git status*`"}, false},
		{allow, "Bash(git * main)", nil, true},
		{allow, "Bash(* --version)", nil, true},
		{allow, "Bash( *)", []string{"allow bash"}, false},
		{allow, "Bash", []string{"allow bash"}, false},
		{allow, "Bash(*)", []string{"allow bash"}, false},
		{deny, "Bash", []string{"deny bash"}, false},
		{deny, "Bash(rm:*)", []string{"deny bash `rm *`"}, false},
		{deny, "Bash(rm*)", []string{"ask bash `rm *`"}, true},
		{deny, "Bash(curl *evil*)", []string{"ask bash `curl *`"}, true},
		{deny, "Bash(git push --for*)", []string{"ask bash `git push *`"}, true},
		{deny, "Bash(*sudo*)", []string{"ask bash"}, true},
		{ask, "Bash(git push:*)", []string{"ask bash `git push *`"}, false},
		{deny, "Read(./secrets/**)", []string{"deny read `secrets/**`", "deny edit `secrets/**`", "deny read `**/secrets/**`", "deny edit `**/secrets/**`"}, false},
		{deny, "Read(.env)", []string{"deny read `.env`", "deny edit `.env`"}, false},
		{deny, "Read(//etc/**)", []string{"deny read `/etc/**`", "deny edit `/etc/**`"}, false},
		{deny, "Read(~/.ssh/**)", []string{"deny read `~/.ssh/**`", "deny edit `~/.ssh/**`"}, false},
		{allow, "Edit(/src/**)", []string{"allow edit `/r[o]ot/src/**`"}, false},
		{allow, "Edit(./gen)", []string{"allow edit `/r[o]ot/sub/gen`"}, false},
		{allow, "Edit(docs/**)", []string{"allow edit `docs/**`"}, false},
		{allow, "Edit", []string{"allow edit"}, false},
		{allow, "WebFetch(domain:go.dev)", []string{"allow web_fetch `domain:go.dev`"}, false},
		{deny, "WebFetch(domain:*.evil.example)", []string{"deny web_fetch `domain:*.evil.example`"}, false},
		{allow, "WebFetch(domain:*)", []string{"allow web_fetch"}, false},
		{deny, "WebFetch(https://x)", []string{"ask web_fetch"}, true},
		{allow, "WebFetch(https://x)", nil, true},
		{allow, "mcp__github", []string{"allow mcp:github:*"}, false},
		{allow, "mcp__github__*", []string{"allow mcp:github:*"}, false},
		{allow, "mcp__github__get_issue", []string{"allow mcp:github:get_issue"}, false},
		{allow, "mcp__*", nil, true},
		{deny, "mcp__*", []string{"deny mcp:*:*"}, false},
		{allow, "WebSearch", []string{"allow web_search"}, false},
		{deny, "Task", []string{"deny task"}, false},
		{deny, "Agent(Explore)", []string{"ask task"}, true},
		{allow, "Agent(Explore)", nil, true},
		{allow, "Skill(x)", nil, true},
		{deny, "Write(x)", nil, true},
		{allow, "Bash(git status", nil, true},
		{allow, "Nothing(x)", nil, true},
		{allow, "", nil, true},
		{allow, "Bash(:*)", nil, true},
		{deny, "Bash(:*)", []string{"ask bash"}, true},
	} {
		rules, err := claudeRules(tt.text, tt.action, "/r[o]ot", "/r[o]ot/sub")
		var got []string
		for _, r := range rules {
			got = append(got, permission.Rule{Permission: r.permission, Pattern: strings.ReplaceAll(r.pattern, `\[`, "["), Action: r.action}.String())
		}
		if !slices.Equal(got, tt.want) || (err != nil) != tt.told {
			t.Errorf("%s %s: %q, %v; want %q", tt.action, tt.text, got, err, tt.want)
		}
	}
}

func TestClaudeSettingsRestrictBeforeTrustAndAllowAfter(t *testing.T) {
	paths, project := home(t)
	write(t, ClaudeFiles(project)[0], `{"permissions": {
		"allow": ["Bash(make x)", "Bash(make y)", 7, "Odd(x)", "Bash"],
		"deny": ["Bash(make x *)", "Bash(make:*)"],
		"ask": "no list", "defaultMode": "bypassPermissions", "additionalDirectories": ["/"]}, "env": {"A": "b"}}`)
	names := func(o Opened) (out []string) {
		for _, r := range o.Config.Rules {
			out = append(out, r.String()+" "+filepath.Base(r.Source))
		}
		return out
	}
	o := paths.Open(project)
	if want := []string{"deny bash `make x *` settings.json:3", "deny bash `make *` settings.json:3"}; !slices.Equal(names(o), want) {
		t.Errorf("before trust: %q", names(o))
	}
	if len(o.Problems) != 3 { // 7, Odd, ask
		t.Errorf("it tells %v", o.Problems)
	}
	if err := paths.Agree(o); err != nil {
		t.Fatal(err)
	}
	o = paths.Open(project)
	if !o.Trusted || len(o.Config.Rules) != 5 || o.Config.Mode != permission.Default || len(o.Config.Env) != 0 || len(o.Config.AdditionalDirectories) != 0 {
		t.Errorf("after trust: %+v", o.Config)
	}
	// There a denial holds against any permission of the project, however exact.
	roots, err := workspace.NewRoots(project)
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	p := permission.Policy{Roots: roots, Trusted: true, Rules: o.Config.Rules, Lookup: func(string) bool { return true }}
	if v := p.Decide(kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: "make y", Dir: project}}); v.Action != permission.Deny {
		t.Errorf("make y: %v", v)
	}
}

func TestBrokenClaudeSettingsStillDeny(t *testing.T) {
	paths, project := home(t)
	write(t, ClaudeFiles(project)[1], `{"permissions": {"allow": ["Bash(git *)"], "deny": ["Bash(rm:*)"], `)
	o := paths.Open(project)
	if len(o.Problems) != 1 || len(o.Config.Rules) != 1 || o.Config.Rules[0].String() != "deny bash `rm *`" || len(o.Pending) != 0 {
		t.Errorf("%v, %v, %v", o.Problems, o.Config.Rules, o.Pending)
	}
}

// FuzzClaudeRules holds the translation to: no rule allows but for one that allows,
// each is one that the engine takes or is told, and nothing crashes.
func FuzzClaudeRules(f *testing.F) {
	for _, seed := range []string{"Bash(git *)", "Bash(npm run test:*)", "Read(./secrets/**)", "Edit(//a/../b)", "WebFetch(domain:*.x)", "mcp__a__b", "Bash(a *b* :*)", "mcp__", "Edit(/[)", "Bash(\x00)"} {
		for action := permission.Allow; action <= permission.Deny; action++ {
			f.Add(seed, int(action))
		}
	}
	dir := f.TempDir()
	file := filepath.Join(dir, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, action int) {
		a := permission.Action(action)
		if a != permission.Allow && a != permission.Ask && a != permission.Deny {
			return
		}
		rules, err := claudeRules(text, a, dir, dir)
		if len(rules) == 0 && err == nil {
			t.Errorf("%q is neither a rule nor told", text)
		}
		for _, r := range rules {
			if r.action == permission.Allow && a != permission.Allow {
				t.Errorf("%s %q comes to %+v", a, text, r)
			}
			if r.action == permission.Allow && r.permission == "bash" && !strings.Contains(text, "Bash") {
				t.Errorf("%q comes to %+v", text, r)
			}
			rule, err := permission.ParseRule(r.permission, r.pattern, r.action, permission.Project, "")
			if err == nil && rule.Action == permission.Allow && strings.Count(r.pattern, "*") > strings.Count(text, "*") {
				t.Errorf("%q widens to %s", text, rule)
			}
		}
	})
}
