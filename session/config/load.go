package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/session/permission"
)

// Problem is something in a configuration file that does not hold. Its text
// begins with the place.
type Problem struct {
	File         string
	Line, Column int // from 1; 0: the file as a whole
	Text         string
	Warning      bool // a key that says nothing here; what else stands there holds
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// LoadOptions say which files there are.
type LoadOptions struct {
	Paths   Paths
	Project string // the folder whose .acp-agent is read; empty: none
	Trusted bool   // of the project; untrusted, it only restricts
	Dir     string // the folder that the user works in, in the project; empty: the project

	// Confirmed reports of what even a trusted project may set only where the user
	// agreed to that very thing whether they did (Enabled, PartWide); nil: to none.
	Confirmed func(digest string) bool
}

// ServersFile is where projects name MCP servers for all agents.
func ServersFile(dir string) string { return filepath.Join(dir, ".mcp.json") }

// ProjectFiles are a project's configuration files, the nearer one last.
func ProjectFiles(dir string) []string {
	return []string{filepath.Join(dir, ".acp-agent", "config.json"), filepath.Join(dir, ".acp-agent", "config.local.json")}
}

// Load reads the files: an administrator's, the user's, then the project's, the
// nearer replacing the farther key by key; rules add up. It never fails: what does
// not hold is left out and told.
func Load(o LoadOptions) (*Config, []Problem) {
	c, problems, _ := load(o, reading{})
	return c, problems
}

// load also says what the project's files enable, where it is trusted.
func load(o LoadOptions, files reading) (*Config, []Problem, []Enabled) {
	c := Default()
	var problems []Problem
	var enabled []Enabled
	read := func(path string, r *reader, take func(*reader, *hujson.Object)) {
		r.config, r.home, r.file = c, o.Paths.Home, path
		r.read(files, take)
		problems, enabled = append(problems, r.problems...), append(enabled, r.enabled...)
	}
	ofProject := func() *reader {
		return &reader{scope: permission.Project, restrictOnly: !o.Trusted, confirmed: o.Confirmed, root: o.Project, dir: cmp.Or(o.Dir, o.Project)}
	}
	if o.Paths.Manifest != "" {
		read(o.Paths.Manifest, &reader{scope: permission.Manifest}, (*reader).own)
	}
	read(o.Paths.UserFile(), &reader{scope: permission.Session}, (*reader).own)
	if o.Project == "" {
		return c, problems, nil
	}
	for _, path := range ClaudeFiles(o.Project) {
		read(path, ofProject(), (*reader).claude)
	}
	servers := ofProject()
	servers.noRules = true
	read(ServersFile(o.Project), servers, (*reader).servers)
	for _, path := range ProjectFiles(o.Project) {
		read(path, ofProject(), (*reader).own)
	}
	return c, problems, enabled
}

// own reads a file in our own words.
func (r *reader) own(root *hujson.Object) { r.object(root, "") }

// reader takes one file into the configuration.
type reader struct {
	config       *Config
	home         string
	file         string
	scope        permission.Scope
	restrictOnly bool   // an untrusted project's: only its deny and ask rules count
	root, dir    string // of a project's: its folder, and the one that is worked in
	confirmed    func(digest string) bool
	noRules      bool // there are none in such a file
	data         []byte
	enabled      []Enabled // what it puts into force
	problems     []Problem
}

// read reads the file, and has take look at the object in it. Where there is a file
// of which not all can be read, nobody knows what it forbids: Config.Unread.
func (r *reader) read(files reading, take func(*reader, *hujson.Object)) {
	f := files.read(r.file)
	if errors.Is(f.err, fs.ErrNotExist) || errors.Is(f.err, errNoFolder) {
		return
	}
	if f.err != nil {
		r.unread("cannot be read, so nothing of it holds: " + f.err.Error())
		return
	}
	if r.scope == permission.Project && !within(r.root, f.real) {
		r.restrictOnly = true
		r.problems = append(r.problems, Problem{File: r.file, Text: "leads out of the project, to " + f.real + "; of it only what restricts holds"})
	}
	r.data = bytes.TrimPrefix(f.data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(r.data)) == 0 {
		return
	}
	if !utf8.Valid(r.data) {
		r.unread("is not UTF-8; nothing of this file holds but its deny rules until that is mended")
		r.keepDenies()
		return
	}
	v, err := hujson.Parse(r.data)
	if err != nil {
		r.broken(err)
		return
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		r.tell(v.StartOffset, "must be an object: { … }")
		return
	}
	take(r, root)
}

// unread tells that rules of the file may be lost.
func (r *reader) unread(text string) {
	if !r.noRules {
		r.config.Unread = append(r.config.Unread, r.file)
	}
	r.problems = append(r.problems, Problem{File: r.file, Text: text})
}

var syntaxPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`) })

// broken tells where a file stops being JSON, and keeps its readable deny rules.
func (r *reader) broken(err error) {
	p := Problem{File: r.file, Text: err.Error()}
	if m := syntaxPlace().FindStringSubmatch(err.Error()); m != nil {
		fmt.Sscan(m[1], &p.Line)
		fmt.Sscan(m[2], &p.Column)
		p.Text = m[3]
	}
	p.Text += "; nothing of this file holds but its deny rules until that is mended"
	r.problems = append(r.problems, p)
	r.keepDenies()
}

// keepDenies takes the deny rules that can be found in a file that is no JSON.
func (r *reader) keepDenies() {
	if r.root != "" {
		r.brokenClaude()
	}
	for _, at := range flatObject().FindAllIndex(r.data, -1) {
		v, err := hujson.Parse(r.data[at[0]:at[1]])
		if err != nil {
			continue
		}
		if rule, err := r.rule(v); err == nil && rule.Action == permission.Deny {
			r.config.Rules = append(r.config.Rules, rule)
		}
	}
}

var flatObject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[^{}]*\}`) })

