package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// simple judges a simple command: hard denies and restrictions first, then
// whether it is understood, then the user's permissions, then the table of
// what only reads. It reports whether it is a cd to be followed.
func (s *shell) simple(c *command) (cd bool) {
	if s.trace != nil {
		defer s.begin(c)()
	}
	argv := guesses(c.words)
	if words, text, ok := s.transparentText(c); ok {
		for i := range len(argv) - 2 { // wrappers around it are commands too
			s.restrictOne(argv[i:], c.at)
		}
		if file := s.nestedText(text, c.at); file != nil {
			s.changes = append(s.changes, func() {
				if words[1].text == "-lc" { // without the files of a login, which may do anything
					words[1].src.Parts = litWord("-c").Parts
				}
				s.rewriteText(words[2].src, file, baseName(words[0].text) != "bash")
			})
		}
		return false
	}
	if s.restrict(argv, c.at) || !slices.Equal(argv, c.raw) && s.restrict(c.raw, c.at) {
		return false
	}
	if s.count > maxCommands {
		return false // it asks in any case, and only what denies is looked for
	}
	s.parts = append(s.parts, c)
	s.last = c
	s.environment(argv)
	why := s.beyond(c)
	if argv[0] != "cd" || why != "" {
		s.strays(argv, c.at)
	}
	if name, byName := s.nameOf(argv[0]); why == "" && name == "xargs" && byName && allSafe(c.assigns) {
		found, held := len(s.found), len(s.held)
		if why = s.identity(argv[0], c.at); why == "" {
			why = s.xargs(c)
		}
		if why == "" {
			c.reads = true
			return false
		}
		s.found, s.held = s.found[:found], s.held[:held]
	}
	if why == "" {
		c.words, why = s.unwrap(c)
		if len(c.words) > 0 && len(c.words) < len(argv) {
			s.environment(guesses(c.words))
		}
	}
	if why != "" {
		s.opaque(why)
		s.touchAll(c)
		return false
	}
	if len(c.words) == 0 {
		return false
	}
	if c.words[0].text == "cd" {
		c.reads = true
		return s.assigned(c, ruling{})
	}
	s.permit(c)
	return false
}

// transparentText is the text of `bash -c TEXT`, or of another shell that reads
// it alike, which is judged in its place, also behind programs that change nothing
// about what it does; words are those of the shell.
func (s *shell) transparentText(c *command) (words []word, text string, ok bool) {
	if len(c.words) < 3 {
		return nil, "", false
	}
	inner := *c
	inner.assigns = slices.Clone(c.assigns)
	words, why := s.unwrap(&inner)
	if why != "" || len(words) != 3 || !slices.Contains([]string{"-c", "-lc", "-ec"}, words[1].text) || slices.ContainsFunc(c.words, func(w word) bool { return !w.static() }) || words[1].named || words[2].named {
		return nil, "", false
	}
	name, byName := s.nameOf(words[0].text)
	if name != "bash" && (name != "sh" && name != "dash" || !posixAlike(words[2].text)) || !byName || s.identity(words[0].text, c.at) != "" {
		return nil, "", false
	}
	return words, words[2].text, allSafe(inner.assigns)
}

