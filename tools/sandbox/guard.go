package sandbox

import (
	"path/filepath"
	"slices"
)

// guardRoot protects what is in a root, or could be made there, and masks its
// secrets; free gives back what that needs while the command runs.
func (b *Box) guardRoot(p *plan, root string, c Command) (free func()) {
	if p.way == files {
		return func() {} // it knows no paths within a writable folder
	}
	hits := b.scan(root)
	free = func() {}
	for _, h := range hits {
		free = both(free, b.places.share(h.path))
	}
	if c.Level != Approved {
		b.maskSecrets(p, c, hits)
	}
	if c.Level == Reads {
		return free
	}
	lifted := func(g Guard) bool { return c.Git && g == Guarded }
	for _, h := range hits {
		switch {
		case h.guard == Open || lifted(h.guard):
		case filepath.Base(h.path) == ".git" && !h.dir && !h.link:
			b.protect(p, root, h.path)
		case filepath.Base(h.path) == ".git" || slices.Contains(names(root, filepath.Dir(h.path)), ".git"):
			if c.Level == Unasked && !c.Git {
				b.protect(p, root, h.path)
			}
		default:
			b.protect(p, root, h.path)
		}
	}
	return both(free, b.guardAbsent(p, root, c, hits))
}

// maskSecrets masks those of what was found that are secret, but from git not what
// it tracks.
func (b *Box) maskSecrets(p *plan, c Command, hits []found) {
	git := checkouts{}
	for _, h := range hits {
		if h.secret && !(c.Git && !h.dir && !h.link && git.tracks(h.path)) {
			p.mask(b, h.path)
		}
	}
}

// protect makes a path of a root read-only, and keeps the folders above it from
// being put elsewhere.
func (b *Box) protect(p *plan, root, path string) {
	p.hold(root, path)
	p.addPath(readOnly, path)
}

// hold makes the folders between a root and a path mounts of their own, which the
// kernel lets nobody rename or remove.
func (p *plan) hold(root, path string) {
	for dir := filepath.Dir(path); dir != root && within(root, dir); dir = filepath.Dir(dir) {
		p.add(mount{form: writable, path: dir})
	}
}

// guardAbsent protects what is not there. A mount needs something to be mounted
// on: for as long as the command runs, an empty folder, which git does not see,
// stands there.
func (b *Box) guardAbsent(p *plan, root string, c Command, hits []found) (free func()) {
	free = func() {}
	place := func(path, content string, dir bool) {
		undo, ok := b.places.take(path, content, dir)
		free = both(free, undo)
		if ok {
			b.protect(p, root, path)
		}
	}
	place(filepath.Join(root, ".acp-agent"), "", true)
	if c.Level == Unasked && !c.Git {
		for _, name := range guardedFolders {
			place(filepath.Join(root, name), "", true)
		}
		return free
	}
	if c.Level == Approved && c.Git {
		return free // it was asked about, and is git's to change
	}
	for _, h := range hits {
		if filepath.Base(h.path) != ".git" || !h.dir {
			continue
		}
		p.add(mount{form: writable, path: h.path})
		for _, f := range gitPlaces {
			place(filepath.Join(h.path, f.name), f.content, f.dir)
		}
	}
	return free
}

// gitPlaces are the names that choose what git runs, in a repository's folder.
var gitPlaces = []struct {
	name, content string
	dir           bool
}{
	{name: "hooks", dir: true},
	{name: "config"},
	{name: "config.worktree"},
	{name: "info", dir: true},
	{name: "commondir", content: ".\n"}, // one that says the folder itself means what none means
}

// guardedFolders are the protected names that no command may make at the top of a
// root unasked.
var guardedFolders = []string{".git", ".vscode", ".idea", ".zed", ".fleet", ".claude", ".cursor", ".gemini", ".codex", ".opencode",
	".windsurf", ".roo", ".github", ".circleci", ".husky", ".devcontainer", ".ssh"}
