package tools

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/lsp"
)

var (
	randomSteps = flag.Int("lsp-steps", 8, "how many random changes each language server judges")
	randomSeed  = flag.Uint64("lsp-seed", 1, "which")
	randomKills = flag.Bool("lsp-kills", false, "kill the language servers in between")
)

// grammar is how the modules of a random project are written in a language. A module
// declares a function of a number, and uses those of others as numbers.
type grammar struct {
	server   string // the program
	without  string // a server that would judge in its place
	compiler string // the program, for truth
	ending   string
	files    map[string]string
	head     string
	use      string   // %[1]d: the other's number
	call     string   // %[1]d: its own number, %[2]d: the other's
	number   string   // a function that returns a number; %s: its name
	text     string   // one that returns a text
	settings []string // a file of them, and what it may have; what it has at first is in files
	broken   string   // a line that cannot be read; empty: the compiler says nothing else then
	truth    func(t *testing.T, dir string) map[string]int
}

var (
	script = grammar{
		ending: ".ts",
		files: map[string]string{
			"package.json":  `{"name": "m", "type": "module"}`,
			"tsconfig.json": fmt.Sprintf(tsconfig, false),
		},
		settings: []string{"tsconfig.json", fmt.Sprintf(tsconfig, false), fmt.Sprintf(tsconfig, true)},
		head:     "export const lax = (a: string): string => a.at(0);\n",
		use:      "import { F%[1]d } from \"./m%[1]d.js\";\n",
		call:     "export const x%[2]d: number = F%[2]d(1);\n",
		number:   "export function %s(n: number): number {\n  return n;\n}\n",
		text:     "export function %s(n: number): string {\n  return String(n);\n}\n",
		truth: func(t *testing.T, dir string) map[string]int {
			return matches(dir, `(?m)^(\S+?)\((\d+),(\d+)\): error`, compilerSays(t, dir, "tsc", "--noEmit", "--pretty", "false", "-p", "."))
		},
	}
	grammars = map[string]grammar{
		"gopls": {
			server: "gopls", ending: ".go",
			files:  map[string]string{"go.mod": "module example.com/m\n\ngo 1.22\n"},
			head:   "package m\n\n",
			call:   "var x%[1]d_%[2]d int = F%[2]d(1)\n",
			number: "func %s(n int) int { return n }\n",
			text:   "func %s(n int) string { return \"\" }\n",
			broken: "func broken( {\n",
			truth: func(t *testing.T, dir string) map[string]int {
				files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
				return matches(dir, `(?m)^(\S+?):(\d+):(\d+)\S*: `, compilerSays(t, dir, "gopls", append([]string{"check"}, files...)...))
			},
		},
		"pyright": {
			server: "pyright-langserver", compiler: "pyright", ending: ".py",
			files:    map[string]string{"pyproject.toml": "[project]\nname = \"m\"\n"},
			settings: []string{"pyproject.toml", "[project]\nname = \"m\"\n", "[tool.pyright]\nreportUnusedImport = \"error\"\n", "[tool.pyright]\ntypeCheckingMode = \"strict\"\n"},
			head:     "import os\n",
			use:      "from m%[1]d import F%[1]d\n",
			call:     "x%[2]d: int = F%[2]d(1)\n",
			number:   "def %s(n: int) -> int:\n    return n\n",
			text:     "def %s(n: int) -> str:\n    return str(n)\n",
			broken:   "y = (1 +\n",
			truth:    pyrightErrors,
		},
	}
)

const tsconfig = `{"compilerOptions": {"strict": %t, "module": "nodenext", "target": "es2022", "noEmit": true}}`

// compilerSays is what a compiler says of a project, whether or not it is content.
func compilerSays(t *testing.T, dir, program string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if _, judged := err.(*exec.ExitError); err != nil && !judged {
		t.Fatal(err)
	}
	return string(out)
}

