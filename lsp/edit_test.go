package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// edited is what an edit makes of the files, a line each.
func (p *project) edited(e Edit) string {
	var b strings.Builder
	show := func(s *string) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprintf("%q", *s)
	}
	for _, f := range e.Files {
		fmt.Fprintf(&b, "%s: %s", strings.TrimPrefix(f.Path, p.dir+"/"), show(f.New))
		if f.Old == nil {
			b.WriteString(" new")
		}
		if f.MovedTo != "" {
			b.WriteString(" to " + strings.TrimPrefix(f.MovedTo, p.dir+"/"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// answers is a script of which one request has an answer.
func answers(method, answer, capabilities string) string {
	return fmt.Sprintf(`{"Capabilities": {%s}, "Answers": {%q: %s}}`, capabilities, method, answer)
}

// edit is a TextDocumentEdit that replaces a part of the first line.
func edit(uri string, from, to int, text string) string {
	return fmt.Sprintf(`{"textDocument": {"uri": "ROOT/%s", "version": null}, "edits": [%s]}`, uri, replace(from, to, text))
}

func replace(from, to int, text string) string {
	return fmt.Sprintf(`{"range": {"start": {"line": 0, "character": %d}, "end": {"line": 0, "character": %d}}, "newText": %q}`, from, to, text)
}

func steps(list ...string) string { return `{"documentChanges": [` + strings.Join(list, ", ") + `]}` }

// TestRenameEdits: whatever a server makes of a rename becomes one whole edit, or an
// error that says why not.
func TestRenameEdits(t *testing.T) {
	for _, tt := range []struct{ name, answer, want, err string }{
		{name: "null", answer: `null`, err: `foo on line 1 cannot be renamed, says fake`},
		{name: "no steps", answer: `{}`, err: `foo on line 1 cannot be renamed, says fake`},
		{name: "nothing new", answer: steps(edit("a.fake", 4, 7, "foo")), err: "renaming foo to bar changes nothing"},
		{name: "changes", answer: `{"changes": {"ROOT/a.fake": [` + replace(4, 7, "bar") + `]}}`, want: "a.fake: \"def bar\\nfoo\\n\"\n"},
		{
			name: "both forms", answer: `{"changes": {"ROOT/b.fake": [` + replace(0, 1, "x") + `]}, "documentChanges": [` + edit("a.fake", 4, 7, "bar") + `]}`,
			want: "a.fake: \"def bar\\nfoo\\n\"\n",
		},
		{
			name: "one document in two steps, both of the text as it was", answer: steps(edit("a.fake", 0, 3, "function"), edit("b.fake", 0, 3, "bar"), edit("a.fake", 4, 7, "bar")),
			want: "a.fake: \"function bar\\nfoo\\n\"\nb.fake: \"bar\\n\"\n",
		},
		{name: "an edit twice", answer: steps(edit("a.fake", 4, 7, "bar"), edit("a.fake", 4, 7, "bar")), want: "a.fake: \"def bar\\nfoo\\n\"\n"},
		{name: "overlap", answer: steps(edit("a.fake", 0, 5, "x"), edit("a.fake", 4, 7, "bar")), err: "two edits overlap"},
		{name: "a link to the same file", answer: steps(edit("a.fake", 0, 3, "function"), edit("link.fake", 4, 7, "bar")), want: "a.fake: \"function bar\\nfoo\\n\"\n"},
		{name: "outside", answer: steps(edit("../x.fake", 4, 7, "bar")), err: "lies outside of the project"},
		{name: "no file", answer: steps(strings.ReplaceAll(edit("a.fake", 4, 7, "bar"), "ROOT/", "untitled:")), err: "is not a file's URI"},
		{name: "missing", answer: steps(edit("gone.fake", 4, 7, "bar")), err: "gone.fake does not exist"},
		{name: "a folder", answer: steps(edit("dir", 4, 7, "bar")), err: "is a directory"},
		{name: "a snippet", answer: steps(strings.Replace(edit("a.fake", 4, 7, "bar$0"), `"newText": `, `"insertTextFormat": 2, "newText": `, 1)), err: "snippet"},
		{name: "a snippet of 3.18", answer: steps(strings.Replace(edit("a.fake", 4, 7, "bar"), `"newText": "bar"`, `"snippet": {"kind": "snippet", "value": "x"}`, 1)), err: "snippet"},
		{name: "no text", answer: steps(strings.Replace(edit("a.fake", 4, 7, "bar"), `"newText"`, `"text"`, 1)), err: "no new text"},
		{name: "an unknown step", answer: steps(`{"kind": "chmod", "uri": "ROOT/a.fake"}`), err: "unknown kind"},
		{name: "numbers that do not fit", answer: steps(`{"textDocument": {"uri": "ROOT/a.fake"}, "edits": [{"range": {"start": {"line": -1, "character": 0}, "end": {"line": 1e308, "character": 4294967296}}, "newText": "x"}]}`), want: "a.fake: \"x\"\n"},
		{name: "annotated", answer: `{"changeAnnotations": {"1": {"label": "l", "needsConfirmation": true}}, "documentChanges": [` + strings.Replace(edit("a.fake", 4, 7, "bar"), `"newText"`, `"annotationId": "1", "newText"`, 1) + `]}`, want: "a.fake: \"def bar\\nfoo\\n\"\n"},
		{name: "create", answer: steps(`{"kind": "create", "uri": "ROOT/n.fake"}`, edit("n.fake", 0, 0, "new")), want: "n.fake: \"new\" new\n"},
		{name: "create what exists", answer: steps(`{"kind": "create", "uri": "ROOT/a.fake"}`), err: "a.fake exists already"},
		{name: "create what may exist", answer: steps(`{"kind": "create", "uri": "ROOT/b.fake", "options": {"ignoreIfExists": true}}`, edit("a.fake", 4, 7, "bar")), want: "a.fake: \"def bar\\nfoo\\n\"\n"},
		{name: "create over", answer: steps(`{"kind": "create", "uri": "ROOT/b.fake", "options": {"overwrite": true}}`, edit("b.fake", 0, 0, "new")), want: "b.fake: \"new\"\n"},
		{name: "delete", answer: steps(`{"kind": "delete", "uri": "ROOT/b.fake"}`), want: "b.fake: none\n"},
		{name: "delete what is gone", answer: steps(`{"kind": "delete", "uri": "ROOT/gone.fake"}`), err: "gone.fake does not exist"},
		{name: "delete what may be gone", answer: steps(`{"kind": "delete", "uri": "ROOT/gone.fake", "options": {"ignoreIfNotExists": true}}`, edit("a.fake", 4, 7, "bar")), want: "a.fake: \"def bar\\nfoo\\n\"\n"},
		{name: "delete a folder", answer: steps(`{"kind": "delete", "uri": "ROOT/dir", "options": {"recursive": true}}`), err: "is a directory"},
		{name: "move and edit", answer: steps(`{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/c.fake"}`, edit("c.fake", 0, 3, "bar")), want: "b.fake: \"bar\\n\" to c.fake\n"},
		{name: "edit and move", answer: steps(edit("b.fake", 0, 3, "bar"), `{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/c.fake"}`), want: "b.fake: \"bar\\n\" to c.fake\n"},
		{name: "move twice", answer: steps(`{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/c.fake"}`, `{"kind": "rename", "oldUri": "ROOT/c.fake", "newUri": "ROOT/d.fake"}`), want: "b.fake: \"foo\\n\" to d.fake\n"},
		{name: "move and back", answer: steps(`{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/c.fake"}`, `{"kind": "rename", "oldUri": "ROOT/c.fake", "newUri": "ROOT/b.fake"}`, edit("b.fake", 0, 3, "bar")), want: "b.fake: \"bar\\n\"\n"},
		{name: "move, and another in its place", answer: steps(`{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/c.fake"}`, `{"kind": "create", "uri": "ROOT/b.fake"}`, edit("b.fake", 0, 0, "x")), want: "b.fake: \"foo\\n\" to c.fake\nb.fake: \"x\" new\n"},
		{name: "create and move", answer: steps(`{"kind": "create", "uri": "ROOT/n.fake"}`, edit("n.fake", 0, 0, "new"), `{"kind": "rename", "oldUri": "ROOT/n.fake", "newUri": "ROOT/m.fake"}`), want: "m.fake: \"new\" new\n"},
		{name: "move onto another", answer: steps(`{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/a.fake"}`), err: "a.fake exists already"},
		{name: "move over another", answer: steps(`{"kind": "rename", "oldUri": "ROOT/b.fake", "newUri": "ROOT/a.fake", "options": {"overwrite": true}}`), want: "a.fake: \"foo\\n\"\nb.fake: none\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, scriptedConfig(), "a.fake", "def foo\nfoo\n", "b.fake", "foo\n", "dir/x.fake", "", scriptFile, answers("textDocument/rename", tt.answer, ""))
			if err := os.Symlink("a.fake", p.path("link.fake")); err != nil {
				t.Skip("no links here:", err)
			}
			e, err := p.view.Rename(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo", Line: 1}, "bar")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, error %v; want %q", p.edited(e), err, tt.err)
				}
				return
			}
			if got := p.edited(e); err != nil || got != tt.want || e.Title != "rename foo to bar" {
				t.Errorf("%s\n%s, %v; want\n%s", e.Title, got, err, tt.want)
			}
		})
	}
}

// TestPrepareRename: what can be renamed is told in three forms.
func TestPrepareRename(t *testing.T) {
	const at = `{"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}`
	for _, tt := range []struct{ answer, title, err string }{
		{answer: at, title: "rename foo to bar"},
		{answer: `{"range": ` + at + `, "placeholder": "it"}`, title: "rename it to bar"},
		{answer: `{"defaultBehavior": true}`, title: "rename foo to bar"},
		{answer: `{"defaultBehavior": false}`, err: "foo on line 1 cannot be renamed, says fake"},
		{answer: `null`, err: "foo on line 1 cannot be renamed, says fake"},
	} {
		p := newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile, answers("textDocument/prepareRename", tt.answer, `"renameProvider": {"prepareProvider": true}`))
		e, err := p.view.Rename(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo", Line: 1}, "bar")
		if tt.err == "" && (err != nil || e.Title != tt.title) || tt.err != "" && (err == nil || err.Error() != tt.err) {
			t.Errorf("%s: %q, %v; want %q%s", tt.answer, e.Title, err, tt.title, tt.err)
		}
	}
	p := newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile, `{"Capabilities": {"renameProvider": {"prepareProvider": true}}, "Errors": {"textDocument/prepareRename": "not here"}}`)
	if _, err := p.view.Rename(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo"}, "bar"); err == nil || err.Error() != "foo on line 1 cannot be renamed: fake answered: not here" {
		t.Errorf("refused: %v", err)
	}
	for name, want := range map[string]string{" ": "new_name is empty", "a\nb": `new_name "a\nb" has control characters`} {
		if _, err := p.view.Rename(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo"}, name); err == nil || name != " " && !strings.Contains(err.Error(), "cannot be renamed") || name == " " && err.Error() != want {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestNewNames(t *testing.T) {
	ts, py, other := &Spec{Languages: script}, &Spec{Languages: python}, &Spec{Languages: ruby}
	for _, tt := range []struct {
		spec          *Spec
		path, old, to string
		ok            bool
	}{
		{ts, "a.ts", "total", "sum", true},
		{ts, "a.ts", "total", "$größe", true},
		{ts, "a.ts", "#count", "#size", true},
		{ts, "a.ts", "class", "for", true}, // of a property
		{ts, "a.ts", "total", "1 2", false},
		{ts, "a.ts", "total", "a-b", false},
		{ts, "a.ts", "\"a-b\"", "\"c-d\"", true},
		{py, "a.py", "add", "class", false},
		{py, "a.py", "add", "klass", true},
		{other, "a.rb", "empty", "empty?", true},
		{other, "a.rb", "empty", "a\x00b", false},
		{other, "a.rb", "empty", "\u202eytpme", false}, // reads as another name than it is
	} {
		if err := tt.spec.checkName(tt.path, tt.old, tt.to); (err == nil) != tt.ok {
			t.Errorf("%s to %q: %v", tt.old, tt.to, err)
		}
	}
}

// TestStaleEdits: an edit is made only of the text that the server has. Of a file
// that it has not open it has what is on the disk, which may be another text than
// the agent sees, or written in another way.
func TestStaleEdits(t *testing.T) {
	p := newProject(t, fakeConfig("ok"), "a.fake", "def foo\n", "b.fake", "\ufefffoo\n", "c.fake", "foo and foo\n")
	read := p.view.opts.Read
	p.view.opts.Read = func(ctx context.Context, path string) (string, bool, error) {
		body, saved, err := read(ctx, path)
		if strings.HasSuffix(path, "c.fake") {
			body, saved = "not saved: foo\n", false
		}
		return strings.TrimPrefix(body, "\ufeff"), saved, err
	}
	p.view.opts.Unsaved = true
	e, err := p.view.Rename(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo"}, "barbaz")
	const want = "a.fake: \"def barbaz\\n\"\nb.fake: \"barbaz\\n\"\nc.fake: \"not saved: barbaz\\n\"\n"
	if got := p.edited(e); err != nil || got != want {
		t.Errorf("%s, %v; want\n%s", got, err, want)
	}
	versioned := strings.Replace(edit("a.fake", 4, 7, "bar"), `"version": null`, `"version": 7`, 1)
	p = newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile, answers("textDocument/rename", steps(versioned), ""))
	if _, err := p.view.Rename(p.context(), Target{Path: p.path("a.fake"), Symbol: "foo"}, "bar"); err == nil || !strings.Contains(err.Error(), "a.fake has changed meanwhile; try again") {
		t.Errorf("of another version: %v", err)
	}
}

func FuzzApplyEdits(f *testing.F) {
	f.Add("a\r\n日本🙂x\n", `[{"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":4}},"newText":"y"}]`)
	f.Fuzz(func(t *testing.T, body, list string) {
		var edits []textEdit
		if json.Unmarshal([]byte(list), &edits) != nil {
			return
		}
		body = strings.ToValidUTF8(body, "?")
		for _, e := range []encoding{utf8Units, utf16Units, utf32Units} {
			got, err := applyEdits(body, edits, e)
			if err != nil {
				continue
			}
			size := len(got)
			for _, one := range edits {
				size -= len(one.NewText)
			}
			if size > len(body) {
				t.Errorf("%s: %q became %q", e, body, got)
			}
		}
	})
}
