package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestReadShows(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{
		"abc.txt": "a\nb\nc\n", "crlf.txt": "a\r\n\r\nb", "bom.txt": "\xef\xbb\xbfa\n", "u16.txt": "\xff\xfeH\x00i\x00\r\x00\n\x00",
		"empty.txt": "", "mark.txt": "\xef\xbb\xbf", "sub/deep.txt": "deep\n", "long.txt": strings.Repeat("ä", 2001) + "\nend\n",
		"2000.txt": strings.Repeat("ä", 2000), "latin.txt": "caf\xe9 au lait\n", "dam.txt": "äöüäö\xc3\n",
	})
	for _, c := range []struct {
		name string
		in   args
		want string
	}{
		{"all", args{"path": "abc.txt"}, "     1\ta\n     2\tb\n     3\tc"},
		{"absolute", args{"path": at(ws, "sub/deep.txt")}, "     1\tdeep"},
		{"offset 0", args{"path": "abc.txt", "offset": 0, "limit": 0}, "     1\ta\n     2\tb\n     3\tc"},
		{"from a line", args{"path": "abc.txt", "offset": 2}, "     2\tb\n     3\tc"},
		{"a range", args{"path": "abc.txt", "offset": 2, "limit": 1}, "     2\tb\n[lines 2 to 2 of a file of 6 bytes; continue with offset 3]"},
		{"a range to the end", args{"path": "abc.txt", "offset": 2, "limit": 2}, "     2\tb\n     3\tc"},
		{"CRLF", args{"path": "crlf.txt"}, "     1\ta\n     2\t\n     3\tb"},
		{"BOM", args{"path": "bom.txt"}, "     1\ta"},
		{"UTF-16", args{"path": "u16.txt"}, "     1\tHi"},
		{"Latin-1", args{"path": "latin.txt"}, "     1\tcafé au lait" + guessed("windows-1252")},
		{"bytes of Latin-1", args{"path": "latin.txt", "byte_offset": 3, "byte_limit": 1}, "é\n[bytes 3 to 4 of 13; continue with byte_offset 4]" + guessed("windows-1252")},
		{"damaged UTF-8", args{"path": "dam.txt"}, "     1\täöüäö\ufffd\n[not all of it is UTF-8: bytes that are not show as \ufffd; a change keeps them]"},
		{"empty", args{"path": "empty.txt"}, "[empty.txt is empty: 0 bytes]"},
		{"empty from a line", args{"path": "empty.txt", "offset": 7}, "[empty.txt is empty: 0 bytes]"},
		{"a mark only", args{"path": "mark.txt"}, "[mark.txt is empty: it holds a byte order mark only]"},
		{"bytes", args{"path": "abc.txt", "byte_offset": 2, "byte_limit": 3}, "b\nc\n[bytes 2 to 5 of 6; continue with byte_offset 5]"},
		{"bytes to the end", args{"path": "crlf.txt", "byte_offset": 3}, "\r\nb"},
		{"bytes from the start", args{"path": "bom.txt", "byte_limit": 1}, "a\n[bytes 3 to 4 of 5; continue with byte_offset 4]"},
		{"a long line", args{"path": "long.txt"}, "     1\t" + strings.Repeat("ä", 2000) + " [… the line is cut: it has 4003 bytes; byte_offset 4000 shows the rest]\n     2\tend"},
		{"the rest of it", args{"path": "long.txt", "byte_offset": 4000, "byte_limit": 2}, "ä\n[bytes 4000 to 4002 of 4007; continue with byte_offset 4002]"},
		{"not too long", args{"path": "2000.txt"}, "     1\t" + strings.Repeat("ä", 2000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t, ws, Read(), c.in)
			if r.Text != c.want || r.Truncated {
				t.Errorf("got %q, truncated %v\nwant %q", r.Text, r.Truncated, c.want)
			}
		})
	}
}

// guessed is what a text in a legacy encoding ends with.
func guessed(name string) string {
	return "\n[not UTF-8: read as " + name + ", which is a guess; a change keeps the encoding]"
}