// tell notes a problem at an offset.
func (r *reader) tell(offset int, format string, args ...any) {
	before := r.data[:min(max(offset, 0), len(r.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Column: column, Text: fmt.Sprintf(format, args...)})
}

// warn notes a key that says nothing here.
func (r *reader) warn(offset int, format string, args ...any) {
	r.tell(offset, format, args...)
	r.problems[len(r.problems)-1].Warning = true
}

// object reads the members of the object whose keys begin with prefix.
func (r *reader) object(o *hujson.Object, prefix string) {
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		r.member(prefix+name, m.Name.StartOffset, m.Value)
	}
}

func (r *reader) member(key string, at int, v hujson.Value) {
	k, ok := keys[key]
	switch {
	case !ok && isGroup(key):
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			r.tell(v.StartOffset, "%s must be an object", key)
			return
		}
		r.object(o, key+".")
		return
	case !ok:
		r.warn(at, "unknown key %s%s", key, nearest(key))
		return
	case k.userOnly && r.scope == permission.Project:
		r.warn(at, "%s cannot be set by a project and was left out", key)
		return
	case r.restrictOnly && !k.restricts:
		return
	case k.read == nil: // of a part of the agent that reads it itself
	default:
		if err := k.read(r, v); err != nil {
			r.tell(v.StartOffset, "%s %v; its default holds", key, err)
			return
		}
	}
	r.enableKey(key, v)
}

func isGroup(key string) bool {
	for k := range keys {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

func nearest(key string) string {
	names := slices.Sorted(maps.Keys(keys))
	last := key[strings.LastIndexByte(key, '.')+1:]
	for _, pattern := range []string{key, last} {
		if m := fuzzy.Find(pattern, names); len(m) > 0 {
			return ", did you mean " + m[0].Str + "?"
		}
	}
	best, distance := "", 3
	for _, n := range names {
		if d := editDistance(key, n); d < distance || d == distance && n < best {
			best, distance = n, d
		}
	}
	if best != "" {
		return ", did you mean " + best + "?"
	}
	return ""
}

// editDistance is the least number of single letters to change, add or remove.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
