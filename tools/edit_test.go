package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name, file, old, new string
		all                  bool
		want                 string
		lines                string // of the locations
	}{
		{"plain", "a\nb\nc\n", "b", "B", false, "a\nB\nc\n", "2"},
		{"literal", "south\n", "south", "p$&q $$ $1 ${x} `$` \\1", false, "p$&q $$ $1 ${x} `$` \\1\n", "1"},
		{"a literal pattern", "a.c\nabc\n", "a.c", ".*", false, ".*\nabc\n", "1"},
		{"CRLF", "a\r\nb\r\nc\r\n", "b\nc", "B\nC", false, "a\r\nB\r\nC\r\n", "2"},
		{"CRLF sent", "a\nb\n", "a\r\nb", "a\r\nc", false, "a\nc\n", "2"},
		{"BOM and no final end", "\xef\xbb\xbfone\r\ntwo\r\nthree", "one\ntwo", "1\n2", false, "\xef\xbb\xbf1\r\n2\r\nthree", "1"},
		{"UTF-16", "\xff\xfea\x00\n\x00b\x00", "b", "ä", false, "\xff\xfea\x00\n\x00\xe4\x00", "2"},
		{"typographic", "Er rief “Halt!” laut.\n", "“Halt!”", "“Halt – sofort…”", false, "Er rief “Halt – sofort…” laut.\n", "1"},
		{"to nothing", "a\nb\nc\n", "b\n", "", false, "a\nc\n", "2"},
		{"all", "x\nx\ny\n", "x", "q", true, "q\nq\ny\n", "1"},
		{"all, apart", "x\na\nx\na\nx\n", "x", "p\nq", true, "p\nq\na\np\nq\na\np\nq\n", "1 4 7"},
		{"all of one", "x\n", "x", "y", true, "y\n", "1"},
		{"no overlaps", "aaaa\n", "aa", "b", true, "bb\n", "1"},
		{"lines after one", "a\nb\n", "a", "a\nx", false, "a\nx\nb\n", "2"},
		{"lines after one, with its end", "a\nb\n", "a\n", "a\nx\n", false, "a\nx\nb\n", "2"},
		{"lines before one", "a\nb\n", "b", "x\nb", false, "a\nx\nb\n", "2"},
		{"common lines", "a\nb\nc\nd\n", "a\nb\nc\nd", "a\nb\nC\nd", false, "a\nb\nC\nd\n", "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := diskWorkspace(t, map[string]string{"f.txt": c.file})
			r := must(t, ws, Edit(), args{"path": "f.txt", "old_string": c.old, "new_string": c.new, "replace_all": c.all})
			if got := onDisk(t, ws, "f.txt"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			var lines []string
			for _, l := range r.Locations {
				if l.Path != at(ws, "f.txt") {
					t.Errorf("%+v", l)
				}
				lines = append(lines, fmt.Sprint(l.Line))
			}
			if got := strings.Join(lines, " "); got != c.lines {
				t.Errorf("locations %s, want %s", got, c.lines)
			}
			if len(r.Changes) != 1 || r.Changes[0].Old == nil || !strings.Contains(r.Text, "first changed line: "+lines[0]) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestEditCreates(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"empty.txt": "", "full.txt": "x"})
	for _, path := range []string{"new/new.txt", "empty.txt"} {
		a, err := prepared(t, ws, Edit(), args{"path": path, "old_string": "", "new_string": "n\n"})
		if err != nil {
			t.Fatal(err)
		}
		if created := a.Changes[0].Old == nil; created != (path == "new/new.txt") {
			t.Errorf("%s: %+v", path, a.Changes)
		}
		if r, err := a.Run(t.Context(), func(Output) {}); err != nil || onDisk(t, ws, path) != "n\n" || r.Locations[0].Line != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	_, err := call(t, ws, Edit(), args{"path": "full.txt", "old_string": "", "new_string": "n\n"})
	wants(t, err, "old_string is empty", "full.txt is not")
}

func TestEditFails(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{
		"f.txt": "x\nx\ny\n", "hello.txt": "hello world\n", "src/main.go": "package main\n", "x.bin": "\x00", "quote.txt": "Er rief “Halt” laut.\n",
		"code.go": "package a\n\nfunc A() int {\n\treturn 1\n}\n\nfunc B() int {\n\treturn 2\n}\n",
	})
	for _, c := range []struct {
		name    string
		in      args
		content bool // the error shows content
		want    []string
	}{
		{"several", args{"path": "f.txt", "old_string": "x", "new_string": "q"}, true, []string{"occurs 2 times in f.txt, at lines 1, 2", "replace_all"}},
		{"none", args{"path": "f.txt", "old_string": "zebra", "new_string": "q"}, true, []string{"old_string was not found in f.txt", "No line is like it"}},
		{"none, with all", args{"path": "f.txt", "old_string": "z", "new_string": "q", "replace_all": true}, true, []string{"was not found"}},
		{"no change", args{"path": "f.txt", "old_string": "y", "new_string": "y"}, false, []string{"identical"}},
		{"no change but line ends", args{"path": "f.txt", "old_string": "y\n", "new_string": "y\r\n"}, false, []string{"identical"}},
		{"nothing for nothing", args{"path": "none", "old_string": "", "new_string": ""}, false, []string{"identical"}},
		{"other white space", args{"path": "hello.txt", "old_string": "hello  world", "new_string": "x"}, true, []string{"     1\thello world\n", "white space only"}},
		{"straight quotes", args{"path": "quote.txt", "old_string": "\"Halt\" laut", "new_string": "x"}, true, []string{"was not found", "“Halt”"}},
		{"several lines", args{"path": "code.go", "old_string": "func B() int {\n    return 2\n}", "new_string": "x"}, true, []string{"     7\tfunc B() int {\n     8\t\treturn 2\n     9\t}\n", "white space only"}},
		{"line numbers", args{"path": "code.go", "old_string": "     7\tfunc B() int {\n     8\t\treturn 2", "new_string": "x"}, true, []string{"begin with the numbers"}},
		{"a slip in the name", args{"path": "src/mian.go", "old_string": "a", "new_string": "b"}, false, []string{"did you mean src/main.go?"}},
		{"binary", args{"path": "x.bin", "old_string": "a", "new_string": "b"}, false, []string{"binary file (1 bytes"}},
		{"a folder", args{"path": "src", "old_string": "a", "new_string": "b"}, false, []string{"is a folder"}},
		{"a NUL", args{"path": "f.txt", "old_string": "y", "new_string": "\x00"}, false, []string{"new_string", "text file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := onDisk(t, ws, "f.txt")
			_, err := prepared(t, ws, Edit(), c.in)
			wants(t, err, c.want...)
			var shows *ContentError
			if errors.As(err, &shows) != c.content {
				t.Errorf("a content error: %v", !c.content)
			}
			if shows != nil && (shows.Path.Access != kinds.Read || shows.Path.Path != at(ws, c.in["path"].(string)) || strings.Contains(shows.Safe, "times") || strings.Contains(shows.Safe, "found")) {
				t.Errorf("%+v", shows)
			}
			if onDisk(t, ws, "f.txt") != before {
				t.Error("the file changed")
			}
		})
	}
}

// TestEditSafeErrorsAreAlike: where the file may not be read, the model cannot
// tell by the error whether it holds a text.
func TestEditSafeErrorsAreAlike(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{".env": "TOKEN=1\nTOKEN=2\n"})
	var safe []string
	for _, old := range []string{"TOKEN", "absent"} {
		_, err := prepared(t, ws, Edit(), args{"path": ".env", "old_string": old, "new_string": "x"})
		var shows *ContentError
		if !errors.As(err, &shows) {
			t.Fatal(err)
		}
		safe = append(safe, shows.Safe)
	}
	if safe[0] != safe[1] {
		t.Errorf("%q", safe)
	}
}

