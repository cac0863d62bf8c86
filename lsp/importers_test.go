package lsp

import (
	"context"
	"fmt"
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
		{scriptImporting, "/p/a.mts", `export * from ".."; import type T = require("@/deep/type.d.ts"); import r from "react"`, []string{"/", "react", "type"}},
		{scriptImporting, "/p/a.ts", `const from = "./x"; transform("./y"); importing("./z")`, nil},
		{pythonImporting, "/p/a.py", "from a.b import c as d, e\n  import f.g, h\n", []string{"a", "as", "b", "c", "d", "e", "f", "from", "g", "h", "import"}},
		{pythonImporting, "/p/a.py", "from . import (\n    one,\n    two,\n)\nx = 'import three'\n", []string{"from", "import", "one", "two"}},
		{pythonImporting, "/p/a.py", "# import no\nimportant = 1\nfrom_here = 2\n", nil},
		{cImporting, "/p/a.c", "#include \"dir/cart.h\"\n # include <stdio.h>\n#import \"x.h\"\n// #include \"no.h\"\n", []string{"cart.h", "stdio.h", "x.h"}},
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
		{scriptImporting, "/p/src/cart.ts", []string{"/p/src/cart", "cart"}},
		{scriptImporting, "/p/src/cart.d.ts", []string{"/p/src/cart", "cart"}},
		{scriptImporting, "/p/src/index.tsx", []string{"/p/src/index", "/p/src", "src"}},
		{pythonImporting, "/p/src/cart.py", []string{"cart"}},
		{pythonImporting, "/p/src/__init__.pyi", []string{"src"}},
		{cImporting, "/p/src/cart.hpp", []string{"cart.hpp"}},
	} {
		if got := tt.how.names(tt.path); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
		}
	}
}

// fakeImporting is that of the fake server's language: words are declarations, each
// in the file of its name.
var fakeImporting = &importing{
	names:   func(path string) []string { return []string{strings.TrimSuffix(filepath.Base(path), ".fake")} },
	imports: func(_, body string) []string { return strings.Fields(body) },
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
		r.importers.put(path, importer{stamp, imports})
	}
	for b.Loop() {
		if found, direct := r.importersOf(context.Background(), scriptImporting, []string{"/p/src/part50/file5050.ts"}); direct < 9 || len(found) < maxDistant {
			b.Fatal(found)
		}
	}
}
