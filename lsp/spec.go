package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec describes a language server: what it is for, how it is found and started.
type Spec struct {
	Name      string
	Languages []Language
	Command   []string // the program and its arguments; "${root}" is the root

	// Roots are the markers of a root, names or globs, in order of weight: the
	// nearest folder that has one of the first group, else of the second, and so
	// on. Without a marker the root is the session's folder. NAME#KEY is a file of
	// JSON with that key.
	Roots [][]string

	Options  json.RawMessage   // initializationOptions
	Settings json.RawMessage   // an object, what workspace/configuration answers from
	Env      map[string]string // beside the usual variables
	Install  string            // a command that installs it, or where to get it
	Disabled bool

	// Beside: it judges beside the language's own server, and is asked for nothing
	// but diagnostics and code actions. It needs one of its markers.
	Beside bool
	// NoPull: it is not asked for diagnostics, it pushes better than it answers.
	NoPull bool
	// JudgeAll is a command that judges the project of the files given and answers
	// once all verdicts are published, where the server has one: without it nobody
	// can know whether more is to come. Its argument is {"Files": [URI]}.
	JudgeAll string
	// TSServer is a command that passes a request on to the compiler behind the
	// server, where it has one: what the server pushes comes in stages, without
	// saying which is the last. Its arguments are the request and what goes with it.
	TSServer string
	// Checks is how the title begins of the progress of a check that a saved change
	// begins, and that is part of the verdict on it.
	Checks string
	// AtDeclaration: a rename is asked for where the name is declared; elsewhere the
	// server may give the name another one in that file alone.
	AtDeclaration bool
	// Projects are the files that each make a project of a folder, where the server sees
	// what uses a symbol only in those projects of which it has a file open.
	Projects []string
	// OneBuild: it sees those files of a folder that are built for the system that it runs
	// on, or for that of the file that it is asked about, by Go's build constraints.
	OneBuild bool
	// Configs are the files, names or globs of them, by which its projects go: what their
	// change breaks in other files is judged. On the events in Renewed it takes them in
	// only when it starts again.
	Configs []string
	Renewed []Event
	// ConfigDirs are the folders in its root in which it looks for Configs, too.
	ConfigDirs []string
	// Announces is what the log message contains by which it says that it takes them in,
	// and behind which workspace/diagnostic/refresh says that it has.
	Announces string
	// Unless has the names of Configs that count for nothing where another lies beside
	// them, by which it goes instead.
	Unless map[string]string
	// Part is what it judges and knows of its files where that is not all.
	Part string
	// OpenOnly: it judges no file that is not open, and which files import which is not
	// known: what a change breaks elsewhere is not seen.
	OpenOnly bool
	// DiskIncludes: of files that others include it takes what is on the disk, also where
	// it has another text of them.
	DiskIncludes bool
	// Lazy: its roots' markers are those of others, too. It is not started before a
	// file of its own is at hand.
	Lazy bool
	// Debounce is how long behind the last change of an open document it judges it, in
	// one piece: what it pushes sooner, without a version, is on an earlier one.
	Debounce time.Duration
	// Loading is how the title begins of the progress before whose end answers are
	// wrong. It begins once a file is open.
	Loading string
	// Surveys is what the log messages contain of which one ends its reading of the
	// project, which begins with its start. Before that it forgets documents that are
	// opened, and answers as if there were none.
	Surveys []string

	find func(l *lookup, dirs []string) []string // nil: Command's program
	// importing is set where the server judges open documents alone.
	importing *importing
}

// Language is a language as servers name it, and its files.
type Language struct {
	ID      string
	Endings []string // with their dot
	Names   []string // whole names, or globs of them, such as Dockerfile
}

// language is the id of the language that a file is in for this server.
func (s *Spec) language(path string) (string, bool) {
	name := filepath.Base(path)
	for _, l := range s.Languages {
		if slices.ContainsFunc(l.Names, func(pattern string) bool { return named(pattern, name) }) {
			return l.ID, true
		}
	}
	for _, l := range s.Languages {
		for _, e := range l.Endings {
			if strings.HasSuffix(name, e) && len(name) > len(e) {
				return l.ID, true
			}
		}
	}
	return "", false
}

// title is the server as one that was asked is told of: with what it is limited to.
func (s *Spec) title() string {
	if s.Part == "" {
		return s.Name
	}
	return s.Name + " for " + s.Part
}

// judge is the server as one that has judged.
func (s *Spec) judge() string {
	if s.OpenOnly {
		return s.title() + " on open files"
	}
	return s.title()
}

// marks reports whether a file is one of those that mark a root, which have the
// settings of a project.
func (s *Spec) marks(path string) bool {
	for _, marker := range slices.Concat(s.Roots...) {
		if matched, _ := filepath.Match(marker, filepath.Base(path)); matched {
			return true
		}
	}
	return false
}