// matches are how often a place, as path:line:column, is in what a pattern finds.
func matches(dir, pattern, text string) map[string]int {
	found := map[string]int{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[fmt.Sprintf("%s:%s:%s", strings.TrimPrefix(m[1], dir+"/"), m[2], m[3])]++
	}
	return found
}

// pyrightErrors are the places of what pyright's command finds.
func pyrightErrors(t *testing.T, dir string) map[string]int {
	var report struct {
		GeneralDiagnostics []struct {
			File, Severity string
			Range          struct{ Start struct{ Line, Character int } }
		}
	}
	if err := json.Unmarshal([]byte(compilerSays(t, dir, "pyright", "--outputjson")), &report); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, d := range report.GeneralDiagnostics {
		if d.Severity == "error" {
			found[fmt.Sprintf("%s:%d:%d", strings.TrimPrefix(d.File, dir+"/"), d.Range.Start.Line+1, d.Range.Start.Character+1)]++
		}
	}
	return found
}

// module is a file of a random project.
type module struct {
	uses                          []int
	text, renamed, broken, absent bool
}

// randomProject is a project that changes at random.
type randomProject struct {
	t       *testing.T
	grammar grammar
	rand    *rand.Rand
	ws      *Workspace
	modules []*module
}

func newRandomProject(t *testing.T, g grammar, seed uint64) *randomProject {
	c := lsp.Config{DiagnosticWait: 2 * time.Minute, StartTimeout: 2 * time.Minute, RequestTimeout: 2 * time.Minute}
	if g.without != "" {
		c.Servers = map[string]lsp.ServerConfig{g.without: {Disabled: true}}
	}
	p := &randomProject{t: t, grammar: g, rand: rand.New(rand.NewPCG(seed, 0)), ws: lspWorkspace(t, c)}
	for name, text := range g.files {
		write(t, p.ws, name, []byte(text))
	}
	for i := range 10 {
		m := &module{}
		for j := range i {
			if p.rand.IntN(2) == 0 {
				m.uses = append(m.uses, j)
			}
		}
		p.modules = append(p.modules, m)
		p.save(i)
	}
	return p
}

func (p *randomProject) name(i int) string { return fmt.Sprintf("m%d%s", i, p.grammar.ending) }

