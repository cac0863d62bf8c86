package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

var updateLSP = flag.Bool("update-lsp", false, "write what the language servers answered into testdata/lsp")

// TestLanguageServers runs the tool against real language servers. Each file in
// testdata/lsp is a project, and behind its files the calls, in order, with what
// comes of them: "call INPUT" is what the model reads, "edit NAME" changes a file
// beforehand, "after NAME" is what a file holds then. "crlf NAME" is a file whose
// lines end in CRLF, which "after" writes out. "change NAME" changes a file as a tool
// does, and "verdict" is what the servers say to that.
func TestLanguageServers(t *testing.T) {
	scripts, err := filepath.Glob("../testdata/lsp/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) { playLSP(t, script) })
	}
}

// serverOf is the program that a script needs, from its comment: "server: NAME".
func serverOf(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	for line := range strings.Lines(string(a.Comment)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "server: "); ok {
			needProgram(t, name)
			return name
		}
	}
	t.Fatal("the script names no server")
	return ""
}

// needProgram skips a test whose program is not installed, which CI does not allow.
func needProgram(t *testing.T, name string) {
	t.Helper()
	program, err := exec.LookPath(name)
	missing := name + " is not in PATH"
	if err == nil && name == "tsc" { // it serves from version 7 on
		if said, _ := exec.Command(program, "--version").Output(); !strings.HasPrefix(string(said), "Version 7.") {
			missing, err = "tsc in PATH is not that of TypeScript 7", errors.New("too old")
		}
	}
	if err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s, and CI skips nothing", missing)
	}
	t.Skip(missing)
}

// disabledOf are the servers that a script does not want: "without: NAME NAME".
func disabledOf(a *txtar.Archive) map[string]lsp.ServerConfig {
	out := map[string]lsp.ServerConfig{}
	for line := range strings.Lines(string(a.Comment)) {
		if names, ok := strings.CutPrefix(strings.TrimSpace(line), "without: "); ok {
			for _, name := range strings.Fields(names) {
				out[name] = lsp.ServerConfig{Disabled: true}
			}
		}
	}
	return out
}

// unstable is what differs from machine to machine, and from run to run.
var unstable = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`/\S*/node_modules/`), "MODULES/"}, // wherever npm put them
	{regexp.MustCompile(`typescript-[a-z0-9]+-[a-z0-9]+/lib/`), "typescript-SYSTEM/lib/"},
	{regexp.MustCompile(`running for \S+, pid \d+`), "running for TIME, pid PID"},
	{regexp.MustCompile(`(files? open)(, \d+ MB)?`), "$1, SIZE MB"},
	{regexp.MustCompile(`that of \w+/\w+;`), "that of SYSTEM/ARCH;"},
	{regexp.MustCompile(`so far \d+ of`), "so far SOME of"},             // pyright finds a symbol by itself or not
	{regexp.MustCompile(`(?m)^clangd \d\S* for`), "clangd VERSION for"}, // the system's
}

