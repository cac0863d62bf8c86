package workspace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// doneSoon is a context that is done when it has been asked a few times.
type doneSoon struct {
	context.Context
	left int
}

func (d *doneSoon) Err() error {
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestSearchIsCancelledWithinAFile: one text is never searched to its end first,
// in whatever way it is searched.
func TestSearchIsCancelledWithinAFile(t *testing.T) {
	line := bytes.Repeat([]byte("a"), 4<<20)
	lines := bytes.Repeat([]byte("aaaaaaa\n"), 1<<19)
	for _, c := range []struct {
		name string
		q    Query
		text []byte
		slow bool // without the automaton
	}{
		{"lines", Query{Pattern: "[b-z]"}, lines, false},
		{"lines with a literal", Query{Pattern: "aa+b"}, lines, false},
		{"lines, each by itself", Query{Pattern: "[b-z]"}, lines, true},
		{"a long line", Query{Pattern: "[b-z]"}, line, false},
		{"a long line, slowly", Query{Pattern: "[b-z]"}, line, true},
		{"multiline", Query{Pattern: `[b-z]`, Multiline: true}, line, false},
		{"multiline, slowly", Query{Pattern: `(a|aa)+[b-z]`, Multiline: true}, line, true},
		{"multiline, many matches", Query{Pattern: `a\n`, Multiline: true}, lines, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, c.q)
			m := p.matcher()
			if c.slow {
				m.auto = nil
			}
			ctx := &doneSoon{t.Context(), 2}
			found := 0
			m.each(ctx, c.text, func(span) bool { found++; return true })
			if ctx.left >= 0 {
				t.Errorf("it never looked whether to go on")
			}
			if asked := -ctx.left; asked > 5 || found > 5000 {
				t.Errorf("it went on for %d looks and %d matches", asked, found)
			}
		})
	}
}

// TestSearchGivesUp: a pattern that goes over a text again and again does not
// keep at it, and says so.
func TestSearchGivesUp(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"a": strings.Repeat("foo\n", 100_000), "b": "foo\n"})
	r := rootsOf(t, dir)
	start, _ := r.Resolve(".")
	p := mustCompile(t, Query{Pattern: "foo(?:.*bar)?", Multiline: true})
	m := p.matcher()
	text := []byte(strings.Repeat("foo\n", 100_000))
	m.each(&lowEffort{t.Context(), m}, text, func(span) bool { return true })
	if !m.gaveUp {
		t.Error("it did not give up")
	}
	found, err := Search(t.Context(), r, start, []File{{Path: "b"}}, p, SearchOptions{})
	if err != nil || found.Unfinished.Count != 0 || found.Matches != 1 {
		t.Errorf("%+v %v", found, err)
	}
}

// TestSearchGivesUpOnAll: many files on each of which a pattern takes long do not
// add up, and those that were left are told. What the automaton can do goes on.
func TestSearchGivesUpOnAll(t *testing.T) {
	dir := realDir(t)
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprint("f", i)] = strings.Repeat("éa", 400) + "\n" + strings.Repeat("x", i) + "\n"
	}
	tree(t, dir, files)
	r := rootsOf(t, dir)
	start, _ := r.Resolve(".")
	list, err := Walk(t.Context(), r, start, WalkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]bool{`\p{L}{900}c`: true, `\p{L}{3}c`: false} {
		s := newSearch(t.Context(), r, start, list.Files, mustCompile(t, Query{Pattern: pattern, FoldCase: true}), SearchOptions{})
		s.effort.Store(1 << 20)
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		if got := s.found(); got.Unfinished.Count > 40 != want || got.Unfinished.Count > 0 != want || got.Searched != 50 {
			t.Errorf("%s: %+v", pattern, got)
		}
		if left := s.effort.Load(); left < -1<<26 {
			t.Errorf("%s: it went on for %d", pattern, -left)
		}
	}
}

// lowEffort takes most of a matcher's effort away when it is asked, so that the
// test need not wait for it.
type lowEffort struct {
	context.Context
	m *matcher
}

func (l *lowEffort) Err() error {
	l.m.effort = min(l.m.effort, 1<<22)
	return nil
}

func TestSearchLargeFiles(t *testing.T) {
	dir := realDir(t)
	tree(t, dir, map[string]string{"a": "needle\n"})
	for name, size := range map[string]int64{"sparse": 1 << 30, "limit": MaxSearched + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Skip("the file system has no sparse files:", err)
		}
	}
	r := rootsOf(t, dir)
	start, _ := r.Resolve(".")
	list, err := Walk(t.Context(), r, start, WalkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := Search(t.Context(), r, start, list.Files, mustCompile(t, Query{Pattern: "needle"}), SearchOptions{})
	if err != nil || found.Matches != 1 || !slices.Equal(found.Large.First, []string{"limit", "sparse"}) {
		t.Errorf("%+v %v", found, err)
	}
}

