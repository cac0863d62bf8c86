//go:build unix

package workspace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// hit is a line that a search found.
type hit struct {
	path string
	line int
	text string
}

func (h hit) compare(o hit) int {
	return cmp.Or(strings.Compare(h.path, o.path), h.line-o.line, strings.Compare(h.text, o.text))
}

// anyByte reports whether the query may match bytes that are no UTF-8, which
// rg's sets of characters never do.
func (q Query) anyByte() bool { return !q.Literal && strings.ContainsAny(q.Pattern, ".^") }

// rgQueries are what the results are compared on.
var rgQueries = []Query{
	{Pattern: "ErrUnexpectedEOF"}, {Pattern: "return"}, {Pattern: "needle"}, {Pattern: "function"}, {Pattern: "é"}, {Pattern: "日本"},
	{Pattern: "f(x)[0]", Literal: true}, {Pattern: "a.b*c", Literal: true}, {Pattern: `C:\new`, Literal: true}, {Pattern: "=> {", Literal: true},
	{Pattern: "kiss", FoldCase: true}, {Pattern: "k", FoldCase: true}, {Pattern: "s", FoldCase: true}, {Pattern: "task|desk", FoldCase: true},
	{Pattern: "ÜBER", FoldCase: true}, {Pattern: "unexpectedeof", FoldCase: true}, {Pattern: "Σ", FoldCase: true}, {Pattern: `\bstring\b`, FoldCase: true},
	{Pattern: `\bneedle\b`}, {Pattern: `\berr\b`}, {Pattern: `\Ble\b`}, {Pattern: `\b\d+\b`}, {Pattern: `é\b`},
	{Pattern: "^func"}, {Pattern: "^needle$"}, {Pattern: `\)$`}, {Pattern: "^$"}, {Pattern: `^[ \t]+$`}, {Pattern: `^\s*//`}, {Pattern: `;$`}, {Pattern: `\Aneedle\z`},
	{Pattern: "[A-Z]+_[A-Z]+_[A-Z]+"}, {Pattern: "[0-9]{3}[a-f][0-9]{2}"}, {Pattern: "[[:upper:]]{4,}"}, {Pattern: `[^\x00-\x7f]`}, {Pattern: `\p{Greek}`}, {Pattern: "[α-ωé]"}, {Pattern: `[-+]?[0-9]+\.[0-9]+`},
	{Pattern: "(foo|bar|baz)[A-Z]"}, {Pattern: "TODO|FIXME|XXX"}, {Pattern: `(Read|Write)(er|All)?\(`}, {Pattern: "a|b|needle|日"}, {Pattern: `func \(\w+ \*?\w+\) \w+\(`}, {Pattern: `\w+Reader\b`}, {Pattern: `"[a-z]+":\s+"`},
	{Pattern: "x*"}, {Pattern: "needle|"}, {Pattern: `\b`}, {Pattern: "(?:a?){20}a{20}"}, {Pattern: "(a|aa)+$"}, {Pattern: "needle.{0,40}end"},
	{Pattern: `\{\n\treturn`, Multiline: true}, {Pattern: `needle\n+needle`, Multiline: true}, {Pattern: `a\nb`, Multiline: true}, {Pattern: `^\}\n\nfunc`, Multiline: true}, {Pattern: `needle.{0,60}?end`, Multiline: true}, {Pattern: `\n\n\n`, Multiline: true}, {Pattern: "needle\nneedle", Literal: true},
}

// forRipgrep is a query in the syntax of ripgrep, where \w, \d, \s and \b are
// those of Unicode.
func forRipgrep(q Query) []string {
	args := []string{"--no-config", "--hidden", "--no-ignore-parent", "--no-require-git", "--glob=!.git", "--text", "--crlf", "--null", "--line-number", "--no-heading", "--with-filename", "--color=never"}
	if q.FoldCase {
		args = append(args, "--ignore-case")
	}
	pattern := q.Pattern
	if q.Multiline || strings.Contains(pattern, "\n") {
		args = append(args, "--multiline", "--multiline-dotall")
		pattern = strings.NewReplacer(`\n`, `(?:\r?\n)`, "\n", `(?:\r?\n)`).Replace(pattern) // ours takes CRLF for LF
	}
	if q.Literal && !strings.Contains(q.Pattern, "\n") {
		args = append(args, "--fixed-strings")
	} else {
		pattern = strings.NewReplacer(`\w`, "[0-9A-Za-z_]", `\d`, "[0-9]", `\s`, `[\t\n\f\r ]`, `\b`, `(?-u:\b)`, `\B`, `(?-u:\B)`, `\A`, "^", `\z`, "$").Replace(pattern)
	}
	return append(args, "--regexp="+pattern, "./")
}

