package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// TestWriteOfAFolder: a name that ends as a folder's makes no file.
func TestWriteOfAFolder(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"f": "x\n"})
	_, err := call(t, ws, Write(), args{"path": "new/", "content": "x"})
	wants(t, err, "new/ names a folder")
	_, err = call(t, ws, Write(), args{"path": "f/new", "content": "x"})
	wants(t, err, "f/new")
	if got := names(t, ws); got != `f="x\n"` {
		t.Error(got)
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name, old, content string // old "<none>": no file
		want, text         string
	}{
		{"a new file", "<none>", "one\ntwo\n", "one\ntwo\n", "Created f.txt (8 bytes)."},
		{"a new file with CRLF", "<none>", "one\r\n", "one\r\n", "Created f.txt (5 bytes)."},
		{"an empty new file", "<none>", "", "", "Created f.txt (0 bytes)."},
		{"over an empty file", "", "e\n", "e\n", "Overwrote f.txt (2 bytes)."},
		{"CRLF stays", "a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n", "Overwrote f.txt (9 bytes)."},
		{"BOM stays", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n", "Overwrote f.txt (5 bytes)."},
		{"UTF-16 stays", "\xff\xfea\x00", "b", "\xff\xfeb\x00", "Overwrote f.txt (4 bytes)."},
		{"a final end stays", "a\nb\n", "a\nc", "a\nc\n", "Overwrote f.txt (4 bytes)."},
		{"nothing changes", "a\r\n", "a\n", "a\r\n", "f.txt holds this content already; nothing was written."},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := diskWorkspace(t, nil)
			if c.old != "<none>" {
				put(t, ws, "f.txt", c.old)
			}
			r := must(t, ws, Write(), args{"path": "f.txt", "content": c.content})
			if got := onDisk(t, ws, "f.txt"); got != c.want || r.Text != c.text {
				t.Errorf("%q: %s", got, r.Text)
			}
			if ws.Seen.Stale(at(ws, "f.txt"), []byte(c.want)) {
				t.Error("its own write makes the file stale")
			}
		})
	}
}

func TestWriteCard(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"old.txt": "\xef\xbb\xbfa\r\n", "empty.txt": ""})
	for path, want := range map[string]struct{ old, new string }{
		"old.txt": {"a\r\n", "b\r\n"}, "empty.txt": {"", "b\n"}, "new/new.txt": {"<none>", "b\n"},
	} {
		a, err := prepared(t, ws, Write(), args{"path": path, "content": "b\n"})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Changes) != 1 || a.Title != "Write "+path || a.Kind != kinds.KindEdit || a.Locations[0].Path != at(ws, path) {
			t.Fatalf("%+v", a.Card)
		}
		old := "<none>"
		if a.Changes[0].Old != nil {
			old = *a.Changes[0].Old
		}
		if a.Changes[0].Path != at(ws, path) || old != want.old || a.Changes[0].New != want.new {
			t.Errorf("%s: from %q to %q", path, old, a.Changes[0].New)
		}
		if a.Facts.ReadOnly || a.Concurrent || len(a.Paths) != 1 || a.Paths[0].Access != kinds.Write {
			t.Errorf("%+v", a.Facts)
		}
		if before := onDisk(t, ws, path); before == "b\n" {
			t.Error("Prepare wrote")
		}
	}
	if _, err := os.Stat(at(ws, "new")); !os.IsNotExist(err) {
		t.Errorf("Prepare made a folder: %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"x.bin": "a\x00b", "latin.txt": "caf\xe9", "d/x": "", "read.txt": "one\n"})
	for name, c := range map[string]struct {
		in   args
		want string
	}{
		"over a binary file":  {args{"path": "x.bin", "content": "x"}, "binary file (3 bytes"},
		"what it cannot hold": {args{"path": "latin.txt", "content": "茶"}, "cannot be written in windows-1252"},
		"over a folder":       {args{"path": "d", "content": "x"}, "is a folder"},
		"below a file":        {args{"path": "read.txt/x", "content": "x"}, "not a "},
		"a NUL":               {args{"path": "new", "content": "a\x00"}, "no text"},
		"a NUL over a file":   {args{"path": "read.txt", "content": "a\x00"}, "no text"},
		"without its content": {args{"path": "new"}, "missing property 'content'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := call(t, ws, Write(), c.in)
			wants(t, err, c.want)
		})
	}
	must(t, ws, Read(), args{"path": "read.txt"})
	put(t, ws, "read.txt", "two\n")
	_, err := call(t, ws, Write(), args{"path": "read.txt", "content": "three\n"})
	wants(t, err, "read.txt changed since", "read it again")
	must(t, ws, Read(), args{"path": "read.txt"})
	must(t, ws, Write(), args{"path": "read.txt", "content": "three\n"})
}

func TestWriteOnlyWhatWasShown(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "one\n"})
	for path, meanwhile := range map[string]string{"a.txt": "changed\n", "new.txt": "made\n"} {
		a, err := prepared(t, ws, Write(), args{"path": path, "content": "two\n"})
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, path, meanwhile)
		_, err = a.Run(t.Context(), func(Output) {})
		wants(t, err, "nothing was written", "read "+path+" again")
		if !errors.Is(err, workspace.ErrChanged) || onDisk(t, ws, path) != meanwhile {
			t.Errorf("%v: %q", err, onDisk(t, ws, path))
		}
	}
}

func TestWriteOutsideWaits(t *testing.T) {
	ws := diskWorkspace(t, nil)
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := os.WriteFile(path, []byte("secret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := prepared(t, ws, Write(), args{"path": path, "content": "x\n"})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Changes) != 0 {
		t.Errorf("the card tells what is outside: %+v", a.Changes)
	}
	r, err := a.Run(t.Context(), func(Output) {})
	if err != nil || len(r.Changes) != 1 || *r.Changes[0].Old != "secret\r\n" || r.Changes[0].New != "x\r\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "x\r\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestWriteThatIsFormatted(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "one\n"})
	e := &editor{Files: ws.Files, buffers: map[string]string{}, format: func(s string) string { return s + "# saved\n" }}
	ws.Files = e
	r := must(t, ws, Write(), args{"path": "a.txt", "content": "two\n"})
	if r.Changes[0].New != "two\n# saved\n" || !strings.Contains(r.Text, "+# saved") || !strings.Contains(r.Text, "(12 bytes)") {
		t.Errorf("%+v", r)
	}
	must(t, ws, Write(), args{"path": "a.txt", "content": "three\n"}) // what was saved is what is known
	e.format = func(string) string { return "a\x00" }
	r = must(t, ws, Write(), args{"path": "a.txt", "content": "four\n"})
	if !strings.Contains(r.Text, "binary") || r.Changes[0].New != "four\n" {
		t.Errorf("%+v", r)
	}
}
