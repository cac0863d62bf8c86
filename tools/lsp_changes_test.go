package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/lsp"
)

// changeScript is what changes of a project of one language come to, with a real
// server.
type changeScript struct {
	server  string // the program that must be there
	without string
	roots   bool     // there are several, each with a server of its own
	files   []string // names and contents
	open    []string // what the agent has read
	edits   []changeStep
	shells  []changeStep // what commands change; then the problems of open[0]
}

// changeStep is a change, and what must be told of it: parts of lines, each new (+),
// fixed (-) or not told (!).
type changeStep struct {
	change []string // files and their contents, removed is none; or a shell script
	want   []string
	late   bool   // the verdict is not waited for, and nothing is told
	before string // a shell script that runs before it
}

// removed is the content of a file that a change removes.
const removed = "\x00removed"

var changeScripts = []changeScript{
	{
		server: "gopls",
		files: []string{
			"go.mod", "module example.com/m\n\ngo 1.26\n",
			"a.go", "package m\n\nfunc One() int { return 1 }\n",
			"b.go", "package m\n\nvar b = One()\nvar broken int = \"old\"\n",
		},
		open: []string{"b.go", "a.go"},
		edits: []changeStep{
			{change: []string{"a.go", "package m\n\n// moved\nfunc One() int { return 1 }\n"}, want: []string{"!broken", "!old"}},
			{change: []string{"a.go", "package m\n\nfunc Two() int { return 1 }\n"}, want: []string{"+b.go:3:9 error", "!old"}},
			{change: []string{"a.go", "package m\n\nfunc One() int { return 1 }\n"}, want: []string{"-b.go:3:9 error"}},
			{change: []string{"b.go", "package m\n\nvar x, b = 1, One()\nvar broken int = \"old\"\nvar more int = \"new\"\n"}, want: []string{"+b.go:5:16 error", "!b.go:4"}},
			{change: []string{"b.go", "package m\n\nvar b = One()\nvar broken int = \"old\"\n"}, want: []string{"-b.go:5:16 error"}},
		},
		shells: []changeStep{
			{change: []string{"sed -i.x s/One/Two/ a.go && rm a.go.x"}, want: []string{"+undefined: One"}},
			{change: []string{"rm a.go; printf 'package m\\n\\nfunc One() int { return 1 }\\n' > c.go"}, want: []string{"!undefined", "+4:18"}},
			{change: []string{"mkdir sub && printf 'package sub\\n\\nconst One = 1\\n' > sub/s.go && printf 'package m\\n\\nimport \"example.com/m/sub\"\\n\\nvar b = sub.One\\n' > b.go"}, want: []string{"!error"}},
			{change: []string{"mv sub under"}, want: []string{"+b.go:3:8 error"}},
			{change: []string{"sed -i.x s,m/sub,m/under, b.go && rm b.go.x"}, want: []string{"!b.go:3"}},
			{change: []string{"git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm 1 && printf 'package m\\n\\nvar b = nothing\\n' > b.go"}, want: []string{"+undefined: nothing"}},
			{change: []string{"git checkout -q b.go"}, want: []string{"!undefined"}},
		},
	},
	{ // a module beside that another one uses
		server: "gopls",
		roots:  true,
		files: []string{
			"go.mod", "module example.com/top\n\ngo 1.22\n",
			"top.go", "package top\n",
			"app/go.mod", "module example.com/app\n\ngo 1.22\n\nrequire example.com/other v0.0.0\n\nreplace example.com/other => ../other\n",
			"app/main.go", "package main\n\nimport \"example.com/other\"\n\nfunc main() { other.World() }\n",
			"other/go.mod", "module example.com/other\n\ngo 1.22\n",
			"other/other.go", "package other\n\nfunc World() {}\n",
		},
		open: []string{"app/main.go"},
		edits: []changeStep{
			{change: []string{"other/other.go", "package other\n\n// moved\nfunc World() {}\n"}, want: []string{"!error"}},
			{change: []string{"other/other.go", "package other\n\nfunc Moon() {}\nfunc bad() int { return \"\" }\n"}, want: []string{"+app/main.go:5:21 error", "+other/other.go:4:25 error"}},
			{change: []string{"other/other.go", "package other\n\nfunc World() {}\n"}, want: []string{"-app/main.go:5:21 error", "-other/other.go:4:25 error"}},
			{change: []string{"app/main.go", "package main\n\nimport \"example.com/other\"\n\nfunc main() { other.Moon() }\n"}, want: []string{"+app/main.go:5:21 error", "!other/other.go"}},
			{change: []string{"other/more.go", "package other\n\nfunc Moon() {}\n"}, want: []string{"-app/main.go:5:21 error"}},
			{change: []string{"other/more.go", removed}, want: []string{"+app/main.go:5:21 error"}},
		},
		shells: []changeStep{
			{change: []string{"sed -i.x s/World/Moon/ other/other.go && rm other/other.go.x"}, want: []string{"!undefined"}},
			{change: []string{"sed -i.x s/Moon/World/ other/other.go && rm other/other.go.x"}, want: []string{"+undefined: other.Moon"}},
			{change: []string{"sed s/World/Moon/ other/other.go > other/moved.go && rm other/other.go"}, want: []string{"!undefined"}},
			{change: []string{"rm other/moved.go"}, want: []string{"+app/main.go:"}},
		},
	},
	{
		server: "gopls", // packages that nobody imports, and the module's file
		files: []string{
			"go.mod", "module example.com/m\n\ngo 1.26\n",
			"a.go", "package m\n\nfunc One() int { return 1 }\n",
		},
		open: []string{"a.go"},
		edits: []changeStep{
			{
				before: "mkdir -p cmd/x cmd/z && printf 'package main\n\nimport \"example.com/m\"\n\nfunc main() { _ = m.One() }\n' | tee cmd/z/main.go > cmd/x/main.go",
				change: []string{"a.go", "package m\n\n// moved\nfunc One() int { return 1 }\n"}, want: []string{"!cmd/"},
			},
			{change: []string{"a.go", "package m\n\nfunc Two() int { return 1 }\n"}, want: []string{"+cmd/x/main.go:5:21 error", "+cmd/z/main.go:5:21 error"}},
			{change: []string{"a.go", "package m\n\nfunc One() int { return 1 }\n"}, want: []string{"-cmd/x/main.go:5:21 error"}},
			{change: []string{"go.mod", "module example.com/other\n\ngo 1.26\n"}, want: []string{"+cmd/x/main.go:3:8 error"}},
			{change: []string{"go.mod", "module example.com/m\n\ngo 1.26\n"}, want: []string{"-cmd/x/main.go:3:8 error"}},
			{change: []string{"cmd/y/main.go", "package main\n\nfunc main() {}\n\nvar broken int = \"\"\n"}, want: []string{"+cmd/y/main.go:5:18 error"}},
		},
	},
	{
		server: "tsc",
		files:  typescriptFiles,
		open:   []string{"main.ts", "cart.ts"},
		edits:  typescriptEdits, shells: typescriptShells,
	},
	{
		server: "typescript-language-server", without: "typescript",
		files: typescriptFiles,
		open:  []string{"main.ts", "cart.ts"},
		edits: typescriptEdits, shells: typescriptShells,
	},
	{
		server: "clangd",
		files: []string{
			"compile_flags.txt", "-std=c++17\n",
			"cart.h", "#pragma once\nint total(int n);\n",
			"shop.h", "#pragma once\n#include \"cart.h\"\n",
			"main.cc", "#include \"shop.h\"\nint broken = \"old\";\nint x() { return total(1); }\n",
		},
		open: []string{"cart.h"},
		edits: []changeStep{
			{change: []string{"cart.h", "#pragma once\n// moved\nint total(int n);\n"}, want: []string{"!broken", "!main.cc"}},
			{change: []string{"cart.h", "#pragma once\nint sum_of(int n);\n"}, want: []string{"+main.cc:3:18 error", "!old"}},
			{change: []string{"cart.h", "#pragma once\nint total(int n);\n"}, want: []string{"-main.cc:3:18 error"}},
			// Deleted in haste, created again, deleted, created, moved away and back.
			{change: []string{"cart.h", removed}, late: true},
			{change: []string{"cart.h", "#pragma once\nint total(int n);\n"}, want: []string{"!+main.cc", "!+shop.h"}},
			{change: []string{"cart.h", removed}, want: []string{"+main.cc"}},
			{change: []string{"cart.h", "#pragma once\nint total(int n);\n"}, want: []string{"-main.cc", "!+main.cc", "!+shop.h"}},
			{change: []string{"cart.h", removed, "moved.h", "#pragma once\nint total(int n);\n"}, late: true},
			{change: []string{"moved.h", removed, "cart.h", "#pragma once\nint total(int n);\n"}, want: []string{"!+main.cc", "!+shop.h"}},
			// What a command broke is not this change's.
			{before: "mv cart.h away.h", change: []string{"shop.h", "#pragma once\n\n#include \"cart.h\"\n"}, want: []string{"!main.cc", "!shop.h"}},
		},
	},
	{
		server: "clangd",
		files: []string{
			"compile_flags.txt", "-std=c++17\n",
			"cart.h", "#pragma once\nint total(int n);\n",
			"main.cc", "#include \"cart.h\"\nint x() { return total(1); }\n",
		},
		open: []string{"main.cc"},
		shells: []changeStep{
			{change: []string{"sed -i.x s/total/sum/ cart.h && rm cart.h.x"}, want: []string{"+main.cc:2:18 error"}},
			{change: []string{"sed -i.x s/sum/total/ cart.h && rm cart.h.x"}, want: []string{"!error"}},
			{change: []string{"mv cart.h shop.h"}, want: []string{"+main.cc:1:10 error"}},
			{change: []string{"mv shop.h cart.h"}, want: []string{"!error"}},
		},
	},
	{
		server: "pyright-langserver",
		files: []string{
			"pyproject.toml", "[project]\nname = \"m\"\n",
			"cart.py", "def total(n: int) -> int:\n    return n\n",
			"main.py", "from cart import total\n\nx: int = total(1)\nbroken: int = \"old\"\n",
			"shop/__init__.py", "from cart import total\n\n__all__ = [\"total\"]\n",
			"far.py", "import shop\n\nbroken: int = \"older\"\ny: int = shop.total(2)\n",
		},
		open: []string{"main.py", "cart.py"},
		edits: []changeStep{
			{change: []string{"cart.py", "# moved\ndef total(n: int) -> int:\n    return n\n"}, want: []string{"!broken", "!main.py"}},
			{change: []string{"cart.py", "def total(n: int) -> str:\n    return n\n"}, want: []string{"+cart.py:2:12 error", "+main.py:3:10 error", "!main.py:4", "+far.py:4:10 error", "!older"}},
			{change: []string{"cart.py", "def total(n: int) -> int:\n    return n\n"}, want: []string{"-main.py:3:10 error", "-far.py:4:10 error"}},
			// Deleted in haste, created again, deleted, created, moved away and back.
			{change: []string{"cart.py", removed}, late: true},
			{change: []string{"cart.py", "def total(n: int) -> int:\n    return n\n"}, want: []string{"!+"}},
			{change: []string{"cart.py", removed}, want: []string{"+main.py:1:6 error", "+shop/__init__.py:1:6 error"}},
			{change: []string{"cart.py", "def total(n: int) -> int:\n    return n\n"}, want: []string{"-main.py:1:6 error", "-shop/__init__.py:1:6 error", "!+"}},
			{change: []string{"cart.py", removed, "moved.py", "def total(n: int) -> int:\n    return n\n"}, late: true},
			{change: []string{"moved.py", removed, "cart.py", "def total(n: int) -> int:\n    return n\n"}, want: []string{"!+"}},
		},
		shells: []changeStep{
			{change: []string{"sed -i.x 's/-> int/-> str/' cart.py && rm cart.py.x"}, want: []string{"+main.py:3:10"}},
			{change: []string{"printf 'def total(n: int) -> int:\\n    return n\\n' > other.py; rm cart.py"}, want: []string{"+main.py:1:6"}},
			{change: []string{"mv other.py cart.py"}, want: []string{"!main.py:1", "!main.py:3", "+main.py:4:15"}},
		},
	},
}

