package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
)

func TestRulesAreChangedInPlace(t *testing.T) {
	push := permission.Rule{Permission: "bash", Pattern: "git push *", Action: permission.Deny}
	all := permission.Rule{Permission: "web_fetch", Action: permission.Ask}
	for name, tt := range map[string]struct{ before, added, removed string }{
		"no file": {"", `{
  "permissions": {
    "rules": [
      {"permission": "bash", "pattern": "git push *", "action": "deny"},
      {"permission": "web_fetch", "action": "ask"}
    ]
  }
}
`, `{
  "permissions": {
    "rules": [
      {"permission": "web_fetch", "action": "ask"}
    ]
  }
}
`},
		"comments": {`// mine
{
  "model": "a/b", // fast
  "permissions": {
    // what I never want
    "rules": [
      // first
      {"permission": "read", "pattern": "x", "action": "deny"}, // x
    ], // end
  },
}
`, `// mine
{
  "model": "a/b", // fast
  "permissions": {
    // what I never want
    "rules": [
      // first
      {"permission": "read", "pattern": "x", "action": "deny"}, // x
      {"permission": "bash", "pattern": "git push *", "action": "deny"},
      {"permission": "web_fetch", "action": "ask"},
    ], // end
  },
}
`, `// mine
{
  "model": "a/b", // fast
  "permissions": {
    // what I never want
    "rules": [
      // first
      {"permission": "read", "pattern": "x", "action": "deny"}, // x
      {"permission": "web_fetch", "action": "ask"},
    ], // end
  },
}
`},
		"without a comma": {`{
	"permissions": {"rules": [{"permission": "read", "pattern": "x", "action": "deny"}]},
	"model": "a/b" // fast
}`, `{
	"permissions": {"rules": [{"permission": "read", "pattern": "x", "action": "deny"}, {"permission": "bash", "pattern": "git push *", "action": "deny"}, {"permission": "web_fetch", "action": "ask"}]},
	"model": "a/b" // fast
}`, `{
	"permissions": {"rules": [{"permission": "read", "pattern": "x", "action": "deny"}, {"permission": "web_fetch", "action": "ask"}]},
	"model": "a/b" // fast
}`},
		"other keys": {`{
  "model": "a/b" // fast
}
`, `{
  "model": "a/b", // fast
  "permissions": {
    "rules": [
      {"permission": "bash", "pattern": "git push *", "action": "deny"},
      {"permission": "web_fetch", "action": "ask"}
    ]
  }
}
`, `{
  "model": "a/b", // fast
  "permissions": {
    "rules": [
      {"permission": "web_fetch", "action": "ask"}
    ]
  }
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := Paths{Home: dir, Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data")}
			if tt.before != "" {
				writeUser(t, p, tt.before)
			}
			for _, r := range []permission.Rule{push, all, push} {
				if _, err := p.AddRule(r); err != nil {
					t.Fatal(err)
				}
			}
			holds(t, p, tt.added)
			if cfg, problems := Load(LoadOptions{Paths: p}); len(problems) > 0 || !hasRule(cfg.Rules, push) || !hasRule(cfg.Rules, all) {
				t.Errorf("%v: %v", cfg.Rules, problems)
			}
			if removed, err := p.RemoveRule(push); err != nil || !removed {
				t.Fatal(removed, err)
			}
			holds(t, p, tt.removed)
			if removed, err := p.RemoveRule(push); err != nil || removed {
				t.Error("removed again:", removed, err)
			}
		})
	}
}

func writeUser(t *testing.T, p Paths, text string) {
	t.Helper()
	if err := os.MkdirAll(p.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.UserFile(), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, p Paths, want string) {
	t.Helper()
	got, err := os.ReadFile(p.UserFile())
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
}

func TestRulesOfAFileThatIsBrokenStay(t *testing.T) {
	dir := t.TempDir()
	p := Paths{Config: filepath.Join(dir, "config")}
	for _, text := range []string{`{"permissions": `, `[]`, `{"permissions": 1}`, `{"permissions": {"rules": {}}}`} {
		writeUser(t, p, text)
		if _, err := p.AddRule(permission.Rule{Permission: "bash", Action: permission.Ask}); err == nil {
			t.Errorf("%s: no error", text)
		}
		holds(t, p, text)
	}
}

func TestGrantsAreTakenBack(t *testing.T) {
	p := Paths{Data: t.TempDir()}
	a := permission.Rule{Permission: "bash", Pattern: "go test *", Action: permission.Allow}
	b := permission.Rule{Permission: "edit", Pattern: "src/**", Action: permission.Allow}
	if err := p.AddGrants("/p", []permission.Rule{a, b}); err != nil {
		t.Fatal(err)
	}
	if removed, err := p.RemoveGrants("/p", []permission.Rule{a}); err != nil || !removed {
		t.Fatal(removed, err)
	}
	left, err := p.Grants("/p")
	if err != nil || len(left) != 1 || left[0].Pattern != "src/**" {
		t.Errorf("%v, %v", left, err)
	}
	if removed, err := p.RemoveGrants("/q", []permission.Rule{b}); err != nil || removed {
		t.Error("another project's grant:", removed, err)
	}
}
