package tools

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestApplyPatchAsGit holds apply_patch to git apply: what git makes of 200
// patches that it accepts is what the tool makes of them, byte by byte and mode
// by mode. The patches are git's own, of random changes, and are applied where
// lines came in or went away since.
func TestApplyPatchAsGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	const want = 200
	g := newGitCases(t, want*3/2, 3, rand.New(rand.NewPCG(7, 42)))
	if r := g.compare(t, want); r.same < want || r.landed < want/10 {
		t.Errorf("%+v: too few are compared, or too few landed beside their place", r)
	}
}

// TestApplyPatchOfRepeatedLines: where most lines stand several times, the tool
// takes the place that git takes.
func TestApplyPatchOfRepeatedLines(t *testing.T) {
	needGit(t)
	t.Parallel()
	const want = 100
	g := newGitCases(t, want*3, 1, rand.New(rand.NewPCG(3, 9)))
	if r := g.compare(t, want); r.same < want || r.chosen < want/20 {
		t.Errorf("%+v: too few are compared, or too few stood at several places", r)
	}
}

// TestApplyPatchOfNamesThatTurn: files that get each other's names, in chains and
// in circles, and others that come where one went away.
func TestApplyPatchOfNamesThatTurn(t *testing.T) {
	needGit(t)
	t.Parallel()
	g := &gitCases{dir: t.TempDir(), rand: rand.New(rand.NewPCG(5, 11)), rare: 9, turned: true}
	const want = 40
	for range want * 2 {
		g.cases = append(g.cases, g.turn())
	}
	g.fill(t)
	if r := g.compare(t, want); r.same < want {
		t.Errorf("%+v: too few are compared", r)
	}
}

// turn makes a change up by which files get the names of others.
func (g *gitCases) turn() gitCase {
	c := gitCase{old: gitTree{}, new: gitTree{}}
	names := []string{"a", "b.go", "c/d", "c/e f", "g"}
	to := g.rand.Perm(len(names))
	for i, name := range names {
		var b strings.Builder
		for line := range 20 + g.rand.IntN(20) {
			fmt.Fprintf(&b, "%s %d %d\n", name, line, g.rand.Uint32())
		}
		f := gitFile{b.String(), g.rand.IntN(3) == 0}
		if g.rand.IntN(6) > 0 {
			c.old[name] = f
		}
		if g.rand.IntN(6) > 0 {
			c.new[names[to[i]]] = gitFile{g.maybe(f.text, g.edit(f.text)), f.exec}
		}
	}
	c.found = c.old
	return c
}

func needGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if runtime.GOOS == "windows" {
		t.Skip("modes and odd names need Unix")
	}
}

// comparison counts patches: those that were compared, those of them of which a
// hunk stood elsewhere, and those of which it stood at several places.
type comparison struct{ same, landed, chosen int }

// compare applies patches that git accepts, at most n, by the tool.
func (g *gitCases) compare(t *testing.T, n int) (r comparison) {
	results := g.apply(t)
	for i, c := range g.cases {
		expected, ok := results[i]
		if !ok || r.same == n {
			continue
		}
		ws := diskWorkspace(t, nil)
		c.found.write(t, ws.Dir())
		result, err := call(t, ws, ApplyPatch(), args{"patch": c.patch})
		r.same++
		if strings.Contains(result.Text, "the nearest of") {
			r.chosen++
		}
		if strings.Contains(result.Text, "landed") {
			r.landed++
		}
		if err != nil {
			t.Errorf("case %d: %v\n%s", i, err, c.patch)
		} else if got := readTree(t, ws.Dir()); !maps.Equal(got, expected) {
			t.Errorf("case %d:\n%s\ngot  %#v\nwant %#v\nfrom %#v", i, c.patch, got, expected, c.found)
		}
	}
	t.Logf("%+v", r)
	return r
}

// gitFile is a file with what git keeps of its mode.
type gitFile struct {
	text string
	exec bool
}

// gitTree is files by their names.
type gitTree map[string]gitFile

