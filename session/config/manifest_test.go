package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
)

func TestManifestComesFirstAndItsRulesStandAboveAll(t *testing.T) {
	paths, project := home(t)
	write(t, paths.Manifest, `{"model": "a/manifest", "smallModel": "a/small", "mode": "plan",
		"sandbox": {"mode": "on"}, "additionalDirectories": ["/extra"], "trust": "always",
		"permissions": {"rules": [{"permission": "bash", "pattern": "curl *", "action": "deny"}]}}`)
	write(t, paths.UserFile(), `{"model": "a/user", "permissions": {"rules": [{"permission": "bash", "pattern": "curl example.com", "action": "allow"}]}}`)
	c, problems := Load(LoadOptions{Paths: paths, Project: project})
	if len(problems) != 1 || !strings.Contains(problems[0].Text, "trust ") || c.Trust != TrustAsk {
		t.Errorf("told %v; trust %s", problems, c.Trust)
	}
	if c.Model != "a/user" || c.SmallModel != "a/small" || c.Mode != permission.Plan || c.Sandbox.Mode != "on" || len(c.AdditionalDirectories) != 1 {
		t.Errorf("%+v", c)
	}
	if len(c.Rules) != 2 || c.Rules[0].Scope != permission.Manifest || c.Rules[0].Source != paths.Manifest+":3" {
		t.Errorf("rules %+v", c.Rules)
	}
}

func TestManifestIsNeverWritten(t *testing.T) {
	paths, project := home(t)
	if _, err := paths.AddRule(permission.Rule{Permission: "bash", Pattern: "x", Action: permission.Deny}); err != nil {
		t.Fatal(err)
	}
	if _, err := paths.Trust(project); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(paths.Manifest)); !os.IsNotExist(err) {
		t.Errorf("%s: %v", filepath.Dir(paths.Manifest), err)
	}
}
