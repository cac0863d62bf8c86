package process

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func pointer(s string) *string { return &s }

// dirty is an environment with everything that a child must not get.
var dirty = []string{
	"HOME=/home/u", "LANG=C.UTF-8", "KEEP=a=b", "EMPTY=", "PATH=/usr/bin", "PATH=/bin",
	"PAGER=less", "EDITOR=vi", "VISUAL=vi", "TERM=xterm-256color",
	"BASH_ENV=/tmp/x", "ENV=/tmp/x", "CDPATH=/", "GLOBIGNORE=*", "SHELLOPTS=xtrace", "BASHOPTS=extglob",
	"PROMPT_COMMAND=id", "IFS=/", "LESSOPEN=|x", "GREP_OPTIONS=-r", "RIPGREP_CONFIG_PATH=/tmp/rg", "OLDPWD=/",
	"BASH_FUNC_ls%%=() {  id; }", "BASH_FUNC_git%%=() {  id; }",
	"ANTHROPIC_API_KEY=k1", "ANTHROPIC_AUTH_TOKEN=k2", "OPENAI_API_KEY=k3", "GEMINI_API_KEY=k4", "GOOGLE_API_KEY=k5",
	"MY_LLM_KEY=k6", "ACP_AGENT_TOKEN=t", "ACP_AGENT_CONFIG=c",
	"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=N",
	"malformed", "", "=strange",
}

var clean = []string{
	"EDITOR=true", "EMPTY=",
	"GIT_CONFIG_COUNT=5",
	"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_KEY_2=core.pager",
	"GIT_CONFIG_KEY_3=safe.bareRepository", "GIT_CONFIG_KEY_4=protocol.ext.allow",
	"GIT_CONFIG_VALUE_0=N", "GIT_CONFIG_VALUE_1=false", "GIT_CONFIG_VALUE_2=cat",
	"GIT_CONFIG_VALUE_3=explicit", "GIT_CONFIG_VALUE_4=never",
	"GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_SEQUENCE_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
	"HOME=/home/u", "KEEP=a=b", "PAGER=cat", "PATH=/x y/it's", "PWD=/w", "TERM=dumb", "VISUAL=true",
}

var rules = Rules{
	Secrets: []string{"MY_LLM_KEY"},
	Set:     map[string]*string{"PATH": pointer("/x y/it's"), "PWD": pointer("/w"), "LANG": nil},
}

func TestEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names are of one case there")
	}
	if got := Environment(dirty, rules); !slices.Equal(got, clean) {
		t.Errorf("got  %q\nwant %q", got, clean)
	}
}

func TestEnvironmentFindsHome(t *testing.T) {
	u, err := user.LookupId(userID(t))
	if err != nil {
		t.Skipf("the user is in no database: %v", err)
	}
	t.Setenv("HOME", "")
	os.Unsetenv("HOME")
	if got := Environment(nil, Rules{}); !slices.Contains(got, "HOME="+u.HomeDir) {
		t.Errorf("no HOME=%s in %q", u.HomeDir, got)
	}
}

func userID(t *testing.T) string {
	u, err := user.Current()
	if err != nil {
		t.Skipf("nobody knows the user: %v", err)
	}
	return u.Uid
}

// A terminal's script ends up with the same environment as a child.
func TestScript(t *testing.T) {
	bash := bash(t)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte(Script(dirty, rules, "declare -F >&2\n/usr/bin/env -0; read -r || exit 0", "", nil, nil, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", script)
	for _, entry := range dirty {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(EarlyNames(), name) {
			entry = name + "="
		}
		cmd.Env = append(cmd.Env, entry)
	}
	cmd.Stdin = strings.NewReader("the command gets none of this\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var got []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, _, _ := strings.Cut(entry, "=")
		if name != "_" && name != "SHLVL" && name != "malformed" && name != "" { // bash's own, and what it cannot name
			got = append(got, entry)
		}
	}
	slices.Sort(got)
	want := slices.DeleteFunc(slices.Clone(clean), func(s string) bool { return strings.HasPrefix(s, "PWD=") })
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "PWD=") })
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Nothing of a key reaches a command.
func TestNoSecretReachesAChild(t *testing.T) {
	var out bytes.Buffer
	p, err := supervisor(t).Start(Command{
		Path: bash(t), Args: []string{"-c", "/usr/bin/env; declare -p; declare -f"}, Dir: "/",
		Env: Environment(dirty, rules), Output: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"k1", "k2", "k3", "k4", "k5", "k6", "API_KEY", "ACP_AGENT_CONFIG", "less", "BASH_FUNC"} {
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, bad) && !strings.Contains(line, Token) {
				t.Errorf("%s in %q", bad, line)
			}
		}
	}
}

func TestRebuildPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no modes there")
	}
	base := t.TempDir()
	dir := func(name string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(base, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(target, name string) string {
		t.Helper()
		path := filepath.Join(base, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, group, open := dir("good", 0o755), dir("group", 0o775), dir("open", 0o777)
	root, tools := dir("root", 0o755), dir("root/tools", 0o755)
	beside, gone := dir("root-beside", 0o755), filepath.Join(base, "gone")
	intoRoot, toRoot, toOpen := link(tools, "into-root"), link(root, "to-root"), link(open, "to-open")

	join := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	path := join(good, "", ".", "bin", group, open, root, tools, tools+"/", beside, gone, gone+"/../good", intoRoot,
		toRoot+"/tools", toOpen, filepath.Join(root, "later/bin"), good)
	kept, removed := RebuildPath(path, []string{toRoot, "/other"})
	wantKept := []string{good, group, beside, gone, gone + "/../good"}
	wantRemoved := []string{"", ".", "bin", open, root, tools, tools + "/", intoRoot, toRoot + "/tools", toOpen, filepath.Join(root, "later/bin")}
	if !slices.Equal(kept, wantKept) || !slices.Equal(removed, wantRemoved) {
		t.Errorf("kept    %q\nwant    %q\nremoved %q\nwant    %q", kept, wantKept, removed, wantRemoved)
	}
}

func TestSearchPath(t *testing.T) {
	bash(t)
	// A login shell that says a lot, and one that has no answer.
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "shell")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	talks := write(`echo welcome; test "$1 $2" = "-l -c" || exit 9; PATH=/opt/tools/bin:/usr/bin; eval "$3"; echo bye`)
	fails := write("exit 1")
	tests := []struct {
		name    string
		environ []string
		want    string
	}{
		{"full", []string{"PATH=/usr/local/bin:/usr/bin", "SHELL=" + talks}, "/usr/local/bin:/usr/bin"},
		{"short", []string{"PATH=/usr/bin:/bin", "SHELL=" + talks}, "/opt/tools/bin:/usr/bin:/bin"},
		{"short, no answer", []string{"PATH=/usr/bin:/bin", "SHELL=" + fails}, "/usr/bin:/bin"},
		{"short, no shell", []string{"PATH=/usr/bin:/bin"}, "/usr/bin:/bin"},
		{"short, missing shell", []string{"PATH=/usr/bin", "SHELL=/nonexistent"}, "/usr/bin"},
		{"none", []string{"SHELL=" + talks}, "/opt/tools/bin:/usr/bin"},
		{"nothing at all", nil, "/usr/bin:/bin:/usr/sbin:/sbin"},
		{"nothing good", []string{"PATH=.:/ws/bin"}, "/usr/bin:/bin:/usr/sbin:/sbin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
				t.Skip("there are no login shells")
			}
			if got := NewSearchPath(tt.environ, []string{"/ws"}).Value(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
