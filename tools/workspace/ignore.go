package workspace

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ignoreLayer is what the ignore files of one folder say, and through up those
// of the folders above it. A layer is not changed once it is made, so that
// workers share it.
type ignoreLayer struct {
	up   *ignoreLayer
	base string // the folder, relative to the walk's top: "" or ending in "/"
	git  []rule // of .gitignore
	own  []rule // of .ignore, which holds against any .gitignore
	// repo says that the folder is a repository's: the .gitignore files above it
	// do not hold below, and extra is what the repository and the user exclude,
	// the weaker first.
	repo  bool
	extra []rule
}

// maxIgnoreFile is how many bytes of an ignore file are read.
const maxIgnoreFile = 4 << 20

// ignores decides about a file or folder by its path relative to the walk's top.
// The last rule that matches holds, that of a deeper folder before that of one
// above; .ignore before .gitignore, and that before what the repository and the
// user exclude. Folders above are not looked at: the walk does not enter them.
func (l *ignoreLayer) ignores(full string, dir bool) bool {
	base := full[strings.LastIndexByte(full, '/')+1:]
	git, done := false, false // what .gitignore says, which .ignore may overrule
	inRepo := true
	for ; l != nil; l = l.up {
		rel := full[len(l.base):]
		if ignored, found := lastMatch(l.own, rel, base, dir); found {
			return ignored
		}
		if !inRepo || done {
			continue
		}
		git, done = lastMatch(l.git, rel, base, dir)
		if !done && l.repo {
			git, done = lastMatch(l.extra, rel, base, dir)
		}
		inRepo = !l.repo
	}
	return git
}

// lastMatch finds what the last of the rules that matches says.
func lastMatch(rules []rule, rel, base string, dir bool) (ignored, found bool) {
	for i := len(rules) - 1; i >= 0; i-- {
		if r := &rules[i]; r.matches(rel, base, dir) {
			return !r.negated, true
		}
	}
	return false, false
}

// below is the layer of a folder: l itself where the folder adds nothing. has
// says which of its ignore files are there.
func (l *ignoreLayer) below(base string, has ignoreFiles, open func(name string) (*os.File, error)) *ignoreLayer {
	if has == 0 {
		return l
	}
	next := &ignoreLayer{up: l, base: base, repo: has&hasGit != 0}
	if has&hasGitignore != 0 {
		next.git = readRules(open, ".gitignore")
	}
	if has&hasIgnore != 0 {
		next.own = readRules(open, ".ignore")
	}
	return next
}

// ignoreFiles says what a folder has that bears on ignoring.
type ignoreFiles uint8

const (
	hasGitignore ignoreFiles = 1 << iota
	hasIgnore
	hasGit // .git: it is a repository's
)

// note takes one entry of a folder into account. As in git, a link is no
// ignore file.
func (has *ignoreFiles) note(name string, regular bool) {
	switch {
	case name == ".git":
		*has |= hasGit
	case name == ".gitignore" && regular:
		*has |= hasGitignore
	case name == ".ignore" && regular:
		*has |= hasIgnore
	}
}

// readRules reads an ignore file; one that cannot be read has no rules.
func readRules(open func(string) (*os.File, error), name string) []rule {
	f, err := open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return parseRules(data)
}

// ignoreTop finds the folder whose ignore file is the first to hold for start:
// that of the repository start lies in, else the root, else start itself.
func ignoreTop(r *Roots, start string) string {
	for dir := start; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	if one, _, ok := r.within(start); ok {
		return one.real
	}
	return start
}

// layersAbove reads the ignore files from top down to the folder above start,
// whose name relative to top is rel (slashes, "" for top itself). What they say
// about start as a whole is left out, since start was named.
func layersAbove(top, rel string) *ignoreLayer {
	if rel == "" {
		return nil
	}
	var layer *ignoreLayer
	base := ""
	names := strings.Split(rel, "/")
	for i := range names {
		layer = layer.of(top, base)
		if layer != nil && layer.base == base {
			layer.spare(strings.Join(names[i:], "/"))
		}
		base += names[i] + "/"
	}
	return layer
}

