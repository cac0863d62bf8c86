package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/acp-agent/acp-agent/editors"
)

type setupCommand struct {
	Editor string `arg:"" optional:"" help:"The editor; without one, those that are known are listed."`
	Print  bool   `help:"Print the entry even where its path is temporary."`
}

// Run prints the entry on the output and, for a person, where it belongs on
// the error output, so that the entry can be piped.
func (c *setupCommand) Run(p *process) error {
	env := editors.ThisEnv()
	if c.Editor == "" {
		return listEditors(p, env)
	}
	editor, err := editors.Find(c.Editor)
	if err != nil {
		return &statusError{statusUsage, err}
	}
	exe, err := editors.Executable()
	if err != nil {
		return fmt.Errorf("finding the path of this program: %w", err)
	}
	if editors.Temporary(exe) {
		if !c.Print {
			return fmt.Errorf("this program was started by `go run`, so its path will not last: %s", strings.TrimSuffix(howToBuild, "."))
		}
		fmt.Fprintln(p.errout, "Note: the path below is temporary, since `go run` made it. "+howToBuild)
	}
	fmt.Fprintln(p.errout, whereItBelongs(editor, env))
	if _, err = fmt.Fprint(p.out, editor.Snippet(exe)); err != nil {
		return err
	}
	if next := editor.Next(); next != "" {
		fmt.Fprintf(p.errout, "Then %s.\n", next)
	}
	return nil
}

const howToBuild = "Build the program where it can stay (`go install ./cmd/acp-agent`, or `go build -o FILE ./cmd/acp-agent`), then run `acp-agent setup` with that one."

// whereItBelongs tells a person what to do with the entry that follows.
func whereItBelongs(e editors.Editor, env editors.Env) string {
	var b strings.Builder
	paths := e.Paths(env)
	switch len(paths) {
	case 0:
		fmt.Fprintf(&b, "Merge this into the configuration of %s", e.Name)
	default:
		fmt.Fprintf(&b, "Merge this into %s", configured(paths))
	}
	if e.Comments() {
		b.WriteString(" (comments and other entries stay as they are)")
	}
	b.WriteString(":")
	return b.String()
}

// configured is the first of the paths that exists, or the usual one.
func configured(paths []string) string {
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

func listEditors(p *process, env editors.Env) error {
	var b strings.Builder
	b.WriteString("acp-agent setup EDITOR shows what an editor needs to launch this agent:\n\n")
	for _, id := range editors.Names() {
		e, err := editors.Find(id)
		if err != nil {
			return err
		}
		found := "not found here"
		if sign := installed(e, env); sign != "" {
			found = "found: " + sign
		}
		fmt.Fprintf(&b, "  %-10s  %s (%s)\n", e.ID, e.Name, found)
	}
	_, err := fmt.Fprint(p.out, b.String())
	return err
}

// installed is what tells that the editor is there; empty where nothing does.
func installed(e editors.Editor, env editors.Env) string {
	for _, sign := range e.Signs(env) {
		if _, err := os.Stat(sign); err == nil {
			return sign
		}
	}
	return ""
}
