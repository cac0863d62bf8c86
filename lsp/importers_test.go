package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestImports(t *testing.T) {
	for _, tt := range []struct {
		how        *importing
		path, body string
		want       []string
	}{
		{scriptImporting, "/p/src/a.ts", `import { x } from "./cart.js";`, []string{"/p/src/cart"}},
		{scriptImporting, "/p/src/a.ts", "import {\n  x,\n  y,\n} from '../lib/index';\nimport \"./side\"", []string{"/p/lib/index", "/p/src/side"}},
		{scriptImporting, "/p/a.tsx", "const c = require(`./c.cjs`); const d = await import ( './d' )", []string{"/p/c", "/p/d"}},
		{scriptImporting, "/p/a.mts", `export * from ".."; import type T = require("@/deep/type.d.ts"); import r from "react"`, []string{"/", "@/deep/type", "deep/type", "react"}},
		{scriptImporting, "/p/a.ts", `import "@acme/ui/Button"; import "@acme/shared"; import "lib/money"`, []string{"@acme/shared", "@acme/ui/Button", "Button", "lib/money", "money", "shared", "ui/Button"}},
		{scriptImporting, "/p/a.ts", "/// <reference path=\"types/more.d.ts\" />\ndeclare module './b' {}", []string{"/p/b", "/p/types/more"}},
		{scriptImporting, "/p/a.ts", "import(/* webpackChunkName: \"x\" */ './b'); import x from /* c */ \"./it's\"; require( // old\n  \"./d\")", []string{"/p/b", "/p/d", "/p/it's"}},
		{scriptImporting, "/p/a.js", "/** @type {import('./b').T} */", []string{"/p/b"}},
		{scriptImporting, "/p/a.ts", `const from = "./x"; transform("./y"); importing("./z")`, nil},
		{pythonImporting, "/p/a.py", "from a.b import c as d, e\n  import f.g, h as i\n", []string{"a/b", "a/b/c", "a/b/e", "f", "f/g", "h"}},
		{pythonImporting, "/p/q/a.py", "from . import (\n    one,  # the (old) way, no\n    two,\n)\nx = 'import three'\n", []string{"/p/q", "/p/q/one", "/p/q/two"}},
		{pythonImporting, "/p/q/a.py", "from ..b import *\nfrom .. import c\n", []string{"/p", "/p/b", "/p/c"}},
		{pythonImporting, "/p/a.py", "if TYPE_CHECKING: from b import c\nimport d; import e\n", []string{"b", "b/c", "d", "e"}},
		{pythonImporting, "/p/a.py", "from a import \\\r\n    b, \\\n    c\r\n", []string{"a", "a/b", "a/c"}},
		{pythonImporting, "/p/q/a.py", "from .import b\nfrom ..import(c)\nfrom . d import e\n", []string{"/p", "/p/c", "/p/q", "/p/q/b", "/p/q/d", "/p/q/d/e"}},
		{pythonImporting, "/p/a.py", "import a\rfrom b import (c\r)\r\fimport d", []string{"a", "b", "b/c", "d"}},
		{pythonImporting, "/p/a.py", "from a import (b,\nfrom c import (d, # )\nimport e\n", []string{"a", "a/b", "c", "c/d", "e"}},
		{pythonImporting, "/p/a.py", "# import no\nimportant = 1\nfrom_here = 2\n", nil},
		{cImporting, "/p/a.c", "#include \"dir/cart.h\"\n # include <stdio.h>\n#import \"../up/./x.h\"\n#define CONFIG <conf.h>\n// #include \"no.h\"\n", []string{"conf.h", "dir/cart.h", "stdio.h", "up/x.h"}},
	} {
		if got := tt.how.imports(tt.path, tt.body); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.body, got, tt.want)
		}
	}
	for _, tt := range []struct {
		how  *importing
		path string
		want []string
	}{
		{scriptImporting, "/p/src/cart.ts", []string{"cart", "src/cart", "p/src/cart", "/p/src/cart"}},
		{scriptImporting, "/p/ui/src/index.d.ts", []string{
			"index", "src/index", "ui/src/index", "p/ui/src/index", "/p/ui/src/index", "src", "ui/src", "p/ui/src", "/p/ui/src", "ui", "p/ui",
		}},
		{pythonImporting, "/p/src/cart.py", []string{"cart", "src/cart", "p/src/cart", "/p/src/cart"}},
		{pythonImporting, "/p/src/__init__.pyi", []string{"src", "p/src", "/p/src"}},
		{cImporting, "/p/src/cart.hpp", []string{"cart.hpp", "src/cart.hpp", "p/src/cart.hpp"}},
	} {
		if got := tt.how.names(tt.path); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
		}
	}
}

