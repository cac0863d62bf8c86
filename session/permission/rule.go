package permission

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Rule is one rule: which calls, and what to do about them (policy sections 7
// and 8). Make one with ParseRule, which says what is wrong with it; a rule
// that would not have passed never allows anything, but still denies.
type Rule struct {
	Permission string `json:"permission"`       // bash, read, edit, web_fetch, mcp:SERVER:TOOL, another tool's id, or *
	Pattern    string `json:"pattern,omitzero"` // empty: all calls
	Action     Action `json:"action"`
	Scope      Scope  `json:"-"`
	Source     string `json:"-"` // where it stands: file:line:column, or "this session"
	// Confirmed says of a project's permission for everything that the user was asked
	// about it; another one allows nothing (policy section 11).
	Confirmed bool `json:"-"`
}

// String shows the rule as a person would name it.
func (r Rule) String() string {
	s := r.Action.String() + " " + r.Permission
	if r.Pattern != "" {
		s += " `" + r.Pattern + "`"
	}
	return s
}

// The permissions that have patterns of their own.
const (
	permBash  = "bash"
	permRead  = "read"
	permEdit  = "edit"
	permFetch = "web_fetch"
)

// ParseRule makes a rule, or says why the pattern cannot be what was meant.
func ParseRule(permission, pattern string, action Action, scope Scope, source string) (Rule, error) {
	r := Rule{Permission: permission, Pattern: pattern, Action: action, Scope: scope, Source: source}
	if err := r.check(); err != nil {
		return r, fmt.Errorf("rule %s: %w", r, err)
	}
	return r, nil
}

// check says what is wrong with the rule. Restrictions are taken with wider
// patterns than permissions are.
func (r Rule) check() error {
	if err := checkPermission(r.Permission); err != nil {
		return err
	}
	if r.Action < Allow || r.Action > Deny {
		return errors.New("the action must be allow, ask or deny")
	}
	if r.Pattern == "" || r.Pattern == "*" {
		return nil
	}
	switch r.class() {
	case permBash:
		return parseCommand(r.Pattern).check(r.Action == Allow)
	case permRead, permEdit:
		_, err := parsePath(r.Pattern)
		return err
	case permFetch:
		_, err := parseFetch(r.Pattern)
		return err
	}
	return fmt.Errorf("%s takes no pattern", r.Permission)
}

func checkPermission(s string) error {
	if s == "" {
		return errors.New("the permission is missing: name a tool, read, edit, or *")
	}
	for _, c := range s {
		ok := c == '*' || c == '_' || c == '-' || c == '.' || c == ':' || c == '?' ||
			c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !ok {
			return fmt.Errorf("the permission %q is no tool's name", s)
		}
	}
	if s != "*" && strings.ContainsAny(s, "*?") && !strings.HasPrefix(s, "mcp:") {
		return fmt.Errorf("the permission %q has a star: only * alone and the names of MCP tools may", s)
	}
	return nil
}

// class is the permission by its first name.
func (r Rule) class() string {
	switch r.Permission {
	case "fs.read":
		return permRead
	case "fs.write":
		return permEdit
	}
	return r.Permission
}

// compiled is a rule ready to be matched.
type compiled struct {
	Rule
	all     bool // covers every call
	invalid bool // allows nothing
	command *commandPattern
	path    *pathPattern
	fetch   *fetchPattern
}

// ruleset is all rules of a policy, compiled.
type ruleset struct{ all []compiled }

// compile prepares the rules. What may not allow is left out: patterns that
// are invalid, and a project's permission for everything that the user did not
// confirm (policy sections 7 and 11).
func compile(p *Policy) ruleset {
	var set ruleset
	for _, r := range p.Rules {
		c := compileRule(r)
		if r.Action == Allow && (c.invalid || r.Scope == Project && !r.Confirmed && c.everything()) {
			continue
		}
		if r.Action == Allow && (p.Mode == Plan || p.Mode == Auto && suspendedInAuto(c)) {
			continue // plan mode is decided before permissions are looked at
		}
		set.all = append(set.all, c)
	}
	return set
}

// everything reports whether the rule is for all calls of a tool, or of all servers.
func (c compiled) everything() bool {
	if names, ok := strings.CutPrefix(c.Permission, "mcp:"); ok {
		return strings.Trim(names, "*:") == ""
	}
	return c.all
}

func compileRule(r Rule) compiled {
	c := compiled{Rule: r, all: r.Pattern == "" || r.Pattern == "*", invalid: r.check() != nil}
	if c.all {
		return c
	}
	switch r.class() {
	case permBash:
		c.command = parseCommand(r.Pattern)
	case permRead, permEdit:
		c.path, _ = parsePath(r.Pattern)
	case permFetch:
		c.fetch, _ = parseFetch(r.Pattern)
	}
	return c
}

// suspendedInAuto reports whether auto mode passes over a permission: one for
// everything, or for a program that runs whatever it is given.
func suspendedInAuto(c compiled) bool {
	if c.all {
		return true
	}
	return c.command != nil && c.command.rest && len(c.command.words) > 0 && runsAnything(baseName(c.command.words[0].text))
}

// names reports whether the rule's permission is that of the tool id, directly
// or as the class of it.
func (r Rule) names(id string) bool {
	switch {
	case r.Permission == "*":
		return true
	case r.class() == permEdit && (id == "write" || id == "edit" || id == "apply_patch"):
		return true
	case strings.HasPrefix(r.Permission, "mcp:"):
		return matchMCP(r.Permission, id)
	}
	return r.Permission == id || r.class() == id
}

func matchMCP(pattern, id string) bool {
	want, have := strings.Split(pattern, ":"), strings.Split(id, ":")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if ok, err := path.Match(want[i], have[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

// reopened reports whether some rule of at least the scope of a bare deny
// allows or asks about a part of the tool's calls.
func (s ruleset) reopened(deny compiled, id string) bool {
	for _, r := range s.all {
		if r.Action < Deny && !r.all && r.Scope >= deny.Scope && r.names(id) {
			return true
		}
	}
	return false
}

// weight is how specific a match is: exact, then more literal words, then more
// literal characters.
type weight struct {
	exact        bool
	words, chars int
}

func (w weight) more(than weight) bool {
	switch {
	case w.exact != than.exact:
		return w.exact
	case w.words != than.words:
		return w.words > than.words
	}
	return w.chars > than.chars
}

// match is a rule that covers a fact, and how exactly.
type match struct {
	rule   *compiled
	weight weight
}

// ruling is what the matching rules say together.
type ruling struct {
	action Action
	rule   *compiled // whose word it is; nil: no rule says anything
	weight weight
}

// rule works out what the matches say (policy section 8): a manifest's deny and
// ask stand; of the others a rule holds unless a more specific and looser one of
// at least its scope lifts it; of those that hold, the strictest counts.
func rule(matches []match) ruling {
	var out ruling
	for _, m := range matches {
		if m.rule.Action > Allow && m.rule.Scope < Manifest && lifted(m, matches) {
			continue
		}
		if out.rule == nil || m.rule.Action > out.action || m.rule.Action == out.action && m.weight.more(out.weight) {
			out = ruling{m.rule.Action, m.rule, m.weight}
		}
	}
	return out
}

func lifted(m match, by []match) bool {
	for _, o := range by {
		if o.rule.Action < m.rule.Action && o.rule.Scope >= m.rule.Scope && o.weight.more(m.weight) {
			return true
		}
	}
	return false
}