// TestSearchManyFilesInOneFolder also has names that are no lines.
func TestSearchManyFilesInOneFolder(t *testing.T) {
	dir := realDir(t)
	const n = 20_000
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f\n%d", i)), []byte("needle\n"), 0o644); err != nil {
			t.Skip("the file system has no such names:", err)
		}
	}
	r := rootsOf(t, dir)
	start, _ := r.Resolve(".")
	list, err := Walk(t.Context(), r, start, WalkOptions{})
	if err != nil || len(list.Files) != n {
		t.Fatalf("%d files, %v", len(list.Files), err)
	}
	found, err := Search(t.Context(), r, start, list.Files, mustCompile(t, Query{Pattern: "needle"}), SearchOptions{First: true})
	if err != nil || found.Matches != n {
		t.Errorf("%d matches, %v", found.Matches, err)
	}
}

// TestAutomatonOfManyStates: one that has more states than it keeps decides as
// package regexp does, and one that makes a state for each byte leaves it to that.
func TestAutomatonOfManyStates(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 9))
	var text bytes.Buffer
	for range 4000 {
		for range 40 {
			text.WriteByte("abc"[g.IntN(3)])
		}
		text.WriteByte('\n')
	}
	for _, pattern := range []string{`[ab]{3}a[abc]{12}c[ab]{11}b`, `a[abc]{16}b[abc]{16}c$`, `(a|b|c)*a(a|b|c){17}b\b`} {
		p := mustCompile(t, Query{Pattern: pattern})
		m := p.matcher()
		var got []int
		m.each(t.Context(), text.Bytes(), func(s span) bool { got = append(got, s.start); return true })
		if len(m.auto.table) > maxTable+len(m.auto.columns) {
			t.Errorf("%s: a table of %d", pattern, len(m.auto.table))
		}
		if want := plainly(regexp.MustCompile("(?m)"+pattern), text.Bytes(), false); !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d", pattern, len(got), len(want))
		}
	}
}

func TestLargePatterns(t *testing.T) {
	var words []string
	for i := range 5000 {
		words = append(words, fmt.Sprintf("word%dx", i*7919%100_000))
	}
	text := []byte("nothing\n" + words[4321] + " here\nüöä" + strings.Repeat("é", 500) + "\n")
	for pattern, want := range map[string]int{
		strings.Join(words, "|"):        1,
		`\p{L}{500}`:                    1,
		`[\p{L}\p{N}]{3}[^\p{Lu}]{300}`: 1,
		strings.Repeat("(", 500) + "e" + strings.Repeat(")", 500): 1,
		strings.Repeat("[^x]?", 900) + "here$":                    1,
	} {
		p, err := Compile(Query{Pattern: pattern})
		if err != nil {
			t.Errorf("%.40s: %v", pattern, err)
			continue
		}
		found := 0
		p.matcher().each(t.Context(), text, func(span) bool { found++; return true })
		if found != want {
			t.Errorf("%.40s: %d lines, want %d", pattern, found, want)
		}
	}
}

// TestSearchOverBlocks: lines that reach over the blocks in which a text is
// searched are found as others.
func TestSearchOverBlocks(t *testing.T) {
	var text bytes.Buffer
	for _, n := range []int{3, blockSize - 9, 5, 2 * blockSize, 0, blockSize + 1, 1, 700} {
		text.WriteString(strings.Repeat("a", n) + "é\nx\n" + strings.Repeat("b", n) + "c\n")
	}
	text.WriteString("x")
	for _, pattern := range []string{`^[xyw]$`, `^[abc]+$`, `[ab]{3}[cd]\b`, `^[^\n]?é|[xy]$`, `^$`} {
		for _, multiline := range []bool{false, true} {
			var got []int
			mustCompile(t, Query{Pattern: pattern, Multiline: multiline}).matcher().each(t.Context(), text.Bytes(), func(s span) bool {
				got = appendLines(got, text.Bytes(), s)
				return true
			})
			if want := plainly(regexp.MustCompile("(?m)"+pattern), text.Bytes(), multiline); !slices.Equal(got, want) {
				t.Errorf("%s (multiline %v): lines at %v, want %v", pattern, multiline, got, want)
			}
		}
	}
}
