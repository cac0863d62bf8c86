package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// foundIn searches one text and returns its lines as "number:text", context
// lines as "number-text".
func foundIn(t *testing.T, q Query, text string, opts SearchOptions) []string {
	t.Helper()
	p, err := Compile(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	dir := realDir(t)
	tree(t, dir, map[string]string{"f": text})
	r := rootsOf(t, dir)
	start, _ := r.Resolve(".")
	if opts.Lines == 0 {
		opts.Lines = 100
	}
	found, err := Search(t.Context(), r, start, []File{{Path: "f"}}, p, opts)
	if err != nil {
		t.Fatal(err)
	}
	if found.Searched != 1 {
		t.Fatalf("not searched: %+v", found)
	}
	var lines []string
	for _, f := range found.Files {
		for _, l := range f.Lines {
			mark := "-"
			if l.Match {
				mark = ":"
			}
			lines = append(lines, fmt.Sprint(l.Number, mark, l.Text))
		}
	}
	return lines
}

func TestSearchText(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\n"
	utf16 := "\xff\xfeo\x00n\x00e\x00\r\x00\n\x00t\x00w\x00o\x00"
	for _, c := range []struct {
		name    string
		q       Query
		text    string
		context int
		want    string // joined by |
	}{
		{"literal", Query{Pattern: "two"}, text, 0, "2:two"},
		{"regexp", Query{Pattern: "^t"}, text, 0, "2:two|3:three"},
		{"end", Query{Pattern: "e$"}, text, 0, "1:one|3:three"},
		{"no line behind the last line end", Query{Pattern: "^$"}, "a\n\nb\n", 0, "2:"},
		{"empty matches", Query{Pattern: "x*"}, "a\n\nb", 0, "1:a|2:|3:b"},
		{"every line", Query{Pattern: "."}, "a\n\nb", 0, "1:a|3:b"},
		{"class without line end", Query{Pattern: "[^a]b"}, "a\nb\nxb", 0, "3:xb"},
		{"blanks do not reach over lines", Query{Pattern: `e\s+t`}, "e\nt\ne t\n", 0, "3:e t"},
		{"text anchors are a line's", Query{Pattern: `\Atwo\z`}, text, 0, "2:two"},
		{"CRLF", Query{Pattern: "o$"}, "foo\r\nbar\r\n", 0, "1:foo"},
		{"CR within", Query{Pattern: "a\rb"}, "a\rb\r\n", 0, "1:a\rb"},
		{"CR CR LF", Query{Pattern: "^a.$"}, "a\r\r\n", 0, "1:a\r"},
		{"BOM", Query{Pattern: "^one"}, "\xef\xbb\xbfone\n", 0, "1:one"},
		{"UTF-16", Query{Pattern: "^(one|two)$"}, utf16, 0, "1:one|2:two"},
		{"fold", Query{Pattern: "TWO", FoldCase: true}, text, 0, "2:two"},
		{"fold K", Query{Pattern: "task", FoldCase: true}, "ta\u017f\u212a\nTASK\ntas\n", 0, "1:ta\u017f\u212a|2:TASK"},
		{"fold k only", Query{Pattern: "k", FoldCase: true}, "\u212a\nx\nk\n", 0, "1:\u212a|3:k"},
		{"fold in the pattern", Query{Pattern: "(?i:ſet)x"}, "setx\nSETx\n", 0, "1:setx|2:SETx"},
		{"fold umlaut", Query{Pattern: "über", FoldCase: true}, "ÜBER\n", 0, "1:ÜBER"},
		{"literal with operators", Query{Pattern: "f(x)[0]", Literal: true}, "f(x)[0]\nfx0\n", 0, "1:f(x)[0]"},
		{"literal over lines", Query{Pattern: "one\ntwo", Literal: true}, text, 0, "1:one|2:two"},
		{"literal over lines that end in CRLF", Query{Pattern: "one\r\ntwo", Literal: true}, "one\r\ntwo\r\n", 0, "1:one|2:two"},
		{"alternatives", Query{Pattern: "one|four|xyz"}, text, 0, "1:one|4:four"},
		{"multiline", Query{Pattern: "one.*three", Multiline: true}, text, 0, "1:one|2:two|3:three"},
		{"multiline anchors", Query{Pattern: "^two$", Multiline: true}, text, 0, "2:two"},
		{"multiline begin", Query{Pattern: `\Ao`, Multiline: true}, "o\no\n", 0, "1:o"},
		{"multiline CRLF", Query{Pattern: `one\ntwo`, Multiline: true}, "one\r\ntwo\r\n", 0, "1:one|2:two"},
		{"multiline without a second line", Query{Pattern: `(?s)e\n`, Multiline: true}, "e\nx\ne\n", 0, "1:e|3:e"},
		{"context", Query{Pattern: "two"}, text, 1, "1-one|2:two|3-three"},
		{"context overlaps", Query{Pattern: "one|three"}, text, 2, "1:one|2-two|3:three|4-four"},
		{"context of neighbours", Query{Pattern: "two|three"}, text, 1, "1-one|2:two|3:three|4-four"},
		{"gap", Query{Pattern: "a"}, "a\nb\nc\nd\na\n", 1, "1:a|2-b|4-d|5:a"},
		{"Latin-1", Query{Pattern: "caf"}, "caf\xe9\n", 0, "1:café"},
		{"invalid bytes", Query{Pattern: `\x{FFFD}`}, "a\xff\n", 0, "1:aÿ"},
		{"empty file", Query{Pattern: "x*"}, "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(foundIn(t, c.q, c.text, SearchOptions{Context: c.context}), "|")
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                      "empty",
		"a(":                    "missing closing )",
		"(?<=x)y":               "RE2",
		`(a)\1`:                 "literal",
		`a\nb`:                  "multiline",
		"[z-a]":                 "invalid character class range",
		strings.Repeat("a?", 1): "",
		"(((x{100}){10}){10})":  "repeat",
	} {
		_, err := Compile(Query{Pattern: pattern})
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", pattern, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", pattern, err, want)
		}
	}
}