func TestEditCard(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "\xef\xbb\xbfa\r\nb\r\n"})
	a, err := prepared(t, ws, Edit(), args{"path": "a.txt", "old_string": "a\nb", "new_string": "a\nc"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Title != "Edit a.txt" || a.Kind != kinds.KindEdit || a.Locations[0] != (kinds.Location{Path: at(ws, "a.txt"), Line: 2}) ||
		*a.Changes[0].Old != "a\r\nb\r\n" || a.Changes[0].New != "a\r\nc\r\n" || a.Facts.Tool != "edit" || a.Paths[0].Access != kinds.Write {
		t.Errorf("%+v %+v", a.Card, a.Facts)
	}
}

func TestEditOnlyWhatWasShown(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "one\ntwo\n"})
	a, err := prepared(t, ws, Edit(), args{"path": "a.txt", "old_string": "two", "new_string": "2"})
	if err != nil {
		t.Fatal(err)
	}
	put(t, ws, "a.txt", "one\ntwo\nthree\n")
	_, err = a.Run(t.Context(), func(Output) {})
	wants(t, err, "nothing was written", "read a.txt again")
	if !errors.Is(err, workspace.ErrChanged) || onDisk(t, ws, "a.txt") != "one\ntwo\nthree\n" {
		t.Errorf("%v", err)
	}
}

