package workspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRuleMatches(t *testing.T) {
	for _, c := range []struct {
		line, path string
		dir, want  bool
	}{
		{"*.log", "a.log", false, true},
		{"*.log", "sub/a.log", false, true},
		{"/*.log", "sub/a.log", false, false},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"build/", "x/build", true, true},
		{"/build", "x/build", true, false},
		{"doc/*.txt", "doc/a.txt", false, true},
		{"doc/*.txt", "doc/sub/a.txt", false, false},
		{"doc/**/a.txt", "doc/a.txt", false, true},
		{"doc/**/a.txt", "doc/x/y/a.txt", false, true},
		{"**/a.txt", "a.txt", false, true},
		{"**/foo/bar", "x/foo/bar", false, true},
		{"abc/**", "abc/x/y", false, true},
		{"abc/**", "abc", true, false},
		{"a/**/b/**/c", "a/b/b/c", false, true},
		{"a/**/b/**/c", "a/c", false, false},
		{"[a-c]x", "bx", false, true},
		{"[!a-c]x", "bx", false, false},
		{"[^a-c]x", "dx", false, true},
		{"[]x]", "]", false, true},
		{"[a-]", "-", false, true},
		{"[[:digit:][:upper:]]z", "7z", false, true},
		{"[[:digit:][:upper:]]z", "qz", false, false},
		{"[[:wrong:]]", "w", false, false},
		{"[abc", "a", false, false},
		{`\#x`, "#x", false, true},
		{`\!x`, "!x", false, true},
		{`a\*`, "a*", false, true},
		{`a\*`, "ab", false, false},
		{`a\`, "a", false, false},
		{"tail   ", "tail", false, true},
		{`tail\ `, "tail ", false, true},
		{`tail\  `, "tail ", false, true},
		{"tail\t", "tail", false, false},
		{"a**b", "axxb", false, true},
		{"?", "ü", false, false}, // bytes, as in git
	} {
		r, ok := parseRule(c.line)
		if !ok {
			t.Errorf("%q is no rule", c.line)
			continue
		}
		if got := r.matches(c.path, filepath.Base(c.path), c.dir); got != c.want {
			t.Errorf("%q on %q (dir %v): %v, want %v", c.line, c.path, c.dir, got, c.want)
		}
	}
	for _, line := range []string{"", "   ", "# comment", "/", "!"} {
		if r, ok := parseRule(line); ok {
			t.Errorf("%q is a rule: %+v", line, r)
		}
	}
	crlf := parseRules([]byte("\xef\xbb\xbfa\r\nb\r\n"))
	if len(crlf) != 2 || crlf[0].text != "a" || crlf[1].text != "b" {
		t.Errorf("CRLF and BOM: %+v", crlf)
	}
}

func TestPatternTimeIsBounded(t *testing.T) {
	p := compilePattern(strings.Repeat("*a", 40) + "*b/" + strings.Repeat("**/a*/", 30) + "c")
	if p.match(strings.Repeat("a", 200) + "b/" + strings.Repeat("aaa/", 200)) {
		t.Error("matched")
	}
}

// ignoreGen makes random trees and ignore files over a small alphabet, so that
// they meet often.
type ignoreGen struct{ *rand.Rand }

func (g ignoreGen) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g ignoreGen) name() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("a", "b", "c", "x", "A", "1", "-", "]", "foo", "bar", ".o", " ", "#", "!", "é", "["))
	}
	if name := strings.Trim(b.String(), " "); name != "" {
		return name
	}
	return "s"
}

func (g ignoreGen) glob() string {
	var b strings.Builder
	for range 1 + g.IntN(4) {
		b.WriteString(g.pick("a", "b", "c", "x", "foo", "bar", ".o", "*", "*", "**", "?", "[a-c]", "[!a]", "[^x-z]",
			"[[:alpha:]]", "[[:digit:]]", "[[:punct:]x]", "[[:nope:]]", "[]-a]", "[", "]", `\*`, `\a`, "[a", `[\]]`, "[--0]", "[[:", "é", "-"))
	}
	return b.String()
}

func (g ignoreGen) line() string {
	if g.IntN(12) == 0 {
		return g.pick("", "# no", `\#`, `\!x`, "!", "/", "**", "*", "/*", "**/", "/**", "a\\", "  ", "foo ", `foo\ `, "foo/**", "**/foo", "a/**/b", "foo**/bar", "a//b", "/a/", "x\r", "a\t")
	}
	var b strings.Builder
	if g.IntN(4) == 0 {
		b.WriteString("!")
	}
	if g.IntN(4) == 0 {
		b.WriteString("/")
	}
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString("/")
		}
		b.WriteString(g.pick(g.name(), g.glob(), g.glob(), "**", "*"))
	}
	if g.IntN(4) == 0 {
		b.WriteString("/")
	}
	return b.String()
}

func (g ignoreGen) file() string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.line() + g.pick("\n", "\n", "\n", "\r\n"))
	}
	return b.String()
}