func TestLongLineIsCutAroundTheMatch(t *testing.T) {
	line := strings.Repeat("ä", 5000) + "needle" + strings.Repeat("z", 5000)
	got := foundIn(t, Query{Pattern: "needle"}, line+"\n", SearchOptions{})
	if len(got) != 1 || !strings.Contains(got[0], "needle") {
		t.Fatalf("%.80q", got)
	}
	if n := utf8.RuneCountInString(got[0]); n > maxLineRunes+20 || strings.Count(got[0], cutMark) != 2 {
		t.Errorf("%d runes, %d marks", n, strings.Count(got[0], cutMark))
	}
	short := foundIn(t, Query{Pattern: "needle"}, strings.Repeat("ä", 1900)+"needle", SearchOptions{})
	if strings.Contains(short[0], cutMark) {
		t.Error("a line of 1906 characters was cut")
	}
	end := foundIn(t, Query{Pattern: "$"}, strings.Repeat("q", 2001), SearchOptions{})
	if !strings.HasSuffix(end[0], "q") || !strings.HasPrefix(end[0], "1:"+cutMark) {
		t.Errorf("%.30q", end[0])
	}
}

// TestSearchAsLineByLine compares with the plain way: split, then match each.
func TestSearchAsLineByLine(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 5))
	pick := func(from ...string) string { return from[g.IntN(len(from))] }
	atom := func() string {
		return pick("a", "b", "k", "s", "ab", "kiss", "Foo", "ü", "é", "_", " ", ".", `\w`, `\W`, `\s`, `\S`, `[a-c]`, `[^a]`, `[^\n]`, `\b`, `\B`,
			"^", "$", `\A`, `\z`, `[ks]`, "(?i:k)", "(?i:fOo)", "(?s:.)", "(?m:^)", "(?-m:^)", "(?-m:$)", `\x{212A}`, `\x{FFFD}`)
	}
	pattern := func() string {
		var b strings.Builder
		for range 1 + g.IntN(4) {
			switch g.IntN(8) {
			case 0:
				b.WriteString("(" + atom() + "|" + atom() + atom() + ")")
			case 1:
				b.WriteString("(?:" + atom() + ")" + pick("*", "+", "?", "{2}", "{0,2}", "*?"))
			case 2:
				b.WriteString(atom() + "|" + atom())
			default:
				b.WriteString(atom())
			}
		}
		return b.String()
	}
	text := func() string {
		var b strings.Builder
		for range g.IntN(30) {
			b.WriteString(pick("a", "b", "k", "K", "s", "S", "kiss", "KISS", "\u212a", "\u017f", "foo", "FOO", "Foo", "ü", "é", "\xff", "_", " ", "\t", "\r", "\n", "\n", "\r\n"))
		}
		return b.String()
	}
	for i := range 1500 {
		q := Query{Pattern: pattern(), FoldCase: g.IntN(3) == 0}
		p, err := Compile(q)
		if err != nil {
			continue // such as a repeated anchor
		}
		body := text()
		flags := "(?m)"
		if q.FoldCase {
			flags = "(?mi)"
		}
		plain := regexp.MustCompile(flags + q.Pattern)
		var want, got []string
		lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for n, line := range lines {
			if plain.MatchString(line) {
				want = append(want, fmt.Sprint(n, line))
			}
		}
		data := foldNewlines([]byte(body))
		p.matcher().each(context.Background(), data, func(m span) bool {
			n := bytes.Count(data[:m.start], []byte("\n"))
			got = append(got, fmt.Sprint(n, string(data[m.start:m.end])))
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%d: %+v in %q: %q, want %q\nliterals %v", i, q, body, got, want, p.literals)
		}
	}
}

