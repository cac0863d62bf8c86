package kinds

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitle(t *testing.T) {
	long := strings.Repeat("a", 100) + " " + strings.Repeat("b", 100) + " && rm -rf build"
	for _, c := range []struct{ in, want string }{
		{"go test ./...", "go test ./..."},
		{"  two\n\tlines  \r\n", `two lines \r`},
		{"red \x1b[31mtext", `red \e[31mtext`},
		{"a\u202eb", `a\u202eb`},
		{"git\u3000push", `git\u3000push`},
		{"", ""},
		{strings.Repeat("é", MaxTitle), strings.Repeat("é", MaxTitle)},
	} {
		if got := Title(c.in); got != c.want {
			t.Errorf("Title(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	got := Title(long)
	if n := utf8.RuneCountInString(got); n != MaxTitle {
		t.Errorf("a long title has %d runes, want %d", n, MaxTitle)
	}
	if !strings.HasPrefix(got, "aaa") || !strings.HasSuffix(got, " && rm -rf build") {
		t.Errorf("a long title keeps its head and its tail, got %q", got)
	}
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"Привет 你好 🎉 é", "Привет 你好 🎉 é"},
		{"a\x00b\x07c\x7f", `a\u0000b\u0007c\u007f`},
		{"a\rb", `a\rb`},
		{"\u200bzero\ufeff", `\u200bzero\ufeff`},
		{"git\u3000push", `git\u3000push`},
		{"\U000e0041", `\U000e0041`},
		{"\ue000", `\ue000`},
		{"bad \xff byte", `bad \xff byte`},
		{"a real \ufffd", "a real \ufffd"},
		{"\u3164", `\u3164`},
		{"\u0085", `\u0085`},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFence(t *testing.T) {
	for _, c := range []struct{ lang, in, want string }{
		{"", "x", "```\nx\n```"},
		{"sh", "x\n", "```sh\nx\n```"},
		{"", "a ``` b", "````\na ``` b\n````"},
		{"", "`````", "``````\n`````\n``````"},
	} {
		if got := Fence(c.lang, c.in); got != c.want {
			t.Errorf("Fence(%q, %q) = %q, want %q", c.lang, c.in, got, c.want)
		}
	}
}

func TestRootName(t *testing.T) {
	r := Root("/ws")
	for _, c := range []struct{ in, want string }{
		{"/ws/src/a.go", "src/a.go"},
		{"src/../a.go", "a.go"},
		{"/ws", "."},
		{"/ws-secret/a", "/ws-secret/a"},
		{"/etc/passwd", "/etc/passwd"},
		{"/ws/..hidden", "..hidden"},
	} {
		if got := r.Name(c.in); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCards(t *testing.T) {
	r, old := Root("/ws"), "one\n"
	change := Change{Path: "/ws/a.go", Old: &old, New: "two\n"}
	for _, c := range []struct {
		card  Card
		kind  Kind
		title string
		at    Location
	}{
		{r.Read("src/a.go", "", 7), KindRead, "Read src/a.go", Location{"/ws/src/a.go", 7}},
		{r.Read("a.go", "page 3", -3), KindRead, "Read a.go (page 3)", Location{"/ws/a.go", 0}},
		{r.Edit("/ws/a.go", 2, change), KindEdit, "Edit a.go", Location{"/ws/a.go", 2}},
		{r.Write("/tmp/x", change), KindEdit, "Write /tmp/x", Location{"/tmp/x", 0}},
		{r.Search("needle", ".", ""), KindSearch, `Search "needle"`, Location{"/ws", 0}},
		{r.Search("needle", "src", "*.go"), KindSearch, `Search "needle" in src (*.go)`, Location{"/ws/src", 0}},
		{r.Find("*.go", "."), KindSearch, `Find "*.go"`, Location{"/ws", 0}},
		{r.Find("*.go", "src"), KindSearch, `Find "*.go" in src`, Location{"/ws/src", 0}},
	} {
		if c.card.Kind != c.kind || c.card.Title != c.title || !slices.Equal(c.card.Locations, []Location{c.at}) {
			t.Errorf("got %+v, want %s %q at %v", c.card, c.kind, c.title, c.at)
		}
	}
	run := Execute("echo a\n" + strings.Repeat("x", 500))
	if run.Kind != KindExecute || !strings.Contains(run.Text, strings.Repeat("x", 500)) {
		t.Errorf("a command's card holds all of it: %+v", run)
	}
	if short := Execute("go test"); run.Untold() != run.Text || short.Untold() != "" {
		t.Errorf("what the title leaves out: %q and %q", run.Untold(), short.Untold())
	}
	patch := r.Patch([]Deed{{Path: "/ws/a"}, {Does: Deletes, Path: "/ws/b"}, {Does: Moves, From: "/ws/c", Path: "/ws/d/c", Edits: true}, {Path: "/ws/e"}}, nil)
	if patch.Kind != KindEdit || patch.Title != "Patch a, e, delete b, move c to d/c" {
		t.Errorf("got %+v", patch)
	}
	moved := []Deed{{Does: Moves, From: "/ws/1", Path: "/ws/a"}, {Does: Moves, From: "/ws/2", Path: "/ws/b"}, {Does: Moves, From: "/ws/3", Path: "/ws/c"}, {Does: Moves, From: "/ws/4", Path: "/ws/d"}}
	if c := r.Patch(moved, nil); c.Kind != KindMove || c.Title != "Move 1 to a, 2 to b, 3 to c and 1 more" {
		t.Errorf("got %+v", c)
	}
	if c := Other("mystery\x1b[2J"); c.Kind != KindOther || c.Title != `mystery\e[2J` || c.Locations != nil {
		t.Errorf("got %+v", c)
	}
	if c := Think("plan"); c.Kind != KindThink || c.Locations != nil {
		t.Errorf("got %+v", c)
	}
}