// grow makes a random tree and returns all its paths, folders ending in "/".
func (g ignoreGen) grow(t *testing.T, dir, base string, depth int) []string {
	var paths []string
	for range 2 + g.IntN(5) {
		rel := base + g.name()
		path := filepath.Join(dir, rel)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if depth > 0 && g.IntN(2) == 0 {
			tree(t, dir, map[string]string{rel + "/": ""})
			paths = append(append(paths, rel+"/"), g.grow(t, dir, rel+"/", depth-1)...)
			continue
		}
		tree(t, dir, map[string]string{rel: "x"})
		paths = append(paths, rel)
	}
	if g.IntN(2) == 0 {
		tree(t, dir, map[string]string{base + ".gitignore": g.file()})
	}
	return paths
}

// TestIgnoresAsGit compares the decisions with git's on random trees.
func TestIgnoresAsGit(t *testing.T) {
	git := peer(t, "git")
	config := realDir(t)
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("HOME", config)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(config, "gitconfig"))
	total, all, wrong := 0, 0, 0
	for seed := uint64(1); all < 5000; seed++ {
		g := ignoreGen{rand.New(rand.NewPCG(seed, 7))}
		dir := realDir(t)
		tree(t, config, map[string]string{"git/ignore": g.file()})
		if out, err := exec.Command(git, "-C", dir, "init", "-q").CombinedOutput(); err != nil {
			t.Skipf("git init does not work here: %v: %s", err, out)
		}
		tree(t, dir, map[string]string{".git/info/exclude": g.file()})
		g.configure(t, config, dir)
		paths := g.grow(t, dir, "", 3)
		all += len(paths)
		for range 2 {
			tree(t, dir, map[string]string{".gitignore": g.file()})
			want := checkIgnore(t, git, dir, paths)
			for _, path := range paths {
				total++
				if got, theirs := ignoredIn(dir, path), want[strings.TrimSuffix(path, "/")]; got != theirs {
					if wrong++; wrong <= 10 {
						t.Errorf("seed %d: %q ignored: %v, git says %v\n%s", seed, path, got, theirs, ignoreFilesOf(dir, config, path))
					}
				}
			}
		}
	}
	t.Logf("%d decisions about %d paths, %d differ", total, all, wrong)
}

// configure says in git's configuration, or does not, which file holds what the
// user excludes.
func (g ignoreGen) configure(t *testing.T, config, dir string) {
	tree(t, config, map[string]string{"excludes": g.file(), "gitconfig": g.pick("", "", "[core]\n\texcludesFile = ~/excludes\n")})
	if g.IntN(3) == 0 {
		tree(t, dir, map[string]string{"mine": g.file()})
		path := filepath.Join(dir, ".git", "config")
		tree(t, dir, map[string]string{".git/config": content(t, path) + g.pick("[core] excludesFile = mine\n", "[CORE]\nexcludesfile=\"~/excludes\"\n", "[core]excludesFile=\n")})
	}
}

func checkIgnore(t *testing.T, git, dir string, paths []string) map[string]bool {
	t.Helper()
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00") // git looks itself whether it is a folder
	}
	cmd := exec.Command(git, "-C", dir, "check-ignore", "-z", "--stdin", "--no-index")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	ignored := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		ignored[p] = true
	}
	return ignored
}

// ignoredIn decides as the walk does: from the top down, until a folder is ignored.
func ignoredIn(dir, path string) bool {
	layer := (*ignoreLayer)(nil).of(dir, "")
	names := strings.SplitAfter(strings.TrimSuffix(path, "/"), "/")
	full := ""
	for i, name := range names {
		full += name
		isDir := i < len(names)-1 || strings.HasSuffix(path, "/")
		if layer.ignores(strings.TrimSuffix(full, "/"), isDir) {
			return true
		}
		layer = layer.of(dir, full)
	}
	return false
}

func ignoreFilesOf(dir, config, path string) string {
	var b strings.Builder
	show := func(name string) {
		if data, err := os.ReadFile(name); err == nil {
			fmt.Fprintf(&b, "%s: %q\n", strings.TrimPrefix(name, dir), data)
		}
	}
	show(config + "/git/ignore")
	show(config + "/excludes")
	show(config + "/gitconfig")
	show(dir + "/mine")
	show(dir + "/.git/config")
	show(dir + "/.git/info/exclude")
	for d := path; ; d = filepath.Dir(d) {
		show(filepath.Join(dir, d, ".gitignore"))
		if d == "." {
			return b.String()
		}
	}
}

func FuzzIgnore(f *testing.F) {
	for _, line := range []string{"*.log", "!/a/**/b/", "[[:alpha:]-z]", `\# `, "foo**/bar", "[]-a]/x", "a\\", "**/**/x"} {
		f.Add(line, "a/b/c.log")
		f.Add(line, "foo/x/bar")
		f.Add(line, "/a//")
	}
	f.Fuzz(func(t *testing.T, line, path string) {
		rules := parseRules([]byte(line))
		for i := range rules {
			r := &rules[i]
			base := path[strings.LastIndexByte(path, '/')+1:]
			file, dir := r.matches(path, base, false), r.matches(path, base, true)
			if file && !dir {
				t.Errorf("%q matches the file %q and not the folder", r.line, path)
			}
			r.covers(path)
			again, ok := parseRule(r.line)
			if !r.negated && ok && again.matches(path, base, true) != dir {
				t.Errorf("%q parsed again decides otherwise on %q", r.line, path)
			}
		}
	})
}