func TestRequiredLiterals(t *testing.T) {
	for _, c := range []struct {
		pattern string
		fold    bool
		want    string
	}{
		{"ErrUnexpectedEOF", false, "ErrUnexpectedEOF"},
		{`func \(\w+ \*Conn\)`, false, " *Conn)"},
		{"(foo|bar|baz)Handler", false, "Handler"},
		{"TODO|FIXME|XXX", false, "TODO,FIXME,XXX"},
		{"[A-Z]+_[A-Z]+", false, ""}, // common in programs
		{"[A-Z]+~[A-Z]+", false, "~"},
		{"struct", true, "truct"},
		{"kiss", true, ""},
		{"kills", true, "ill"},
		{"ks", true, ""},
		{"a*", false, ""},
		{"(abc)+d?", false, "abc"},
		{"x{0,3}", false, ""},
		{"foo|", false, ""},
		{"[ab]", false, ""},
		{"[@%]", false, "%,@"},
		{"�", false, ""},
	} {
		p, err := Compile(Query{Pattern: c.pattern, FoldCase: c.fold})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range p.literals {
			got = append(got, l.text)
		}
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: %q, want %q", c.pattern, got, c.want)
		}
	}
}

func TestSearchFiles(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", realDir(t))
	top := realDir(t)
	tree(t, top, map[string]string{
		"ws/a.txt":         "needle",
		"ws/b.txt":         "needle needle\nneedle\n",
		"ws/c.txt":         "nothing",
		"ws/bin":           "needle\x00",
		"ws/.env":          "needle",
		"ws/.env.example":  "needle",
		"ws/.ssh/config":   "needle",
		"ws/link":          "-> a.txt",
		"ws/leak":          "-> ../outside/s.txt",
		"ws/envlink":       "-> .env",
		"ws/late-nul":      strings.Repeat("x", 9000) + "\x00\nneedle\n",
		"outside/s.txt":    "needle",
		"outside/near":     "-> s.txt",
		"outside/far":      "-> /etc/hostname",
		"ws/.kube/config":  "needle",
		"ws/deep/key.PEM.": "needle",
	})
	r := rootsOf(t, top+"/ws")
	p, err := Compile(Query{Pattern: "needle"})
	if err != nil {
		t.Fatal(err)
	}
	search := func(path string, opts SearchOptions) *Found {
		t.Helper()
		start, err := r.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		files := []File{{}}
		if list, err := Walk(t.Context(), r, start, WalkOptions{}); err == nil {
			files = list.Files
		}
		found, err := Search(t.Context(), r, start, files, p, opts)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	names := func(f *Found) string {
		var all []string
		for _, m := range f.Files {
			all = append(all, fmt.Sprint(m.Path, "=", m.Count))
		}
		return strings.Join(all, " ")
	}
	all := search(".", SearchOptions{})
	if got, want := names(all), ".env.example=1 a.txt=1 b.txt=2 late-nul=1 link=1"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if all.Binary.Count != 1 || all.Outside.Count != 1 || all.Searched != 6 || all.Matches != 6 || all.Ended {
		t.Errorf("%+v", all)
	}
	if want := []string{".env", ".kube/config", ".ssh/config", "deep/key.PEM.", "envlink"}; !slices.Equal(all.Secret.First, want) {
		t.Errorf("secret: %q, want %q", all.Secret.First, want)
	}
	if got := names(search(".env", SearchOptions{})); got != "=1" {
		t.Errorf("a secret that was named: %s", got)
	}
	if got := names(search(".ssh", SearchOptions{})); got != "config=1" {
		t.Errorf("a secret folder that was named: %s", got)
	}
	out := search("../outside", SearchOptions{})
	if got := names(out); got != "near=1 s.txt=1" || out.Outside.Count > 1 {
		t.Errorf("outside: %s, %+v", got, out)
	}
	if got := names(search(".", SearchOptions{First: true})); !strings.Contains(got, "b.txt=1") {
		t.Errorf("first: %s", got)
	}
	over := search(".", SearchOptions{Text: func(_ context.Context, target string) ([]byte, bool) {
		return []byte("needle\n"), strings.HasSuffix(target, "c.txt")
	}})
	if got := names(over); !strings.Contains(got, "c.txt=1") {
		t.Errorf("with the editor's text: %s", got)
	}
}

func TestSearchEndsEarlyAndAlike(t *testing.T) {
	dir := realDir(t)
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("f%03d", i)] = strings.Repeat("needle\n", i%4)
	}
	tree(t, dir, files)
	r := rootsOf(t, dir)
	start, _ := r.Resolve(".")
	list, err := Walk(t.Context(), r, start, WalkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := Compile(Query{Pattern: "needle"})
	var first string
	for _, workers := range []int{1, 2, 8} {
		found, err := Search(t.Context(), r, start, list.Files, p, SearchOptions{Lines: 50, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if !found.Ended || found.Matches <= 50 {
			t.Errorf("%d workers: %d matches, ended %v", workers, found.Matches, found.Ended)
		}
		shown := 0
		for _, f := range found.Files {
			shown += len(f.Lines)
		}
		if shown != 50 {
			t.Errorf("%d workers: %d lines, want 50", workers, shown)
		}
		if got := fmt.Sprintf("%+v", found); first == "" {
			first = got
		} else if got != first {
			t.Errorf("%d workers find otherwise:\n%s\n%s", workers, got, first)
		}
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Search(ctx, r, start, list.Files, p, SearchOptions{}); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestIsSecret(t *testing.T) {
	for path, want := range map[string]bool{
		".env": true, "a/.env.local": true, ".env.example": false, ".env.": true, ".ENV": true, ".envrc": false,
		"id_rsa": true, "id_rsa.pub": false, "x.pem": true, "x.Key ": true, "keys": false, ".docker/config.json": true,
		"docker/config.json": false, ".aws/x/y": true, "ｉd_rsa": true, "a//.ssh/": true, "": false, "/": false,
	} {
		if got := IsSecret(path); got != want {
			t.Errorf("IsSecret(%q) = %v", path, got)
		}
	}
}

func FuzzSearchPattern(f *testing.F) {
	for _, pattern := range []string{"foo", "(?i)kiss", "[^a]b$", `\A\s*\z`, "a|b|", "x{2,}", "(?s).", "é+", `\b\w+\b|\B`, `(?m)^$`, `[[:^alpha:]\x{212A}]{1,3}?`, `(a*)*b`} {
		f.Add(pattern, "Foo\r\nkiss\nab\n\n", true, false)
		f.Add(pattern, "\u212ai\u017f\u017f\n\xff", false, true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold, multiline bool) {
		if len(pattern) > 100 || len(text) > 2000 {
			return
		}
		p, err := Compile(Query{Pattern: pattern, FoldCase: fold, Multiline: multiline})
		if err != nil {
			return
		}
		flags := "(?m"
		if fold {
			flags += "i"
		}
		if multiline {
			flags += "s"
		}
		plain, err := regexp.Compile(flags + ")(?:" + pattern + ")")
		if err != nil {
			return // such as a bracket that closes the group
		}
		data := foldNewlines([]byte(text))
		var got []int
		p.matcher().each(context.Background(), data, func(m span) bool { got = appendLines(got, data, m); return true })
		if want := plainly(plain, data, multiline); !slices.Equal(got, want) {
			t.Errorf("%q in %q (fold %v, multiline %v): lines %v, want %v", pattern, data, fold, multiline, got, want)
		}
	})
}

// appendLines adds where the lines of a match begin.
func appendLines(starts []int, text []byte, m span) []int {
	for at := m.start; ; {
		line := lineAround(text, 0, at)
		if len(starts) == 0 || starts[len(starts)-1] < line.start {
			starts = append(starts, line.start)
		}
		if at = line.end + 1; at >= m.end {
			return starts
		}
	}
}

// plainly finds the lines of matches in the plain way.
func plainly(plain *regexp.Regexp, text []byte, multiline bool) []int {
	var starts []int
	if multiline {
		for _, loc := range plain.FindAllIndex(text, -1) {
			if !behindLast(text, loc[0]) {
				starts = appendLines(starts, text, span{loc[0], loc[1]})
			}
		}
		return starts
	}
	pos := 0
	for line := range bytes.Lines(text) {
		if plain.Match(bytes.TrimSuffix(line, []byte("\n"))) {
			starts = append(starts, pos)
		}
		pos += len(line)
	}
	return starts
}

func BenchmarkSearch(b *testing.B) {
	r := rootsOf(b, goSources(b))
	start, err := r.Resolve(".")
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []Query{
		{Pattern: "ErrUnexpectedEOF"}, {Pattern: "return"}, {Pattern: `func \(\w+ \*Conn\) \w+\(`},
		{Pattern: "unexpectedeof", FoldCase: true}, {Pattern: "(foo|bar|baz)Handler"}, {Pattern: `\w+Handler\b`},
		{Pattern: "TODO|FIXME|XXX"}, {Pattern: "[A-Z]+_[A-Z]+_[A-Z]+"},
	} {
		b.Run(q.Pattern, func(b *testing.B) {
			p, err := Compile(q)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				list, err := Walk(b.Context(), r, start, WalkOptions{})
				if err != nil {
					b.Fatal(err)
				}
				found, err := Search(b.Context(), r, start, list.Files, p, SearchOptions{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(found.Matches), "lines")
			}
		})
	}
}

func mustCompile(t testing.TB, q Query) *Pattern {
	t.Helper()
	p, err := Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLiteralsInCRLF: a text in which a literal stands only once its line ends
// are LF is not passed over.
func TestLiteralsInCRLF(t *testing.T) {
	text := "one needle\r\ntwo\r\rneedle\r\n\r\nxx\r\n"
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{Pattern: "needle\ntwo", Literal: true}, 2},
		{Query{Pattern: `e\ntwo`, Multiline: true}, 2},
		{Query{Pattern: "two\r", Literal: true}, 1},
		{Query{Pattern: `needle\n\nxx`, Multiline: true}, 3},
		{Query{Pattern: "needle$"}, 2},
		{Query{Pattern: "nothing"}, 0},
	} {
		if got := foundIn(t, c.q, text, SearchOptions{Lines: 10}); len(got) != c.want {
			t.Errorf("%+v: %q, want %d", c.q, got, c.want)
		}
	}
}

// TestLiteralsThatNearlyMatch: a text that is like a long literal at every place
// is searched in a time that its length tells, not the product of both.
func TestLiteralsThatNearlyMatch(t *testing.T) {
	for _, c := range []struct {
		q    Query
		text string
		want int
	}{
		{Query{Pattern: strings.Repeat("z", 50_000) + "y"}, strings.Repeat("z", 8<<20) + "y\n" + strings.Repeat("z", 49_999) + "y\n", 1},
		{Query{Pattern: strings.Repeat("zaaaaaaaa", 5_000) + "y"}, strings.Repeat("zaaaaaaaa", 1<<20) + "y\n" + strings.Repeat("zaaaaaaaa", 4_999) + "y\n", 1},
		{Query{Pattern: strings.Repeat("z", 300) + "y", FoldCase: true}, strings.Repeat("Z", 1<<20) + "Y\n" + strings.Repeat("z", 299) + "y\n", 1},
	} {
		p := mustCompile(t, c.q)
		if l := p.literals[0]; l.fold && len(l.text) > maxFolded {
			t.Errorf("a folded literal of %d bytes", len(l.text))
		}
		found := 0
		p.matcher().each(t.Context(), []byte(c.text), func(span) bool { found++; return true })
		if found != c.want {
			t.Errorf("%.20s: %d lines", c.q.Pattern, found)
		}
	}
}