var (
	typescriptFiles = []string{
		"package.json", "{\"type\": \"module\"}\n",
		"tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"module\": \"nodenext\", \"noEmit\": true}, \"include\": [\"**/*.ts\"]}\n",
		"cart.ts", "export function total(n: number): number {\n  return n;\n}\n",
		"main.ts", "import { total } from \"./cart.js\";\n\nexport const x: number = total(1);\nexport const broken: number = \"old\";\n",
		"lib/index.ts", "export * from \"../cart.js\";\n",
		"lib/far.ts", "import { total } from \"./index.js\";\nconst broken: number = \"older\";\nexport const y: number = total(2);\n",
	}
	typescriptEdits = []changeStep{
		{change: []string{"cart.ts", "// moved\nexport function total(n: number): number {\n  return n;\n}\n"}, want: []string{"!broken", "!main.ts"}},
		{change: []string{"cart.ts", "export function total(n: number): string {\n  return n;\n}\n"}, want: []string{"+cart.ts:2:3 error", "+main.ts:3:14 error", "!main.ts:4", "+lib/far.ts:3:14 error", "!older"}},
		{change: []string{"cart.ts", "export function total(n: number): number {\n  return n;\n}\n"}, want: []string{"-cart.ts:2:3 error", "-main.ts:3:14 error", "-lib/far.ts:3:14 error"}},
		// Deleted in haste, created again, deleted, created, moved away and back.
		{change: []string{"cart.ts", removed}, late: true},
		{change: []string{"cart.ts", "export function total(n: number): number {\n  return n;\n}\n"}, want: []string{"!+"}},
		{change: []string{"cart.ts", removed}, want: []string{"+main.ts:1:23 error", "+lib/index.ts:1:15 error"}},
		{change: []string{"cart.ts", "export function total(n: number): number {\n  return n;\n}\n"}, want: []string{"-main.ts:1:23 error", "-lib/index.ts:1:15 error", "!+"}},
		{change: []string{"cart.ts", removed, "moved.ts", "export function total(n: number): number {\n  return n;\n}\n"}, late: true},
		{change: []string{"moved.ts", removed, "cart.ts", "export function total(n: number): number {\n  return n;\n}\n"}, want: []string{"!+"}},
	}
	typescriptShells = []changeStep{
		{change: []string{"sed -i.x 's/): number/): string/' cart.ts && rm cart.ts.x"}, want: []string{"+main.ts:3:14"}},
		{change: []string{"printf 'export function total(n: number): number {\\n  return n;\\n}\\n' > other.ts; rm cart.ts"}, want: []string{"+main.ts:1:23"}},
		{change: []string{"mv other.ts cart.ts"}, want: []string{"!main.ts:1", "!main.ts:3", "+main.ts:4:14"}},
	}
)