func TestReadNamesTheEncoding(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"u16.txt": "\xff\xfeH\x00i\x00", "latin.txt": "caf\xe9\n", "a.txt": "a\n",
		"large.txt": strings.Repeat("caf\xe9 au lait\n", wholeMax/10)})
	for name, want := range map[string]any{"u16.txt": "UTF-16 LE", "latin.txt": "windows-1252", "large.txt": "windows-1252", "a.txt": nil} {
		r := must(t, ws, Read(), args{"path": name, "limit": 1})
		if r.Metadata["encoding"] != want {
			t.Errorf("%s: %v", name, r.Metadata)
		}
		if !strings.Contains(r.Text, "\t") || strings.Contains(r.Text, "\ufffd") {
			t.Errorf("%s: %q", name, r.Text)
		}
	}
}

// TestLegacyFileKeepsItsEncoding reads, edits and overwrites a file in a legacy
// encoding: all of them see the same text, and no other byte changes.
func TestLegacyFileKeepsItsEncoding(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"l.txt": "caf\xe9 au lait\r\nth\xe9\r\n"})
	must(t, ws, Read(), args{"path": "l.txt"})
	must(t, ws, Edit(), args{"path": "l.txt", "old_string": "thé\n", "new_string": "thé ou crème\n"})
	if got := onDisk(t, ws, "l.txt"); got != "caf\xe9 au lait\r\nth\xe9 ou cr\xe8me\r\n" {
		t.Errorf("%q", got)
	}
	_, err := call(t, ws, Edit(), args{"path": "l.txt", "old_string": "thé", "new_string": "茶"})
	wants(t, err, "windows-1252", "茶")
	must(t, ws, Write(), args{"path": "l.txt", "content": "déjà\n"})
	if got := onDisk(t, ws, "l.txt"); got != "d\xe9j\xe0\r\n" {
		t.Errorf("%q", got)
	}
}

func TestReadFails(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{
		"src/main.go": "package main\n", "three.txt": "a\nb\nc\n", "x.bin": "\x00\x01\x02\xff", "deep/er/Makefile": "",
		"mp.png": "\x89PNG\x0D\x0A\x1A\x0A\x00\x00",
	})
	for _, c := range []struct {
		name string
		in   args
		want []string
	}{
		{"a slip", args{"path": "src/mian.go"}, []string{"src/mian.go does not exist", "did you mean src/main.go?"}},
		{"a wrong folder", args{"path": "sec/main.go"}, []string{"did you mean src/main.go?"}},
		{"somewhere else", args{"path": "makefile"}, []string{"did you mean deep/er/Makefile?"}},
		{"nothing like it", args{"path": "zzzzzz"}, []string{"zzzzzz does not exist", "glob"}},
		{"a folder", args{"path": "src"}, []string{"is a folder", "glob"}},
		{"past the end", args{"path": "three.txt", "offset": 100}, []string{"has 3 lines", "offset 100"}},
		{"just past the end", args{"path": "three.txt", "offset": 4}, []string{"has 3 lines"}},
		{"bytes past the end", args{"path": "three.txt", "byte_offset": 6}, []string{"has 6 bytes"}},
		{"binary", args{"path": "x.bin"}, []string{"x.bin is a binary file (4 bytes, application/octet-stream)"}},
		{"a damaged picture", args{"path": "mp.png"}, []string{"mp.png (image/png, 10 bytes) cannot be shown", "damaged"}},
		{"bytes of a picture", args{"path": "mp.png", "byte_offset": 0}, []string{"10 bytes, image/png"}},
		{"bytes of a binary", args{"path": "x.bin", "byte_offset": 0}, []string{"binary", "4 bytes"}},
		{"lines and bytes", args{"path": "three.txt", "offset": 1, "byte_offset": 1}, []string{"not both"}},
		{"no path", args{"path": ""}, []string{"path"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := call(t, ws, Read(), c.in)
			wants(t, err, c.want...)
			if err != nil && strings.Contains(err.Error(), "%!") {
				t.Error(err)
			}
		})
	}
	if _, err := call(t, ws, Read(), args{"path": "none"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap fs.ErrNotExist", err)
	}
}

