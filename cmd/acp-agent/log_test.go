package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
)

// TestLogHidesSecrets: no secret gets into the log, in whatever a line has it, and
// nobody else may read it.
func TestLogHidesSecrets(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SOME_API_KEY", "known-from-environment")
	env := map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir, "XDG_DATA_HOME": dir, "XDG_STATE_HOME": dir}
	p := &process{getenv: func(name string) string { return env[name] }}
	paths := config.NewPaths(p.getenv)
	if err := paths.Login("openai", "known-from-login"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "logs", "a.log")
	secrets := &kinds.Redactor{}
	log, done := p.openLog(paths, file, secrets)
	secrets.Know("known-from-session")
	token := "ghp_" + strings.Repeat("a", 36)
	log.With("w", token).Error("using "+token, "error", errors.New("401 for known-from-environment"), "keys", []string{"known-from-login"},
		"token", "opaque", "command", "curl https://u:pass-word@x.example/path", slog.Group("g", "a", "known-from-session"))
	done()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{token, "known-from", "opaque", "pass-word"} {
		if strings.Contains(string(got), secret) {
			t.Errorf("%q is logged: %s", secret, got)
		}
	}
	for _, kept := range []string{"curl https://u:", "x.example/path", "401 for"} {
		if !strings.Contains(string(got), kept) {
			t.Errorf("%q is not logged: %s", kept, got)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Stat(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && (info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700) {
		t.Errorf("the log has the mode %v, its folder %v", info.Mode(), folder.Mode())
	}
}
