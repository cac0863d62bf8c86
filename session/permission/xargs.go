package permission

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// xargs says why a command run by xargs is not known to only read: it has to be
// a plain reader, and what it is given has to come from a command that lists
// files of the project (policy section 5).
func (s *shell) xargs(c *command) string {
	if c.from == nil || !s.listsFiles(c.from) {
		return "`xargs` is silent only behind a command that lists files of the project"
	}
	words := c.words[1:]
	if !endsOptions(words) && s.namesLikeFlags(c.from) {
		return "a file whose name begins with - would be a flag of what `xargs` runs"
	}
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		switch w := words[0].text; {
		case w == "-0" || w == "-r" || w == "--null" || w == "--no-run-if-empty":
		case strings.HasPrefix(w, "-n") && len(w) > 2 && integer().MatchString(w[2:]):
		case w == "-I{}":
		case (w == "-n" && len(words) > 1 && integer().MatchString(words[1].text)) || (w == "-I" && len(words) > 1 && words[1].text == "{}"):
			words = words[1:]
		default:
			return "the flag " + visible(w) + " of `xargs` is not known"
		}
		words = words[1:]
	}
	if len(words) == 0 || words[0].named || !slices.Contains([]string{"grep", "egrep", "fgrep", "wc", "head", "tail", "cat", "stat", "ls", "file", "basename", "dirname", "echo", "md5sum", "sha256sum"}, words[0].text) {
		return "`xargs` runs another command"
	}
	if why := s.readOnly(&command{text: c.text, words: words, at: c.at, piped: true}); why != "" {
		return why
	}
	if showsContent(guesses(words)) {
		s.readsListed(c.from)
	}
	return ""
}

// showsContent reports whether a command that xargs may run shows what is in the
// files that it is given, and not only their names or a number.
func showsContent(argv []string) bool {
	switch argv[0] {
	case "cat", "head", "tail":
		return true
	case "grep", "egrep", "fgrep":
		u, why := grepReader.parse(argv[0], argv[1:])
		return why != "" || !(u.flags["l"] || u.flags["L"] || u.flags["c"] || u.flags["q"] || u.flags["files-with-matches"] || u.flags["files-without-match"] || u.flags["count"] || u.flags["quiet"])
	}
	return false
}

// readsListed holds the files that a command lists against what must not be read
// unasked: a search of a folder by another name.
func (s *shell) readsListed(c *command) {
	name, _ := s.nameOf(c.words[0].text)
	args := guesses(c.words[1:])
	switch name {
	case "find":
		from, sel := findTakes(args)
		s.readsBelow(from, sel, c.at)
	case "fd", "fdfind":
		if u, why := fdReader.parse(name, args); why == "" {
			from, sel := fdTakes(u)
			s.readsBelow(from, sel, c.at)
		}
	case "rg":
		if u, why := readers["rg"].parse(name, args); why == "" && u.flags["files"] { // a search has been judged
			s.readsBelow(u.operands, rgTakes(u), c.at)
		}
	case "git":
		if rest, ok := afterGlobals(args, gitHarmless); ok {
			s.readsBelow([]string{s.Roots.Dir()}, s.gitTakes(rest), c.at)
		}
	}
}

// endsOptions reports whether a command takes what xargs adds to it as operands
// whatever their names.
func endsOptions(words []word) bool { return len(words) > 1 && words[len(words)-1].text == "--" }

// namesLikeFlags reports whether a command that lists files would print a name
// that begins with -. find begins each name with where it started.
func (s *shell) namesLikeFlags(c *command) bool {
	if name, _ := s.nameOf(c.words[0].text); name == "find" || s.Roots == nil {
		return false
	}
	for _, dir := range append(dirs{s.Roots.Dir()}, c.at...) { // git diff names from the top
		entries, err := os.ReadDir(dir)
		if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "-") }) {
			return true
		}
	}
	return false
}

// listsFiles reports whether a command prints names of files below the project,
// one by one, and nothing else.
func (s *shell) listsFiles(c *command) bool {
	name, byName := s.nameOf(c.words[0].text)
	args := guesses(c.words[1:])
	if !byName || slices.ContainsFunc(wanted(args), namesSecrets) {
		return false
	}
	has := func(flags ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(flags, a) })
	}
	switch name {
	case "find":
		return !has("-printf", "-ls", "-fprintf")
	case "fd", "fdfind":
		return true
	case "rg":
		return has("-l", "--files", "--files-with-matches")
	case "grep":
		return has("-l", "-rl", "-lr", "-rlE", "--files-with-matches")
	case "git":
		rest, ok := afterGlobals(args, gitHarmless)
		return ok && (rest[0] == "ls-files" || rest[0] == "diff" && has("--name-only"))
	}
	return false
}

// wanted are the arguments without the tests of find's that leave files out.
func wanted(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if (args[i] == "!" || args[i] == "-not") && i+2 < len(args) && findValued[args[i+1]] {
			i += 2
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// regexMarks turns the usual forms of a regular expression for a name into a
// pattern of file names.
var regexMarks = strings.NewReplacer("^", "", "$", "", ".*", "*", `\`, "")

// namesSecrets reports whether a pattern is one for files that usually hold
// secrets.
func namesSecrets(pattern string) bool {
	if strings.Trim(pattern, "*?.") == "" || strings.HasPrefix(pattern, "-") {
		return false
	}
	if plain := regexMarks.Replace(pattern); plain != pattern {
		return namesSecrets(plain)
	}
	if base := filepath.Base(filepath.ToSlash(pattern)); strings.Trim(base, "*?.") != "" {
		for _, name := range []string{".env", ".env.local", ".env.production", "x.pem", "x.key", "x.p12", "x.pfx", "id_rsa", "id_ed25519", "id_ecdsa", ".npmrc", ".pypirc", ".netrc", ".git-credentials"} {
			if ok, err := filepath.Match(strings.ToLower(base), name); err != nil || ok {
				return true
			}
		}
	}
	_, found := secret(components(pattern))
	return found
}