// TestImportsAreBounded: no text makes the names that it imports many times as long as
// itself, or takes long to look at. An edit waits for it.
func TestImportsAreBounded(t *testing.T) {
	fill := func(one string) string { return strings.Repeat(one, maxImporter/len(one)) }
	for _, tt := range []struct {
		what string
		list func(path, body string) []string
		body string
	}{
		{"parentheses that are not closed", pythonImports, fill("from a import (\n")},
		{"one that is closed at the end", pythonImports, fill("from a import (\n") + ")"},
		{"closed in comments alone", pythonImports, fill("from a import ( # )\n")},
		{"packages of packages", pythonImports, "import " + fill("a.") + "a"},
		{"packages of many", pythonImports, fill("import " + strings.Repeat("a.", maxImport/2-1) + "a\n")},
		{"many of a long one", pythonImports, "from " + strings.Repeat("a", maxImport) + " import " + fill("b,")},
		{"many of one that is too long", pythonImports, "from " + strings.Repeat("a", maxImporter/2) + " import " + fill("b,")[:maxImporter/2]},
		{"dots", pythonImports, "from " + fill(".") + " import a"},
		{"comments that are not closed", scriptImports, fill("from/*from'x'")},
		{"quotes of all kinds", scriptImports, fill("from\"from'from`")},
		{"a long name", scriptImports, "import '" + fill("../") + "'"},
		{"ways up", cImports, "#include \"" + fill("../") + "a.h\""},
		{"a long folder of settings", aliasText, `{"baseUrl": "` + strings.Repeat("a", maxImporter/2) + `", "paths": {` + fill(`"a": ["b"],`)[:maxImporter/2]},
		{"a long name in settings", aliasText, `{"paths": {"` + strings.Repeat("a", maxImporter/2) + `": [` + fill(`"b",`)[:maxImporter/2] + `]}}`},
	} {
		began := time.Now()
		size := 0
		for _, name := range tt.list("/p/tsconfig.json", tt.body) {
			size += len(name)
		}
		if size > 2*maxImports {
			t.Errorf("%s: names of %d bytes", tt.what, size)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: took %s", tt.what, took)
		}
	}
}

func aliasText(path, body string) (out []string) {
	for _, one := range scriptAliases(path, body) {
		out = append(out, one.file, one.name)
	}
	return out
}

func TestAliases(t *testing.T) {
	for _, tt := range []struct {
		path, body string
		want       []alias
	}{
		{"/p/tsconfig.json", "{\"compilerOptions\": { // options\n\"paths\": {\"@/*\": [\"./src/*\"], \"~help\": [\"./src/helping.ts\", \"src/other\"],}, \"lib\": []}}", []alias{{"/p/src/helping", "~help"}, {"/p/src/other", "~help"}}},
		{"/p/tsconfig.base.json", `{"compilerOptions": {"baseUrl": "src", "paths": {"@acme/x": ["x/main.ts"]}}}`, []alias{{"/p/src/x/main", "@acme/x"}}},
		{"/p/package.json", `{"name": "@acme/x", "version": "1.0.0", "types": "./src/main.ts", "imports": {"#db": "./src/db.mts"}}`, []alias{{"/p/src/db", "#db"}, {"/p/src/main", "@acme/x"}}},
		{"/p/package.json", `{"name": "x", "exports": {".": "./a.js", "./sub": [{"types": "./b.d.ts", "default": "./c.js"}], "./more/*": "./more/*.js"}}`, []alias{{"/p/a", "x"}, {"/p/c", "x/sub"}, {"/p/b", "x/sub"}}},
		{"/p/package.json", `{"name": "x", "files": ["./a"], "homepage": "https://example.com/a.js"}`, nil},
		{"/p/other.json", `{"name": "x", "main": "a.js"}`, nil},
		{"/p/package.json", "nothing", nil},
	} {
		if got := scriptAliases(tt.path, tt.body); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.body, got, tt.want)
		}
	}
}