func playLSP(t *testing.T, script string) {
	a, err := txtar.ParseFile(script)
	if err != nil {
		t.Fatal(err)
	}
	serverOf(t, a)
	// What is held is what they answer, and not how soon.
	ws := lspWorkspace(t, lsp.Config{Servers: disabledOf(a), RequestTimeout: 3 * time.Minute, StartTimeout: 3 * time.Minute, DiagnosticWait: time.Minute})
	if linked(a) {
		linkModules(t, ws)
	}
	verdict := ""
	for i, f := range a.Files {
		var got string
		switch what, rest, _ := strings.Cut(f.Name, " "); what {
		case "call":
			got = lspText(t, ws, rest)
		case "edit":
			write(t, ws, rest, f.Data)
			ws.LSP.Dirty() // as behind a command
			continue
		case "change":
			verdict = changeLSP(t, ws, rest, f.Data)
			continue
		case "verdict":
			got = verdict
		case "crlf":
			write(t, ws, rest, bytes.ReplaceAll(f.Data, []byte("\n"), []byte("\r\n")))
			age(t, ws, rest)
			continue
		case "after":
			data, err := os.ReadFile(filepath.Join(ws.Dir(), rest))
			if err != nil {
				t.Fatal(err)
			}
			got = strings.ReplaceAll(string(data), "\r\n", "\\r\\n\n")
		default:
			write(t, ws, f.Name, f.Data)
			age(t, ws, f.Name)
			continue
		}
		if got = strings.TrimRight(got, "\n") + "\n"; got != string(f.Data) && !*updateLSP {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", f.Name, got, f.Data)
		}
		a.Files[i].Data = []byte(got)
	}
	if *updateLSP {
		if err := os.WriteFile(script, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingIsDownloaded: no server has npm fetch anything for a project.
func TestNothingIsDownloaded(t *testing.T) {
	for server, other := range map[string]string{"tsc": "typescript-language-server", "typescript-language-server": "typescript"} {
		t.Run(server, func(t *testing.T) {
			needProgram(t, server)
			dir := t.TempDir()
			ran := filepath.Join(dir, "ran")
			if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\ntouch "+ran+"\nsleep 1\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			t.Setenv("XDG_CACHE_HOME", dir)
			ws := lspWorkspace(t, lsp.Config{Servers: map[string]lsp.ServerConfig{other: {Disabled: true}}, StartTimeout: 3 * time.Minute, RequestTimeout: 3 * time.Minute, DiagnosticWait: time.Minute})
			write(t, ws, "package.json", []byte(`{"dependencies": {"lodash": "4", "express": "4"}}`))
			write(t, ws, "jsconfig.json", []byte("{}"))
			write(t, ws, "a.js", []byte("const _ = require('lodash');\n_.chunk([1]);\n"))
			for range 20 { // it begins behind the first answers
				for _, input := range []string{`{"operation":"diagnostics","path":"a.js"}`, `{"operation":"hover","path":"a.js","symbol":"chunk"}`, `{"operation":"references","path":"a.js","symbol":"_"}`} {
					lspText(t, ws, input)
				}
				write(t, ws, "a.js", []byte("const _ = require('lodash');\n_.chunk([1]);\n"))
			}
			ws.LSP.Restart("") // which waits for its end
			if _, err := os.Stat(ran); err == nil {
				t.Error("npm ran")
			}
		})
	}
}

// linked reports whether a script wants the modules of eslint in its project: "modules".
func linked(a *txtar.Archive) bool {
	return slices.Contains(strings.Split(string(a.Comment), "\n"), "modules")
}

// linkModules has the project the modules among which eslint is.
func linkModules(t *testing.T, ws *Workspace) {
	t.Helper()
	program, err := exec.LookPath("eslint")
	if err == nil {
		err = os.Symlink(filepath.Dir(filepath.Dir(program)), filepath.Join(ws.Dir(), "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// changeLSP changes a file, and is what that broke and fixed.
func changeLSP(t *testing.T, ws *Workspace, name string, data []byte) string {
	t.Helper()
	paths := []string{filepath.Join(ws.Dir(), name)}
	before := ws.LSP.Before(t.Context(), paths)
	write(t, ws, name, data)
	d := before.After(t.Context(), paths)
	var b strings.Builder
	for _, part := range []struct {
		name string
		list lsp.List
	}{{"new", d.New}, {"fixed", d.Fixed}, {"present", d.Present}} {
		for _, one := range part.list.Items {
			b.WriteString(part.name + " " + ProblemLine(one, ws.Name) + "\n")
		}
	}
	for _, why := range d.NotReady {
		b.WriteString("unknown: " + why + "\n")
	}
	if len(d.Servers) > 0 {
		b.WriteString("judged by: " + strings.Join(d.Servers, " and "))
	}
	return stable(b.String(), ws)
}

// age makes a file one that was there for long: clangd tells by whole seconds and
// lengths whether a header changed.
func age(t *testing.T, ws *Workspace, name string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(ws.Dir(), name), past, past); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, ws *Workspace, name string, data []byte) {
	t.Helper()
	path := filepath.Join(ws.Dir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// lspText is what comes of a call: its card where it changes files, and its text.
func lspText(t *testing.T, ws *Workspace, input string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	action, err := LanguageServers().Prepare(ctx, ws, json.RawMessage(input))
	if err != nil {
		return stable("error: "+err.Error(), ws)
	}
	var b strings.Builder
	if action.Kind == kinds.KindEdit {
		fmt.Fprintf(&b, "[%s]\n", action.Title)
		for _, c := range action.Changes {
			fmt.Fprintf(&b, "[%s]\n", ws.Name(c.Path))
		}
	}
	result, err := action.Run(ctx, func(Output) {})
	if err != nil {
		b.WriteString("error: " + err.Error())
	}
	b.WriteString(result.Text)
	return stable(b.String(), ws)
}

// stable is a text without what is unstable.
func stable(text string, ws *Workspace) string {
	text = strings.ReplaceAll(text, ws.Dir(), "ROOT")
	text = strings.ReplaceAll(text, filepath.Dir(ws.Dir()), "ABOVE")
	for _, u := range unstable {
		text = u.pattern.ReplaceAllString(text, u.name)
	}
	return text
}

// lspWorkspace is an empty folder with language servers.
func lspWorkspace(t *testing.T, c lsp.Config) *Workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "project") // which servers name
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { roots.Close() })
	disk := workspace.NewDisk(roots)
	servers := lsp.New(lsp.Options{})
	t.Cleanup(servers.Close)
	ws := &Workspace{Roots: roots, Files: disk, Seen: &Seen{}}
	ws.LSP = servers.View(lsp.ViewOptions{
		Dirs: []string{dir}, Config: c,
		Read: func(ctx context.Context, path string) (string, bool, error) {
			p, err := roots.Resolve(path)
			if err != nil {
				return "", false, err
			}
			if !p.Inside { // as in a session
				return "", false, fmt.Errorf("%s lies outside of the project", path)
			}
			data, err := disk.ReadFile(ctx, p)
			if err != nil {
				return "", false, err
			}
			text, err := workspace.Decode(data)
			if err != nil {
				return "", false, err
			}
			return text.Body(), true, nil
		},
		Walk: func(ctx context.Context, dir string, match func(string) bool, each func(string, lsp.Stamp)) error {
			p, err := roots.Resolve(dir)
			if err != nil {
				return err
			}
			list, err := workspace.Walk(ctx, roots, p, workspace.WalkOptions{Match: match, Stat: true})
			if err != nil {
				return err
			}
			for _, f := range list.Files {
				each(filepath.Join(dir, filepath.FromSlash(f.Path)), lsp.Stamp{Size: f.Size, ModTime: f.ModTime})
			}
			return nil
		},
		Path: func() []string { return filepath.SplitList(os.Getenv("PATH")) },
		Env:  os.Environ,
		Bash: func() string { return "/bin/bash" },
	})
	return ws
}
