package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
)

// TestWhatIsWideWaitsForAWord: permissions for everything and further folders of a
// project take effect once the user agreed to these very ones, and no sooner.
func TestWhatIsWideWaitsForAWord(t *testing.T) {
	for _, text := range []string{
		`{"permissions": {"rules": [{"permission": "bash", "pattern": "*", "action": "allow"}]}}`,
		`{"permissions": {"rules": [{"permission": "*", "action": "allow"}]}}`,
		`{"permissions": {"rules": [{"permission": "edit", "pattern": "**/*", "action": "allow"}]}}`,
		`{"permissions": {"rules": [{"permission": "mcp:*:*", "action": "allow"}]}}`,
		`{"additionalDirectories": ["../more"]}`,
		`{"additionalDirectories": ["~/x", "/y"]}`,
	} {
		paths, project := home(t)
		write(t, ProjectFiles(project)[0], text)
		holds := func(o Opened) bool { return len(o.Config.Rules)+len(o.Config.AdditionalDirectories) > 0 }
		o := paths.Open(project)
		if o.Trusted || holds(o) || len(o.Pending) != 1 || o.Pending[0].Part != PartWide {
			t.Errorf("%s: before: %+v", text, o)
		}
		write(t, paths.UserFile(), `{"trust": "always"}`)
		if o := paths.Open(project); !o.Trusted || holds(o) || len(o.Problems) != 1 || !o.Problems[0].Warning {
			t.Errorf("%s: where folders are trusted always: %+v", text, o)
		}
		if _, err := paths.Trust(project); err != nil {
			t.Fatal(err)
		}
		for _, user := range []string{`{"trust": "always"}`, `{}`} {
			write(t, paths.UserFile(), user)
			o := paths.Open(project)
			if !o.Trusted || !holds(o) || len(o.Problems) > 0 {
				t.Errorf("%s: after, with %s: %+v, %v", text, user, o, o.Problems)
			}
			for _, r := range o.Config.Rules {
				if !r.Confirmed {
					t.Errorf("%s: %+v", text, r)
				}
			}
		}
		write(t, paths.UserFile(), `{"trust": "never"}`)
		if o := paths.Open(project); holds(o) {
			t.Errorf("%s: never: %+v", text, o)
		}
	}
}

// TestFurtherFoldersAreHeldToWhereTheyLed: a link that leads elsewhere later is another
// folder, which asks again.
func TestFurtherFoldersAreHeldToWhereTheyLed(t *testing.T) {
	paths, project := home(t)
	beside := filepath.Join(filepath.Dir(project), "beside")
	write(t, filepath.Join(beside, "x"), "")
	at := filepath.Join(project, "more")
	link(t, beside, at)
	write(t, ProjectFiles(project)[0], `{"additionalDirectories": ["more"]}`)
	real, err := filepath.EvalSymlinks(beside)
	if err != nil {
		t.Fatal(err)
	}
	if o := paths.Open(project); len(o.Pending) != 1 || !strings.Contains(o.Pending[0].Text, real) {
		t.Errorf("pending %v", o.Pending)
	}
	if _, err := paths.Trust(project); err != nil {
		t.Fatal(err)
	}
	if o := paths.Open(project); len(o.Config.AdditionalDirectories) != 1 || o.Config.AdditionalDirectories[0] != real {
		t.Errorf("%q", o.Config.AdditionalDirectories)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Dir(project), at)
	if o := paths.Open(project); o.Trusted || len(o.Pending) != 1 || len(o.Config.AdditionalDirectories) > 0 {
		t.Errorf("%+v", o)
	}
}

// TestOneToolOfAServerIsNotEverything: such a rule is one as any other.
func TestOneToolOfAServerIsNotEverything(t *testing.T) {
	paths, project := home(t)
	write(t, ProjectFiles(project)[0], `{"permissions": {"rules": [{"permission": "mcp:db:query", "action": "allow"}]}}`)
	o := paths.Open(project)
	if len(o.Pending) != 1 || o.Pending[0].Part != PartRules {
		t.Errorf("%+v", o.Pending)
	}
}

// TestServersOfAllAgentsAreNamed: those of .mcp.json, each by all that it runs.
func TestServersOfAllAgentsAreNamed(t *testing.T) {
	paths, project := home(t)
	write(t, ServersFile(project), `{"mcpServers": {"a": {"command": "./x", "args": ["1"]}, "b": {"type": "http", "url": "https://b.example"}}, "permissions": {"rules": []}}`)
	o := paths.Open(project)
	if len(o.Pending) != 2 || o.Pending[0].Part != PartServers || o.Pending[0].Text != `a = {"command":"./x","args":["1"]}` || len(o.Problems) > 0 {
		t.Errorf("%+v, %v", o.Pending, o.Problems)
	}
	if err := paths.Agree(o); err != nil {
		t.Fatal(err)
	}
	write(t, ServersFile(project), `{"mcpServers": {"a": {"command": "./x", "args": ["2"]}, "b": {"type": "http", "url": "https://b.example"}}}`)
	if o := paths.Open(project); o.Trusted || !o.Known || len(o.Pending) != 1 {
		t.Errorf("another argument: %+v", o)
	}
	write(t, ServersFile(project), `{"mcpServers"`)
	if o := paths.Open(project); len(o.Problems) != 1 || len(o.Config.Unread) > 0 || o.Config.Mode != permission.Default {
		t.Errorf("broken: %+v", o)
	}
}
