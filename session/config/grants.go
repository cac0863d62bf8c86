package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/acp-agent/acp-agent/session/permission"
)

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

// GrantsWatch is the rules that the user granted in a project, as they are at any
// moment: another process may add some or take them back. It is safe for concurrent
// use.
type GrantsWatch struct {
	paths Paths
	root  string

	mu    sync.Mutex
	read  bool        // rules and err are of the file as info says
	info  os.FileInfo // nil: there was none
	rules []permission.Rule
	err   error
}

// WatchGrants watches those of the project at root.
func (p Paths) WatchGrants(root string) *GrantsWatch { return &GrantsWatch{paths: p, root: root} }

// Rules are the grants as they are now. Where the file cannot be read they are what
// restricted before, and the error says why.
func (w *GrantsWatch) Rules() ([]permission.Rule, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Stat(w.paths.GrantsFile())
	if err != nil {
		info = nil
	}
	if w.read && sameFile(w.info, info) {
		return w.rules, w.err
	}
	w.read, w.info = err == nil || errors.Is(err, fs.ErrNotExist), info
	rules, err := w.paths.Grants(w.root)
	if err != nil {
		rules = slices.DeleteFunc(slices.Clone(w.rules), func(r permission.Rule) bool { return r.Action == permission.Allow })
	}
	w.rules, w.err = rules, err
	return w.rules, w.err
}

// sameFile reports whether a file is the same, and unchanged since.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
