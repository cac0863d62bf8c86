package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var configSeeds = []string{
	"[core]\n\texcludesFile = /a/b\n",
	"[CORE]\nEXCLUDESFILE=/a ; comment\n",
	"[core] excludesfile = \"/a b \" # comment\n",
	"[core]\r\nexcludesFile = /a\r\n",
	"\xef\xbb\xbf[core]\nexcludesFile = /a\n",
	"[core]\nexcludesFile = /a\nexcludesFile = /b\n",
	"[core]\nexcludesFile = /a\\\n/b\n",
	"[core]\nexcludesFile = \"/a\\\"b\\\\c\\t\"x\n",
	"[core \"sub\"]\nexcludesFile = /a\n",
	"[core \"\"]\nexcludesFile = /a\n",
	"[core \"s\\\"]\"]\nx = y\n[core]\nexcludesFile = /a\n",
	"# [core]\n; x\n[core]\n# excludesFile = /b\nexcludesFile = /a",
	"[core]\nexcludesFile = /a  \t\n",
	"[core]\nbare\nexcludesFile = /a;b\n",
	"[core]\nexcludesFile = a\"b;c\"d\n",
	"[core]\nexcludesFile =\n",
	"[core]\nexcludesFile = \"\"\n",
	"[core]excludesFile = /a\n",
	"[core.sub]\nexcludesFile = /a\n",
	"[user]\nname = x\n",
}

// TestConfigAsGit compares what a configuration sets with what git takes it for.
func TestConfigAsGit(t *testing.T) {
	git := peer(t, "git")
	file := filepath.Join(realDir(t), "config")
	for _, text := range configSeeds {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(git, "config", "--file", file, "-z", "--get", "core.excludesFile").Output()
		want, set := strings.CutSuffix(string(out), "\x00")
		if err != nil {
			set = false
		}
		var got string
		var found bool
		readConfig(file, 0, &got, &found)
		if got != want || found != set {
			t.Errorf("%q: %q %v, git says %q %v", text, got, found, want, set)
		}
	}
}

func TestUserExcludes(t *testing.T) {
	home := realDir(t)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	tree(t, home, map[string]string{"x": "", "y": "", "z": "", ".config/git/ignore": "", "repo/local": "", "repo/.git/HEAD": ""})
	repo, git := filepath.Join(home, "repo"), filepath.Join(home, "repo", ".git")
	check := func(name, want string) {
		t.Helper()
		if want != "" {
			want = filepath.Join(home, want)
		}
		if got := userExcludes(repo, git); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	check("the default", ".config/git/ignore")
	tree(t, home, map[string]string{".config/git/config": "[core]\nexcludesFile = ~/x\n"})
	check("the user's", "x")
	tree(t, home, map[string]string{".gitconfig": "[include]\npath = more\n", "more": "[include]\npath=more\n[core]\nexcludesFile=" + home + "/y\n"})
	check("an included file, which includes itself", "y")
	tree(t, repo, map[string]string{".git/config": "[core]\nexcludesFile = local\n"})
	check("the repository's, relative to its folder", "repo/local")
	tree(t, repo, map[string]string{".git/config": "[core]\nexcludesFile = /dev/zero\n"})
	check("a device", "")
	tree(t, repo, map[string]string{".git/config": "[core]\nexcludesFile = \n"})
	check("none", "")
	tree(t, repo, map[string]string{".git/config": "[core]\nexcludesFile = nowhere\n"})
	check("a missing file", "")
	tree(t, repo, map[string]string{".git/config": "[core\nexcludesFile = z\n"})
	check("a malformed file says nothing", "y")
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	check("no global file", ".config/git/ignore")
}

func FuzzIgnoreConfig(f *testing.F) {
	for _, text := range configSeeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		eachSetting(data, func(key, value string) {
			if section, name, ok := strings.Cut(key, "."); !ok || name == "" || section != strings.ToLower(section) {
				t.Errorf("the key %q", key)
			}
			if len(value) > len(data) {
				t.Errorf("%q is longer than the file", value)
			}
		})
	})
}
