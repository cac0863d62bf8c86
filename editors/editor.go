package editors

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strings"

	"github.com/sahilm/fuzzy"
)

// Editor is an editor that can launch this agent. Its zero value is none.
type Editor struct {
	ID      string   // what `acp-agent setup` calls it
	Name    string   // what people call it
	Aliases []string // other names of it, and of what is built on it

	entry    func(exe string) any
	paths    func(Env) []string
	signs    func(Env) []string
	next     string // what to do once the entry stands there
	comments bool   // its configuration may hold comments and trailing commas
}

// all lists the editors, the best known first.
func all() []Editor { return []Editor{zed(), jetbrains()} }

// Names lists the ids that Find takes.
func Names() []string {
	var ids []string
	for _, e := range all() {
		ids = append(ids, e.ID)
	}
	return ids
}

// Find returns the editor of that id or alias, whatever its case. The error
// names those there are, and the nearest one.
func Find(name string) (Editor, error) {
	var known []string
	for _, e := range all() {
		for _, n := range append([]string{e.ID}, e.Aliases...) {
			if strings.EqualFold(n, name) {
				return e, nil
			}
			known = append(known, n)
		}
	}
	hint := ""
	if near := nearest(strings.ToLower(name), known); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return Editor{}, fmt.Errorf("no editor is known as %q: %sthere are %s", name, hint, strings.Join(Names(), ", "))
}

// nearest returns the name that abbreviates to what was typed, or else the one
// that what was typed holds with letters too many; empty for none.
func nearest(typed string, names []string) string {
	if len(typed) < 2 {
		return ""
	}
	if found := fuzzy.Find(typed, names); len(found) > 0 {
		return found[0].Str
	}
	best, score := "", 0
	for _, n := range names {
		if found := fuzzy.Find(n, []string{typed}); len(found) > 0 && (best == "" || found[0].Score > score) {
			best, score = n, found[0].Score
		}
	}
	return best
}

// Snippet is what the editor's configuration has to hold for it to launch exe,
// an absolute path: a JSON document with nothing but the entry, to be merged
// into what stands there, and a final newline. It follows spec/clients.md,
// part 2.
func (e Editor) Snippet(exe string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e.entry(exe)); err != nil {
		panic(err) // entries are made of strings
	}
	return b.String()
}

// Paths lists where the user's configuration of the editor may be, absolute,
// the usual place first. It is empty where the home directory is not known.
func (e Editor) Paths(env Env) []string { return present(e.paths(env)) }

// Signs lists the files and folders that tell that the editor is installed: it
// is if one of them exists.
func (e Editor) Signs(env Env) []string { return present(e.signs(env)) }

// Next is what a person does once the entry stands in the configuration.
func (e Editor) Next() string { return e.next }

// Comments says that the configuration may hold comments and trailing commas.
func (e Editor) Comments() bool { return e.comments }

// Env is the machine as far as the place of configurations depends on it.
type Env struct {
	OS     string // as in runtime.GOOS
	Home   string // absolute; empty: not known
	Getenv func(name string) string
}

// ThisEnv is the machine this program runs on. The home directory comes from
// the user database where the environment has none.
func ThisEnv() Env {
	env := Env{OS: runtime.GOOS, Getenv: os.Getenv}
	if home, err := os.UserHomeDir(); err == nil {
		env.Home = home
	} else if u, err := user.Current(); err == nil {
		env.Home = u.HomeDir
	}
	return env
}

// home is a path below the home directory, empty where that is not known.
func (env Env) home(parts ...string) string { return env.below(env.Home, parts...) }

// below is a path below dir, empty where dir is.
func (env Env) below(dir string, parts ...string) string {
	if dir == "" {
		return ""
	}
	separator := "/"
	if env.OS == "windows" {
		separator = `\`
	}
	return strings.Join(append([]string{strings.TrimRight(dir, separator)}, parts...), separator)
}

// config is a path below the folder of configurations as the XDG base
// directories say.
func (env Env) config(parts ...string) string {
	if dir := env.Getenv("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
		return env.below(dir, parts...)
	}
	return env.home(append([]string{".config"}, parts...)...)
}

// appData is a path below the roaming folder of applications on Windows.
func (env Env) appData(parts ...string) string {
	if dir := env.Getenv("APPDATA"); dir != "" {
		return env.below(dir, parts...)
	}
	return env.home(append([]string{"AppData", "Roaming"}, parts...)...)
}

// present leaves out empty paths and repetitions.
func present(paths []string) []string {
	var kept []string
	seen := map[string]bool{"": true}
	for _, p := range paths {
		if !seen[p] {
			kept = append(kept, p)
		}
		seen[p] = true
	}
	return kept
}

// launch is what editors of the agent_servers family start.
type launch struct {
	Type    string            `json:"type,omitzero"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// agentServers is a configuration with this agent's entry alone.
func agentServers(l launch) any {
	l.Args, l.Env = []string{"acp"}, map[string]string{}
	return map[string]map[string]launch{"agent_servers": {"acp-agent": l}}
}
