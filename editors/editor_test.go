package editors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnippets(t *testing.T) {
	for _, c := range []struct{ editor, want string }{
		{"zed", `{
  "agent_servers": {
    "acp-agent": {
      "type": "custom",
      "command": "/opt/a <b>/acp-agent",
      "args": [
        "acp"
      ],
      "env": {}
    }
  }
}
`},
		{"jetbrains", `{
  "agent_servers": {
    "acp-agent": {
      "command": "/opt/a <b>/acp-agent",
      "args": [
        "acp"
      ],
      "env": {}
    }
  }
}
`},
	} {
		e, err := Find(c.editor)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, e.Snippet("/opt/a <b>/acp-agent")); d != "" {
			t.Errorf("%s: %s", c.editor, d)
		}
	}
}

func TestSnippetKeepsPath(t *testing.T) {
	for _, exe := range []string{`C:\Program Files\acp-agent.exe`, `/a"b\c`, "/ä/\u2028"} {
		var got struct {
			Servers map[string]launch `json:"agent_servers"`
		}
		if err := json.Unmarshal([]byte(zed().Snippet(exe)), &got); err != nil || got.Servers["acp-agent"].Command != exe {
			t.Errorf("%q: %+v, %v", exe, got, err)
		}
	}
}

func TestPlaces(t *testing.T) {
	type vars map[string]string
	for _, c := range []struct {
		editor, os, home string
		vars             vars
		paths            []string
		sign             string // one of them
	}{
		{"zed", "linux", "/h", nil, []string{"/h/.config/zed/settings.json", "/h/.var/app/dev.zed.Zed/config/zed/settings.json"}, "/h/.config/zed"},
		{"zed", "linux", "/h", vars{"XDG_CONFIG_HOME": "/x/"}, []string{"/x/zed/settings.json", "/h/.var/app/dev.zed.Zed/config/zed/settings.json"}, "/x/zed"},
		{"zed", "linux", "/h", vars{"XDG_CONFIG_HOME": "relative"}, []string{"/h/.config/zed/settings.json", "/h/.var/app/dev.zed.Zed/config/zed/settings.json"}, "/h/.config/zed"},
		{"zed", "linux", "/h", vars{"FLATPAK_XDG_CONFIG_HOME": "/f"}, []string{"/f/zed/settings.json", "/h/.config/zed/settings.json", "/h/.var/app/dev.zed.Zed/config/zed/settings.json"}, "/f/zed"},
		{"zed", "linux", "", nil, nil, ""},
		{"zed", "darwin", "/Users/u", vars{"XDG_CONFIG_HOME": "/x"}, []string{"/Users/u/.config/zed/settings.json"}, "/Applications/Zed.app"},
		{"zed", "windows", `C:\Users\u`, vars{"APPDATA": `D:\Roaming`, "LOCALAPPDATA": `D:\Local`}, []string{`D:\Roaming\Zed\settings.json`}, `D:\Local\Programs\Zed`},
		{"zed", "windows", `C:\Users\u`, nil, []string{`C:\Users\u\AppData\Roaming\Zed\settings.json`}, `C:\Users\u\AppData\Roaming\Zed`},
		{"jetbrains", "linux", "/h", vars{"XDG_CONFIG_HOME": "/x"}, []string{"/h/.jetbrains/acp.json"}, "/x/JetBrains"},
		{"jetbrains", "darwin", "/Users/u", nil, []string{"/Users/u/.jetbrains/acp.json"}, "/Users/u/Library/Application Support/JetBrains"},
		{"jetbrains", "windows", `C:\Users\u`, nil, []string{`C:\Users\u\.jetbrains\acp.json`}, `C:\Users\u\AppData\Roaming\JetBrains`},
		{"jetbrains", "linux", "", nil, nil, ""},
	} {
		e, err := Find(c.editor)
		if err != nil {
			t.Fatal(err)
		}
		env := Env{OS: c.os, Home: c.home, Getenv: func(name string) string { return c.vars[name] }}
		if d := cmp.Diff(c.paths, e.Paths(env)); d != "" {
			t.Errorf("%s on %s, %v: %s", c.editor, c.os, c.vars, d)
		}
		if signs := e.Signs(env); c.sign != "" && !slices.Contains(signs, c.sign) || c.sign == "" && len(signs) > 0 {
			t.Errorf("%s on %s, %v: signs %v, want %s", c.editor, c.os, c.vars, signs, c.sign)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{"zed": "zed", "Zed": "zed", "JETBRAINS": "jetbrains", "GoLand": "jetbrains"} {
		if e, err := Find(name); err != nil || e.ID != want {
			t.Errorf("%s: %q, %v", name, e.ID, err)
		}
	}
	for name, want := range map[string]string{
		"jetbrain": "did you mean jetbrains?", "zd": "did you mean zed?", "zedd": "did you mean zed?", "pychram": `no editor is known as "pychram"`,
		"intelij": "did you mean intellij?", "": "there are zed, jetbrains", "x": "there are zed, jetbrains", "vim\n": `"vim\n"`,
	} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for _, name := range []string{"", "x", "vim"} {
		if _, err := Find(name); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range all() {
		for _, n := range append([]string{e.ID}, e.Aliases...) {
			if seen[n] || n != strings.ToLower(n) {
				t.Errorf("%s is there twice, or not in lower case", n)
			}
			seen[n] = true
		}
		if e.Name == "" || e.Next() == "" {
			t.Errorf("%s says too little", e.ID)
		}
	}
}

func TestQuirks(t *testing.T) {
	for name, want := range map[string]Quirks{
		"zed":                   {LineBase0: true, Terminal: true},
		"vscode-acp-client":     {Terminal: true, TitleOnly: true},
		"acpx":                  {Terminal: true},
		"agent-shell":           {OneOptionPerKind: true, Terminal: true, TurnsOnly: true},
		"Agentic.nvim":          {OneOptionPerKind: true, Terminal: true},
		"CodeCompanion.nvim":    {OneOptionPerKind: true, DiskOnly: true, Terminal: true, TurnsOnly: true},
		"toad":                  {OneOptionPerKind: true, DiskOnly: true, Terminal: true},
		"":                      {OneOptionPerKind: true, DiskOnly: true, Terminal: true, TurnsOnly: true},
		"openclaw-acp-client":   {OneOptionPerKind: true, DiskOnly: true},
		"an editor of tomorrow": {OneOptionPerKind: true, Terminal: true},
	} {
		if got := QuirksOf(name); got != want {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}

func TestLinked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a right there")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "real", "acp-agent")
	link := filepath.Join(dir, "bin", "acp-agent")
	other := filepath.Join(dir, "other")
	for _, err := range []error{
		os.Mkdir(filepath.Dir(exe), 0o755), os.Mkdir(filepath.Dir(link), 0o755),
		os.WriteFile(exe, nil, 0o755), os.WriteFile(other, nil, 0o755), os.Symlink(exe, link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Dir(link))
	t.Chdir(dir)
	for called, want := range map[string]string{
		link: link, "acp-agent": link, "./bin/acp-agent": link, exe: exe, other: exe, "none": exe, "/none": exe, "": exe,
	} {
		if got := linked(exe, called); got != want {
			t.Errorf("called %q: %s, want %s", called, got, want)
		}
	}
	if got, err := Executable(); err != nil || !filepath.IsAbs(got) {
		t.Errorf("Executable = %s, %v", got, err)
	}
}

func TestTemporary(t *testing.T) {
	for exe, want := range map[string]bool{
		"/tmp/go-build4233821015/b001/exe/acp-agent": true,
		"/h/.cache/go-build/34/3441-d/acp-agent":     true,
		"/h/go/bin/acp-agent":                        false,
		"/h/src/my-go-build/acp-agent":               false,
	} {
		if Temporary(exe) != want {
			t.Errorf("%s: %v", exe, !want)
		}
	}
}
