package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/editors"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
	children "github.com/acp-agent/acp-agent/tools/process"
)

// The doctor's checks, in the order in which they are shown.

func (d *patient) program(context.Context) []finding {
	exe, err := editors.Executable()
	if err != nil {
		exe = "its path cannot be found: " + err.Error()
	}
	found := []finding{{Check: "program", Severity: fine, Text: versionLine() + ", " + exe}}
	if d.paths.Home == "" {
		found = append(found, finding{Check: "home", Severity: warning, Text: "there is no home directory, so everything is kept in " + d.paths.Data,
			Advice: "set HOME in the editor's configuration of this agent"})
	}
	return found
}

func (d *patient) model(context.Context) []finding {
	choice := d.cfg.Choose("", d.getenv, d.paths)
	f := finding{Check: "model", Severity: fine, Text: choice.Name()}
	switch {
	case choice.Missing != "":
		f.Severity, f.Text, f.Advice = broken, choice.Name()+" cannot be asked", choice.Missing
	case choice.API == model.APICommands && !choice.Explicit:
		f.Severity = warning
		f.Text = "none is set up, so only direct commands (/read, /grep, /run, …) work"
		f.Advice = "run `acp-agent login " + strings.Join(providersWithKeys(d.cfg), "` or `acp-agent login ") + "`, and for the second choose a model: ACP_AGENT_MODEL, or \"model\" in " + d.paths.UserFile()
	default:
		if !choice.Explicit {
			f.Text += " (the first provider with a key)"
		}
		if choice.BaseURL != "" {
			f.Text += " at " + address(choice.BaseURL)
		}
	}
	return []finding{f}
}

// address is a URL without what it may hold of secrets.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an address that is none"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func (d *patient) credentials(context.Context) []finding {
	var found []finding
	for _, name := range providersWithKeys(d.cfg) {
		var sources []string
		for _, variable := range keyVariables(d.cfg, name) {
			if d.getenv(variable) != "" {
				sources = append(sources, "in the variable "+variable)
			}
		}
		key, err := d.paths.StoredKey(name)
		if err != nil {
			return append(found, finding{Check: "credentials", Severity: broken, Text: err.Error()})
		}
		if key != "" {
			sources = append(sources, "stored")
		}
		f := finding{Check: "credentials", Severity: noted, Text: name + ": no key"}
		if len(sources) > 0 {
			f.Severity, f.Text = fine, name+": a key is "+strings.Join(sources, " and ")
		}
		found = append(found, f)
	}
	return found
}

func (d *patient) database(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	path := filepath.Join(d.paths.Data, session.DatabaseName)
	health, err := store.Check(ctx, path)
	f := finding{Check: "database", Severity: fine, Text: fmt.Sprintf("%s: %d KiB, sessions: %d", path, health.Bytes>>10, health.Sessions)}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Text = path + ": none yet; the first prompt makes it"
		if at, ok := writable(path); !ok {
			f.Severity, f.Text = broken, path+" cannot be made: "+at+" cannot be written to"
			f.Advice = "let this user write there, or set XDG_DATA_HOME to a folder that is writable"
		}
	case err != nil:
		f.Severity, f.Text = broken, err.Error()
	}
	found := []finding{f}
	for _, aside := range health.Aside {
		found = append(found, finding{Check: "database", Severity: warning, Text: "a damaged one was put aside: " + aside,
			Advice: "`sqlite3 FILE .recover` may save what it holds; remove it when it is no longer wanted"})
	}
	return found
}

// writable says whether a file can be made at path, by the nearest folder of it
// that exists. It makes a file there for a moment, which is the only sure way.
func writable(path string) (folder string, ok bool) {
	for folder = filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			break
		}
	}
	f, err := os.CreateTemp(folder, ".acp-agent-*")
	if err != nil {
		return folder, false
	}
	return folder, errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// tools are looked for where a session's commands look.
func (d *patient) tools(context.Context) []finding {
	environ := os.Environ()
	var roots []string
	if d.folder != "" {
		roots = []string{d.folder}
	}
	dirs, left := children.NewSearchPath(environ, roots).Dirs()
	f := finding{Check: "tools", Severity: fine}
	bash, err := tools.FindBash(dirs, environ)
	f.Text = "bash: " + bash
	if err != nil {
		f.Severity, f.Text, f.Advice = broken, "bash: not found, so no command can be run", toolAdvice
	}
	found := []finding{f, program(dirs, "git", warning, "commands that need it fail"), program(dirs, "rg", noted, "not needed, since searching is built in")}
	if len(left) > 0 {
		found = append(found, finding{Check: "tools", Severity: noted, Text: "left out of PATH, since they are relative, in the project or open to everybody: " + strings.Join(left, ", ")})
	}
	return found
}

const toolAdvice = "install it, or set PATH in the editor's configuration of this agent"

// program looks for one that is no part of the agent.
func program(dirs []string, name string, missing severity, means string) finding {
	file := name
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return finding{Check: "tools", Severity: fine, Text: name + ": " + path}
		}
	}
	f := finding{Check: "tools", Severity: missing, Text: name + ": not found; " + means}
	if missing != noted {
		f.Advice = toolAdvice
	}
	return f
}

func (d *patient) configuration(context.Context) []finding {
	var found []finding
	for _, p := range d.problems {
		f := finding{Check: "configuration", Severity: broken, Text: p.String()}
		if p.Warning {
			f.Severity = warning
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		f := finding{Check: "configuration", Severity: fine, Text: d.paths.UserFile()}
		if _, err := os.Stat(d.paths.UserFile()); err != nil {
			f.Severity, f.Text = noted, d.paths.UserFile()+": none, the defaults hold"
		}
		found = append(found, f)
	}
	granted, err := d.paths.Grants(d.root)
	f := finding{Check: "permissions", Severity: fine, Text: fmt.Sprintf("mode %s, %d rules, %d granted in this project", d.cfg.Mode, len(d.cfg.Rules), len(granted))}
	if err != nil {
		f.Severity, f.Text = broken, "the permissions granted in this project do not hold: "+err.Error()
	}
	return append(found, f)
}

func (d *patient) trust(context.Context) []finding {
	f := finding{Check: "trust", Severity: fine, Text: d.root + " is trusted"}
	switch {
	case d.folder == "":
		f.Severity, f.Text, f.Advice = warning, "the current folder cannot be found", "change to a folder that exists"
	case !d.trusted && hasSettings(d.root):
		f.Severity, f.Text = warning, d.root+": of its settings only what restricts holds"
		f.Advice = d.why
	case !d.trusted:
		f.Severity, f.Text = noted, d.root+": "+cmp.Or(d.why, "not trusted")
	}
	return []finding{f}
}

func hasSettings(root string) bool {
	for _, path := range append(config.ClaudeFiles(root), config.ProjectFiles(root)...) {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

func (d *patient) editors(context.Context) []finding {
	env := editors.Env{OS: runtime.GOOS, Home: d.paths.Home, Getenv: d.getenv}
	var found []finding
	for _, id := range editors.Names() {
		e, err := editors.Find(id)
		if err != nil {
			continue // Names lists what Find knows
		}
		if sign := installed(e, env); sign != "" {
			found = append(found, finding{Check: "editors", Severity: fine, Text: e.Name + ": " + sign,
				Advice: "`acp-agent setup " + e.ID + "` shows what it needs"})
		}
	}
	if found == nil {
		found = append(found, finding{Check: "editors", Severity: noted, Text: "none of " + strings.Join(editors.Names(), ", ") + " found",
			Advice: "any editor that speaks ACP can launch `acp-agent acp`"})
	}
	return found
}