// guesses are the words as restrictions see them.
func guesses(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// beyond says why the command is not understood, if it is not.
func (s *shell) beyond(c *command) string {
	name := c.words[0]
	switch {
	case !name.static():
		return "the program's name is not known before it runs"
	case !isASCII(name.text):
		return "the program's name has letters that look like others"
	case setsShell(name.text) && !strictMode(c.words):
		return "`" + name.text + "` changes what later commands mean"
	case isInterpreter(baseName(name.text)) && c.piped && readsCode(c.words[1:]):
		return "`" + name.text + "` would run what it is fed"
	}
	safe := takesDynamic(name.text, c.words[1:])
	for i, w := range c.words[1:] {
		switch {
		case w.odd != "":
			return w.odd
		case w.fed && (readers[name.text].operands != content || len(c.assigns) > 0):
			return "it is given the output of other commands in place of a file"
		case w.secret && !asksOnlyWhether(c.words, i+1):
			return "it shows a variable that may hold a secret"
		case w.dynamic && !safe:
			return "a word of `" + visible(c.text) + "` is not known before it runs"
		case w.glob && (!safe || name.text == "test" || name.text == "["):
			return "a word of `" + visible(c.text) + "` stands for files that are not named"
		case strings.HasPrefix(w.text, "-") && !isASCII(strings.SplitN(w.text, "=", 2)[0]):
			return "a flag has letters that look like others"
		}
	}
	return ""
}

// readsCode reports whether an interpreter with these arguments takes its code
// from its input.
func readsCode(args []word) bool {
	for _, a := range args {
		switch {
		case a.text == "-", a.text == "-s", a.text == "/dev/stdin":
			return true
		case !strings.HasPrefix(a.text, "-"):
			return false
		}
	}
	return true
}

// setsShell reports whether a built-in changes the shell itself, or runs text.
func setsShell(name string) bool {
	switch name {
	case "eval", "source", ".", "trap", "alias", "unalias", "enable", "hash", "shopt", "set", "exec", "builtin",
		"mapfile", "readarray", "read", "complete", "compgen", "compopt", "bind", "fc", "history", "disown", "ulimit", "umask",
		"declare", "typeset", "local", "readonly", "export", "unset", "let", "pushd", "popd", "dirs", "getopts", "wait", "caller":
		return true
	}
	return false
}

// strictMode reports whether the command is `set` with options that only make a
// script stop sooner, or tell more.
func strictMode(words []word) bool {
	if words[0].text != "set" || len(words) == 1 {
		return false
	}
	for i := 1; i < len(words); i++ {
		w := words[i]
		if !w.static() || len(w.text) < 2 || w.text[0] != '-' || strings.Trim(w.text[1:], "euxo") != "" {
			return false
		}
		if strings.Contains(w.text, "o") {
			if i++; !strings.HasSuffix(w.text, "o") || strings.Count(w.text, "o") > 1 || i == len(words) || words[i].text != "pipefail" {
				return false
			}
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// assigned judges the assignments before a command: a few names are safe; any
// other is covered only by a rule that writes it out.
func (s *shell) assigned(c *command, r ruling) bool {
	for _, a := range c.assigns {
		if safeAssignment(a) {
			continue
		}
		text := a.name + "=" + a.value.text
		if a.value.static() && !a.odd && r.rule != nil && r.rule.command != nil && slices.Contains(r.rule.command.assigns, text) {
			continue
		}
		s.opaque("setting " + a.name + " can change which code runs")
		return false
	}
	return true
}

func safeAssignment(a assign) bool {
	if !a.value.static() || a.odd {
		return false
	}
	switch a.name {
	case "LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TERM", "COLUMNS", "LINES", "CI", "NODE_ENV",
		"GOOS", "GOARCH", "CGO_ENABLED", "GOMAXPROCS", "RUST_BACKTRACE", "RUST_LOG", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE":
		return true
	case "PAGER", "GIT_PAGER":
		return a.value.text == "cat"
	}
	return strings.HasPrefix(a.name, "LC_")
}

// permit judges an understood command: by the table of what only reads, or by
// the user's rules.
func (s *shell) permit(c *command) {
	before, held := len(s.found), len(s.held)
	table := "the assignments of `" + visible(c.text) + "` are not known to be harmless"
	var read []finding
	if allSafe(c.assigns) {
		if table = s.readOnly(c); table == "" && len(s.found) == before && (len(s.held) == held || s.ruleFor(c) == nil) {
			c.reads = true
			return
		}
		read = append(slices.Clone(s.found[before:]), s.held[held:]...) // with a rule, it is the rule that counts
		s.found, s.held = s.found[:before], s.held[:held]
	}
	edits, isEdit := s.asEdits(c)
	if isEdit && s.Mode == AcceptEdits && s.Trusted && s.ruleFor(c) == nil {
		s.found = append(s.found, edits...)
		return
	}
	for _, f := range edits { // what no rule and no mode makes silent
		if f.class >= floor {
			s.found = append(s.found, f)
		}
	}
	why := ""
	if r := s.allows(c); r.rule != nil && r.action == Allow {
		if why = s.beyondRule(c, r); why == "" {
			s.assigned(c, r)
			s.touchAll(c)
			return
		}
	}
	switch {
	case !s.assigned(c, ruling{}):
	case table == "": // it only reads, but what is asked about
		s.found = append(s.found, read...)
		return
	case why != "":
		s.found = append(s.found, finding{class: plain, reason: why, part: c})
	default:
		s.found = append(s.found, finding{class: plain, reason: table, part: c})
	}
	s.touchAll(c)
}

// asEdits judges a command as the edits that it makes, if it is one that edits.
func (s *shell) asEdits(c *command) (found []finding, ok bool) {
	if !allSafe(c.assigns) {
		return nil, false
	}
	before, writes := len(s.found), len(s.writes)
	ok = s.edits(c)
	found = slices.Clone(s.found[before:])
	s.found = s.found[:before]
	if !ok || s.Mode != AcceptEdits {
		s.writes = s.writes[:writes]
	}
	return found, ok
}

// ruleFor is the rule that decides about the command; nil: none.
func (s *shell) ruleFor(c *command) *compiled { return s.allows(c).rule }

// allows is what the rules say about the command as it would run, with the
// permissions among them.
func (s *shell) allows(c *command) ruling {
	argv := guesses(c.words)
	named, byName := s.nameOf(argv[0])
	var ms []match
	for i := range s.rules.all {
		r := &s.rules.all[i]
		if r.Action > Allow {
			if s.restricts(r, argv) {
				ms = append(ms, match{r, r.specific()})
			}
			continue
		}
		if !r.forCommands() || !assignsMatch(r.command, c.assigns) {
			continue
		}
		if r.all && byName {
			ms = append(ms, match{r, weight{}})
			continue
		}
		if r.command == nil || !byName && (!s.whole || r.command.starred) {
			continue // another program than the system's: only by its whole text
		}
		for _, form := range forms(named, argv) {
			if r.command.matches(form, false) {
				ms = append(ms, match{r, r.command.weight()})
				break
			}
		}
	}
	return s.weigh(c.text, ms)
}

func (c *compiled) forCommands() bool { return c.class() == permBash || c.Permission == "*" }

func (c *compiled) specific() weight {
	if c.command != nil {
		return c.command.weight()
	}
	return weight{}
}

// assignsMatch reports whether a pattern writes out the assignments that are
// not safe; a pattern with others does not match.
func assignsMatch(p *commandPattern, have []assign) bool {
	if p == nil {
		return true
	}
	for _, want := range p.assigns {
		if !slices.ContainsFunc(have, func(a assign) bool { return a.name+"="+a.value.text == want }) {
			return false
		}
	}
	return true
}

// forms are the words of a command as a pattern may have them: as they are, and
// without the harmless global options of git.
func forms(name string, argv []string) [][]string {
	first := append([]string{name}, argv[1:]...)
	out := [][]string{first}
	if name == "git" {
		if rest, ok := afterGlobals(argv[1:], gitHarmless); ok && len(rest) != len(argv)-1 {
			out = append(out, append([]string{"git"}, rest...))
		}
	}
	return out
}

// nameOf is the program as allow rules know it: a bare name, or the base of a
// path in a system directory. byName is false for any other path: only an exact
// rule covers it.
func (s *shell) nameOf(program string) (name string, byName bool) {
	if !strings.ContainsRune(program, '/') {
		return program, true
	}
	if inSystem(program) {
		return path.Base(program), true
	}
	return program, false
}

// inSystem reports whether an absolute path names a program of the system.
func inSystem(program string) bool {
	if !filepath.IsAbs(program) || filepath.Clean(program) != program {
		return false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		return false
	}
	switch filepath.ToSlash(dir) {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin":
		return true
	}
	return false
}

// beyondRule says why a rule that matches does not cover the command after all.
func (s *shell) beyondRule(c *command, r ruling) string {
	if why := s.identity(c.words[0].text, c.at); why != "" && !strings.Contains(c.words[0].text, "/") {
		return why
	}
	if r.weight.exact {
		return ""
	}
	name, _ := s.nameOf(c.words[0].text)
	return beyondWildcard(name, guesses(c.words), r.rule)
}

// baseName is the program's name as restrictions know it.
func baseName(program string) string {
	program = filepath.ToSlash(program)
	return strings.ToLower(path.Base(program))
}