func (tree gitTree) write(t *testing.T, dir string) {
	t.Helper()
	for name, f := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if f.exec {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(f.text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func readTree(t *testing.T, dir string) gitTree {
	t.Helper()
	tree := gitTree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		tree[filepath.ToSlash(rel)] = gitFile{string(data), info.Mode()&0o100 != 0}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// gitCase is a change from old to new, and what is found where its patch is
// applied.
type gitCase struct {
	old, new, found gitTree
	options         string // of the diff
	patch           string // git's; empty: nothing changed
	wide            string // the same with the case's number before each name
}

// gitCases are many changes, for which git is started together: a start each took
// longer than all the rest.
type gitCases struct {
	dir   string // a repository
	cases []gitCase
	rand  *rand.Rand
	rare  int // of so many lines one is common

	turned bool // files get the names of others
}

func newGitCases(t *testing.T, n, rare int, r *rand.Rand) *gitCases {
	g := &gitCases{dir: t.TempDir(), rand: r, rare: rare}
	for range n {
		g.cases = append(g.cases, g.invent())
	}
	g.fill(t)
	return g
}

// fill puts the cases into the repository and has git make their patches.
func (g *gitCases) fill(t *testing.T) {
	for i := range g.cases {
		g.cases[i].options = g.diffOptions()
	}
	g.git(t, "", "init", "-q")
	for i, c := range g.cases {
		c.old.write(t, filepath.Join(g.dir, "old", fmt.Sprint(i)))
		c.new.write(t, filepath.Join(g.dir, "new", fmt.Sprint(i)))
	}
	g.git(t, "", "add", "-A")
	all := strings.TrimSpace(g.git(t, "", "write-tree"))
	g.diff(t, g.trees(t, all+":old"), g.trees(t, all+":new"))
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	return cmd
}

func (g *gitCases) git(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := gitCommand(g.dir, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

// diffOptions chooses one of the forms that git gives a patch.
func (g *gitCases) diffOptions() string {
	options := fmt.Sprintf("-U%d", 1+g.rand.IntN(3))
	renames := " -M" // as git diff does by itself
	for _, option := range []string{" -M", " -M -C --find-copies-harder", " --no-renames"} {
		if g.rand.IntN(3) == 0 {
			renames = option
			break
		}
	}
	if g.turned {
		renames += " -B10%/10% -M"
	}
	if g.rand.IntN(4) == 0 {
		renames += " --src-prefix=i/ --dst-prefix=w/"
	}
	return options + renames
}

// gitTrees are the names of a tree of files, and of one that holds nothing but
// that, in a folder with the case's number.
type gitTrees struct{ narrow, wide string }

// trees are the trees of all cases' folders in a tree.
func (g *gitCases) trees(t *testing.T, in string) []gitTrees {
	const empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // which is not listed
	trees := make([]gitTrees, len(g.cases))
	for i := range trees {
		trees[i].narrow = empty
	}
	for line := range strings.Lines(g.git(t, "", "ls-tree", in)) {
		var i int
		var name string
		if _, err := fmt.Sscanf(line, "040000 tree %s %d", &name, &i); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		trees[i].narrow = name
	}
	var list strings.Builder
	for i, tree := range trees {
		fmt.Fprintf(&list, "040000 tree %s\t%d\n\n", tree.narrow, i)
	}
	for i, name := range strings.Fields(g.git(t, list.String(), "mktree", "--batch")) {
		trees[i].wide = name
	}
	return trees
}

// diff gives the cases their patches.
func (g *gitCases) diff(t *testing.T, old, new []gitTrees) {
	alike := map[string][]int{} // by their options
	for i, c := range g.cases {
		alike[c.options] = append(alike[c.options], i)
	}
	for options, list := range alike {
		var pairs strings.Builder
		for _, i := range list {
			fmt.Fprintf(&pairs, "%s %s\n%s %s\n", old[i].narrow, new[i].narrow, old[i].wide, new[i].wide)
		}
		var into []*string
		for _, i := range list {
			into = append(into, &g.cases[i].patch, &g.cases[i].wide)
		}
		at := -1
		for line := range strings.Lines(g.git(t, pairs.String(), append([]string{"diff-tree", "--stdin", "-r", "-p"}, strings.Fields(options)...)...)) {
			if pairLine.MatchString(line) {
				at++
				continue
			}
			*into[at] += line
		}
		if at != len(into)-1 {
			t.Fatalf("git diff-tree told %d of %d differences", at+1, len(into))
		}
	}
}

// pairLine is the line of two trees before their patch. No line of a patch is
// like it.
var pairLine = regexp.MustCompile(`^[0-9a-f]{40} [0-9a-f]{40}\n$`)

// refusedLine is git's word on a file of a case that it does not patch.
var refusedLine = regexp.MustCompile(`(?m)^error: (?:patch failed: )?"?(\d+)/`)

// apply is what git makes of the patches, by case, but for those it refuses.
func (g *gitCases) apply(t *testing.T) map[int]gitTree {
	dir := t.TempDir()
	left := map[int]bool{}
	for i, c := range g.cases {
		if c.patch != "" {
			left[i] = true
			c.found.write(t, filepath.Join(dir, fmt.Sprint(i)))
		}
	}
	run := func(args ...string) (string, error) {
		var patches strings.Builder
		for _, i := range slices.Sorted(maps.Keys(left)) {
			patches.WriteString(g.cases[i].wide)
		}
		cmd := gitCommand(dir, append(append([]string{"apply", "--whitespace=nowarn"}, args...), "-")...)
		cmd.Stdin = strings.NewReader(patches.String())
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	for said, err := run("--check"); err != nil; said, err = run("--check") {
		refused := refusedLine.FindAllStringSubmatch(said, -1)
		if refused == nil {
			t.Fatalf("git apply: %v: %s", err, said)
		}
		for _, m := range refused {
			i, _ := strconv.Atoi(m[1])
			delete(left, i)
		}
	}
	if said, err := run(); err != nil {
		t.Fatalf("git apply: %v: %s", err, said)
	}
	results := map[int]gitTree{}
	for i := range left {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.MkdirAll(folder, 0o777); err != nil { // git removes what it empties
			t.Fatal(err)
		}
		results[i] = readTree(t, folder)
	}
	return results
}

// invent makes a change up.
func (g *gitCases) invent() gitCase {
	c := gitCase{old: gitTree{}, new: gitTree{}, found: gitTree{}}
	names := []string{"a.txt", "src/b.go", "src/deep/er/c", "with space", `quo"te`, "ümlaut", "tab\tname", "x.sh", "b/b", "a/c"}
	g.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names[:2+g.rand.IntN(4)] {
		f := gitFile{g.text(), g.rand.IntN(4) == 0}
		if g.rand.IntN(6) == 0 { // new
			c.new[name] = f
			continue
		}
		c.old[name], c.found[name] = f, f
		changed := gitFile{g.edit(f.text), f.exec}
		if g.rand.IntN(5) == 0 {
			changed.exec = !changed.exec
		}
		switch g.rand.IntN(8) {
		case 0: // deleted
		case 1:
			c.new[fmt.Sprintf("moved/%d", i)] = gitFile{g.maybe(f.text, changed.text), changed.exec}
		case 2:
			c.new[name] = f
			c.new[fmt.Sprintf("copy %d", i)] = gitFile{g.maybe(f.text, changed.text), changed.exec}
		default:
			c.new[name] = changed
			if g.rand.IntN(2) == 0 { // it changed meanwhile
				c.found[name] = gitFile{g.drift(f.text), f.exec}
			}
		}
	}
	return c
}

func (g *gitCases) maybe(a, b string) string {
	if g.rand.IntN(2) == 0 {
		return a
	}
	return b
}

// text is a file of random lines. Some come several times.
func (g *gitCases) text() string {
	if g.rand.IntN(12) == 0 {
		return ""
	}
	end := g.rand.IntN(4)
	var b strings.Builder
	for range 1 + g.rand.IntN(60) {
		b.WriteString(g.line())
		switch {
		case end == 0, end == 1 && g.rand.IntN(2) == 0:
			b.WriteString("\r\n")
		default:
			b.WriteString("\n")
		}
	}
	text := b.String()
	if g.rand.IntN(4) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if g.rand.IntN(20) == 0 {
		text = "\ufeff" + text
	}
	return text
}

func (g *gitCases) line() string {
	if g.rare == 1 && g.rand.IntN(4) > 0 {
		return "}"
	}
	common := []string{"", "}", "\t}", "-- ", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "*** End Patch", "\\ No newline", "ä ö", "trailing  ", "\fform", "lone\rreturn"}
	if g.rand.IntN(g.rare) == 0 {
		return common[g.rand.IntN(len(common))]
	}
	return fmt.Sprintf("line %x", g.rand.IntN(1<<20))
}

// edit changes some places of a text.
func (g *gitCases) edit(text string) string {
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		return "\ufeff" + g.edit(rest) // a mark stays first, though git would let it wander
	}
	lines := strings.SplitAfter(text, "\n")
	for range 1 + g.rand.IntN(4) {
		i := g.rand.IntN(len(lines))
		end := "\n"
		if strings.HasSuffix(lines[i], "\r\n") {
			end = "\r\n"
		}
		switch g.rand.IntN(4) {
		case 0:
			lines[i] = g.line() + end
		case 1:
			lines = slices.Insert(lines, i, g.line()+end, g.line()+end)
		case 2:
			lines = slices.Delete(lines, i, min(i+1+g.rand.IntN(3), len(lines)))
		case 3:
			lines[len(lines)-1] += g.maybe("tail", "tail\n")
		}
		if len(lines) == 0 {
			return ""
		}
	}
	return strings.Join(lines, "")
}

// drift adds and takes away lines somewhere.
func (g *gitCases) drift(text string) string {
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		return "\ufeff" + g.drift(rest)
	}
	lines := strings.SplitAfter(text, "\n")
	i := g.rand.IntN(len(lines))
	if g.rand.IntN(2) == 0 {
		return strings.Join(slices.Insert(lines, i, strings.Repeat(g.line()+"\n", 1+g.rand.IntN(5))), "")
	}
	return strings.Join(slices.Delete(lines, i, min(i+1, len(lines))), "")
}
