package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	root, err := paths.Trust(folder)
	if err != nil {
		return fmt.Errorf("trusting %s: %w", folder, err)
	}
	cfg, problems := config.Load(config.LoadOptions{Paths: paths, Project: root, Trusted: true})
	for _, problem := range problems {
		fmt.Fprintln(p.errout, problem)
	}
	if cfg.Trust == config.TrustNever {
		fmt.Fprintf(p.errout, "Note: %s says \"trust\": \"never\", so no folder's settings hold.\n", paths.UserFile())
	}
	_, err = fmt.Fprintf(p.out, "%s is trusted, %s.\n", root, settingsOf(root))
	return err
}

// settingsOf names the settings files of a folder.
func settingsOf(root string) string {
	var names []string
	for _, path := range config.ProjectFiles(root) {
		if _, err := os.Stat(path); err == nil {
			names = append(names, filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)))
		}
	}
	if len(names) == 0 {
		return "and has no settings of its own"
	}
	return "with its settings as they are now (" + strings.Join(names, ", ") + ")"
}