// named reports whether a file's name is the one given, or fits the glob.
func named(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	ok, err := filepath.Match(pattern, name)
	return err == nil && ok
}

// ServerConfig is one server in the settings (spec: lsp.servers.NAME): a new one, or
// changes to the built-in one of that name. Absent fields change nothing.
type ServerConfig struct {
	Command     []string          `json:"command"`
	Extensions  []string          `json:"extensions"`
	LanguageID  string            `json:"languageId"`
	RootMarkers []string          `json:"rootMarkers"`
	Options     json.RawMessage   `json:"initializationOptions"`
	Settings    json.RawMessage   `json:"settings"`
	Env         map[string]string `json:"env"`
	Disabled    bool              `json:"disabled"`
}

// Config are the settings of the language servers (spec: lsp). A zero time or limit is
// its default.
type Config struct {
	Servers        map[string]ServerConfig
	DiagnosticWait time.Duration // below 0: not at all
	RequestTimeout time.Duration
	StartTimeout   time.Duration
	IdleStop       time.Duration
	MemoryLimit    int64 // bytes that a server and its children may have; below 0: any number
}

// What zero times of Config mean.
const (
	DefaultDiagnosticWait = 2 * time.Second
	DefaultRequestTimeout = 10 * time.Second
	DefaultStartTimeout   = time.Minute
	DefaultIdleStop       = 10 * time.Minute
)

// withDefaults is c with its zero times and limits filled in.
func (c Config) withDefaults() Config {
	c.DiagnosticWait = cmp.Or(c.DiagnosticWait, DefaultDiagnosticWait)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, DefaultRequestTimeout)
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.IdleStop = cmp.Or(c.IdleStop, DefaultIdleStop)
	if c.MemoryLimit == 0 {
		c.MemoryLimit = memoryLimit()
	}
	return c
}

// Specs are the built-in servers changed by the settings, those of the user's own
// first, as what a user adds is meant to be used.
func (c Config) Specs() []*Spec {
	var out []*Spec
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if !slices.ContainsFunc(builtin, func(s Spec) bool { return s.Name == name }) {
			out = append(out, c.Servers[name].change(Spec{Name: name}))
		}
	}
	for _, s := range builtin {
		spec := &s
		if o, ok := c.Servers[s.Name]; ok {
			spec = o.change(s)
		}
		out = append(out, spec)
	}
	return out
}

// Useless says of each server that the settings add why it can never serve; none:
// all of them can.
func (c Config) Useless() []string {
	var out []string
	for _, s := range c.Specs() {
		switch o, set := c.Servers[s.Name]; {
		case !set || o.Disabled:
		case len(s.Command) == 0:
			out = append(out, fmt.Sprintf("lsp.servers.%s has no command, and no language server of that name is built in, so it never starts", s.Name))
		case len(s.Languages) == 0:
			out = append(out, fmt.Sprintf("lsp.servers.%s has no extensions, and no language server of that name is built in, so it is for no file", s.Name))
		}
	}
	return out
}

// change is the server as the settings want it.
func (o ServerConfig) change(s Spec) *Spec {
	if len(o.Command) > 0 {
		s.Command, s.find = o.Command, nil
		s.Install = fmt.Sprintf("put %s into PATH, or mend lsp.servers.%s.command in the settings", o.Command[0], s.Name)
		if filepath.Base(o.Command[0]) != o.Command[0] { // where to look for it is told
			s.Install = fmt.Sprintf("lsp.servers.%s.command in the settings names %s, which is no program", s.Name, o.Command[0])
		}
	}
	switch {
	case len(o.Extensions) > 0:
		id := o.LanguageID
		if id == "" && len(s.Languages) > 0 {
			id = s.Languages[0].ID
		}
		s.Languages = []Language{{ID: cmp.Or(id, s.Name), Endings: o.Extensions}}
	case o.LanguageID != "" && len(s.Languages) > 0:
		s.Languages = slices.Clone(s.Languages)
		for i := range s.Languages {
			s.Languages[i].ID = o.LanguageID
		}
	}
	if o.RootMarkers != nil {
		s.Roots = [][]string{o.RootMarkers}
	}
	if o.Options != nil {
		s.Options = o.Options
	}
	if o.Settings != nil {
		s.Settings = o.Settings
	}
	if o.Env != nil {
		s.Env = o.Env
	}
	s.Disabled = o.Disabled
	return &s
}

// key tells servers apart that must not share a process.
func (s *Spec) key(root string, command []string) string {
	env := make([]string, 0, len(s.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	return strings.Join([]string{s.Name, fmt.Sprintf("%q", s.Languages), root, strings.Join(command, "\x00"), string(s.Options), string(s.Settings), strings.Join(env, "\x00")}, "\x01")
}