// TestSearchAsRipgrep compares path, line and text of what is found with ripgrep
// on part of the standard library, a folder of packages and a tree of what goes
// wrong. Left out are what ours never searches (binary files, secrets) and what
// rg does not (links).
func TestSearchAsRipgrep(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed:", err)
	}
	home := realDir(t)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	sources := goSources(t)
	for name, dir := range map[string]string{
		"go/bufio": filepath.Join(sources, "bufio"), "go/net": filepath.Join(sources, "net", "http"), "go/strings": filepath.Join(sources, "strings"), "go/unicode": filepath.Join(sources, "unicode"),
		"node_modules": nodeModules(t), "nasty": nastyTree(t),
	} {
		t.Run(name, func(t *testing.T) {
			r := rootsOf(t, dir)
			start, err := r.Resolve(".")
			if err != nil {
				t.Fatal(err)
			}
			list, err := Walk(t.Context(), r, start, WalkOptions{})
			if err != nil {
				t.Fatal(err)
			}
			list.Files = slices.DeleteFunc(list.Files, func(f File) bool { return f.Link })
			hits := 0
			for _, q := range rgQueries {
				ours, theirs := ourHits(t, r, start, list.Files, q), rgHits(t, rg, dir, q)
				hits += len(theirs)
				if q.anyByte() {
					ours, theirs = inUTF8(dir, ours), inUTF8(dir, theirs)
				}
				compareHits(t, q, ours, theirs)
			}
			if hits < 50 {
				t.Errorf("only %d lines were found, which says nothing", hits)
			}
		})
	}
}

// inUTF8 leaves what was found in files that are valid.
func inUTF8(dir string, hits []hit) []hit {
	valid := map[string]bool{}
	return slices.DeleteFunc(hits, func(h hit) bool {
		if _, ok := valid[h.path]; !ok {
			data, err := os.ReadFile(filepath.Join(dir, h.path))
			valid[h.path] = err == nil && (utf8.Valid(data) || encodingOf(data).wide())
		}
		return !valid[h.path]
	})
}

func compareHits(t *testing.T, q Query, ours, theirs []hit) {
	t.Helper()
	for i, k, n := 0, 0, 0; (i < len(ours) || k < len(theirs)) && n < 5; {
		switch {
		case k == len(theirs) || i < len(ours) && ours[i].compare(theirs[k]) < 0:
			t.Errorf("%+v: only ours: %.200q", q, fmt.Sprint(ours[i]))
			i, n = i+1, n+1
		case i == len(ours) || ours[i].compare(theirs[k]) > 0:
			t.Errorf("%+v: only rg: %.200q", q, fmt.Sprint(theirs[k]))
			k, n = k+1, n+1
		default:
			i, k = i+1, k+1
		}
	}
}

