package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/model"
)

type loginCommand struct {
	Provider string `arg:"" optional:"" help:"Whose key it is: anthropic, openai-compatible or one of the configuration. Without it you are asked. The key is typed, or one line on stdin."`
}

// Run stores a provider's key: one line from stdin, or what a person types
// without seeing it.
func (c *loginCommand) Run(p *process) error {
	paths := config.NewPaths(p.getenv)
	cfg, _ := config.Load(config.LoadOptions{Paths: paths})
	person := term.IsTerminal(int(p.in.Fd()))
	if c.Provider == "" && person {
		fmt.Fprintf(p.errout, "Which provider (%s)? ", strings.Join(providersWithKeys(cfg), ", "))
		name, err := readLine(p.in)
		if err != nil {
			return err
		}
		c.Provider = name
	}
	if err := checkProvider(cfg, c.Provider); err != nil {
		return &statusError{statusUsage, err}
	}
	key, err := p.readKey(c.Provider, person)
	if err != nil {
		return err
	}
	if key == "" {
		return errors.New("no key came: pass it as one line on stdin, or type it in a terminal")
	}
	if err := paths.Login(c.Provider, key); err != nil {
		return fmt.Errorf("storing the key: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "The key of %s is stored below %s, for this user alone; the next prompt uses it.\n", c.Provider, paths.Data)
	p.warnOfVariables(cfg, c.Provider, "is used before the stored key")
	return err
}

// readKey reads one line: without echo where a person types it.
func (p *process) readKey(provider string, person bool) (string, error) {
	if !person {
		return readLine(p.in)
	}
	fmt.Fprintf(p.errout, "Key of %s (it is not shown): ", provider)
	fd := int(p.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	// An interrupt would leave the terminal without echo.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	done := make(chan struct{})
	go func() { // ends with this function
		select {
		case <-interrupts:
			_ = term.Restore(fd, before)
			fmt.Fprintln(p.errout)
			os.Exit(statusCancelled)
		case <-done:
		}
	}()
	defer func() { signal.Stop(interrupts); close(done) }()
	key, err := term.ReadPassword(fd)
	fmt.Fprintln(p.errout)
	return strings.TrimSpace(string(key)), err
}

// maxKey is the longest line that is read as a key, in bytes.
const maxKey = 64 << 10

func readLine(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, maxKey+1)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading stdin: %w", err)
	}
	if len(line) > maxKey {
		return "", fmt.Errorf("the line on stdin is longer than %d bytes, so it is no key", maxKey)
	}
	return strings.TrimSpace(line), nil
}

// checkProvider says what is wrong with a name that a key is to be stored for.
func checkProvider(cfg *config.Config, name string) error {
	if name == "" {
		return fmt.Errorf("whose key is it? acp-agent login PROVIDER, with one of %s", strings.Join(providersWithKeys(cfg), ", "))
	}
	if err := cfg.Check(name + "/any"); err != nil {
		return err
	}
	if row, ok := model.FindProvider(name); ok && row.API == model.APICommands {
		return fmt.Errorf("%s needs no key: it is built in", name)
	}
	return nil
}

// providersWithKeys are those that a key can be stored for.
func providersWithKeys(cfg *config.Config) []string {
	var names []string
	for _, row := range model.Providers() {
		if row.Served && !row.NoKey {
			names = append(names, row.Name)
		}
	}
	for name := range cfg.Providers {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// warnOfVariables says where a provider's key also stands in the environment.
func (p *process) warnOfVariables(cfg *config.Config, provider, matters string) {
	for _, name := range keyVariables(cfg, provider) {
		if p.getenv(name) != "" {
			fmt.Fprintf(p.errout, "Note: %s is set in this environment, and %s.\n", name, matters)
		}
	}
}

// keyVariables are the variables that may hold a provider's key.
func keyVariables(cfg *config.Config, provider string) []string {
	if own, ok := cfg.Providers[provider]; ok && own.APIKeyEnv != "" {
		return []string{own.APIKeyEnv}
	}
	row, _ := model.FindProvider(provider)
	names := slices.Clone(row.KeyEnv)
	if row.TokenEnv != "" {
		names = append(names, row.TokenEnv)
	}
	return names
}
