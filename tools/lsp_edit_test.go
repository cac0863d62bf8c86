package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// changedBy prepares and makes an edit of language servers, and returns the result.
func changedBy(t *testing.T, ws *Workspace, edit lsp.Edit) (*Action, Result, error) {
	t.Helper()
	call := &lspCall{ws: ws, in: lspInput{Operation: "rename", Path: "x"}, file: target{Path: workspace.Path{Inside: true}}, kept: map[string]bool{}}
	action, err := call.edits(t.Context(), func(context.Context, lsp.Target) (lsp.Edit, error) { return edit, nil })
	if err != nil {
		return nil, Result{}, err
	}
	r, err := action.Run(t.Context(), func(Output) {})
	return action, r, err
}

// TestLSPEditKeepsBytes: what an edit of language servers does not touch stays byte
// by byte, however the file is written.
func TestLSPEditKeepsBytes(t *testing.T) {
	for _, tt := range []struct{ name, was, old, new, want string }{
		{"CR LF", "a\r\nfoo\r\nb\r\n", "foo", "bar", "a\r\nbar\r\nb\r\n"},
		{"CR LF, a line more", "a\r\nfoo\r\nb\r\n", "foo", "bar\nbaz", "a\r\nbar\r\nbaz\r\nb\r\n"},
		{"mixed line ends", "a\nfoo\r\nb\nfoo\r\n", "foo", "bar", "a\nbar\r\nb\nbar\r\n"},
		{"a lone CR", "a\rfoo\rb", "foo", "bar", "a\rbar\rb"},
		{"a byte order mark", "\ufefffoo\n", "foo", "bar", "\ufeffbar\n"},
		{"no line end at the end", "a\nfoo", "foo", "bar", "a\nbar"},
		{"Latin-1", "caf\xe9 foo \xe9t\xe9\n", "foo", "bär", "caf\xe9 b\xe4r \xe9t\xe9\n"},
		{"UTF-16", "\xff\xfef\x00o\x00o\x00\n\x00", "foo", "bä", "\xff\xfeb\x00\xe4\x00\n\x00"},
		{"separators of Unicode", "a\u2028foo\u0085b\n", "foo", "bar", "a\u2028bar\u0085b\n"},
		{"all of it", "foo", "foo", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws := lspWorkspace(t, lsp.Config{})
			write(t, ws, "x", []byte(tt.was))
			text, err := workspace.Decode([]byte(tt.was))
			if err != nil {
				t.Fatal(err)
			}
			old, now := text.Body(), strings.ReplaceAll(text.Body(), tt.old, tt.new)
			_, r, err := changedBy(t, ws, lsp.Edit{Title: "rename foo to bar", Files: []lsp.FileEdit{{Path: filepath.Join(ws.Dir(), "x"), Old: &old, New: &now}}})
			got, _ := os.ReadFile(filepath.Join(ws.Dir(), "x"))
			if err != nil || string(got) != tt.want || r.Text != "Rename foo to bar is done:\nchanged x" {
				t.Errorf("%q, %s, %v; want %q", got, r.Text, err, tt.want)
			}
		})
	}
}

