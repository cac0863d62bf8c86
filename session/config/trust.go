package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/acp-agent/acp-agent/session/permission"
)

// trustEntry is a folder that the user trusts, with its settings as they were.
type trustEntry struct {
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
}

func (p Paths) trust() document[map[string]trustEntry] {
	return document[map[string]trustEntry]{filepath.Join(p.Data, "trust.json")}
}

// Trust trusts the folder and its settings as they are now (security/policy.md,
// section 11). It returns the folder's resolved root.
func (p Paths) Trust(folder string) (root string, err error) {
	if root, err = Root(folder); err != nil {
		return "", err
	}
	digest, err := settingsDigest(root)
	if err != nil {
		return "", err
	}
	return root, p.trust().change(func(all *map[string]trustEntry) error {
		if *all == nil {
			*all = map[string]trustEntry{}
		}
		(*all)[root] = trustEntry{digest, time.Now().UTC()}
		return nil
	})
}

// Trusted reports whether the folder is trusted, and why not. Neither its
// parents nor repositories inside it matter, and a change of its settings files
// has to be trusted anew.
func (p Paths) Trusted(folder string) (ok bool, why string) {
	root, err := Root(folder)
	if err != nil {
		return false, err.Error()
	}
	all, err := p.trust().read()
	if err != nil {
		return false, err.Error()
	}
	entry, ok := all[root]
	if !ok {
		return false, "not trusted yet: `acp-agent trust` trusts it"
	}
	digest, err := settingsDigest(root)
	if err != nil {
		return false, err.Error()
	}
	if digest != entry.Digest {
		return false, "its settings changed since it was trusted: look at .acp-agent, then run `acp-agent trust` again"
	}
	return true, ""
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

// settingsDigest is one of the settings files that trust would put into force.
func settingsDigest(root string) (string, error) {
	h := sha256.New()
	for _, path := range ProjectFiles(root) {
		data, err := readFile(path)
		if err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(h, "%s %t %d\n", filepath.Base(path), err == nil, len(data))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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

// Grants are the rules that the user granted in the project at root.
func (p Paths) Grants(root string) ([]permission.Rule, error) {
	all, err := p.grants().read()
	if err != nil {
		return nil, err
	}
	var rules []permission.Rule
	for _, r := range all[root] {
		rule, err := permission.ParseRule(r.Permission, r.Pattern, r.Action, permission.Project, "granted in this project")
		if err != nil {
			continue // written by hand, or by a version with other patterns: it grants nothing
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