func TestEditOfAnOldView(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "one\n"})
	must(t, ws, Read(), args{"path": "a.txt"})
	must(t, ws, Edit(), args{"path": "a.txt", "old_string": "one", "new_string": "two"}) // its own change is no surprise
	must(t, ws, Edit(), args{"path": "a.txt", "old_string": "two", "new_string": "three"})
	put(t, ws, "a.txt", "three\nfour\n")
	_, err := call(t, ws, Edit(), args{"path": "a.txt", "old_string": "three", "new_string": "3"})
	wants(t, err, "a.txt changed since", "read it again")
	must(t, ws, Read(), args{"path": "a.txt"})
	must(t, ws, Edit(), args{"path": "a.txt", "old_string": "three", "new_string": "3"})
}

func TestEditKeepsLinkAndMode(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"real.sh": "one\n"})
	if err := os.Symlink("real.sh", at(ws, "link.sh")); err != nil {
		t.Skip("no links can be made here:", err)
	}
	if err := os.Chmod(at(ws, "real.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(at(ws, "real.sh"))
	if err != nil {
		t.Fatal(err)
	}
	r := must(t, ws, Edit(), args{"path": "link.sh", "old_string": "one", "new_string": "two"})
	if r.Changes[0].Path != at(ws, "link.sh") || onDisk(t, ws, "real.sh") != "two\n" {
		t.Errorf("%+v", r)
	}
	after, err := os.Stat(at(ws, "real.sh"))
	if err != nil || after.Mode() != before.Mode() {
		t.Errorf("%v, %v", after.Mode(), err)
	}
	if to, err := os.Readlink(at(ws, "link.sh")); err != nil || to != "real.sh" {
		t.Errorf("%q, %v", to, err)
	}
}

func TestEditOutsideWaits(t *testing.T) {
	ws := diskWorkspace(t, nil)
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"secret", "absent"} {
		a, err := prepared(t, ws, Edit(), args{"path": path, "old_string": old, "new_string": "x"})
		if err != nil || len(a.Changes) != 0 {
			t.Fatalf("it shows before it is allowed: %+v, %v", a, err)
		}
		r, err := a.Run(t.Context(), func(Output) {})
		if old == "absent" {
			wants(t, err, "not found")
		} else if err != nil || *r.Changes[0].Old != "secret\n" {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestEditThatIsFormatted(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "two\n"})
	ws.Files = &editor{Files: ws.Files, buffers: map[string]string{at(ws, "a.txt"): "dirty two\nx\ny\n"},
		format: func(s string) string { return strings.Replace(s, "y", "Y", 1) + "# as saved\n" }}
	must(t, ws, Read(), args{"path": "a.txt"})
	r := must(t, ws, Edit(), args{"path": "a.txt", "old_string": "dirty", "new_string": "clean"})
	if r.Changes[0].New != "clean two\nx\nY\n# as saved\n" || *r.Changes[0].Old != "dirty two\nx\ny\n" {
		t.Errorf("%+v", r.Changes)
	}
	if len(r.Locations) != 2 || r.Locations[0].Line != 1 || r.Locations[1].Line != 3 {
		t.Errorf("%+v", r.Locations)
	}
	for _, want := range []string{"Replaced 1 occurrence", "changed when it was saved", "+# as saved", "-y", "+Y"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q lacks %q", r.Text, want)
		}
	}
	must(t, ws, Edit(), args{"path": "a.txt", "old_string": "# as saved", "new_string": "# mine"})
}

