package permission

import (
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// What the words of a command that is not in the table touch.

// touchAll holds the words of a command that may do anything against the paths
// that are never silent.
func (s *shell) touchAll(c *command) {
	if len(c.words) == 0 {
		return
	}
	program := baseName(c.words[0].text)
	if strings.Contains(c.words[0].text, "/") && !inSystem(c.words[0].text) {
		s.touch(program, c.words[0].text, c.at)
	}
	for _, w := range c.words[1:] {
		for _, text := range pathsIn(w.text) {
			s.touch(program, text, c.at)
		}
	}
}

// pathsIn lists what of a word could be a path: the word, the value of a flag
// or an assignment, what follows an @.
func pathsIn(w string) []string {
	if w == "" || w == "-" || w == "--" {
		return nil
	}
	var out []string
	add := func(s string) {
		if s = strings.TrimPrefix(s, "@"); s != "" && s != "-" {
			out = append(out, s)
		}
	}
	_, value, isPair := strings.Cut(w, "=")
	switch {
	case strings.HasPrefix(w, "-"):
		if isPair {
			add(value)
		}
		if i := strings.IndexAny(w, "/~"); i > 0 && !isPair {
			add(w[i:])
		}
		if i := strings.Index(w, ".."); i > 0 && !isPair {
			add(w[i:])
		}
		if !strings.HasPrefix(w, "--") && len(w) > 2 {
			add(w[2:])
		}
	default:
		add(w)
		if isPair {
			add(value)
		}
		if _, after, ok := strings.Cut(w, ":"); ok && !strings.HasPrefix(after, "//") {
			add(after)
		}
	}
	return out
}

// touch judges a path that a command may read or change, without more being
// known of it.
func (s *shell) touch(program, text string, at dirs) {
	if strings.HasPrefix(strings.ToLower(text), "file:") {
		s.beyondSandbox("it names the file " + visible(text) + " as a URL")
		return
	}
	if strings.HasPrefix(text, "~") {
		s.beyondSandbox(visible(text) + " may be a path in a home folder")
		return
	}
	if s.Roots == nil {
		return
	}
	for _, dir := range at {
		p, err := s.resolve(text, dir)
		if err != nil {
			if strings.ContainsRune("/.", rune(text[0])) {
				s.floor("the path " + visible(text) + " cannot be resolved")
			}
			return
		}
		if p.Asked == "/dev/null" || p.Asked == "/dev/stdout" || p.Asked == "/dev/stderr" {
			continue
		}
		a := access{kind: kinds.Write, asked: p.Asked, target: p.Target, exists: p.Exists}
		if s.touchRuled(program, a) {
			return
		}
		if p.Asked == p.Target {
			continue
		}
		// What removes or renames takes the link itself.
		own, err := s.resolveName(text, dir)
		if err == nil && own.Target != p.Target && s.touchRuled(program, access{kind: kinds.Write, asked: own.Asked, target: own.Target}) {
			return
		}
	}
}

// touchRuled judges the resolved path; it reports whether it is settled.
func (s *shell) touchRuled(program string, a access) bool {
	name := s.shown(a.asked)
	if s.own(a) {
		s.deny(name + " belongs to the agent's own settings and state")
		return true
	}
	for _, kind := range []kinds.Access{kinds.Write, kinds.Read} {
		a.kind = kind
		r := s.pathRuling(a)
		if r.rule == nil || r.action == Allow {
			continue
		}
		certain := kind == kinds.Write && changes(program) || kind == kinds.Read && !removes(program)
		if r.action == Deny && !certain {
			s.floor("`" + program + "` may be " + verbOf(kind) + " " + name + ", against the rule `" + r.rule.Rule.String() + "`")
			continue
		}
		if s.ruled(r, verbOf(kind)+" "+name) && r.action == Deny {
			return true
		}
	}
	if !s.inside(a.kind, a.target) {
		if s.OutsideDenied {
			s.deny(name + " lies outside of the project, which is not allowed here")
		} else {
			s.beyondSandbox("it names " + name + ", which lies outside of the project")
		}
		return true
	}
	names := append(s.names(a.asked), s.names(a.target)...)
	for _, kind := range []kinds.Access{kinds.Write, kinds.Read} {
		a.kind = kind
		if s.guard(a, s.pathRuling(a), names, name) {
			return true
		}
	}
	return false
}

// changes reports whether a program is known to write what it is given.
func changes(program string) bool {
	switch program {
	case "cp", "mv", "ln", "install", "truncate", "tee", "dd", "sed", "shred", "rsync", "patch", "unlink", "rename":
		return true
	}
	return removes(program)
}

// removes reports whether a program changes what it is given without showing
// its content.
func removes(program string) bool {
	switch program {
	case "rm", "rmdir", "touch", "mkdir", "chmod", "chown", "chgrp":
		return true
	}
	return false
}