func TestReadCardAndFacts(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"src/a.go": "a\nb\n"})
	a, err := prepared(t, ws, Read(), args{"path": "src/a.go", "offset": 2})
	if err != nil {
		t.Fatal(err)
	}
	if a.Title != "Read src/a.go (from line 2)" || a.Kind != kinds.KindRead || len(a.Locations) != 1 || a.Locations[0] != (kinds.Location{Path: at(ws, "src/a.go"), Line: 2}) {
		t.Errorf("%+v", a.Card)
	}
	if !a.Facts.ReadOnly || !a.Concurrent || a.Facts.Tool != "read" || len(a.Paths) != 1 || a.Paths[0].Access != kinds.Read || a.Paths[0].Target != at(ws, "src/a.go") {
		t.Errorf("%+v", a.Facts)
	}
}

func TestReadOutsideWaits(t *testing.T) {
	ws := diskWorkspace(t, nil)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	a, err := prepared(t, ws, Read(), args{"path": outside})
	if err != nil {
		t.Fatalf("a file outside that is missing shows before it is allowed: %v", err)
	}
	if err := os.WriteFile(outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := a.Run(t.Context(), func(Output) {})
	if err != nil || r.Text != "     1\tsecret" {
		t.Errorf("%q, %v", r.Text, err)
	}
	_, err = call(t, ws, Read(), args{"path": outside + "x"})
	wants(t, err, "does not exist")
	if strings.Contains(err.Error(), "did you mean") {
		t.Errorf("%v tells names outside", err)
	}
}

func TestReadThroughTheEditor(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "on disk\n"})
	ws.Files = &editor{Files: ws.Files, buffers: map[string]string{at(ws, "a.txt"): "unsaved\n", at(ws, "new.txt"): "not on disk\n"}}
	if r := must(t, ws, Read(), args{"path": "a.txt"}); r.Text != "     1\tunsaved" {
		t.Errorf("%q", r.Text)
	}
	if r := must(t, ws, Read(), args{"path": "new.txt"}); r.Text != "     1\tnot on disk" {
		t.Errorf("%q", r.Text)
	}
	if ws.Seen.Stale(at(ws, "a.txt"), []byte("unsaved\n")) || !ws.Seen.Stale(at(ws, "a.txt"), []byte("on disk\n")) {
		t.Error("what was seen is not the editor's text")
	}
}

var continues = regexp.MustCompile(`continue with offset (\d+)\]$`)

// TestReadGoesOn reads a file in parts, as the notes say, and gets all of it.
func TestReadGoesOn(t *testing.T) {
	for name, n := range map[string]int{"in memory": 20_000, "as a stream": 60_000} {
		t.Run(name, func(t *testing.T) {
			var file strings.Builder
			for i := range n {
				fmt.Fprintf(&file, "row %d %s\n", i, strings.Repeat("x", 70))
			}
			ws := diskWorkspace(t, map[string]string{"big.txt": file.String()})
			next, rows := 1, 0
			for next > 0 {
				r := must(t, ws, Read(), args{"path": "big.txt", "offset": next})
				if len(r.Text) > maxRead || len(r.Text) < maxRead/2 && r.Truncated {
					t.Fatalf("%d bytes", len(r.Text))
				}
				if Fit(r, Read().Spec(), nil).Text != r.Text {
					t.Fatal("the result is cut once more")
				}
				for line := range strings.Lines(r.Text) {
					if strings.HasPrefix(line, "[") {
						continue
					}
					if !strings.HasPrefix(line, fmt.Sprintf("%6d\trow %d x", rows+1, rows)) {
						t.Fatalf("line %d is %.40q", rows+1, line)
					}
					rows++
				}
				next = 0
				if m := continues.FindStringSubmatch(r.Text); m != nil {
					next, _ = strconv.Atoi(m[1])
				}
				if r.Truncated != (next > 0) {
					t.Errorf("truncated %v, next %d", r.Truncated, next)
				}
			}
			if rows != n {
				t.Errorf("%d rows of %d", rows, n)
			}
			r := must(t, ws, Read(), args{"path": "big.txt", "offset": 12_001, "limit": 10})
			if !strings.HasPrefix(r.Text, " 12001\trow 12000 ") || strings.Count(r.Text, "\trow") != 10 || r.Truncated {
				t.Errorf("%q", r.Text)
			}
			_, err := call(t, ws, Read(), args{"path": "big.txt", "offset": n + 1})
			wants(t, err, fmt.Sprintf("has %d lines", n))
		})
	}
}