func TestEditOfMany(t *testing.T) {
	const n = 50_000
	ws := diskWorkspace(t, map[string]string{"a.txt": strings.Repeat("x\ny\nz\n", n)})
	r := must(t, ws, Edit(), args{"path": "a.txt", "old_string": "x", "new_string": "X", "replace_all": true})
	if len(r.Locations) != maxLocations || !strings.Contains(r.Text, "50000 occurrences") || onDisk(t, ws, "a.txt") != strings.Repeat("X\ny\nz\n", n) {
		t.Errorf("%d locations, %s", len(r.Locations), r.Text)
	}
	_, err := call(t, ws, Edit(), args{"path": "a.txt", "old_string": "y", "new_string": "Y"})
	wants(t, err, "50000 times", "2, 5, 8", "and 49980 more")
	if len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestClosestIsBounded(t *testing.T) {
	text := strings.Repeat(strings.Repeat("some words of a line ", 100)+"\n", 2000)
	got := closest(t.Context(), text, strings.Repeat("some words off a line\n", 500))
	if len(got) > 4<<10 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
	if got := closest(t.Context(), strings.Repeat("ä", 500), strings.Repeat("ä", 499)+"ö"); !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
	if got := closest(t.Context(), "", "x"); !strings.Contains(got, "No line is like it") {
		t.Error(got)
	}
	if got := closest(t.Context(), "a\n", "\n\n\n"); got == "" {
		t.Error("nothing is said")
	}
}

// FuzzEdit edits a file by the tool and holds the outcome to what strings say:
// exactly the occurrences change, and nothing else, in every encoding.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "B", false, uint(0))
	f.Add("x\r\nx\r\n", "x\n", "$1\n\n", true, uint(1))
	f.Add("äöü", "ö", "", false, uint(2))
	f.Add("", "", "new\n", false, uint(0))
	f.Add("a\r\nb\nc", "a\nb\nc", "c\nb\na", false, uint(3))
	f.Fuzz(func(t *testing.T, body, old, new string, all bool, code uint) {
		for _, s := range []string{body, old, new} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\ufeff") || strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\r") {
				return // what JSON or a text file cannot hold, and lone CRs, which may meet an LF
			}
		}
		e := workspace.Encoding(code % 4)
		data, err := e.Encode(body)
		if err != nil {
			t.Fatal(err)
		}
		file := string(data)
		ws := diskWorkspace(t, map[string]string{"f": file})
		_, err = call(t, ws, Edit(), args{"path": "f", "old_string": old, "new_string": new, "replace_all": all})
		lf, old, new := workspace.FoldLineEnds(body), workspace.FoldLineEnds(old), workspace.FoldLineEnds(new)
		count := strings.Count(lf, old)
		if first := strings.Index(lf, old); old != "" && count == 1 && strings.Contains(lf[first+1:], old) {
			count++ // where it overlaps itself
		}
		fine := old != new && (count == 1 || count > 1 && all) && old != "" || old == "" && lf == "" && new != ""
		if (err == nil) != fine {
			t.Fatalf("error %v, but fine is %v", err, fine)
		}
		got := onDisk(t, ws, "f")
		if err != nil {
			if got != file {
				t.Fatalf("it failed and wrote %q", got)
			}
			return
		}
		after, err := workspace.Decode([]byte(got))
		if err != nil || after.Encoding() != e {
			t.Fatalf("it became %v: %v", after.Encoding(), err)
		}
		if want := strings.ReplaceAll(lf, old, new); after.LF() != want {
			t.Fatalf("got %q, want %q", after.LF(), want)
		}
		if i := strings.Index(lf, old); old != "" { // what stands before and behind stays as it is
			head, tail := keptAround(t, e, body, lf, i, strings.LastIndex(lf, old)+len(old))
			if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
				t.Fatalf("%q became %q", file, got)
			}
		}
	})
}

