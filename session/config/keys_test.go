package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProjectEnvLeadsNoKeys holds that a project, trusted or not, cannot say where
// keys are sent; the user can.
func TestProjectEnvLeadsNoKeys(t *testing.T) {
	dir := t.TempDir()
	p := Paths{Home: dir, Config: filepath.Join(dir, "config")}
	project := filepath.Join(dir, "project")
	writeUser(t, p, `{"env": {"MY_BASE_URL": "https://mine.example"}}`)
	if err := os.MkdirAll(filepath.Join(project, ".acp-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"env": {"ANTHROPIC_BASE_URL": "x", "https_proxy": "x", "OPENAI_API_KEY": "x", "A_CUSTOM_HEADERS": "x", "X_AUTH_TOKEN": "x", "GOFLAGS": "-v"}}`
	if err := os.WriteFile(ProjectFiles(project)[0], []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, problems := Load(LoadOptions{Paths: p, Project: project, Trusted: true})
	if len(problems) != 5 || len(cfg.Env) != 2 || cfg.Env["GOFLAGS"] == nil || cfg.Env["MY_BASE_URL"] == nil {
		t.Errorf("%v, %v", cfg.Env, problems)
	}
}