// save brings the file of a module up to date.
func (p *randomProject) save(i int) {
	m, g := p.modules[i], p.grammar
	if m.absent {
		if err := os.Remove(filepath.Join(p.ws.Dir(), p.name(i))); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	var b strings.Builder
	b.WriteString(g.head)
	if g.use != "" {
		for _, u := range m.uses {
			fmt.Fprintf(&b, g.use, u)
		}
	}
	for _, u := range m.uses {
		fmt.Fprintf(&b, g.call, i, u)
	}
	name, function := fmt.Sprintf("F%d", i), g.number
	if m.renamed {
		name = fmt.Sprintf("G%d", i)
	}
	if m.text {
		function = g.text
	}
	fmt.Fprintf(&b, function, name)
	if m.broken {
		b.WriteString(g.broken)
	}
	write(p.t, p.ws, p.name(i), []byte(b.String()))
}

// step is what a random change does to some modules that others use.
func (p *randomProject) step() (what string, changed []int) {
	i := p.rand.IntN(6)
	m := p.modules[i]
	switch k := p.rand.IntN(7); {
	case m.absent:
		m.absent, what = false, "create"
	case m.broken, k == 0 && p.grammar.broken != "":
		m.broken, what = !m.broken, "break or mend"
	case k == 1:
		m.absent, what = true, "delete"
	case k == 2:
		m.renamed, what = !m.renamed, "rename"
	case k == 3 && !p.modules[i+1].absent:
		m.text, p.modules[i+1].text = !m.text, !p.modules[i+1].text
		return "two types", []int{i, i + 1}
	default:
		m.text, what = !m.text, "type"
	}
	return what, []int{i}
}

// change makes a random change, as a tool does, and is what was told of it.
func (p *randomProject) change() (what string, d lsp.Delta) {
	if s := p.grammar.settings; len(s) > 0 && p.rand.IntN(6) == 0 {
		paths := []string{filepath.Join(p.ws.Dir(), s[0])}
		before := p.ws.LSP.Before(p.t.Context(), paths)
		write(p.t, p.ws, s[0], []byte(s[1+p.rand.IntN(len(s)-1)]))
		return "settings", before.After(p.t.Context(), paths)
	}
	what, changed := p.step()
	var paths []string
	for _, i := range changed {
		what += " " + p.name(i)
		paths = append(paths, filepath.Join(p.ws.Dir(), p.name(i)))
	}
	before := p.ws.LSP.Before(p.t.Context(), paths)
	for _, i := range changed {
		p.save(i)
	}
	return what, before.After(p.t.Context(), paths)
}

// errors are the places of the errors in a list.
func (p *randomProject) errors(list lsp.List) []string {
	var out []string
	for _, d := range list.Items {
		if d.Severity == lsp.Error {
			out = append(out, fmt.Sprintf("%s:%d:%d", p.ws.Name(d.Path), d.At.Line, d.At.Column))
		}
	}
	return out
}

// kill ends the servers as the system does that has no memory left. Once that is noticed
// the next call works.
func (p *randomProject) kill() {
	var killed []int
	for _, s := range p.ws.LSP.Status() {
		if process, err := os.FindProcess(s.PID); err == nil && s.PID > 0 {
			killed = append(killed, s.PID)
			_ = process.Kill()
		}
	}
	runs := func(s lsp.Status) bool { return slices.Contains(killed, s.PID) }
	for slices.ContainsFunc(p.ws.LSP.Status(), runs) {
		runtime.Gosched()
	}
	if d, err := p.ws.LSP.Diagnostics(p.t.Context(), filepath.Join(p.ws.Dir(), p.name(9))); err != nil || len(d.NotReady) > 0 {
		p.t.Errorf("after a kill: %q, %v", d.NotReady, err)
	}
	for _, s := range p.ws.LSP.Status() {
		if s.Crashes > 1 { // it would be given up some day
			p.ws.LSP.Restart("")
		}
	}
}

// TestRandomChanges holds what is told of random changes, from the very first on, against
// compilers: all that is new and fixed is told once, and nothing else.
func TestRandomChanges(t *testing.T) {
	native, five := script, script
	native.server, native.without = "tsc", "typescript-language-server"
	five.server, five.without = "typescript-language-server", "typescript"
	all := map[string]grammar{"typescript": native, "typescript-language-server": five}
	for name, g := range grammars {
		all[name] = g
	}
	for name, g := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, program := range []string{g.server, g.compiler} {
				if program != "" {
					needProgram(t, program)
				}
			}
			p := newRandomProject(t, g, *randomSeed)
			known := map[string]int{}
			for n := range *randomSteps {
				if *randomKills && p.rand.IntN(4) == 0 {
					p.kill()
				}
				what, d := p.change()
				fresh, fixed := p.errors(d.New), p.errors(d.Fixed)
				for _, at := range fixed {
					known[at]--
				}
				for _, at := range fresh {
					known[at]++
				}
				truth := g.truth(t, p.ws.Dir())
				if len(d.NotReady)+len(d.Present.Items) > 0 {
					t.Errorf("step %d, %s: %q, %v", n, what, d.NotReady, p.errors(d.Present))
				}
				if wrong := apart(known, truth); wrong != "" {
					t.Fatalf("step %d, %s: new %v, fixed %v: %s", n, what, fresh, fixed, wrong)
				}
			}
		})
	}
}

// apart is in what two counts differ; empty: in nothing.
func apart(got, want map[string]int) string {
	all := maps.Clone(got)
	maps.Copy(all, want)
	var out []string
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if got[at] != want[at] {
			out = append(out, fmt.Sprintf("%s has %d, told are %d", at, want[at], got[at]))
		}
	}
	return strings.Join(out, ", ")
}
