package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
)

// standing is a rule in force with where it comes from. One that was granted, in
// this session or earlier in this project, can be taken back.
type standing struct {
	permission.Rule
	granted bool
	from    string
}

// standingRules is every rule in force, those of the files first.
func (s *Session) standingRules() []standing {
	s = s.top()
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, _ := s.grants.Rules() // the error is told in the turn
	var out []standing
	for _, r := range s.cfg().Rules {
		out = append(out, standing{r, false, r.Source})
	}
	for _, r := range kept {
		out = append(out, standing{r, true, r.Source})
	}
	for _, r := range s.heldLocked(kept)[len(kept):] {
		if i := slices.IndexFunc(out, func(o standing) bool { return o.granted && sameRule(o.Rule, r) }); i < 0 {
			out = append(out, standing{r, true, "answered in this session"})
		}
	}
	return out
}

func sameRule(a, b permission.Rule) bool {
	return a.Permission == b.Permission && a.Pattern == b.Pattern && a.Action == b.Action
}

// parsePermissions reads the command that shows the rules in force, and takes back
// what was granted.
func parsePermissions(s *Session, args string) (direct, error) {
	verb, what, _ := strings.Cut(args, " ")
	what = strings.Trim(strings.TrimSpace(what), "`")
	switch {
	case args == "":
		return func(ctx context.Context, t *Turn) error { t.answer(ctx, s.rulesText()); return nil }, nil
	case verb != "revoke":
		return nil, fmt.Errorf("there is no %q here", verb)
	case what == "":
		return nil, errors.New("revoke what? Give the number or the pattern of a grant")
	}
	return func(ctx context.Context, t *Turn) error {
		text, err := s.revoke(what)
		if err != nil {
			text = sentence(err.Error())
		}
		t.answer(ctx, text)
		return nil
	}, nil
}

// rulesText shows the rules in force, as Markdown.
func (s *Session) rulesText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The mode is `%s`. ", s.Mode())
	rules := s.standingRules()
	if len(rules) == 0 {
		b.WriteString("There are no rules: the mode alone says what is asked about.")
		return b.String()
	}
	b.WriteString("Of the rules that match a call the most specific one decides:\n\n")
	revocable := false
	for i, r := range rules {
		from := r.from
		if !r.granted {
			from = "`" + strings.ReplaceAll(kinds.Line(from), "`", "'") + "`"
		}
		fmt.Fprintf(&b, "%d. %s, %s\n", i+1, ruleText(r.Rule), from)
		revocable = revocable || r.granted
	}
	if revocable {
		b.WriteString("\n`/permissions revoke N` takes back what you granted.")
	} else {
		b.WriteString("\nNone of them was granted in this session or kept for this project; `acp-agent permissions remove` removes those of your settings.")
	}
	return b.String()
}

// ruleText shows a rule, as Markdown.
func ruleText(r permission.Rule) string {
	text := r.Action.String() + " `" + r.Permission + "`"
	if r.Pattern != "" {
		text += " `" + strings.ReplaceAll(kinds.Line(r.Pattern), "`", "'") + "`"
	}
	return text
}

// revoke takes back the grant that is named by its number or its pattern, for
// this session and where it is kept for the project.
func (s *Session) revoke(what string) (said string, err error) {
	s = s.top()
	found, err := findGrants(s.standingRules(), what)
	if err != nil {
		return "", err
	}
	var rules []permission.Rule
	for _, f := range found {
		rules = append(rules, f.Rule)
	}
	if _, err := s.sessions.paths.RemoveGrants(s.root, rules); err != nil {
		return "", fmt.Errorf("nothing was taken back: %w", err)
	}
	gone := func(r permission.Rule) bool {
		return slices.ContainsFunc(rules, func(o permission.Rule) bool { return sameRule(o, r) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = slices.DeleteFunc(slices.Clone(s.rules), gone)
	s.settling.ring()
	var names []string
	for _, r := range rules {
		names = append(names, ruleText(r))
	}
	return "Taken back: " + strings.Join(names, ", ") + ". It is asked about again.", nil
}

// sentence is a clause as a sentence.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// findGrants is the grants that a number or a pattern names.
func findGrants(rules []standing, what string) ([]standing, error) {
	if n, err := strconv.Atoi(what); err == nil {
		switch {
		case n < 1 || n > len(rules):
			return nil, fmt.Errorf("there is no rule %d; `/permissions` lists the %d there are", n, len(rules))
		case !rules[n-1].granted:
			return nil, fmt.Errorf("rule %d was not granted but stands in a file (%s): change it there, or with `acp-agent permissions remove`", n, rules[n-1].from)
		}
		return rules[n-1 : n], nil
	}
	var found []standing
	for _, r := range rules {
		if r.granted && (r.Pattern == what || r.Pattern == "" && r.Permission == what || r.Permission+" "+r.Pattern == what) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("nothing with the pattern `%s` was granted; `/permissions` lists what was, each with a number", strings.ReplaceAll(kinds.Line(what), "`", "'"))
	}
	return found, nil
}