func TestReadHugeLine(t *testing.T) {
	for name, size := range map[string]int{"in memory": 1 << 20, "as a stream": 5 << 20} {
		t.Run(name, func(t *testing.T) {
			ws := diskWorkspace(t, map[string]string{"min.js": strings.Repeat("0123456789", size/10) + "\nlast\n"})
			r := must(t, ws, Read(), args{"path": "min.js"})
			if len(r.Text) > 3000 || !strings.Contains(r.Text, "byte_offset 2000 shows the rest") || !r.Truncated {
				t.Errorf("%d bytes: %q", len(r.Text), r.Text[max(0, len(r.Text)-300):])
			}
			if r := must(t, ws, Read(), args{"path": "min.js", "offset": 2}); r.Text != "     2\tlast" {
				t.Errorf("%q", r.Text)
			}
			r = must(t, ws, Read(), args{"path": "min.js", "byte_offset": 2005})
			if len(r.Text) > maxRead || !strings.HasPrefix(r.Text, "56789012") || !r.Truncated {
				t.Errorf("%d bytes, %.20q", len(r.Text), r.Text)
			}
		})
	}
}

func TestReadLargeOddities(t *testing.T) {
	filler := strings.Repeat("some text\n", wholeMax/10+1000)
	wide := strings.Repeat("x\x00\n\x00", wholeMax/4+1000)
	ws := diskWorkspace(t, map[string]string{
		"late.bin": filler + "a\x00b\n", "late.txt": filler + "caf\xe9\n", "u16.txt": "\xff\xfe" + wide, "start.bin": "\x00" + filler,
	})
	last := strings.Count(filler, "\n") + 1
	_, err := call(t, ws, Read(), args{"path": "late.bin", "offset": last})
	wants(t, err, "binary", strconv.Itoa(len(filler)+4)+" bytes")
	_, err = call(t, ws, Read(), args{"path": "start.bin"})
	wants(t, err, "binary")
	if r := must(t, ws, Read(), args{"path": "late.txt", "offset": last}); !strings.HasSuffix(r.Text, "\tcaf\ufffd") {
		t.Errorf("%q", r.Text)
	}
	if r := must(t, ws, Read(), args{"path": "u16.txt", "offset": 500_000, "limit": 1}); !strings.HasPrefix(r.Text, "500000\tx\n") {
		t.Errorf("%q", r.Text)
	}
	// The disk is what is read of large files, so nothing of them is remembered.
	if len(ws.Seen.Paths()) != 0 {
		t.Errorf("seen %v", ws.Seen.Paths())
	}
}

func TestReadStopsWhenCancelled(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"big.txt": strings.Repeat("x\n", wholeMax)})
	a, err := prepared(t, ws, Read(), args{"path": "big.txt", "offset": wholeMax})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cancelled by the user")
	cancel(cause)
	if _, err := a.Run(ctx, func(Output) {}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// FuzzRead holds what is read of any file to a few rules: it is valid text,
// within the limit, without NULs, and never a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), 1, 0)
	f.Add([]byte("\xff\xfea\x00\n\x00"), 2, 1)
	f.Add([]byte("\xef\xbb\xbf\n\n"), 3, 9)
	f.Add([]byte(strings.Repeat("ä", 3000)), 0, 0)
	f.Fuzz(func(t *testing.T, data []byte, offset, limit int) {
		if offset < 0 || limit < 0 {
			return
		}
		ws := diskWorkspace(t, map[string]string{"a": string(data)})
		r, err := call(t, ws, Read(), args{"path": "a", "offset": offset, "limit": limit})
		if err != nil {
			return
		}
		if !utf8.ValidString(r.Text) || len(r.Text) > maxRead || strings.Contains(r.Text, "\x00") || r.Text == "" {
			t.Fatalf("%q", r.Text)
		}
	})
}