// TestLSPEditWhole: all files of an edit are changed, or none, and each is told to
// the permission engine and shown.
func TestLSPEditWhole(t *testing.T) {
	text := func(s string) *string { return &s }
	layout := func(t *testing.T) (*Workspace, func(string) string) {
		ws := lspWorkspace(t, lsp.Config{})
		for _, name := range []string{"a", "b", "c"} {
			write(t, ws, name, []byte("foo\n"))
		}
		return ws, func(name string) string { return filepath.Join(ws.Dir(), name) }
	}
	t.Run("done", func(t *testing.T) {
		ws, path := layout(t)
		action, r, err := changedBy(t, ws, lsp.Edit{Title: "émigrer", Files: []lsp.FileEdit{
			{Path: path("a"), Old: text("foo\n"), New: text("bar\n")},
			{Path: path("b"), Old: text("foo\n"), New: text("bar\n"), MovedTo: path("dir/b2")},
			{Path: path("c"), Old: text("foo\n")},
			{Path: path("n"), New: text("new\n")},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if want := "Émigrer is done:\nchanged a\nmoved b to dir/b2"; action.Title != "Émigrer in 4 files: 1 moved, 1 deleted" || action.Kind != kinds.KindEdit || !strings.HasPrefix(r.Text, want) {
			t.Errorf("%s %s: %s", action.Kind, action.Title, r.Text)
		}
		var told []string
		for _, p := range action.Paths {
			told = append(told, map[kinds.Access]string{kinds.Read: "read ", kinds.Write: "write "}[p.Access]+ws.Name(p.Path))
		}
		if got, want := strings.Join(told, ", "), "write a, write dir/b2, write b, read b, write c, write n"; got != want {
			t.Errorf("told of %s, want %s", got, want)
		}
		if len(action.Changes) != 4 {
			t.Errorf("%d differences are shown", len(action.Changes))
		}
		for name, want := range map[string]string{"a": "bar\n", "dir/b2": "bar\n", "n": "new\n", "b": "", "c": ""} {
			if got, _ := os.ReadFile(path(name)); string(got) != want {
				t.Errorf("%s holds %q, want %q", name, got, want)
			}
		}
	})
	t.Run("only deleted", func(t *testing.T) {
		ws, path := layout(t)
		action, _, err := changedBy(t, ws, lsp.Edit{Title: "drop b", Files: []lsp.FileEdit{{Path: path("b"), Old: text("foo\n")}}})
		if err != nil || action.Title != "Drop b in 1 file: 1 deleted" || action.Kind != kinds.KindDelete {
			t.Errorf("%s %s, %v", action.Kind, action.Title, err)
		}
	})
	for name, tt := range map[string]struct {
		files  func(path func(string) string) []lsp.FileEdit
		before func(t *testing.T, path func(string) string)
		err    string
	}{
		"another text": {
			files: func(path func(string) string) []lsp.FileEdit {
				return []lsp.FileEdit{{Path: path("b"), Old: text("old\n"), New: text("bar\n")}}
			}, err: "b changed while the change was worked out; try again",
		},
		"outside": {
			files: func(path func(string) string) []lsp.FileEdit {
				return []lsp.FileEdit{{Path: path("../out"), New: text("bar\n")}}
			}, err: "lies outside of the project; nothing was changed",
		},
		"a link that leads outside": {
			before: func(t *testing.T, path func(string) string) {
				if err := os.Symlink(t.TempDir(), path("away")); err != nil {
					t.Skip("no links here:", err)
				}
			},
			files: func(path func(string) string) []lsp.FileEdit {
				return []lsp.FileEdit{{Path: path("away/x"), New: text("bar\n")}}
			}, err: "lies outside of the project; nothing was changed",
		},
		"taken": {
			files: func(path func(string) string) []lsp.FileEdit {
				return []lsp.FileEdit{{Path: path("b"), Old: text("foo\n"), New: text("foo\n"), MovedTo: path("c")}}
			}, err: "c exists already",
		},
		"deleting a link": {
			before: func(t *testing.T, path func(string) string) {
				if err := os.Symlink("c", path("link")); err != nil {
					t.Skip("no links here:", err)
				}
			},
			files: func(path func(string) string) []lsp.FileEdit {
				return []lsp.FileEdit{{Path: path("link"), Old: text("foo\n")}}
			}, err: "link is a symbolic link",
		},
		"no text": {
			files: func(path func(string) string) []lsp.FileEdit {
				return []lsp.FileEdit{{Path: path("b"), Old: text("foo\n"), New: text("a\x00b")}}
			}, err: "cannot stand in a text file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ws, path := layout(t)
			if tt.before != nil {
				tt.before(t, path)
			}
			files := append([]lsp.FileEdit{{Path: path("a"), Old: text("foo\n"), New: text("bar\n")}}, tt.files(path)...)
			_, _, err := changedBy(t, ws, lsp.Edit{Title: "t", Files: files})
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if got, _ := os.ReadFile(path("a")); string(got) != "foo\n" {
				t.Errorf("a holds %q", got)
			}
		})
	}
	t.Run("changed after it was shown", func(t *testing.T) {
		ws, path := layout(t)
		call := &lspCall{ws: ws, in: lspInput{Path: "a"}, file: target{Path: workspace.Path{Inside: true}}, kept: map[string]bool{}}
		action, err := call.edits(t.Context(), func(context.Context, lsp.Target) (lsp.Edit, error) {
			return lsp.Edit{Title: "t", Files: []lsp.FileEdit{{Path: path("a"), Old: text("foo\n"), New: text("bar\n")}, {Path: path("b"), Old: text("foo\n"), New: text("bar\n")}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		write(t, ws, "b", []byte("another\n"))
		if _, err := action.Run(t.Context(), func(Output) {}); err == nil || !strings.Contains(err.Error(), "nothing was changed: b") {
			t.Errorf("error %v", err)
		}
		if got, _ := os.ReadFile(path("a")); string(got) != "foo\n" {
			t.Errorf("a holds %q", got)
		}
	})
}

// TestLSPArguments: what is missing or does not fit is said, with what to do.
func TestLSPArguments(t *testing.T) {
	ws := lspWorkspace(t, lsp.Config{})
	write(t, ws, "a.none", []byte("x\n"))
	for input, want := range map[string]string{
		`{}`:                     "operation",
		`{"operation":"fix"}`:    "definition",
		`{"operation":"rename"}`: "lsp: rename needs new_name",
		`{"operation":"rename","path":"a.none","symbol":"x","new_name":" "}`: "lsp: rename needs new_name",
		`{"operation":"hover"}`:                                                 "lsp: hover needs symbol, and path where more than one symbol has that name",
		`{"operation":"hover","path":"a.none"}`:                                 "lsp: hover needs symbol, or line and character",
		`{"operation":"hover","path":"a.none","line":1}`:                        "lsp: hover needs symbol, or line and character",
		`{"operation":"hover","path":"a.none","character":1}`:                   "lsp: character needs line",
		`{"operation":"hover","symbol":"x","line":1}`:                           "lsp: line and character need path",
		`{"operation":"hover","path":"a.none","line":0,"character":1}`:          "line",
		`{"operation":"hover","path":"a.none","line":-1,"character":1}`:         "line",
		`{"operation":"hover","path":"a.none","line":"two","character":1}`:      "line",
		`{"operation":"hover","path":"a.none","symbol":"x","colour":1}`:         "colour",
		`{"operation":"workspace_symbols"}`:                                     "lsp: workspace_symbols needs query, a name or a part of one",
		`{"operation":"document_symbols"}`:                                      "lsp: document_symbols needs path",
		`{"operation":"code_actions","path":"a.none","end_line":3}`:             "lsp: end_line needs line",
		`{"operation":"code_actions","path":"a.none","line":4,"end_line":3}`:    "lsp: end_line 3 lies before line 4",
		`{"operation":"document_symbols","path":"b.none"}`:                      "b.none does not exist",
		`{"operation":"rename","path":"../b.none","symbol":"x","new_name":"y"}`: "lies outside of the project",
		`{"operation":"rename","path":"a.none","symbol":"x","new_name":"y"}`:    "no language server is known for .none files",
	} {
		_, err := LanguageServers().Prepare(t.Context(), ws, json.RawMessage(input))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", input, err, want)
		}
	}
}

// TestLSPFound: places are cut and counted, what is no file is named as such, and a
// line that must not be read is not shown.
func TestLSPFound(t *testing.T) {
	ws := lspWorkspace(t, lsp.Config{})
	write(t, ws, "secret", []byte("the key\n"))
	if err := os.Symlink("secret", filepath.Join(ws.Dir(), "link")); err != nil {
		t.Skip("no links here:", err)
	}
	call := &lspCall{ws: ws, in: lspInput{Operation: "references", MaxResults: 5}, kept: map[string]bool{}}
	call.show = func(p kinds.PathAccess) bool { return filepath.Base(p.Target) != "secret" }
	path := func(name string) string { return filepath.Join(ws.Dir(), name) }
	at := lsp.Place{Line: 1, Column: 5}
	r := call.found(lsp.Answer{All: 100_000, Server: "fake", Found: []lsp.Found{
		{Path: path("a"), At: at, Line: "a line", Shown: true},
		{Path: path("link"), At: at, Line: "the key", Shown: true},
		{Path: path("a"), At: at, Name: path("b.ts"), Kind: "module"},
		{URI: "jdt://contents/rt.jar\n", At: at},
		{Path: "/outside/c", At: at},
	}})
	const want = "a:1:5 a line\nlink:1:5\na:1:5 module b.ts\njdt://contents/rt.jar:1:5 (no file)\n/outside/c:1:5\n(5 of 100000; max_results gives more)"
	if r.Text != want || !r.Truncated || len(r.Locations) != 3 {
		t.Errorf("%s\n%v; want\n%s", r.Text, r.Locations, want)
	}
}

// TestLSPDescribed: what a server says of a symbol, be it a book, is cut for the editor.
func TestLSPDescribed(t *testing.T) {
	for _, tt := range []struct{ text, shown string }{
		{"about *foo*", "about *foo*"},
		{strings.Repeat("x", 1<<20), strings.Repeat("x", WireLimit-len("\n[… more]")) + "\n[… more]"},
	} {
		if r := described(tt.text); r.Text != tt.text || r.Shown != tt.shown {
			t.Errorf("%d bytes: the model gets %d, the editor %d", len(tt.text), len(r.Text), len(r.Shown))
		}
	}
}

// TestLSPProblemsWithheld: what a server says of a file that must not be read is not
// told, since it may quote it, but where the call that names the file was judged.
func TestLSPProblemsWithheld(t *testing.T) {
	ws := lspWorkspace(t, lsp.Config{})
	write(t, ws, "secret", []byte("the key\n"))
	write(t, ws, "open", nil)
	ws.Readable = func() func(kinds.PathAccess) bool {
		return func(p kinds.PathAccess) bool { return filepath.Base(p.Target) != "secret" }
	}
	list := func() (out []lsp.Diagnostic) {
		for _, name := range []string{"secret", "open"} {
			out = append(out, lsp.Diagnostic{Path: filepath.Join(ws.Dir(), name), At: lsp.Place{Line: 1, Column: 1}, Severity: 1, Message: "cannot use \"the key\""})
		}
		return out
	}
	const hidden, told = "secret:1:1 error in a file that may not be read, so that what it says is not told", "secret:1:1 error cannot use \"the key\""
	for path, want := range map[string]string{"": hidden, "secret": told} {
		call := newLSPCall(ws, lspInput{Path: path, MaxResults: 5})
		if r := call.problems(lsp.Problems{Items: list()}); r.Text != want+"\nopen:1:1 error cannot use \"the key\"" {
			t.Errorf("%q: %s", path, r.Text)
		}
	}
	items := list()
	Withhold(ws, nil, items)
	if strings.Contains(items[0].Message, "key") || !strings.Contains(items[1].Message, "key") {
		t.Errorf("after a change: %v", items)
	}
}

// TestLSPEditWithholds: why a server makes no change may show what is in the file, which
// is only for who may read it.
func TestLSPEditWithholds(t *testing.T) {
	ws := lspWorkspace(t, lsp.Config{})
	write(t, ws, "x", []byte("secret\n"))
	file, err := resolve(ws, "x")
	if err != nil {
		t.Fatal(err)
	}
	call := &lspCall{ws: ws, in: lspInput{Operation: "rename", Path: "x"}, file: file, kept: map[string]bool{}}
	for _, why := range []error{
		errors.New("no action is named \"y\" there; there are: \"Inline secret\""),
		&lsp.AmbiguousError{Candidates: []lsp.Symbol{{Path: file.Target, Name: "secret"}}},
	} {
		_, err := call.edits(t.Context(), func(context.Context, lsp.Target) (lsp.Edit, error) { return lsp.Edit{}, why })
		var shows *ContentError
		if !errors.As(err, &shows) {
			t.Fatalf("%v is told to whoever asks", err)
		}
		if !strings.Contains(err.Error(), "secret") || strings.Contains(shows.Safe, "secret") || !strings.Contains(shows.Safe, "x, which may not be read") || shows.Path.Target != file.Target {
			t.Errorf("%v; without the content: %s", err, shows.Safe)
		}
	}
}

// TestLSPGuess: a call that could not be prepared is named so that a person sees what
// it was for.
func TestLSPGuess(t *testing.T) {
	for input, want := range map[string]string{
		`{"operation":"rename","symbol":"Store.Add","new_name":"Put"}`: "edit Rename Store.Add to Put",
		`{"operation":"rename","path":"a.go","line":3,"character":1}`:  "edit Rename line 3",
		`{"operation":"rename"}`: "edit Rename a symbol",
		`{"operation":"code_actions","path":"a.go","apply":"Organize\nImports"}`: `edit Code action "Organize ⏎ Imports"`,
		`{"operation":"code_actions","path":"a.go"}`:                             "search Code actions in a.go",
		`{"operation":"incoming_calls"}`:                                         "search Callers of a symbol",
		`{"operation":"definition","path":"../b.go","symbol":"x"}`:               "search Definition of x in ../b.go",
		`{"operation":"hover","path":7,"symbol":"x"}`:                            "search What is x",
		`{"operation":"workspace_symbols","query":" "}`:                          "search Symbols of the project",
		`{"operation":"diagnostics"}`:                                            "read Problems of the project",
		`{"operation":"servers"}`:                                                "read Language servers",
		`{"operation":"explode","path":"a.go"}`:                                  " ",
		`{"op`:                                                                   " ",
	} {
		card := guessLSP(input)
		if got := string(card.Kind) + " " + card.Title; got != want || len(card.Locations) > 0 {
			t.Errorf("%s: %q at %v, want %q", input, got, card.Locations, want)
		}
	}
}

// TestLSPFolder: a folder is told apart from a file that no server is for.
func TestLSPFolder(t *testing.T) {
	ws := lspWorkspace(t, lsp.Config{})
	write(t, ws, "dir/x", []byte("x\n"))
	for input, want := range map[string]string{
		`{"operation":"document_symbols","path":"dir"}`:                    "dir is a folder: name a file in it",
		`{"operation":"rename","path":"dir/","symbol":"x","new_name":"y"}`: "is a folder",
		`{"operation":"diagnostics","path":"."}`:                           "is a folder: name a file, or none for the problems of the whole project",
	} {
		_, err := LanguageServers().Prepare(t.Context(), ws, json.RawMessage(input))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", input, err, want)
		}
	}
}
