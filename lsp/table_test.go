package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layout makes files, each with what stands behind a colon; those in a bin folder
// are programs.
func layout(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, content, _ := strings.Cut(f, ":")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The servers that the specification names, and that each can be had.
func TestBuiltinServers(t *testing.T) {
	for _, name := range strings.Fields(`gopls typescript typescript-language-server pyright basedpyright rust-analyzer clangd jdtls
		kotlin-language-server lua-language-server zls ruby-lsp solargraph intelephense phpactor bash-language-server yaml-language-server
		vscode-html-language-server vscode-css-language-server vscode-json-language-server eslint tailwindcss svelte vue terraform-ls
		elixir-ls haskell-language-server ocamllsp csharp-ls omnisharp dart dockerfile-language-server marksman texlab nil gleam`) {
		if !slices.ContainsFunc(builtin, func(s Spec) bool { return s.Name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, s := range builtin {
		if len(s.Command) == 0 || len(s.Languages) == 0 || s.Install == "" {
			t.Errorf("%s lacks a command, a language or a way to install it", s.Name)
		}
		if s.Beside && len(s.Roots) == 0 {
			t.Errorf("%s judges beside another and has no marker", s.Name)
		}
		for _, l := range s.Languages {
			for _, e := range l.Endings {
				if !strings.HasPrefix(e, ".") {
					t.Errorf("%s: the ending %q has no dot", s.Name, e)
				}
			}
			for _, group := range append([][]string{l.Names}, s.Roots...) {
				for _, pattern := range group {
					if _, err := filepath.Match(pattern, ""); err != nil {
						t.Errorf("%s: %q is no glob", s.Name, pattern)
					}
				}
			}
		}
	}
}

func TestLanguageOfFile(t *testing.T) {
	specs := Config{}.Specs()
	for name, want := range map[string]string{
		"a.go": "gopls go", "go.mod": "gopls go.mod", "go.work": "gopls go.work", "a.go.mod": "", ".go": "",
		"a.tsx": "typescript typescriptreact", "a.d.ts": "typescript typescript", "a.mjs": "typescript javascript", "a.pyi": "pyright python",
		"a.h": "clangd cpp", "a.c": "clangd c", "Dockerfile": "dockerfile-language-server dockerfile",
		"Dockerfile.dev": "dockerfile-language-server dockerfile", "a.dockerfile": "dockerfile-language-server dockerfile", "Dockerfiles": "",
		"package.json": "vscode-json-language-server json", "tsconfig.json": "vscode-json-language-server jsonc", "tsconfig.base.json": "vscode-json-language-server jsonc",
		"Gemfile": "ruby-lsp ruby", "config.ru": "ruby-lsp ruby", ".bashrc": "bash-language-server shellscript", "Makefile": "", "LICENSE": "", "": "",
		"/x/日本.rs": "rust-analyzer rust",
	} {
		got := ""
		for _, s := range specs {
			if id, ok := s.language(name); ok && !s.Beside {
				got = s.Name + " " + id
				break
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// Which of several servers serves a file: the project's own tools come first, and
// a server that could not run counts as none.
func TestServerThatServes(t *testing.T) {
	const v5, v7 = `{"version":"5.9.3"}`, `{"version":"7.0.2"}`
	tests := []struct {
		name  string
		files []string // "project/…", "path/…" is PATH
		file  string
		want  string // the program, and its arguments
	}{
		{"nothing", nil, "a.ts", ""},
		{"TypeScript 7 in PATH", []string{"path/tsc:", "package.json:" + v7}, "a.ts", "path/tsc --lsp --stdio"},
		{"TypeScript 5 in PATH", []string{"path/tsc:", "package.json:" + v5, "path/typescript-language-server:"}, "a.ts", "path/typescript-language-server --stdio"},
		{"TypeScript 7 in the project, 5 in PATH", []string{"path/tsc:", "package.json:" + v5, "path/typescript-language-server:", "project/node_modules/typescript/package.json:" + v7, "project/node_modules/.bin/tsc:"},
			"sub/a.ts", "project/node_modules/.bin/tsc --lsp --stdio"},
		{"TypeScript 5 in the project, 7 in PATH", []string{"path/tsc:", "package.json:" + v7, "path/typescript-language-server:", "project/node_modules/typescript/package.json:" + v5, "project/node_modules/.bin/tsc:"},
			"a.ts", "path/typescript-language-server --stdio"},
		{"TypeScript 5 in the project, and nothing but 7 in PATH", []string{"path/tsc:", "package.json:" + v7, "project/node_modules/typescript/package.json:" + v5}, "a.ts", "path/tsc --lsp --stdio"},
		{"a broken package", []string{"path/tsc:", "package.json:{", "path/typescript-language-server:"}, "a.ts", "path/typescript-language-server --stdio"},
		{"pyright and basedpyright in PATH", []string{"path/pyright-langserver:", "path/basedpyright-langserver:"}, "a.py", "path/pyright-langserver --stdio"},
		{"basedpyright in the project", []string{"path/pyright-langserver:", "project/.venv/bin/basedpyright-langserver:"}, "a.py", "project/.venv/bin/basedpyright-langserver --stdio"},
		{"both in the project", []string{"project/.venv/bin/pyright-langserver:", "project/.venv/bin/basedpyright-langserver:"}, "a.py", "project/.venv/bin/pyright-langserver --stdio"},
		{"only basedpyright", []string{"path/basedpyright-langserver:"}, "a.py", "path/basedpyright-langserver --stdio"},
		{"rust-analyzer", []string{"path/rust-analyzer:"}, "a.rs", "path/rust-analyzer"},
		{"a server that only the project's lower folder has", []string{"project/sub/node_modules/.bin/yaml-language-server:"}, "a.yaml", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := layout(t, append(tt.files, "project/mark:")...)
			if got := served(dir, tt.file); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// served is the command that serves a file of dir/project, with dir/path as PATH.
func served(dir, file string) string {
	v := New(Options{}).View(ViewOptions{Dirs: []string{filepath.Join(dir, "project")}, Path: func() []string { return []string{filepath.Join(dir, "path")} }})
	picks, err := v.picks(filepath.Join(dir, "project", filepath.FromSlash(file)))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(strings.ReplaceAll(strings.Join(picks[0].command, " "), dir+string(filepath.Separator), ""))
}

// What rustup puts into PATH for a component that is not installed is no server.
func TestRustupWithoutRustAnalyzer(t *testing.T) {
	dir := layout(t, "cargo/bin/rustup:", ".rustup/toolchains/stable/bin/rustc:", "project/a.rs:")
	if err := os.Link(filepath.Join(dir, "cargo/bin/rustup"), filepath.Join(dir, "cargo/bin/rust-analyzer")); err != nil {
		t.Skip("no links here:", err)
	}
	program := func() []string {
		l := &lookup{path: func() []string { return []string{filepath.Join(dir, "cargo", "bin")} }}
		return rustAnalyzer(l, nil)
	}
	if got := program(); got != nil {
		t.Errorf("got %q, and it is not installed", got)
	}
	installed := filepath.Join(dir, ".rustup/toolchains/stable/bin/rust-analyzer")
	if err := os.WriteFile(installed, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := program(); len(got) != 1 {
		t.Errorf("got %q, and it is installed", got)
	}
}

// Those that judge beside another serve only where their settings are.
func TestServersBeside(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"no settings", nil, []string{"typescript-language-server"}},
		{"settings above", []string{"project/eslint.config.mjs:"}, []string{"typescript-language-server", "eslint"}},
		{"all", []string{"project/.eslintrc.json:", "project/web/tailwind.config.ts:"}, []string{"typescript-language-server", "eslint", "tailwindcss"}},
		{"settings elsewhere", []string{"project/other/eslint.config.js:"}, []string{"typescript-language-server"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := layout(t, append(tt.files, "path/typescript-language-server:", "path/vscode-eslint-language-server:", "path/tailwindcss-language-server:", "project/web/a.tsx:")...)
			v := New(Options{}).View(ViewOptions{Dirs: []string{filepath.Join(dir, "project")}, Path: func() []string { return []string{filepath.Join(dir, "path")} }})
			picks, err := v.picks(filepath.Join(dir, "project", "web", "a.tsx"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range picks {
				got = append(got, p.spec.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The settings add, change and disable.
func TestServersOfTheSettings(t *testing.T) {
	c := Config{Servers: map[string]ServerConfig{
		"mine":  {Command: []string{"mine"}, Extensions: []string{".go", ".my"}},
		"gopls": {Command: []string{"other-gopls", "-v"}},
		"zls":   {Disabled: true},
		"dead":  {Extensions: []string{".dead"}},
		"blind": {Command: []string{"blind"}},
	}}
	specs := map[string]*Spec{}
	var order []string
	for _, s := range c.Specs() {
		specs[s.Name] = s
		order = append(order, s.Name)
	}
	if slices.Index(order, "mine") > slices.Index(order, "gopls") {
		t.Error("what the user adds comes behind what is built in")
	}
	if s := specs["gopls"]; s.Command[0] != "other-gopls" || len(s.Roots) == 0 || !strings.Contains(s.Install, "other-gopls") || !strings.Contains(s.Install, "lsp.servers.gopls.command") {
		t.Errorf("gopls: %+v", s)
	}
	if !specs["zls"].Disabled || specs["mine"].Install == "" {
		t.Errorf("zls: %+v, mine: %+v", specs["zls"], specs["mine"])
	}
	if got := c.Useless(); len(got) != 2 || !strings.Contains(got[0], "lsp.servers.blind has no extensions") || !strings.Contains(got[1], "lsp.servers.dead has no command") {
		t.Errorf("useless: %q", got)
	}
}

func TestVersionOf(t *testing.T) {
	for told, want := range map[string]string{
		"": "", "1.2.3": "1.2.3", "v0.23.0": "v0.23.0", "Debian clangd version 14.0.6": "14.0.6", "unknown": "",
		`{"GoVersion":"go1.26","Version":"v0.23.0"}`: "v0.23.0", `{"Version":""}`: "",
	} {
		if got := versionOf(told); got != want {
			t.Errorf("%q: %q, want %q", told, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, tt := range [][3]string{{"", "Run", "Run"}, {"A", "Run", "A.Run"}, {"shop", "shop.A.Run", "shop.A.Run"}, {"shop", "shopping", "shop.shopping"}} {
		if got := join(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%q in %q: %q, want %q", tt[1], tt[0], got, tt[2])
		}
	}
}

// A server that was asked about no file has not judged the project.
func TestProblemsBeforeAnyFile(t *testing.T) {
	c := fakeConfig("")
	fake := c.Servers["fake"]
	fake.RootMarkers = []string{"mark"}
	c.Servers["fake"] = fake
	p := newProject(t, c, "mark", "", "a.fake", "all BAD\n")
	found, err := p.view.Diagnostics(p.context(), "")
	if err != nil || len(found.NotReady) != 1 || !strings.Contains(found.NotReady[0], "asked about no file yet") {
		t.Errorf("before any file: %+v, %v", found, err)
	}
	if _, err := p.view.Diagnostics(p.context(), p.path("a.fake")); err != nil {
		t.Fatal(err)
	}
	if found, err = p.view.Diagnostics(p.context(), ""); err != nil || len(found.NotReady) != 0 {
		t.Errorf("after one: %+v, %v", found, err)
	}
}