// A title says which part of the file is read, in the unit that is counted.
func TestReadTitleOfPart(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\nb\n", "a.pdf": "%PDF-1.4\n"})
	for _, c := range []struct {
		in   args
		want string
	}{
		{args{"path": "a.txt"}, "Read a.txt"},
		{args{"path": "a.txt", "offset": 1}, "Read a.txt"},
		{args{"path": "a.txt", "limit": 1}, "Read a.txt (line 1)"},
		{args{"path": "a.txt", "offset": 3, "limit": 10}, "Read a.txt (lines 3-12)"},
		{args{"path": "a.txt", "limit": 10}, "Read a.txt (lines 1-10)"},
		{args{"path": "a.pdf", "offset": 2}, "Read a.pdf (from page 2)"},
		{args{"path": "a.pdf", "offset": 2, "limit": 2}, "Read a.pdf (pages 2-3)"},
		{args{"path": "a.txt", "byte_offset": 0}, "Read a.txt"},
		{args{"path": "a.txt", "byte_offset": 1, "byte_limit": 2}, "Read a.txt (bytes 1-2)"},
	} {
		if a, err := prepared(t, ws, Read(), c.in); err != nil || a.Title != c.want {
			t.Errorf("%v: %q, %v; want %q", c.in, a.Title, err, c.want)
		}
	}
}

// TestReadOfTextThatIsHardToRead: what can be read of broken UTF-16 is, and who
// reads what cannot be learns what it is.
func TestReadOfTextThatIsHardToRead(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{
		"odd": "\xff\xfea\x00\n\x00b", "half": "\xfe\xff\x00a\xd8\x00\x00b\x00\n", "u32le": "\xff\xfe\x00\x00a\x00\x00\x00", "u32be": "\x00\x00\xfe\xff\x00\x00\x00a",
		"late": strings.Repeat("line\n", 3000) + "\x00",
	})
	for name, want := range map[string]string{"odd": "     1\ta\n     2\t\ufffd", "half": "     1\ta\ufffdb"} {
		if r := must(t, ws, Read(), args{"path": name}); r.Text != want {
			t.Errorf("%s: %q", name, r.Text)
		}
		_, err := call(t, ws, Edit(), args{"path": name, "old_string": "a", "new_string": "b"})
		wants(t, err, "UTF-16 with errors")
	}
	for name, want := range map[string]string{"u32le": "UTF-32", "u32be": "UTF-32", "late": "NUL"} {
		_, err := call(t, ws, Read(), args{"path": name})
		wants(t, err, name+" is a binary file", want)
	}
}

// TestMissingNamesAreUnmistakable: names that look like what was asked for show
// in what they differ.
func TestMissingNamesAreUnmistakable(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"end.txt ": "", "two\nlines.md": "", "u\u0308ber.go": "", "plain.c": ""})
	for name, want := range map[string]string{
		"end.txt":      `did you mean "end.txt "?`,
		"two\nline.md": `"two\nline.md" does not exist; did you mean "two\nlines.md"?`,
		"\u00fcber.go": `did you mean "u\u0308ber.go"?`,
		"plan.c":       `plan.c does not exist; did you mean plain.c?`,
	} {
		_, err := call(t, ws, Read(), args{"path": name})
		wants(t, err, want)
	}
	_, err := call(t, ws, Read(), args{"path": strings.Repeat("x/", 1<<20)})
	wants(t, err, "2097152 bytes", "more than the 4096")
	if len(err.Error()) > 300 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}