// TestAliasedImporters: files are found that import another by a name that settings
// give it, and not by one that they gave it before.
func TestAliasedImporters(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, name) }
	r := &run{server: &server{startOptions: startOptions{spec: &Spec{Languages: script}, root: dir}}}
	put := func(name, body string, second int64) {
		if err := os.WriteFile(at(name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		r.disk.files[at(name)] = Stamp{int64(len(body)), time.Unix(second, 0)}
	}
	r.disk.files = map[string]Stamp{}
	put("helping.ts", "", 1)
	put("user.ts", "import '~help'", 1)
	for i, tt := range []struct{ paths, want string }{{`"~help": ["helping"]`, "user.ts"}, {`"~other": ["helping"]`, ""}, {`"~help": ["./helping.ts"]`, "user.ts"}} {
		put("tsconfig.json", `{"compilerOptions": {"paths": {`+tt.paths+`}}}`, int64(i+2))
		found, direct := r.importersOf(t.Context(), scriptImporting, []string{at("helping.ts")})
		if want := tt.want != ""; (len(found) == 1) != want || (direct == 1) != want || want && found[0] != at(tt.want) {
			t.Errorf("%s: %q", tt.paths, found)
		}
	}
}

// TestPasses: which files hand on what they import, and which need no import.
func TestPasses(t *testing.T) {
	for _, tt := range []struct {
		is         func(path, body string) bool
		path, body string
		want       bool
	}{
		{scriptPasses, "/p/a.ts", "export * from './b'", true},
		{scriptPasses, "/p/a.ts", "export type { B,\n  C } from './b'", true},
		{scriptPasses, "/p/index.ts", "import { b } from './b'; export { b }", true},
		{scriptPasses, "/p/a.ts", "import { b } from './b'; export const c = b; export { c }", false},
		{pythonPasses, "/p/__init__.py", "", true},
		{pythonPasses, "/p/a.py", "from .b import *\n", true},
		{pythonPasses, "/p/a.py", "from .b import c\n", false},
		{cImporting.passes, "/p/a.h", "", true},
		{scriptGlobal, "/p/a.d.ts", "declare const A: number;\n", true},
		{scriptGlobal, "/p/a.d.ts", "export declare const A: number;\n", false},
		{scriptGlobal, "/p/a.ts", "export {};\ndeclare global { interface Window { a: 1 } }\n", true},
		{scriptGlobal, "/p/a.ts", "const a = 1;\n", false},
	} {
		if got := tt.is(tt.path, tt.body); got != tt.want {
			t.Errorf("%s, %q: %t", tt.path, tt.body, got)
		}
	}
}

// fakeImporting is that of the fake server's language: words are declarations, each
// in the file of its name. What has the word "pass" passes on what it imports.
var fakeImporting = &importing{
	names: func(path string) []string { return []string{strings.TrimSuffix(filepath.Base(path), ".fake")} },
	imports: func(_, body string) []string {
		list := strings.Fields(body)
		slices.Sort(list)
		return slices.Compact(list)
	},
	passes: func(_, body string) bool { return strings.Contains(body, "pass") },
	global: func(_, body string) bool { return strings.Contains(body, "everywhere") },
}

// TestImporters: of a server that judges open documents alone, what breaks in files
// that nobody opened is told, with one that is asked and with one that pushes; what it
// was not shown is said.
func TestImporters(t *testing.T) {
	for _, behaviour := range []string{"silent judges", "one"} {
		t.Run(behaviour, func(t *testing.T) {
			files := []string{"a.fake", "def a\n", "far.fake", "use b\nuse a\n", "b.fake", "use a\nBAD old\n", "other.fake", "BAD\n"}
			for i := range maxImporters {
				files = append(files, fmt.Sprintf("deep/n%d.fake", i), "use c\n")
			}
			files = append(files, "c.fake", "def c\n")
			p := importingProject(t, behaviour, files...)
			d := p.change("a.fake", "def z\n")
			if got, want := p.told(d), "+b.fake:1:5 error undefined: a; +far.fake:2:5 error undefined: a"; got != want {
				t.Errorf("broken: %s, want %s", got, want)
			}
			if got, want := p.told(p.change("a.fake", "def a\n")), "-b.fake:1:5 error undefined: a; -far.fake:2:5 error undefined: a"; got != want {
				t.Errorf("mended: %s, want %s", got, want)
			}
			p.write("b.fake", "use a\nBAD old\nuse c\n")
			p.view.Dirty()
			d = p.change("c.fake", "def y\n")
			if len(d.New.Items) != maxImporters || len(d.NotReady) != 1 || d.NotReady[0] != fmt.Sprintf("fake judges only files that it is shown, and was not shown 1 of the %d that import c.fake", maxImporters+1) {
				t.Errorf("too many: %s", p.told(d))
			}
			if d = p.change("c.fake", "def y\n\n"); len(d.New.Items) != 0 {
				t.Errorf("told twice: %s", p.told(d))
			}
		})
	}
}

// TestUnshown: what is not known of the files that import others is said.
func TestUnshown(t *testing.T) {
	barrel := []string{"a.fake", "def a\n", "hub.fake", "pass a\n"}
	for i := range maxImporters {
		barrel = append(barrel, fmt.Sprintf("n%d.fake", i), "hub\n")
	}
	var many, changes []string
	for i := range maxOpen {
		many = append(many, fmt.Sprintf("m%d.fake", i), "one\n")
		changes = append(changes, fmt.Sprintf("m%d.fake", i), "two\n")
	}
	for _, tt := range []struct {
		name          string
		files, change []string
		unread        bool
		want          string
	}{
		{"by way of one that passes it on", barrel, []string{"a.fake", "def b\n"}, false, "was not shown 1 of the 33 that import a.fake"},
		{"no room beside what changes", append(many, "user.fake", "m7\n"), changes, false, "was not shown 1 of the 1 that import m0.fake"},
		{"not looked through yet", []string{"a.fake", "def a\n"}, []string{"a.fake", "def b\n"}, true, "has not been shown all files that import a.fake yet"},
		{"it cannot be read", []string{"a.fake", "def a\n", "unreadable.fake", "a\n"}, []string{"a.fake", "def b\n"}, false, "was not shown 1 of the 1 that import a.fake"},
		{"it needs no import", []string{"a.fake", "everywhere\n"}, []string{"a.fake", "def b\n"}, false, "was not shown those that use what a.fake declares for all files"},
		{"all is known", []string{"a.fake", "def a\n", "b.fake", "a\n"}, []string{"a.fake", "def b\n"}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := importingProject(t, "silent judges", tt.files...)
			read := p.view.opts.Read
			p.view.opts.Read = func(ctx context.Context, path string) (string, bool, error) {
				if filepath.Base(path) == "unreadable.fake" {
					return "", false, errors.New("is no text")
				}
				return read(ctx, path)
			}
			if tt.unread {
				p.view.opts.Walk = func(context.Context, string, func(string) bool, func(string, Stamp)) error {
					return context.DeadlineExceeded
				}
			}
			got := strings.Join(p.change(tt.change...).NotReady, "; ")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestUnsavedIncluded: of a server that takes what is included from the disk, what an
// unsaved change breaks is said not to be known.
func TestUnsavedIncluded(t *testing.T) {
	for _, tt := range []struct {
		name, change  string
		unsaved, disk bool
		want          string
	}{
		{"unsaved", "a.fake", true, true, "fake reads what others include from the disk, and the editor has not saved a.fake there"},
		{"saved", "a.fake", false, true, ""},
		{"nobody includes it", "b.fake", true, true, ""},
		{"it takes the text that it is shown", "a.fake", true, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := importingProject(t, "one", "a.fake", "def a\n", "b.fake", "use a\n")
			for _, s := range p.view.set.Load().specs {
				s.DiskIncludes = tt.disk
			}
			read := p.view.opts.Read
			p.view.opts.Read = func(ctx context.Context, path string) (string, bool, error) {
				body, saved, err := read(ctx, path)
				return body, saved && !tt.unsaved, err
			}
			if got := strings.Join(p.change(tt.change, "def a\n\n").NotReady, "; "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestImportersLate: importers on which there was no verdict before the change are
// judged after it, and what they have is told for what it is.
func TestImportersLate(t *testing.T) {
	p := importingProject(t, "silent pulls", "a.fake", "def a\n", "b.fake", "use a\nBAD old\n", "other.fake", "text\n")
	p.busy()
	path := p.path("a.fake")
	before := p.view.Before(p.context(), []string{path})
	p.write("a.fake", "def b\n")
	if err := os.Remove(p.path("busy")); err != nil {
		t.Fatal(err)
	}
	before.left = time.Minute
	if got, want := p.told(before.After(p.context(), []string{path})), "?b.fake:2:1 error this is bad: BAD old"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestImportersOwed: importers that a change left to be judged anew are judged with the
// next one, whatever that changes.
func TestImportersOwed(t *testing.T) {
	p := importingProject(t, "one waits", "a.fake", "def a\n", "b.fake", "use a\n", "c.fake", "text\n", "other.fake", "text\n")
	if got := p.told(p.change("a.fake", "def a\n\n")); got != "" {
		t.Fatalf("at first: %s", got)
	}
	p.busy()
	if got := p.told(p.change("a.fake", "def z\n")); !strings.HasPrefix(got, "not known") {
		t.Fatalf("told %q", got)
	}
	p.wait(time.Minute)
	if err := os.Remove(p.path("busy")); err != nil {
		t.Fatal(err)
	}
	if got, want := p.told(p.change("c.fake", "text\n\n")), "+b.fake:1:5 error undefined: a"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestOldAfterUnjudged: where no verdict came on a change, the next one, of another
// file, does not tell what that file had before as new.
func TestOldAfterUnjudged(t *testing.T) {
	p := importingProject(t, "silent pulls", "a.fake", "def a\n", "far.fake", "BAD older\nc\n", "c.fake", "BAD old\n", "other.fake", "text\n")
	p.busy()
	if got := p.told(p.change("a.fake", "def b\n")); !strings.HasPrefix(got, "not known") {
		t.Fatalf("told %q", got)
	}
	p.wait(time.Minute)
	if err := os.Remove(p.path("busy")); err != nil {
		t.Fatal(err)
	}
	if got, want := p.told(p.change("c.fake", "BAD old\nBAD new\n")), "+c.fake:2:1 error this is bad: BAD new"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestCreatedAgain: a file that is deleted, so that no verdict comes in time, and then
// created again, is told to the server as created, and what its absence broke is not
// told as new.
func TestCreatedAgain(t *testing.T) {
	for _, behaviour := range []string{"silent judges heeds waits", "silent judges ids heeds waits", "one heeds waits"} {
		t.Run(behaviour, func(t *testing.T) {
			p := importingProject(t, behaviour, "a.fake", "def a\n", "b.fake", "use a\n", "other.fake", "text\n")
			check := func(what, want string, change ...string) {
				t.Helper()
				if got := p.told(p.change(change...)); got != want {
					t.Errorf("%s: told %q, want %q", what, got, want)
				}
			}
			check("at first", "", "a.fake", "def a\n\n")
			p.busy()
			if got := p.told(p.change("a.fake", removed)); !strings.HasPrefix(got, "not known") {
				t.Errorf("deleted in haste: told %q", got)
			}
			p.wait(time.Minute)
			if err := os.Remove(p.path("busy")); err != nil {
				t.Fatal(err)
			}
			check("created again", "", "a.fake", "def a\n")
			check("deleted", "+b.fake:1:5 error undefined: a", "a.fake", removed)
			check("created", "-b.fake:1:5 error undefined: a", "a.fake", "def a\n")
			check("moved", "", "a.fake", removed, "deep/a.fake", "def a\n")
			check("moved and changed", "+b.fake:1:5 error undefined: a", "deep/a.fake", removed, "a.fake", "def z\n")
			p.write("far/a.fake", "text\n") // as an editor does
			check("a file that nobody told of", "-b.fake:1:5 error undefined: a", "far/a.fake", "def a\n")
		})
	}
}

// busy has the server run, and then judge nothing.
func (p *project) busy() {
	p.t.Helper()
	if d, err := p.view.Diagnostics(p.context(), p.path("other.fake")); err != nil || len(d.NotReady) > 0 {
		p.t.Fatal(d.NotReady, err)
	}
	p.write("busy", "")
	p.wait(200 * time.Millisecond)
}

// wait has verdicts waited for so long from now on.
func (p *project) wait(d time.Duration) {
	set := *p.view.set.Load()
	set.DiagnosticWait = d
	p.view.set.Store(&set)
}

// TestBeginning: of what is not a file of the project, nothing is read.
func TestBeginning(t *testing.T) {
	dir, away := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "a.ts"), filepath.Join(away, "b.ts")} {
		if err := os.WriteFile(path, []byte("import './x'"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, _ = filepath.EvalSymlinks(dir)
	for name, target := range map[string]string{"inside.ts": "a.ts", "outside.ts": filepath.Join(away, "b.ts"), "nowhere.ts": "none.ts", "folder.ts": "."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	for name, want := range map[string]bool{"a.ts": true, "inside.ts": true, "outside.ts": false, "nowhere.ts": false, "folder.ts": false, "none.ts": false} {
		if body, err := beginning(dir, filepath.Join(dir, name)); (err == nil) != want || (body != "") != want {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	path := filepath.Join(dir, "marked.ts")
	if err := os.WriteFile(path, []byte("\ufeffimport a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if body, err := beginning(dir, path); body != "import a" || err != nil {
		t.Errorf("a byte order mark is taken for text: %q, %v", body, err)
	}
}

func importingProject(t testing.TB, behaviour string, files ...string) *project {
	c := fakeConfig(behaviour)
	c.DiagnosticWait = time.Minute
	p := newProject(t, c, files...)
	for _, s := range p.view.set.Load().specs {
		if s.Name == "fake" {
			s.importing = fakeImporting
		}
	}
	return p
}

func FuzzImports(f *testing.F) {
	f.Add("import { x } from './a'\nfrom a import (b,\nc)\n#include <d/e.h>\n")
	f.Add("import\nfrom . import (\nrequire(`")
	f.Fuzz(func(t *testing.T, body string) {
		for _, how := range []*importing{scriptImporting, pythonImporting, cImporting} {
			names := how.imports("/dir/file", body)
			for i, name := range names {
				if i > 0 && names[i-1] >= name {
					t.Fatalf("%q and %q", names[i-1], name)
				}
				if strings.Contains(name, "\n") {
					t.Fatalf("%q goes over lines", name)
				}
			}
		}
	})
}

// BenchmarkImporters looks for the importers of one of 10 000 files that were looked
// at before.
func BenchmarkImporters(b *testing.B) {
	r := &run{server: &server{startOptions: startOptions{spec: &Spec{Languages: script}, root: "/p"}}}
	r.disk.files = map[string]Stamp{}
	r.importers.files, r.importers.by = map[string]importer{}, map[string][]string{}
	stamp := Stamp{1, time.Unix(1, 0)}
	for i := range 10_000 {
		path := fmt.Sprintf("/p/src/part%d/file%d.ts", i%100, i)
		var imports []string
		for j := range 10 {
			imports = append(imports, fmt.Sprintf("/p/src/part%d/file%d", (i+j)%100, i+j))
		}
		r.disk.files[path] = stamp
		slices.Sort(imports)
		r.importers.put(path, importer{stamp: stamp, imports: imports})
	}
	for b.Loop() {
		if found, direct := r.importersOf(context.Background(), scriptImporting, []string{"/p/src/part50/file5050.ts"}); direct < 9 || len(found) < maxDistant {
			b.Fatal(found)
		}
	}
}
