//go:build unix

package workspace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
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

// What the results are compared on. The slow ones are found in nearly every line,
// or reach over lines.
var rgQueries = []Query{
	{Pattern: "ErrUnexpectedEOF"}, {Pattern: "return"}, {Pattern: "needle"}, {Pattern: "function"}, {Pattern: "é"}, {Pattern: "日本"},
	{Pattern: "f(x)[0]", Literal: true}, {Pattern: "a.b*c", Literal: true}, {Pattern: `C:\new`, Literal: true}, {Pattern: "=> {", Literal: true},
	{Pattern: "kiss", FoldCase: true}, {Pattern: "k", FoldCase: true}, {Pattern: "s", FoldCase: true}, {Pattern: "task|desk", FoldCase: true},
	{Pattern: "ÜBER", FoldCase: true}, {Pattern: "unexpectedeof", FoldCase: true}, {Pattern: "Σ", FoldCase: true}, {Pattern: `\bstring\b`, FoldCase: true},
	{Pattern: `\bneedle\b`}, {Pattern: `\berr\b`}, {Pattern: `\Ble\b`}, {Pattern: `\b\d+\b`}, {Pattern: `é\b`},
	{Pattern: "^func"}, {Pattern: "^needle$"}, {Pattern: `\)$`}, {Pattern: "^$"}, {Pattern: `^[ \t]+$`}, {Pattern: `^\s*//`}, {Pattern: `;$`}, {Pattern: `\Aneedle\z`},
	{Pattern: "[A-Z]+_[A-Z]+_[A-Z]+"}, {Pattern: "[0-9]{3}[a-f][0-9]{2}"}, {Pattern: "[[:upper:]]{4,}"}, {Pattern: `[^\x00-\x7f]`}, {Pattern: `\p{Greek}`}, {Pattern: "[α-ωé]"}, {Pattern: `[-+]?[0-9]+\.[0-9]+`},
	{Pattern: "(foo|bar|baz)[A-Z]"}, {Pattern: "TODO|FIXME|XXX"}, {Pattern: `(Read|Write)(er|All)?\(`}, {Pattern: "a|b|needle|日"}, {Pattern: `func \(\w+ \*?\w+\) \w+\(`}, {Pattern: `\w+Reader\b`}, {Pattern: `"[a-z]+":\s+"`},
}

var rgSlowQueries = []Query{
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
	return append(args, "-e", pattern) // not as -e=, of which rg 13 takes every equals sign away
}

// TestSearchAsRipgrep compares path, line and text of what is found with ripgrep
// on the standard library, on folders of packages, real and made, and on a tree of
// what goes wrong. Left out are what ours never searches (binary files, secrets)
// and what rg does not (links).
func TestSearchAsRipgrep(t *testing.T) {
	rg := peer(t, "rg")
	home := realDir(t)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	trees := map[string]string{"go": goSources(t), "node_modules, made": nodeModules(t), "nasty": nastyTree(t)}
	if dir := realNodeModules(t); dir != "" {
		trees["node_modules"] = dir
	}
	for name, dir := range trees {
		t.Run(name, func(t *testing.T) {
			c := newComparison(t, rg, dir)
			queries := rgQueries
			if name != "go" { // it would take minutes
				queries = slices.Concat(queries, rgSlowQueries)
			}
			lines := 0
			for _, q := range queries {
				lines += c.compare(t, q)
			}
			t.Logf("%d patterns, %d files, %d lines", len(queries), len(c.files), lines)
			if lines < 50 {
				t.Errorf("only %d lines were found, which says nothing", lines)
			}
		})
	}
}

// realNodeModules is a folder that npm made, where there is one: that of the
// clients in testdata, or npm's own; else empty.
func realNodeModules(t *testing.T) string {
	dirs := []string{filepath.Join("..", "..", "testdata", "clients", "node_modules")}
	if npm, err := exec.LookPath("npm"); err == nil {
		if npm, err = filepath.EvalSymlinks(npm); err == nil { // node_modules/npm/bin/npm-cli.js
			dirs = append(dirs, filepath.Join(filepath.Dir(npm), "..", "node_modules"))
		}
	}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if real, err = filepath.Abs(real); err == nil {
				return real
			}
		}
	}
	t.Log("no folder of npm's is here: only the made one is searched")
	return ""
}

// comparison is of searches of one tree.
type comparison struct {
	rg, dir string
	roots   *Roots
	start   Path
	files   []File
	kinds   map[string]fileKind // of the files that were looked at
	seed    maphash.Seed
}

// fileKind is what of a file bears on what is compared.
type fileKind struct{ skip, valid bool }

