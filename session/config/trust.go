package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/acp-agent/acp-agent/session/permission"
)

// trustEntry is what the user said about a project.
type trustEntry struct {
	Digests []string  `json:"digests,omitzero"` // of what they trusted it with
	Since   time.Time `json:"since"`
	Never   bool      `json:"never,omitzero"` // it is not to be asked about
}

func (p Paths) trust() document[map[string]trustEntry] {
	return document[map[string]trustEntry]{filepath.Join(p.Data, "trust.json")}
}

// Opened is what holds for a folder, as its files and the user's were at one
// moment.
type Opened struct {
	Config   *Config
	Problems []Problem
	Root     string // what is trusted and granted as one
	Trusted  bool   // else the project only restricts (security/policy.md, section 11)
	Why      string // it is not trusted
	Never    bool   // it is not to be asked about
	Known    bool   // it was trusted before, with other things than now
	// Pending is what trusting it would put into force and the user has not
	// agreed to yet.
	Pending []Enabled
	enabled []Enabled // all of it
}

// Open reads what holds for the folder. What is judged is what is loaded: each
// file is read once.
func (p Paths) Open(folder string) Opened {
	root, err := Root(folder)
	if err != nil {
		root = folder
	}
	files := reading{}
	options := LoadOptions{Paths: p, Project: root, Trusted: true, Dir: folder}
	o := Opened{Root: root}
	o.Config, o.Problems, o.enabled = load(options, files.read)
	if err == nil {
		err = p.judge(&o)
	}
	switch {
	case err != nil:
		o.Why = err.Error()
	case o.Config.Trust == TrustAlways:
		o.Trusted, o.Why, o.Pending = true, "", nil
	case o.Config.Trust == TrustNever:
		o.Trusted, o.Why, o.Never = false, `the configuration says "trust": "never"`, true
	}
	if !o.Trusted {
		options.Trusted = false
		o.Config, o.Problems, _ = load(options, files.read)
	}
	return o
}

// reading keeps files as they were read first.
type reading map[string]fileRead

type fileRead struct {
	data []byte
	err  error
}

func (r reading) read(path string) ([]byte, error) {
	f, ok := r[path]
	if !ok {
		f.data, f.err = readFile(path)
		r[path] = f
	}
	return f.data, f.err
}

// judge compares what a project enables with what the user agreed to. Neither its
// parents nor repositories inside it matter.
func (p Paths) judge(o *Opened) error {
	all, err := p.trust().read()
	if err != nil {
		return err
	}
	entry, known := all[o.Root]
	if !known || entry.Never {
		o.Why, o.Never, o.Pending = "not trusted yet: `acp-agent trust` trusts it", entry.Never, o.enabled
		return nil
	}
	for _, e := range o.enabled {
		if !slices.Contains(entry.Digests, e.Digest) {
			o.Pending = append(o.Pending, e)
		}
	}
	o.Known, o.Trusted = true, len(o.Pending) == 0
	if !o.Trusted {
		o.Why = "its settings changed since it was trusted: look at them, then run `acp-agent trust` again"
	}
	return nil
}

// Agree trusts the project with what it enabled when it was opened, and with
// nothing that came since.
func (p Paths) Agree(o Opened) error {
	entry := trustEntry{Since: time.Now().UTC(), Digests: []string{}}
	for _, e := range o.enabled {
		if !slices.Contains(entry.Digests, e.Digest) {
			entry.Digests = append(entry.Digests, e.Digest)
		}
	}
	return p.setTrust(o.Root, entry)
}

// Refuse says that the project is never to be trusted, nor asked about, until the
// user trusts it after all.
func (p Paths) Refuse(root string) error {
	return p.setTrust(root, trustEntry{Since: time.Now().UTC(), Never: true})
}

func (p Paths) setTrust(root string, entry trustEntry) error {
	return p.trust().change(func(all *map[string]trustEntry) error {
		if *all == nil {
			*all = map[string]trustEntry{}
		}
		(*all)[root] = entry
		return nil
	})
}

// Enabled is all that trusting the project puts into force, whether the user agreed
// to it before or not.
func (o Opened) Enabled() []Enabled { return o.enabled }

// Trust trusts the folder and what its files enable now, without asking. It
// returns the folder's resolved root.
func (p Paths) Trust(folder string) (root string, err error) {
	if _, err := Root(folder); err != nil {
		return "", err
	}
	o := p.Open(folder)
	return o.Root, p.Agree(o)
}

// Trusted reports whether the folder is trusted, and why not.
func (p Paths) Trusted(folder string) (ok bool, why string) {
	o := p.Open(folder)
	return o.Trusted, o.Why
}

// Root is what is trusted as one: the folder's repository root, or the folder
// itself where it is in none, with links resolved.
func Root(folder string) (string, error) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", fmt.Errorf("the folder %s cannot be opened: %w", folder, err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	for at := real; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return real, nil
		}
	}
}

func (p Paths) grants() document[map[string][]permission.Rule] {
	return document[map[string][]permission.Rule]{filepath.Join(p.Data, "grants.json")}
}

// AddGrants keeps what the user allowed for good in the project at root.
func (p Paths) AddGrants(root string, rules []permission.Rule) error {
	return p.grants().change(func(all *map[string][]permission.Rule) error {
		if *all == nil {
			*all = map[string][]permission.Rule{}
		}
		for _, r := range rules {
			if !hasRule((*all)[root], r) {
				(*all)[root] = append((*all)[root], r)
			}
		}
		return nil
	})
}

func hasRule(rules []permission.Rule, r permission.Rule) bool {
	for _, known := range rules {
		if known.Permission == r.Permission && known.Pattern == r.Pattern && known.Action == r.Action {
			return true
		}
	}
	return false
}

// SourceGranted is the source of a rule that was kept for its project.
const SourceGranted = "granted in this project"

// Grants are the rules that the user granted in the project at root.
func (p Paths) Grants(root string) ([]permission.Rule, error) {
	all, err := p.grants().read()
	if err != nil {
		return nil, err
	}
	var rules []permission.Rule
	for _, r := range all[root] {
		rule, err := permission.ParseRule(r.Permission, r.Pattern, r.Action, permission.Project, SourceGranted)
		if err != nil {
			continue // written by hand, or by a version with other patterns: it grants nothing
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
