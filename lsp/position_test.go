package lsp

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPositions(t *testing.T) {
	const body = "ab\n日本🙂x\r\né\rlast"
	txt := newText(body)
	for _, tt := range []struct {
		offset int
		utf8   Position
		utf16  Position
		utf32  Position
		place  Place
	}{
		{0, Position{Line: 0}, Position{Line: 0}, Position{Line: 0}, Place{1, 1}},
		{2, pos(0, 2), pos(0, 2), pos(0, 2), Place{1, 3}},
		{3, pos(1, 0), pos(1, 0), pos(1, 0), Place{2, 1}},
		{9, pos(1, 6), pos(1, 2), pos(1, 2), Place{2, 3}},
		{13, pos(1, 10), pos(1, 4), pos(1, 3), Place{2, 4}},
		{14, pos(1, 11), pos(1, 5), pos(1, 4), Place{2, 5}},
		{16, pos(2, 0), pos(2, 0), pos(2, 0), Place{3, 1}},
		{18, pos(2, 2), pos(2, 1), pos(2, 1), Place{3, 2}},
		{19, pos(3, 0), pos(3, 0), pos(3, 0), Place{4, 1}},
		{23, pos(3, 4), pos(3, 4), pos(3, 4), Place{4, 5}},
	} {
		for e, want := range map[encoding]Position{utf8Units: tt.utf8, utf16Units: tt.utf16, utf32Units: tt.utf32} {
			if got := txt.position(tt.offset, e); got != want {
				t.Errorf("%s: offset %d lies at %v, want %v", e, tt.offset, got, want)
			}
			if got := txt.offset(want, e); got != tt.offset {
				t.Errorf("%s: %v is offset %d, want %d", e, want, got, tt.offset)
			}
			if got := txt.place(want, e); got != tt.place {
				t.Errorf("%s: %v is %v, want %v", e, want, got, tt.place)
			}
			if got, ok := txt.at(tt.place, e); !ok || got != want {
				t.Errorf("%s: %v is %v, %v; want %v", e, tt.place, got, ok, want)
			}
		}
	}
	for _, p := range []Place{{0, 1}, {1, 0}, {1, 4}, {2, 6}, {5, 1}} {
		if at, ok := txt.at(p, utf16Units); ok {
			t.Errorf("%v lies in the text, at %v", p, at)
		}
	}
	for p, want := range map[Position]int{pos(0, 99): 2, pos(1, 3): 9, pos(99, 0): len(body)} {
		if got := txt.offset(p, utf16Units); got != want {
			t.Errorf("%v is offset %d, want %d", p, got, want)
		}
	}
}

func FuzzPositions(f *testing.F) {
	f.Add("ab\n日本🙂x\r\né\rlast", 9, uint32(1), uint32(3))
	f.Fuzz(func(t *testing.T, body string, offset int, line, column uint32) {
		if !utf8.ValidString(body) {
			return
		}
		txt := newText(body)
		for _, e := range []encoding{utf8Units, utf16Units, utf32Units} {
			if at := txt.offset(Position{Line: line, Character: column}, e); at < 0 || at > len(body) || at < len(body) && !utf8.RuneStart(body[at]) {
				t.Errorf("%s: %d:%d is offset %d", e, line, column, at)
			}
			if offset < 0 || offset > len(body) || offset < len(body) && !utf8.RuneStart(body[offset]) {
				continue
			}
			p := txt.position(offset, e)
			back := txt.offset(p, e)
			inEnd := offset > back && offset-back <= 2 // inside of a line's end
			if back != offset && !inEnd {
				t.Errorf("%s: offset %d is %v, which is offset %d", e, offset, p, back)
			}
			if at, ok := txt.at(txt.place(p, e), e); !ok || at != p {
				t.Errorf("%s: %v is %v as a place and back", e, p, at)
			}
		}
	})
}

// TestLongLine: places far in a long line are found without counting from its start,
// and what is shown of it stands around them.
func TestLongLine(t *testing.T) {
	const n = 200_000 // characters of the piece, of 1, 2, 3 and 4 bytes
	txt := newText("x\n" + strings.Repeat("aé日🙂 ", n/5) + "\nlast")
	for _, e := range []encoding{utf8Units, utf16Units, utf32Units} {
		for column := 1; column <= n; column += 997 {
			p, ok := txt.at(Place{2, column}, e)
			if got := txt.place(p, e); !ok || got != (Place{2, column}) {
				t.Fatalf("%s: column %d is %v, %v", e, column, got, ok)
			}
			if got := txt.position(txt.offset(p, e), e); got != p {
				t.Fatalf("%s: %v is %v", e, p, got)
			}
		}
	}
	at, _ := txt.at(Place{2, 100_003}, utf32Units)
	shown := txt.shown(1, txt.offset(at, utf32Units))
	if n := utf8.RuneCountInString(shown); n > maxShown+2 || !strings.HasPrefix(shown, "…") || !strings.HasSuffix(shown, "…") || !strings.Contains(shown, "日🙂 aé") {
		t.Errorf("%d characters: %s", n, shown)
	}
	if shown := newText("  "+strings.Repeat("日", maxShown-3)+" ").shown(0, 5); shown != strings.Repeat("日", maxShown-3) {
		t.Errorf("cut: %s", shown)
	}
}

