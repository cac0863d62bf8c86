package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
)

type trustCommand struct {
	Folder string `arg:"" optional:"" default:"." help:"The folder; without one, this folder."`
}

// Run trusts the folder and its settings as they are now, without asking, and
// says what that puts into force.
func (c *trustCommand) Run(p *process) error {
	folder, err := folder(c.Folder)
	if err != nil {
		return err
	}
	paths := config.NewPaths(p.getenv)
	o := paths.Open(folder)
	if err := paths.Agree(o); err != nil {
		return fmt.Errorf("trusting %s: %w", folder, err)
	}
	root, enabled := o.Root, o.Enabled()
	o = paths.Open(folder)
	for _, problem := range o.Problems {
		fmt.Fprintln(p.errout, problem)
	}
	if o.Config.Trust == config.TrustNever {
		fmt.Fprintf(p.errout, "Note: %s says \"trust\": \"never\", so no folder's settings hold.\n", paths.UserFile())
	}
	if len(o.Config.Unread) > 0 {
		fmt.Fprintf(p.errout, "Note: the folder counts as not trusted yet: %s.\n", kinds.Escape(o.Why))
	}
	_, err = io.WriteString(p.out, trusted(root, enabled))
	return err
}

// trusted says what holds now in a folder.
func trusted(root string, enabled []config.Enabled) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is trusted", root)
	if len(enabled) == 0 {
		b.WriteString(", and has no settings of its own that need it. Language servers may start in it.\n")
		return b.String()
	}
	b.WriteString(", with its settings as they are now:\n")
	var part config.Part
	for _, e := range config.Sorted(enabled) {
		if e.Part != part {
			part = e.Part
			fmt.Fprintf(&b, "%s:\n", part)
		}
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(kinds.Escape(e.Text), "\n", "\n    "))
	}
	b.WriteString("Language servers may start in it.\n")
	return b.String()
}