func ourHits(t *testing.T, r *Roots, start Path, files []File, q Query) []hit {
	t.Helper()
	p, err := Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Search(t.Context(), r, start, files, p, SearchOptions{Lines: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	var hits []hit
	for _, f := range found.Files {
		for _, l := range f.Lines {
			hits = append(hits, hit{f.Path, l.Number, l.Text})
		}
	}
	slices.SortFunc(hits, hit.compare)
	return hits
}

func rgHits(t *testing.T, rg, dir string, q Query) []hit {
	t.Helper()
	cmd := exec.Command(rg, forRipgrep(q)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		// 1: nothing found; 2: an error, which may only be what cannot be read.
		if exit.ExitCode() > 2 || exit.ExitCode() == 2 && bytes.Contains(exit.Stderr, []byte("regex")) {
			t.Fatalf("%v: %v: %s", cmd.Args, err, exit.Stderr)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	skip := map[string]bool{}
	c := &collector{matcher: mustCompile(t, q).matcher(), ctx: t.Context()}
	c.matcher.effort = maxEffort
	var hits []hit
	for len(out) > 0 {
		path, rest, ok := bytes.Cut(out, []byte{0})
		number, rest, ok2 := bytes.Cut(rest, []byte(":"))
		text, rest, _ := bytes.Cut(rest, []byte("\n"))
		n, err := strconv.Atoi(string(number))
		if !ok || !ok2 || err != nil {
			t.Fatalf("rg wrote %.200q", out)
		}
		out = rest
		name := strings.TrimPrefix(string(path), "./")
		if _, ok := skip[name]; !ok {
			data, err := os.ReadFile(filepath.Join(dir, name))
			skip[name] = err != nil || IsBinary(data) || IsSecret(name)
		}
		if !skip[name] {
			hits = append(hits, hit{name, n, c.cut(bytes.TrimSuffix(text, []byte("\r")), true)})
		}
	}
	slices.SortFunc(hits, hit.compare)
	return hits
}

// nodeModules makes a folder as package managers do: many small packages, files
// of one long line, nested copies, links.
func nodeModules(t *testing.T) string {
	dir := realDir(t)
	g := rand.New(rand.NewPCG(11, 4))
	word := func() string {
		return []string{"function", "needle", "return", "string", "kiss", "Task", "error", "foo", "barB", "bazZ", "TODO", "x", "MAX_OLD_SPACE", "3.14", "日本", "é"}[g.IntN(16)]
	}
	files := map[string]string{".package-lock.json": "{\n  \"name\": \"x\",\n  \"lockfileVersion\": 3\n}\n"}
	for i := range 60 {
		base := fmt.Sprintf("pkg-%d/", i)
		switch {
		case i%10 == 0:
			base = fmt.Sprintf("@scope/pkg-%d/", i)
		case i%7 == 0:
			base = fmt.Sprintf("pkg-%d/node_modules/dep-%d/", i-1, i)
		}
		files[base+"package.json"] = fmt.Sprintf("{\r\n  \"name\": \"pkg-%d\",\r\n  \"version\": \"1.%d.0\",\r\n  \"main\":  \"index.js\"\r\n}\r\n", i, i)
		var code, long strings.Builder
		for range 60 {
			fmt.Fprintf(&code, "  %s(%s) => { %s %s; }\n", word(), word(), word(), word())
			fmt.Fprintf(&long, "%s(%s,%s=>{%s});", word(), word(), word(), word())
		}
		files[base+"index.js"] = code.String()
		files[base+"dist/index.min.js"] = "/*! needle */" + long.String() + "\n//# sourceMappingURL=index.min.js.map"
		files[base+"README.md"] = "# " + word() + "\r\n\r\nneedle\r\nneedle\r\n"
		files[base+"LICENSE"] = "The software is provided as is.\n"
		files[base+".npmignore"] = "test\n"
	}
	tree(t, dir, files)
	if err := os.Symlink("../pkg-1/index.js", filepath.Join(dir, "pkg-2", "bin")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// nastyTree has in it what real trees have that nobody thinks of.
func nastyTree(t *testing.T) string {
	dir := realDir(t)
	lines := "needle\nkiss KISS \u212aI\u017f\u017f desK\nüber ÜBER\nσς Σ\naa\naaaa\n\n \t\nneedle\nneedle\n\n\na\nba\nb\nneedle and\nend needle end\nf(x)[0] a.b*c C:\\new\nHTTP_MAX_SIZE 123a45 -3.14\n"
	wide := func(order binary.AppendByteOrder, text string) string {
		var out []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			out = order.AppendUint16(out, u)
		}
		return string(out)
	}
	files := map[string]string{
		"plain.txt": lines, "crlf.txt": strings.ReplaceAll(lines, "\n", "\r\n"), "mixed.txt": "needle\r\nneedle\nneedle\r\n", "cr.txt": "needle\rneedle\rfin",
		"bom.txt": "\ufeffneedle\n" + lines, "utf16le.txt": wide(binary.LittleEndian, lines), "utf16be.txt": wide(binary.BigEndian, strings.ReplaceAll(lines, "\n", "\r\n")),
		"no-final-newline": "x\nneedle", "empty": "", "only-newline": "\n", "newlines": "\n\n\n\n", "binary": "needle\x00needle\n", "late-nul": strings.Repeat("filling\n", 2000) + "needle\x00needle\nneedle\n",
		"long-line": strings.Repeat("word ", 40_000) + "needle" + strings.Repeat(" wörd", 20_000) + "\nneedle\n", "long-ascii": strings.Repeat("a", 300_000) + "needle end",
		"latin1.txt": "caf\xe9 needle\n\xfcber\nneedle\xff\xfe\n", "broken-utf8": "\xe2\x82needle\n\xf0\x9f\x98\nneedle\xc3\n",
		"odd\nname": "needle\n", "odd\x01\x1b[31mname": "needle\n", " leading and trailing ": "needle\n", "-dash": "needle\n", "quo\"te'": "needle\n", "名前": "needle 日本\n", "b\xffad": "needle\n", "back\\slash": "needle\n", "co:lon:1:": "needle\n",
		".hidden": "needle\n", ".config/app/deep": "needle\n", ".gitignore": "*.log\n/top/\n!keep.log\n", "x.log": "needle\n", "keep.log": "needle\n", "top/x": "needle\n", "sub/top/x": "needle\n",
		"sub/.gitignore": "secret*\n!*.log\n", "sub/x.log": "needle\n", "sub/secret-1": "needle\n", "sub/.ignore": "!secret-1\nother\n", "sub/other": "needle\n", ".git/HEAD": "needle\n", ".git/info/exclude": "excluded\n", "excluded": "needle\n",
		"closed/x": "needle\n", "closed-file": "needle\n", "target/real": "needle\n",
	}
	tree(t, dir, files)
	for link, to := range map[string]string{"loop/a/up": "../..", "self": "self", "broken-link": "nowhere", "link-to-folder": "target", "link-to-file": "plain.txt"} {
		tree(t, dir, map[string]string{filepath.Dir(link) + "/x": "needle\n"})
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := mkfifo(filepath.Join(dir, "fifo")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"closed", "closed-file"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(dir, name), 0o755) })
	}
	if !utf8.ValidString(lines) {
		t.Fatal("the text is to be valid")
	}
	return dir
}
