package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
)

const denying = `{"permissions": {"rules": [{"permission": "bash", "pattern": "curl *", "action": "deny"}, {"permission": "bash", "pattern": "make *", "action": "allow"}]}}`

// TestFilesThatCannotBeRead: what such a file forbids is not known, so the folder does
// not count as trusted, and the user is told.
func TestFilesThatCannotBeRead(t *testing.T) {
	tests := []struct {
		name   string
		make   func(t *testing.T, path string)
		denies bool // a rule of it is found all the same
	}{
		{"no permission", func(t *testing.T, path string) {
			write(t, path, denying)
			if os.Getuid() == 0 || runtime.GOOS == "windows" {
				t.Skip("the superuser reads everything, and modes say nothing on Windows")
			}
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a folder", func(t *testing.T, path string) { write(t, filepath.Join(path, "x"), "") }, false},
		{"a pipe", func(t *testing.T, path string) { write(t, path+"x", ""); pipe(t, path) }, false},
		{"a device", func(t *testing.T, path string) { write(t, path+"x", ""); link(t, os.DevNull, path) }, false},
		{"a link to itself", func(t *testing.T, path string) { write(t, path+"x", ""); link(t, path, path) }, false},
		{"a huge file", func(t *testing.T, path string) { write(t, path, denying+strings.Repeat(" ", maxFile)) }, false},
		{"not UTF-8", func(t *testing.T, path string) { write(t, path, strings.Replace(denying, "make", "m\xffke", 1)) }, true},
		{"UTF-16", func(t *testing.T, path string) {
			write(t, path, "\xff\xfe"+strings.Join(strings.Split(denying, ""), "\x00")+"\x00")
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, which := range []func(paths Paths, project string) string{
				func(_ Paths, project string) string { return ProjectFiles(project)[0] },
				func(_ Paths, project string) string { return ClaudeFiles(project)[1] },
				func(paths Paths, _ string) string { return paths.UserFile() },
				func(paths Paths, _ string) string { return paths.Manifest },
			} {
				paths, project := home(t)
				write(t, filepath.Join(project, ".acp-agent", "config.local.json"), `{"mode": "acceptEdits", "hooks": {"turnEnd": [{"command": "x"}]}}`)
				if _, err := paths.Trust(project); err != nil {
					t.Fatal(err)
				}
				path := which(paths, project)
				tt.make(t, path)
				o := paths.Open(project)
				if o.Trusted || len(o.Pending) > 0 || !strings.Contains(o.Why, path) || !slices.Equal(o.Config.Unread, []string{path}) {
					t.Errorf("%s: trusted %v, pending %v, why %q, unread %q", path, o.Trusted, o.Pending, o.Why, o.Config.Unread)
				}
				if len(o.Problems) != 1 || o.Problems[0].File != path || o.Config.Mode != permission.Default || len(o.Config.Hooks) > 0 {
					t.Errorf("%s: told %v; %+v", path, o.Problems, o.Config)
				}
				if got := len(o.Config.Rules); got > 1 || got == 1 && o.Config.Rules[0].Action != permission.Deny || tt.denies != (got == 1) {
					t.Errorf("%s: rules %v", path, o.Config.Rules)
				}
			}
		})
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err)
	}
}

// TestSettingsThatLeadOutOfTheProjectOnlyRestrict: what stands there is not the
// project's, and may be changed by others.
func TestSettingsThatLeadOutOfTheProjectOnlyRestrict(t *testing.T) {
	paths, project := home(t)
	outside := filepath.Join(filepath.Dir(project), "outside.json")
	write(t, outside, denying)
	write(t, filepath.Join(project, ".acp-agent", "x"), "")
	link(t, outside, ProjectFiles(project)[0])
	if _, err := paths.Trust(project); err != nil {
		t.Fatal(err)
	}
	o := paths.Open(project)
	if len(o.Config.Rules) != 1 || o.Config.Rules[0].Action != permission.Deny || len(o.Enabled()) > 0 || len(o.Problems) != 1 {
		t.Errorf("rules %v, enabled %v, told %v", o.Config.Rules, o.Enabled(), o.Problems)
	}
	inside := filepath.Join(project, "settings.json")
	write(t, inside, denying)
	if err := os.Remove(ProjectFiles(project)[0]); err != nil {
		t.Fatal(err)
	}
	link(t, inside, ProjectFiles(project)[0])
	if o := paths.Open(project); len(o.Enabled()) != 1 || len(o.Problems) != 0 {
		t.Errorf("within the project: enabled %v, told %v", o.Enabled(), o.Problems)
	}
}

func TestABeginOfUTF8IsPassedOver(t *testing.T) {
	paths, project := home(t)
	for _, path := range append(append(ClaudeFiles(project), ProjectFiles(project)...), paths.UserFile(), paths.Manifest) {
		text := denying
		if strings.Contains(path, ".claude") {
			text = `{"permissions": {"deny": ["Bash(curl *)"]}}`
		}
		write(t, path, "\xef\xbb\xbf"+text)
		c, problems := Load(LoadOptions{Paths: paths, Project: project})
		if len(problems) > 0 || !slices.ContainsFunc(c.Rules, func(r permission.Rule) bool { return r.Source == path+":1" && r.Action == permission.Deny }) {
			t.Errorf("%s: %v, %v", path, problems, c.Rules)
		}
	}
}

func TestAFileInPlaceOfTheFolderIsNoSettings(t *testing.T) {
	paths, project := home(t)
	write(t, filepath.Join(project, ".claude"), "x")
	write(t, filepath.Join(project, ".acp-agent"), "x")
	if o := paths.Open(project); len(o.Problems) > 0 || len(o.Config.Unread) > 0 {
		t.Errorf("told %v", o.Problems)
	}
}