// TestRealChanges: what real servers say of changes by tools and by commands is told
// for what it is.
func TestRealChanges(t *testing.T) {
	for _, script := range changeScripts {
		t.Run(script.server, func(t *testing.T) { script.play(t) })
	}
}

// TestRealProject: asked about a project of which no file was open yet, real servers
// judge its files.
func TestRealProject(t *testing.T) {
	for _, c := range changeScripts {
		t.Run(c.server, func(t *testing.T) {
			ws := c.lay(t)
			found, err := ws.LSP.Diagnostics(t.Context(), "")
			if err != nil || len(found.NotReady)+len(found.Partly) > 0 || len(found.Items) == 0 && strings.Contains(strings.Join(c.files, ""), "broken") {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestRealFirstEdit: a server that nobody asked anything yet comes to judge what edits
// break.
func TestRealFirstEdit(t *testing.T) {
	for _, c := range changeScripts {
		if len(c.edits) == 0 {
			continue
		}
		t.Run(c.server, func(t *testing.T) {
			ws := c.lay(t)
			shell(t, ws, c.edits[0].before)
			broken, mended := c.edits[1].change, c.edits[2].change
			paths := []string{filepath.Join(ws.Dir(), broken[0])}
			change := func(files []string) lsp.Delta {
				before := ws.LSP.Before(t.Context(), paths)
				putFiles(t, ws, files)
				return before.After(t.Context(), paths)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for len(change(mended).NotReady) > 0 {
				if ctx.Err() != nil {
					t.Fatal("it is never ready")
				}
			}
			if d := change(broken); len(d.New.Items) == 0 || len(d.NotReady) > 0 {
				t.Errorf("told of what is broken: %+v", d)
			}
		})
	}
}

// TestRealOverlooked: what an edit broke that came before its server was ready is told
// with the next one.
func TestRealOverlooked(t *testing.T) {
	for _, c := range changeScripts {
		if len(c.edits) == 0 || c.roots {
			continue
		}
		t.Run(c.server, func(t *testing.T) {
			ws := c.lay(t)
			shell(t, ws, c.edits[0].before)
			broken := c.edits[1]
			change := func(wait time.Duration) lsp.Delta {
				config := c.config()
				config.DiagnosticWait = wait
				ws.LSP.Configure(config)
				before := ws.LSP.Before(t.Context(), []string{filepath.Join(ws.Dir(), broken.change[0])})
				putFiles(t, ws, broken.change)
				return before.After(t.Context(), []string{filepath.Join(ws.Dir(), broken.change[0])})
			}
			if d := change(time.Millisecond); len(d.NotReady) == 0 {
				t.Fatalf("it was ready: %+v", d)
			}
			d := change(2 * time.Minute)
			var told strings.Builder
			for _, one := range slices.Concat(d.New.Items, d.Present.Items) {
				told.WriteString("+" + ProblemLine(one, ws.Name) + "\n")
			}
			for _, want := range broken.want {
				if strings.HasPrefix(want, "+") && !strings.Contains(told.String(), want) {
					t.Errorf("%s is not told:\n%s%v", want, &told, d.NotReady)
				}
			}
		})
	}
}

// lay makes a workspace with the files, where the server is there.
func (c changeScript) lay(t *testing.T) *Workspace {
	if _, err := exec.LookPath(c.server); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not in PATH, and CI skips nothing", c.server)
		}
		t.Skipf("%s is not in PATH", c.server)
	}
	ws := lspWorkspace(t, c.config())
	putFiles(t, ws, c.files)
	return ws
}

func (c changeScript) config() lsp.Config {
	config := lsp.Config{DiagnosticWait: time.Minute, RequestTimeout: time.Minute, Servers: map[string]lsp.ServerConfig{}}
	if c.without != "" {
		config.Servers[c.without] = lsp.ServerConfig{Disabled: true}
	}
	return config
}

// putFiles makes files have some contents, and is their paths.
func putFiles(t *testing.T, ws *Workspace, files []string) (paths []string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(ws.Dir(), files[i])
		if paths = append(paths, path); files[i+1] != removed {
			write(t, ws, files[i], []byte(files[i+1]))
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func (c changeScript) play(t *testing.T) {
	ws := c.lay(t)
	for _, name := range c.open {
		problemsOf(t, ws, name)
	}
	for _, step := range c.edits {
		shell(t, ws, step.before)
		var paths []string
		for i := 0; i < len(step.change); i += 2 {
			paths = append(paths, filepath.Join(ws.Dir(), step.change[i]))
		}
		before := ws.LSP.Before(t.Context(), paths)
		putFiles(t, ws, step.change)
		ctx := t.Context()
		if step.late {
			soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			before.After(soon, paths)
			cancel()
			continue
		}
		step.check(t, deltaLines(ws, before.After(ctx, paths)))
	}
	for _, step := range c.shells {
		shell(t, ws, step.change[0])
		step.check(t, problemsOf(t, ws, c.open[0]))
	}
}

// shell runs a script, if there is one.
func shell(t *testing.T, ws *Workspace, script string) {
	t.Helper()
	if script == "" {
		return
	}
	command := exec.Command("sh", "-ec", script)
	command.Dir = ws.Dir()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	ws.LSP.Dirty()
}

// problemsOf are a file's problems, each as what is there.
func problemsOf(t *testing.T, ws *Workspace, name string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p, err := ws.LSP.Diagnostics(ctx, filepath.Join(ws.Dir(), name))
	if err != nil || len(p.NotReady) > 0 {
		t.Fatalf("%s: %v, %v", name, p.NotReady, err)
	}
	var out []string
	for _, d := range p.Items {
		out = append(out, "+"+ProblemLine(d, ws.Name))
	}
	return out
}

func deltaLines(ws *Workspace, d lsp.Delta) []string {
	var out []string
	for _, one := range d.New.Items {
		out = append(out, "+"+ProblemLine(one, ws.Name))
	}
	for _, one := range d.Fixed.Items {
		out = append(out, "-"+ProblemLine(one, ws.Name))
	}
	for _, one := range d.Present.Items {
		out = append(out, "?"+ProblemLine(one, ws.Name))
	}
	for _, why := range d.NotReady {
		out = append(out, "not known: "+why)
	}
	return out
}

func (s changeStep) check(t *testing.T, got []string) {
	t.Helper()
	for _, want := range s.want {
		found := false
		for _, line := range got {
			found = found || want[0] == '!' && strings.Contains(line, want[1:]) || line[0] == want[0] && strings.Contains(line[1:], want[1:])
		}
		if found != (want[0] != '!') {
			t.Errorf("after %s: %q is wrong of\n%s", fmt.Sprintf("%.100q", s.change), want, strings.Join(got, "\n"))
		}
	}
	for _, line := range got {
		if line[0] == '?' || strings.HasPrefix(line, "not known") {
			t.Errorf("after %.100q: %s", s.change, line)
		}
	}
}