// of is the layer of a folder that was not listed.
func (l *ignoreLayer) of(top, base string) *ignoreLayer {
	dir := filepath.Join(top, filepath.FromSlash(base))
	var has ignoreFiles
	for _, name := range []string{".git", ".gitignore", ".ignore"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			has.note(name, info.Mode().IsRegular())
		}
	}
	layer := l.below(base, has, func(name string) (*os.File, error) {
		return openTarget(filepath.Join(dir, name))
	})
	if has&hasGit != 0 {
		layer.extra = repoRules(dir)
	}
	return layer
}

// spare takes out of a layer that is not yet shared the rules that would leave
// out a folder that was named, or all that is in it: those that match it or a
// folder above it, and those that do with a tail of mere stars cut off, as in
// "gen/*" for gen. rel is the folder relative to the layer's; "" is the layer's
// own.
func (l *ignoreLayer) spare(rel string) {
	for _, rules := range []*[]rule{&l.git, &l.own, &l.extra} {
		var kept []rule
		for _, r := range *rules {
			if r.negated || !r.covers(rel) {
				kept = append(kept, r)
			}
		}
		*rules = kept
	}
}

// covers reports whether the rule leaves out the folder rel or all that is in it.
func (r *rule) covers(rel string) bool {
	whole, all := r.withoutTail()
	if all {
		return true
	}
	for end := len(rel); end > 0; end = strings.LastIndexByte(rel[:end], '/') {
		dir := rel[:end]
		base := dir[strings.LastIndexByte(dir, '/')+1:]
		if r.matches(dir, base, true) || whole != nil && whole.matches(dir, base, true) {
			return true
		}
	}
	return false
}

// withoutTail is the rule without the stars behind its last slashes: "/gen" for
// "gen/*"; all is true where nothing is left, so that the rule leaves out
// whatever lies beside it.
func (r *rule) withoutTail() (whole *rule, all bool) {
	line := strings.TrimSuffix(r.line, "/")
	cut := strings.TrimRight(line, "*/")
	if cut == "" {
		return nil, true
	}
	if rest := line[len(cut):]; !strings.HasPrefix(rest, "/") || !strings.Contains(rest, "*") {
		return nil, false
	}
	if !strings.HasPrefix(cut, "/") {
		cut = "/" + cut // it stays relative to its folder
	}
	one, ok := parseRule(cut)
	if !ok {
		return nil, false
	}
	return &one, false
}

// repoRules reads what is excluded beside .gitignore in the repository whose
// work tree is dir: by the user for all repositories, then by the repository,
// which holds before it.
func repoRules(dir string) []rule {
	var rules []rule
	git := gitDir(filepath.Join(dir, ".git"))
	if file := userExcludes(dir, git); file != "" {
		rules = readRules(openTarget, file)
	}
	if git != "" {
		rules = append(rules, readRules(openTarget, filepath.Join(git, "info", "exclude"))...)
	}
	return rules
}

// gitDir is where a repository keeps what its work trees share. A .git that is
// a file, as in work trees and submodules, names the folder.
func gitDir(git string) string {
	git, err := filepath.EvalSymlinks(git)
	if err != nil {
		return ""
	}
	info, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if info.Mode().IsRegular() {
		to, ok := strings.CutPrefix(firstLine(git), "gitdir:")
		if !ok {
			return ""
		}
		git = joined(filepath.Dir(git), strings.TrimSpace(to))
	} else if !info.IsDir() {
		return ""
	}
	if common := firstLine(filepath.Join(git, "commondir")); common != "" {
		git = joined(git, common)
	}
	git, err = filepath.EvalSymlinks(git)
	if err != nil {
		return ""
	}
	return git
}

func joined(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// firstLine is the first line of a small regular file; empty where there is none.
func firstLine(name string) string {
	f, err := openTarget(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
