package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sahilm/fuzzy"
	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/session/permission"
)

// maxFile is the largest configuration file that is read, in bytes.
const maxFile = 1 << 20

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
}

// ProjectFiles are a project's configuration files, the nearer one last.
func ProjectFiles(dir string) []string {
	return []string{filepath.Join(dir, ".acp-agent", "config.json"), filepath.Join(dir, ".acp-agent", "config.local.json")}
}

// Load reads the files: the user's, then the project's, the nearer replacing
// the farther key by key; rules add up. It never fails: what does not hold is
// left out and told.
func Load(o LoadOptions) (*Config, []Problem) {
	c, problems, _ := load(o, readFile)
	return c, problems
}

// load also says what the project's files enable, where it is trusted.
func load(o LoadOptions, readFile func(string) ([]byte, error)) (*Config, []Problem, []Enabled) {
	c := Default()
	var problems []Problem
	var enabled []Enabled
	read := func(r *reader, path string, take func(*hujson.Object)) {
		r.config, r.home, r.file = c, o.Paths.Home, path
		r.read(readFile, take)
		problems, enabled = append(problems, r.problems...), append(enabled, r.enabled...)
	}
	own := func(r *reader) func(*hujson.Object) {
		return func(root *hujson.Object) { r.object(root, "") }
	}
	user := &reader{scope: permission.Session}
	read(user, o.Paths.UserFile(), own(user))
	if o.Project == "" {
		return c, problems, nil
	}
	for _, path := range ClaudeFiles(o.Project) {
		r := &reader{scope: permission.Project, restrictOnly: !o.Trusted, root: o.Project, dir: cmp.Or(o.Dir, o.Project)}
		read(r, path, r.claude)
	}
	for _, path := range ProjectFiles(o.Project) {
		r := &reader{scope: permission.Project, restrictOnly: !o.Trusted}
		read(r, path, own(r))
	}
	return c, problems, enabled
}

// reader takes one file into the configuration.
type reader struct {
	config       *Config
	home         string
	file         string
	scope        permission.Scope
	restrictOnly bool   // an untrusted project's: only its deny and ask rules count
	root, dir    string // of a project's settings for Claude Code: its folder, and the one that is worked in
	data         []byte
	enabled      []Enabled // what it puts into force
	problems     []Problem
}

// read reads the file, and has take look at the object in it.
func (r *reader) read(readFile func(string) ([]byte, error), take func(*hujson.Object)) {
	data, err := readFile(r.file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) && r.scope == permission.Project {
		return
	}
	if err != nil {
		r.problems = append(r.problems, Problem{File: r.file, Text: "cannot be read, so nothing of it holds: " + err.Error()})
		return
	}
	r.data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(r.data)) == 0 {
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
	take(root)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return os.ReadFile(path)
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
