package permission

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

func grepsFolders(s *shell, u *usage) string {
	if u.flags["r"] || u.flags["recursive"] {
		s.readsBelow(u.operands, grepTakes(u), u.at)
	}
	return ""
}

// searchesFolders judges rg, which reads a folder wherever it is given one, or
// nothing.
func searchesFolders(s *shell, u *usage) string {
	if u.flags["type-list"] || u.flags["version"] || u.flags["V"] || u.flags["files"] {
		return ""
	}
	s.readsBelow(u.operands, rgTakes(u), u.at)
	return ""
}

func diffsFolders(s *shell, u *usage) string {
	if len(u.operands) < 2 {
		return "`diff` needs two operands"
	}
	s.readsBelow(u.operands, selection{follows: true}, u.at)
	return ""
}

// readsBelow holds what a command reads of folders against what must not be read
// unasked (policy 10.4): a file that usually holds secrets asks, where nothing keeps
// the command from it; one that a rule keeps from being read asks, and is denied
// where the command names it.
func (s *shell) readsBelow(from []string, sel selection, at dirs) {
	if len(from) == 0 {
		from = []string{"."}
	}
	for _, dir := range at {
		for _, f := range from {
			if p, err := s.resolve(f, dir); err == nil && f != "-" && p.Inside && isDir(p.Target) {
				w := belowWalk{shell: s, sel: sel, left: maxBelow}
				w.folder(p.Target, 0)
			}
		}
	}
}

// maxBelow bounds the files looked at below a folder.
const maxBelow = 20_000

// belowWalk looks through a folder for files that must not be read unasked. It ends
// with the first that a rule is about; of the others one is enough.
type belowWalk struct {
	*shell
	sel    selection
	left   int
	secret bool // one was found
}

// folder looks through one folder, and reports whether that is enough.
func (w *belowWalk) folder(dir string, depth int) (done bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if w.left--; w.left < 0 {
			w.hold("it would read more than can be looked through")
			return true
		}
		switch {
		case w.sel.dot && strings.HasPrefix(e.Name(), "."):
		case w.sel.follows && e.Type()&fs.ModeSymlink != 0:
			if w.link(file, depth) {
				return true
			}
		case !e.IsDir():
			if w.sel.take(file) && w.file(file) {
				return true
			}
		case e.Name() == ".git" && !w.readRules(): // many objects, and no name that says secret
		case w.sel.depth > 0 && depth+1 >= w.sel.depth:
		case w.folder(file, depth+1):
			return true
		}
	}
	return false
}

// link judges where a link leads that would be followed, and reports whether that is
// enough. Links that lead round in a circle end with what may be looked at.
func (w *belowWalk) link(path string, depth int) (done bool) {
	p, err := w.resolve(path, string(filepath.Separator))
	switch {
	case err != nil:
		w.floor("the link " + w.shown(path) + " cannot be resolved")
		return true
	case !p.Exists:
		return false
	case !p.Inside:
		w.commandAccess(kinds.Read, p)
		return true
	case isDir(p.Target):
		return w.folder(p.Target, depth+1)
	}
	return w.file(p.Target)
}

// file judges one file that would be read, and reports whether that is enough.
func (w *belowWalk) file(path string) (done bool) {
	name := w.shown(path)
	if r := w.pathRuling(access{kind: kinds.Read, asked: path, target: path}); r.rule != nil && r.action > Allow {
		if r.action == Deny && w.sel.names != nil && w.sel.names(path) {
			w.ruled(r, "reading "+name)
		} else {
			w.found = append(w.found, finding{class: plain, reason: "it would read " + name + " too, which is not to be read by the rule `" + r.rule.Rule.String() + "`", part: w.last})
		}
		return true
	}
	if _, ok := secret(w.names(path)); ok && !w.secret {
		w.secret = true
		w.hold("it would read " + name + " too, which usually holds secrets")
		return !w.readRules()
	}
	return false
}

// hold notes a question that there is only where nothing keeps the command from the
// secret files of the session's folders.
func (s *shell) hold(reason string) {
	s.held = append(s.held, finding{class: plain, reason: reason, part: s.last})
}

// release asks what was held, unless the command will run where it cannot read such
// files: only one that nobody is asked about, and that does not get the network,
// does (policy section 13).
func (s *shell) release() {
	if len(s.held) > 0 && (s.uses() || s.asks() || s.Masked == nil || !s.Masked()) {
		s.found = append(s.found, s.held...)
	}
	s.held = nil
}

// asks reports whether something that was found is not allowed.
func (j *judge) asks() bool {
	for _, f := range j.found {
		if j.answer(f.class) != Allow {
			return true
		}
	}
	return false
}

// uses reports whether a part of the command is a use of the network.
func (j *judge) uses() bool {
	for _, part := range j.parts {
		if argv := guesses(part.words); len(argv) > 0 && reachesOut(argv) {
			return true
		}
	}
	return false
}

// readRules reports whether a rule restricts what may be read.
func (j *judge) readRules() bool {
	for _, r := range j.rules.all {
		if r.Action > Allow && r.class() == permRead {
			return true
		}
	}
	return false
}
