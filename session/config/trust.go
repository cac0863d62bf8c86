package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
func (p Paths) Open(folder string) Opened { return p.open(folder, nil) }

// OpenAgreed reads what holds for the folder where the user agreed to what was opened
// before and that could not be kept.
func (p Paths) OpenAgreed(folder string, agreed Opened) Opened {
	entry := trustEntry{Digests: agreed.digests()}
	return p.open(folder, &entry)
}

// open goes by what the user said, or by what is kept of it.
func (p Paths) open(folder string, said *trustEntry) Opened {
	root, err := Root(folder)
	if err != nil {
		root = folder
	}
	files := reading{}
	entry, known, unreadable := p.trustOf(root)
	if said != nil {
		entry, known, unreadable = *said, true, nil
	}
	options := LoadOptions{Paths: p, Project: root, Trusted: true, Dir: folder,
		Confirmed: func(digest string) bool { return slices.Contains(entry.Digests, digest) }}
	o := Opened{Root: root}
	o.Config, o.Problems, o.enabled = load(options, files)
	if err = cmp.Or(err, unreadable); err == nil {
		o.judge(entry, known)
	}
	switch {
	case err != nil:
		o.Why = err.Error()
	case len(o.Config.Unread) > 0:
		o.Trusted, o.Pending = false, nil
		o.Why = "nobody knows what " + strings.Join(o.Config.Unread, " and ") + " forbids, which cannot be read: mend or remove it"
	case o.Config.Trust == TrustAlways:
		o.Trusted, o.Why, o.Pending = true, "", nil
	case o.Config.Trust == TrustNever:
		o.Trusted, o.Why, o.Never = false, `the configuration says "trust": "never"`, true
	}
	if !o.Trusted {
		options.Trusted = false
		o.Config, o.Problems, _ = load(options, files)
	}
	return o
}

// trustOf is what the user said about the project at root; not known: nothing.
func (p Paths) trustOf(root string) (entry trustEntry, known bool, err error) {
	all, err := p.trust().read()
	if err != nil {
		return entry, false, err
	}
	entry, known = all[root]
	return entry, known, nil
}

// judge compares what a project enables with what the user agreed to. Neither its
// parents nor repositories inside it matter.
func (o *Opened) judge(entry trustEntry, known bool) {
	if !known || entry.Never {
		o.Why, o.Never, o.Pending = "not trusted yet: `acp-agent trust` trusts it", entry.Never, o.enabled
		return
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
}

// Agree trusts the project with what it enabled when it was opened, and with
// nothing that came since.
func (p Paths) Agree(o Opened) error {
	return p.setTrust(o.Root, trustEntry{Since: time.Now().UTC(), Digests: o.digests()})
}

// digests are those of all that the project enables.
func (o Opened) digests() []string {
	all := []string{}
	for _, e := range o.enabled {
		if !slices.Contains(all, e.Digest) {
			all = append(all, e.Digest)
		}
	}
	return all
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