func newComparison(t *testing.T, rg, dir string) *comparison {
	r := rootsOf(t, dir)
	start, err := r.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Walk(t.Context(), r, start, WalkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files := slices.DeleteFunc(list.Files, func(f File) bool { return f.Link })
	return &comparison{rg: rg, dir: dir, roots: r, start: start, files: files, kinds: map[string]fileKind{}, seed: maphash.MakeSeed()}
}

func (c *comparison) kind(path string) fileKind {
	k, ok := c.kinds[path]
	if !ok {
		data, err := os.ReadFile(filepath.Join(c.dir, path))
		k = fileKind{skip: err != nil || IsBinary(data) || IsSecret(path), valid: err == nil && (utf8.Valid(data) || encodingOf(data).wide())}
		c.kinds[path] = k
	}
	return k
}

// digest stands for the lines that were found in a file.
type digest struct {
	lines int
	sum   uint64
}

// digests keeps those of one search by path. The files that cannot be compared on
// the query are left out.
func (c *comparison) digests(q Query, files map[string][]hit, into map[string]digest) {
	for path, hits := range files {
		if k := c.kind(path); k.skip || q.anyByte() && !k.valid {
			continue
		}
		slices.SortFunc(hits, hit.compare)
		sum := uint64(0)
		for _, h := range hits {
			sum = sum*31 + maphash.String(c.seed, h.text) + uint64(h.line)
		}
		into[path] = digest{len(hits), sum}
	}
}

// compare searches the tree twice and returns how many lines rg found. It goes
// piece by piece, since some patterns are found in nearly every line.
func (c *comparison) compare(t *testing.T, q Query) int {
	t.Helper()
	ours, theirs := map[string]digest{}, map[string]digest{}
	for part := range slices.Chunk(c.files, 500) {
		c.digests(q, ourHits(t, c.roots, c.start, part, q), ours)
	}
	c.rgHits(t, q, "./", func(path string, hits []hit) { c.digests(q, map[string][]hit{path: hits}, theirs) })
	lines, wrong := 0, 0
	for path, want := range theirs {
		lines += want.lines
		if ours[path] != want {
			wrong++
			c.explain(t, q, path, wrong)
		}
		delete(ours, path)
	}
	for path := range ours {
		wrong++
		c.explain(t, q, path, wrong)
	}
	return lines
}

// explain shows how the lines of a file differ, for the first few files.
func (c *comparison) explain(t *testing.T, q Query, path string, n int) {
	t.Helper()
	if n > 3 {
		return
	}
	ours, theirs := ourHits(t, c.roots, c.start, []File{{Path: path}}, q)[path], []hit(nil)
	c.rgHits(t, q, "./"+path, func(_ string, hits []hit) { theirs = append(theirs, hits...) })
	slices.SortFunc(ours, hit.compare)
	slices.SortFunc(theirs, hit.compare)
	t.Errorf("%+v: %q differs: %d lines, %d of rg's", q, path, len(ours), len(theirs))
	compareHits(t, q, ours, theirs)
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

func ourHits(t *testing.T, r *Roots, start Path, files []File, q Query) map[string][]hit {
	t.Helper()
	found, err := Search(t.Context(), r, start, files, mustCompile(t, q), SearchOptions{Lines: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]hit{}
	for _, f := range found.Files {
		for _, l := range f.Lines {
			all[f.Path] = append(all[f.Path], hit{f.Path, l.Number, l.Text})
		}
	}
	return all
}

// rgHits calls visit with what rg finds, a file at a time.
func (c *comparison) rgHits(t *testing.T, q Query, where string, visit func(path string, hits []hit)) {
	t.Helper()
	cmd := exec.Command(c.rg, append(forRipgrep(q), where)...)
	cmd.Dir = c.dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	readErr := c.readHits(t, q, bufio.NewReaderSize(out, 1<<20), visit)
	err = cmd.Wait()
	if readErr != nil {
		t.Fatalf("%v: %v", cmd.Args, readErr)
	}
	// 1: nothing found; 2: an error, which may only be what cannot be read.
	if code := cmd.ProcessState.ExitCode(); code > 2 || code < 0 || code == 2 && bytes.Contains(complaints.Bytes(), []byte("regex")) {
		t.Fatalf("%v: %v: %s", cmd.Args, err, complaints.Bytes())
	}
}

// readHits reads lines of the form path, NUL, number, colon, text. Those of a file
// follow each other.
func (c *comparison) readHits(t *testing.T, q Query, out *bufio.Reader, visit func(path string, hits []hit)) error {
	cut := &collector{matcher: mustCompile(t, q).matcher(), ctx: t.Context()}
	cut.matcher.effort = maxEffort
	last, hits := "", []hit(nil)
	for {
		path, err := out.ReadSlice(0)
		if err == io.EOF && len(path) == 0 {
			if len(hits) > 0 {
				visit(last, hits)
			}
			return nil
		}
		if name := bytes.TrimPrefix(bytes.TrimSuffix(path, []byte{0}), []byte("./")); string(name) != last {
			if len(hits) > 0 {
				visit(last, hits)
			}
			last, hits = string(name), nil
		}
		number, err2 := out.ReadSlice(':')
		n, err3 := strconv.Atoi(string(bytes.TrimSuffix(number, []byte(":"))))
		text, err4 := out.ReadBytes('\n') // it may be long
		if err := cmp.Or(err, err2, err3, err4); err != nil {
			return fmt.Errorf("rg wrote of %q, line %d: %.100q: %w", last, n, text, err)
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		hits = append(hits, hit{last, n, cut.cut(text, true)})
	}
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
