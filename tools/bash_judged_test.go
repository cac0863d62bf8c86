package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/tools/process"
)

// What is judged runs in the place of the command, which goes on being shown.
func TestBashRunsWhatWasJudged(t *testing.T) {
	ws := shellWorkspace(t)
	a := prepare(t, ws, bashInput{Command: "echo   written"})
	a.RunAs("echo judged")
	r, err := a.Run(t.Context(), silently)
	if err != nil || r.Text != "judged\n" || a.Card.Title != "echo   written" {
		t.Errorf("%q, %v; the title is %q", r.Text, err, a.Card.Title)
	}
}

// Nothing that the environment or the project brings stands in for the programs
// that were judged.
func TestNothingStandsInForPrograms(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bin")
	if err := os.Mkdir(bad, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"uname", "startup"} {
		if err := os.WriteFile(filepath.Join(bad, name), []byte("#!/bin/sh\necho stood in\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(os.Environ(),
		"BASH_FUNC_uname%%=() { echo stood in; }", "BASH_FUNC_builtin%%=() { echo stood in; }", "BASH_FUNC_unset%%=() { echo stood in; }", "BASH_FUNC_exec%%=() { echo stood in; }",
		"BASH_ENV="+filepath.Join(bad, "startup"), "ENV="+filepath.Join(bad, "startup"), "PS4=$(echo stood in)", "SHELLOPTS=xtrace", "GIT_EXTERNAL_DIFF=uname",
		"PATH="+bad+string(os.PathListSeparator)+os.Getenv("PATH"))
	shell := NewExecShell(ExecOptions{Environ: environ, Path: process.NewSearchPath(environ, []string{dir})})
	defer shell.CloseAll()
	if err := shell.Available(); err != nil {
		t.Skip(err)
	}
	const text = "set -x; uname; command uname; git --version"
	run := func(how string, c Command) {
		t.Helper()
		var out strings.Builder
		c.Dir, c.Output = dir, &out
		p, err := shell.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Wait(t.Context()); err != nil || strings.Contains(out.String(), "stood in") || out.Len() == 0 {
			t.Errorf("%s: %q, %v", how, out.String(), err)
		}
	}
	run("a child", Command{Text: text})
	script, err := shell.Script(Command{Text: text, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer script.Sweep()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	// As an editor does, whose environment is not ours.
	call := "env"
	for _, entry := range environ[len(os.Environ()):] {
		call += " '" + entry + "'"
	}
	for _, name := range script.Empty {
		call += " " + name + "="
	}
	run("an editor's terminal", Command{Text: call + " bash --noprofile --norc " + file})
}