// keptAround are the bytes of a file before and behind two offsets in its text
// with LF.
func keptAround(t *testing.T, e workspace.Encoding, body, lf string, from, to int) (head, tail string) {
	inBody := func(at int) int {
		n := 0
		for i, c := range []byte(body) {
			if n == at {
				return i
			}
			if c != '\r' || !strings.HasPrefix(body[i:], "\r\n") {
				n++
			}
		}
		return len(body)
	}
	encode := func(s string) string {
		data, err := e.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	mark := len(encode(""))
	return encode(body[:inBody(from)]), encode(body[inBody(to):])[mark:]
}

// TestEditHintsAtLookalikes: who copies what looks the same learns which character
// is another.
func TestEditHintsAtLookalikes(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{
		"f": "cafe\u0301\nx\u00a0=\u00a01\nA\u0391\n\u201cquoted\u201d\nzero\u200bwidth\n", "tabs": "if x:\n\treturn 1\n", "blanks": "if x:\n    return 1\n", "end": "a\nlast", "cr": "one\rtwo\r",
	})
	for _, c := range []struct{ path, old, want string }{
		{"f", "caf\u00e9", "At line 1 it stands but for characters that look alike: the file has U+0301, and old_string has é (U+00E9)"},
		{"f", "x = 1\n", "line 2 it stands but for characters that look alike: the file has U+00A0, and old_string has U+0020"},
		{"f", "AA", "the file has Α (U+0391)"},
		{"f", `"quoted"`, `the file has “ (U+201C), and old_string has " (U+0022)`},
		{"f", "zerowidth", "the file has U+200B"},
		{"f", "x-\u00a0=", "not found"},
		{"tabs", "if x:\n    return 1\n", "The file has tabs where old_string has blanks."},
		{"blanks", "if x:\n\treturn 1\n", "The file has blanks where old_string has tabs."},
		{"blanks", "if x: \n    return 1\n", "Blanks at its end differ."},
		{"end", "last\n", "whose last line has no line end"},
		{"cr", "one\ntwo", "the file has U+000D, and old_string has U+000A"},
	} {
		_, err := call(t, ws, Edit(), args{"path": c.path, "old_string": c.old, "new_string": "new"})
		wants(t, err, "old_string was not found", c.want)
	}
}

// TestEditOfOverlappingMatches: a text that stands at two places that overlap is
// not unique either.
func TestEditOfOverlappingMatches(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"f": "}\n\n}\n\n}\n", "g": "aaaaa"})
	_, err := call(t, ws, Edit(), args{"path": "f", "old_string": "}\n\n}", "new_string": "{}"})
	wants(t, err, "occurs 2 times", "lines 1, 3")
	must(t, ws, Edit(), args{"path": "g", "old_string": "aa", "new_string": "b", "replace_all": true})
	if f, g := onDisk(t, ws, "f"), onDisk(t, ws, "g"); f != "}\n\n}\n\n}\n" || g != "bba" {
		t.Errorf("%q, %q", f, g)
	}
}

// TestEditThatGrowsWithoutBound: a small call must not make a text of gigabytes.
func TestEditThatGrowsWithoutBound(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"f": strings.Repeat("a", 1<<20)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := call(t, ws, Edit(), args{"path": "f", "old_string": "a", "new_string": strings.Repeat("b", 10_000), "replace_all": true})
	wants(t, err, "f would have 10485760000 bytes", "with a command")
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<20 {
		t.Errorf("it took %d bytes to say so", grown)
	}
}
