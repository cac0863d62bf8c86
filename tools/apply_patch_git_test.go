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
	"runtime"
	"slices"
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
	if r := g.compare(t, want); r.same < want || r.ambiguous > want/10 || r.landed < want/10 {
		t.Errorf("%+v: too few are compared, or too few landed beside their place", r)
	}
}

// TestApplyPatchOfRepeatedLines: where most lines stand several times, the tool
// refuses what is ambiguous; what it takes is what git makes of it.
func TestApplyPatchOfRepeatedLines(t *testing.T) {
	needGit(t)
	t.Parallel()
	g := newGitCases(t, 60, 1, rand.New(rand.NewPCG(3, 9)))
	if r := g.compare(t, 60); r.same < 20 || r.ambiguous == 0 {
		t.Errorf("%+v: too few are compared, or none is ambiguous", r)
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
// hunk stood elsewhere, and those that the tool found ambiguous.
type comparison struct{ same, landed, ambiguous int }

// compare applies patches that git accepts, at most n, by the tool.
func (g *gitCases) compare(t *testing.T, n int) (r comparison) {
	for i, c := range g.cases {
		patch := g.diff(t, i)
		if patch == "" || r.same == n {
			continue
		}
		expected, ok := g.apply(t, c.found, patch)
		if !ok {
			continue
		}
		ws := diskWorkspace(t, nil)
		c.found.write(t, ws.Dir())
		result, err := call(t, ws, ApplyPatch(), args{"patch": patch})
		if err != nil && strings.Contains(err.Error(), "several places") {
			r.ambiguous++ // git takes the nearest; the tool asks
			continue
		}
		r.same++
		if strings.Contains(result.Text, "landed") {
			r.landed++
		}
		if err != nil {
			t.Errorf("case %d: %v\n%s", i, err, patch)
		} else if got := readTree(t, ws.Dir()); !maps.Equal(got, expected) {
			t.Errorf("case %d:\n%s\ngot  %#v\nwant %#v\nfrom %#v", i, patch, got, expected, c.found)
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
type gitCase struct{ old, new, found gitTree }

// gitCases are many changes in one repository, a folder each.
type gitCases struct {
	dir   string
	tree  string // of all old files
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

// fill puts the cases into the repository.
func (g *gitCases) fill(t *testing.T) {
	g.git(t, g.dir, "init", "-q")
	for i, c := range g.cases {
		c.old.write(t, filepath.Join(g.dir, fmt.Sprint(i)))
	}
	g.git(t, g.dir, "add", "-A")
	g.tree = strings.TrimSpace(g.git(t, g.dir, "write-tree"))
	for i, c := range g.cases {
		dir := filepath.Join(g.dir, fmt.Sprint(i))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		c.new.write(t, dir)
	}
	g.git(t, g.dir, "add", "-A")
}

func (g *gitCases) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+g.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	return cmd
}

func (g *gitCases) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := g.command(dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

// diff is git's patch of one case, in one of its forms.
func (g *gitCases) diff(t *testing.T, i int) string {
	args := []string{"diff", "--cached", fmt.Sprintf("--relative=%d/", i), fmt.Sprintf("-U%d", 1+g.rand.IntN(3))}
	for _, option := range [][]string{{"-M"}, {"-M", "-C", "--find-copies-harder"}, {"--no-renames"}} {
		if g.rand.IntN(3) == 0 {
			args = append(args, option...)
			break
		}
	}
	if g.turned {
		args = append(args, "-B10%/10%", "-M")
	}
	if g.rand.IntN(4) == 0 {
		args = append(args, "--src-prefix=i/", "--dst-prefix=w/")
	}
	return g.git(t, g.dir, append(args, g.tree, "--", fmt.Sprintf("%d/", i))...)
}

// apply is what git makes of the patch; false where it refuses it.
func (g *gitCases) apply(t *testing.T, found gitTree, patch string) (gitTree, bool) {
	dir := t.TempDir()
	found.write(t, dir)
	cmd := g.command(dir, "apply", "--whitespace=nowarn", "-")
	cmd.Stdin = strings.NewReader(patch)
	if cmd.Run() != nil {
		return nil, false
	}
	return readTree(t, dir), true
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
