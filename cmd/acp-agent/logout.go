package main

import (
	"fmt"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/model"
)

type logoutCommand struct {
	Provider string `arg:"" optional:"" help:"Whose key to forget; without it, all of them."`
}

// Run forgets stored keys. None to forget is fine.
func (c *logoutCommand) Run(p *process) error {
	paths := config.NewPaths(p.getenv)
	cfg, _ := config.Load(config.LoadOptions{Paths: paths})
	forgotten, err := paths.Logout(c.Provider)
	if err != nil {
		return fmt.Errorf("forgetting stored keys: %w", err)
	}
	of := ""
	if c.Provider != "" {
		of = " of " + c.Provider
	}
	said := fmt.Sprintf("%d stored keys%s forgotten.", forgotten, of)
	switch forgotten {
	case 0:
		said = "There was no stored key" + of + "."
	case 1:
		said = "One stored key" + of + " forgotten."
	}
	for _, name := range namesOrAll(cfg, c.Provider) {
		p.warnOfVariables(cfg, name, "still works: unset it to log out there")
	}
	_, err = fmt.Fprintln(p.out, said)
	return err
}

// namesOrAll is the provider that is meant, or all whose keys have a variable
// of their own.
func namesOrAll(cfg *config.Config, provider string) []string {
	if provider != "" {
		return []string{provider}
	}
	var names []string
	seen := map[string]bool{}
	for _, row := range model.Providers() {
		if row.Served && len(row.KeyEnv) > 0 && !seen[row.KeyEnv[0]] {
			names = append(names, row.Name)
			seen[row.KeyEnv[0]] = true
		}
	}
	for name := range cfg.Providers {
		names = append(names, name)
	}
	return names
}
