package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/acp-agent/acp-agent"

// layout says what of ours each package may import: the edge may know the
// middle, never the other way round. A package that is not here does not exist;
// one that is need not exist yet. A name that ends in ... stands for a package
// and all below it.
var layout = map[string][]string{
	"cmd/acp-agent": {"..."},

	"acp":         {"session", "tools", "kinds", "acp/jsonrpc", "editors"},
	"acp/client":  {"acp", "acp/jsonrpc"},
	"acp/jsonrpc": {},
	"acp/remote":  {"acp", "acp/jsonrpc"},
	"acp/acptest": {"acp/jsonrpc"}, // for tests

	"kinds":   {},
	"editors": {},

	"tools":           {"kinds", "tools/workspace", "tools/process", "tools/pdf", "tools/sandbox", "lsp"},
	"tools/process":   {},
	"tools/pdf":       {"tools/process"},
	"tools/web":       {"tools", "kinds"}, // a boundary of its own: the network
	"tools/workspace": {},
	"tools/sandbox":   {"tools/process"},
	"tools/mcp":       {"tools", "tools/process", "kinds"},
	"lsp":             {"acp/jsonrpc", "tools/process"},

	"session":            {"session/...", "tools/...", "lsp", "kinds"},
	"session/permission": {"kinds", "tools/workspace"},
	// The cases that hold the engine: as data, and judged with the tools' own facts.
	"session/permission/cases":  {},
	"session/permission/corpus": {"session/...", "tools", "tools/...", "kinds"},

	"session/model":  {},
	"session/store":  {},
	"session/config": {"session/permission", "session/model", "kinds"}, // the choice of a model and its table, the places of the web

	"session/model/anthropic": {"session/model"},
	"session/model/openai":    {"session/model"},
	"session/model/google":    {"session/model"},
	"session/model/commands":  {"session/model"},
	"session/model/replay":    {"session/model"},

	"testdata/acp": {}, // the protocol's schema, for tests
}

// spoken are packages whose types stand in the interfaces of packages that an
// importer may use: who calls or implements those must be able to name them.
var spoken = map[string]map[string]string{
	"acp": {
		"session/permission": "what a question offers, and the modes (session.Asker)",
		"tools/workspace":    "the paths of files (tools.Files)",
	},
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Name, Doc string
	Imports               []string
}

// listPackages lists the module's packages as they are built for a system.
func listPackages(t *testing.T, goos string) []listed {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is needed to list the packages, and is not there")
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports", modulePath+"/...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// ours is a package's name in the module; ok is false for those of others.
func ours(path string) (name string, ok bool) {
	return strings.CutPrefix(path, modulePath+"/")
}

// mayImport reports whether the layout allows an import.
func mayImport(from, to string) bool {
	return spoken[from][to] != "" || slices.ContainsFunc(layout[from], func(allowed string) bool {
		root, below := strings.CutSuffix(allowed, "...")
		if below {
			return to == strings.TrimSuffix(root, "/") || strings.HasPrefix(to, root)
		}
		return to == allowed
	})
}

// starters are the packages that may start processes, or only look for programs:
// what else is started beside a command could be born with that one's mark, and end
// with it.
var starters = []string{"tools/process", "acp/client", "editors"}

// TestImports holds every package to the layout, on every system.
func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range listPackages(t, goos) {
			name, ok := ours(p.ImportPath)
			if _, known := layout[name]; !ok || !known {
				t.Errorf("%s: the package %s is not in the layout", goos, p.ImportPath)
				continue
			}
			for _, path := range p.Imports {
				if to, ok := ours(path); ok && !mayImport(name, to) {
					t.Errorf("%s: %s imports %s, which the layout does not allow", goos, name, to)
				}
				if path == modulePath+"/acp" && !strings.HasPrefix(name, "cmd/") && !strings.HasPrefix(name, "acp/") {
					t.Errorf("%s: %s imports acp; only commands and what is below acp may", goos, name)
				}
				if name == "tools" && path == "net/http" {
					t.Errorf("%s: a built-in tool imports %s; requests are made by who may", goos, path)
				}
				if path == "os/exec" && !slices.Contains(starters, name) {
					t.Errorf("%s: %s imports %s; processes are started by tools/process, which marks them", goos, name, path)
				}
			}
		}
	}
}

// TestPackages holds names and doc comments.
func TestPackages(t *testing.T) {
	empty := []string{"util", "utils", "common", "helpers", "types", "internal", "misc", "shared"}
	for _, p := range listPackages(t, "linux") {
		for part := range strings.SplitSeq(p.ImportPath, "/") {
			if slices.Contains(empty, part) {
				t.Errorf("%s: %q says nothing of what is in it", p.ImportPath, part)
			}
		}
		want := "Package " + p.Name + " "
		if p.Name == "main" {
			want = "Command " + p.ImportPath[strings.LastIndexByte(p.ImportPath, '/')+1:] + " "
		}
		if !strings.HasPrefix(p.Doc, want) {
			t.Errorf("%s: its doc comment begins %q, want %q", p.ImportPath, p.Doc, want)
		}
	}
}