func TestPositionsThatDoNotFit(t *testing.T) {
	for data, want := range map[string]Position{
		`{"line":-1,"character":-5}`: {}, `{"line":1e400,"character":0}`: {}, `{"line":9007199254740991,"character":1.5}`: {math.MaxInt32, 1}, `{}`: {},
	} {
		var p Position
		if err := json.Unmarshal([]byte(data), &p); err == nil && p != want {
			t.Errorf("%s is %v, want %v", data, p, want)
		}
	}
	txt := newText("a🙂b\n")
	for p, want := range map[Position]Place{{0, 2}: {1, 2}, {0, 3}: {1, 3}, {0, 99}: {1, 4}, {7, 3}: {8, 1}, {math.MaxInt32, 0}: {math.MaxInt32 + 1, 1}} {
		if got := txt.place(p, utf16Units); got != want {
			t.Errorf("%v is %v, want %v", p, got, want)
		}
	}
	for _, body := range []string{"", "\n", "\r", "\r\n", "\x00", "a"} {
		txt := newText(body)
		if got := txt.position(len(body), utf16Units); txt.offset(got, utf16Units) > len(body) || int(got.Line) >= txt.lines() {
			t.Errorf("%q ends at %v", body, got)
		}
	}
}

func TestURIs(t *testing.T) {
	for _, tt := range []struct{ goos, path, uri string }{
		{"linux", "/a/b c/é#?.go", "file:///a/b%20c/%C3%A9%23%3F.go"},
		{"windows", `C:\a\b.go`, "file:///c%3A/a/b.go"},
		{"windows", `\\host\share\b.go`, "file://host/share/b.go"},
	} {
		if got := fileURIOn(tt.goos, tt.path); got != tt.uri {
			t.Errorf("%s is %s, want %s", tt.path, got, tt.uri)
		}
		if got, err := filePathOn(tt.goos, tt.uri); err != nil || got != tt.path {
			t.Errorf("%s is %s, %v; want %s", tt.uri, got, err, tt.path)
		}
	}
	for _, uri := range []string{"", "untitled:Untitled-1", "jdt://contents/x.class", "http://h/x", "file:", "file://other/x", "file:///a%00b", "%zz", "git:/x?{}"} {
		if path, err := filePathOn("linux", uri); err == nil {
			t.Errorf("%s is the file %s", uri, path)
		}
	}
}

func TestApplyEdits(t *testing.T) {
	at := func(line, from, to uint32) Range {
		return Range{Start: pos(line, from), End: pos(line, to)}
	}
	for _, tt := range []struct {
		name, body string
		edits      []textEdit
		want, err  string
	}{
		{name: "none", body: "a\n", want: "a\n"},
		{name: "twice on a line, in any order", body: "foo + foo\n", edits: []textEdit{{at(0, 6, 9), "bar"}, {at(0, 0, 3), "bar"}}, want: "bar + bar\n"},
		{name: "units", body: "🙂 foo\n", edits: []textEdit{{at(0, 3, 6), "b"}}, want: "🙂 b\n"},
		{name: "insertions at one place keep their order", body: "x", edits: []textEdit{{at(0, 0, 0), "1"}, {at(0, 0, 0), "2"}, {at(0, 0, 1), "3"}}, want: "123"},
		{name: "CR LF stays", body: "a\r\nb\r\n", edits: []textEdit{{at(1, 0, 1), "c"}}, want: "a\r\nc\r\n"},
		{name: "behind the end", body: "a", edits: []textEdit{{Range{Start: pos(9, 9), End: pos(9, 9)}, "b"}}, want: "ab"},
		{name: "overlap", body: "abcd", edits: []textEdit{{at(0, 0, 3), "x"}, {at(0, 2, 4), "y"}}, err: "two edits overlap"},
		{name: "backwards", body: "abcd", edits: []textEdit{{Range{Start: pos(0, 3), End: pos(0, 1)}, "x"}}, err: "a range ends before it begins"},
	} {
		got, err := applyEdits(tt.body, tt.edits, utf16Units)
		if tt.err != "" && (err == nil || err.Error() != tt.err) || tt.err == "" && (err != nil || got != tt.want) {
			t.Errorf("%s: %q, %v; want %q %s", tt.name, got, err, tt.want, tt.err)
		}
	}
}

// pos is a position.
func pos(line, character uint32) Position { return Position{Line: line, Character: character} }
