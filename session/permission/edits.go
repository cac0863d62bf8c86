package permission

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// editors are the commands that count as edits where edits are accepted, with
// the only flags that they may have (policy section 1, "acceptEdits").
var editors = map[string]reader{
	"mkdir": {short: "pv", long: "parents verbose"},
	"touch": {short: "acm", long: "no-create"},
	"rm":    {short: "rRfvid", long: "recursive force verbose dir"},
	"rmdir": {short: "pv", long: "parents verbose"},
	"mv":    {short: "fnvu", long: "force no-clobber verbose update"},
	"cp":    {short: "arRpfnvu", long: "archive recursive force no-clobber verbose update"},
}

// maxCopied bounds the files of a tree that is copied or moved silently.
const maxCopied = 2000

// edits judges a command that changes files as a tool that edits would be; it
// reports whether it is one. Each file is a finding of its own.
func (s *shell) edits(c *command) bool {
	name, byName := s.nameOf(c.words[0].text)
	if !byName || s.identity(c.words[0].text, c.at) != "" {
		return false
	}
	args := guesses(c.words[1:])
	if name == "sed" {
		return s.sedInPlace(args, c.at)
	}
	r, ok := editors[name]
	if !ok {
		return false
	}
	u, why := r.parse(name, args)
	if why != "" || len(u.operands) == 0 || slices.ContainsFunc(u.operands, oddName) {
		return false
	}
	switch name {
	case "mv", "cp":
		return s.copies(u, c.at)
	case "rm":
		for _, o := range u.operands {
			s.removeName(o, c.at)
			s.removesBelow(o, c.at)
		}
		return true
	}
	for _, o := range u.operands {
		s.operand(kinds.Write, o, c.at)
	}
	return true
}

// oddName reports whether a path has a name that is not what it looks like.
func oddName(path string) bool {
	return slices.ContainsFunc(components(path), func(n string) bool { return hiddenIn(n) || lookAlike(n) })
}

var inPlace = lazy(`^(-i[A-Za-z0-9._~-]*|--in-place(=[A-Za-z0-9._~-]+)?)$`)

// sedInPlace judges a sed that changes the files it is given.
func (s *shell) sedInPlace(args []string, at dirs) bool {
	rest := slices.DeleteFunc(slices.Clone(args), inPlace().MatchString)
	if len(rest) == len(args) {
		return false
	}
	files, why := sedFiles(rest)
	if why != "" || len(files) == 0 || slices.Contains(files, "-") {
		return false
	}
	for _, f := range files {
		for _, dir := range at {
			if s.isLink(f, dir) {
				return false // it would be replaced by a file
			}
		}
		s.operand(kinds.Read, f, at)
		s.operand(kinds.Write, f, at)
		for _, a := range args {
			if suffix := backupSuffix(a); suffix != "" {
				s.operand(kinds.Write, f+suffix, at)
			}
		}
	}
	return true
}

// backupSuffix is what the name of the copy ends in that a sed with this argument
// keeps; empty: it keeps none.
func backupSuffix(arg string) string {
	if !inPlace().MatchString(arg) {
		return ""
	}
	if suffix, ok := strings.CutPrefix(arg, "--in-place="); ok {
		return suffix
	}
	suffix, _ := strings.CutPrefix(arg, "-i")
	return suffix
}

func (s *shell) isLink(text, dir string) bool {
	p, err := s.resolve(text, dir)
	if err != nil {
		return true
	}
	info, err := os.Lstat(p.Asked)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// removesBelow asks where a tree that is removed holds what is never changed
// silently.
func (s *shell) removesBelow(text string, at dirs) {
	left := maxBelow
	for _, dir := range at {
		p, err := s.resolveName(text, dir)
		if err != nil || !isDir(p.Target) {
			continue // a link goes alone
		}
		err = filepath.WalkDir(p.Target, func(path string, d fs.DirEntry, err error) error {
			if left--; err != nil || left < 0 {
				return fs.SkipAll
			}
			if s.keepsFrom(path) {
				s.floor("it would remove " + s.shown(path))
				return fs.SkipAll
			}
			if r := s.pathRuling(access{kind: kinds.Write, asked: path, target: path}); s.ruled(r, "removing "+s.shown(path)) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil || left < 0 {
			s.find(plain, "it would remove more than can be looked through")
		}
	}
}

// keepsFrom reports whether a file in a tree that is removed is one that does not
// come back, or is never changed silently. What packages bring with them does.
func (s *shell) keepsFrom(path string) bool {
	names := s.names(path)
	if slices.Contains(names, "node_modules") {
		last := foldName(names[len(names)-1])
		return last == ".git" || last == ".acp-agent"
	}
	p, _ := protected(names)
	_, hides := secret(names)
	return p != open || hides
}

// copies judges cp and mv: all that is read, and every path that results.
func (s *shell) copies(u *usage, at dirs) bool {
	if len(u.operands) < 2 {
		return false
	}
	n := len(u.operands) - 1
	for _, dir := range at {
		to, err := s.resolve(u.operands[n], dir)
		if err != nil {
			return false
		}
		into := isDir(to.Target)
		if s.isLink(u.operands[n], dir) || n > 1 && !into {
			return false
		}
		for _, from := range u.operands[:n] {
			if !s.copyOne(u, from, to.Asked, into, dir) {
				return false
			}
		}
	}
	return true
}

// fromGit reports whether a path lies in a repository's own folder: a copy of it is a
// repository that git would follow without its name being protected.
func fromGit(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return foldName(n) == ".git" })
}

// copyOne judges one source that goes to a place, or into it.
func (s *shell) copyOne(u *usage, from, to string, into bool, dir string) bool {
	p, err := s.resolve(from, dir)
	if err != nil || !p.Exists || s.isLink(strings.TrimRight(from, "/"), dir) {
		return false
	}
	whole := filepath.Base(strings.TrimRight(from, "/"))
	switch {
	case whole == "." || whole == "..": // what is in it
	case into:
		to = filepath.Join(to, filepath.Base(p.Asked))
	}
	if fromGit(append(s.names(p.Asked), s.names(p.Target)...)) {
		s.floor("it would make another repository of what lies in " + s.shown(p.Asked))
		return true
	}
	moves := u.program == "mv"
	left := maxCopied
	ok := true
	err = filepath.WalkDir(p.Target, func(path string, d fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 || !d.IsDir() && !d.Type().IsRegular() {
			ok = false // a link, or what cannot be seen
			return fs.SkipAll
		}
		rel, err := filepath.Rel(p.Target, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if info, err := os.Lstat(target); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			ok = false
			return fs.SkipAll
		}
		s.operand(kinds.Write, target, dirs{dir})
		if moves {
			s.operand(kinds.Write, path, dirs{dir})
		}
		if !d.IsDir() { // under another name, a secret would be read silently
			s.operand(kinds.Read, path, dirs{dir})
		}
		return nil
	})
	return ok && err == nil
}
