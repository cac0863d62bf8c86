package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/sahilm/fuzzy"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// listRulesCommand lists the rules that hold in this folder.
type listRulesCommand struct {
	JSON bool `name:"json" help:"Print the rules as one JSON object."`
}

// ruleEntry is a rule with where it stands.
type ruleEntry struct {
	Number     int               `json:"number"`
	Permission string            `json:"permission"`
	Pattern    string            `json:"pattern,omitzero"`
	Action     permission.Action `json:"action"`
	Scope      string            `json:"scope"`            // manifest, session or project, as in the policy's section 8
	Granted    bool              `json:"granted,omitzero"` // by an answer "always" in this project
	Source     string            `json:"source"`           // the file
	Line       int               `json:"line,omitzero"`    // from 1

	rule permission.Rule
}

// ruleList is what list prints with --json.
type ruleList struct {
	Folder  string      `json:"folder"`
	Trusted bool        `json:"trusted"`
	Mode    string      `json:"mode"`
	Rules   []ruleEntry `json:"rules"`
}

// rulesOf numbers the rules that hold in the folder: those of the files, then
// those that were granted there.
func rulesOf(d *patient) ([]ruleEntry, error) {
	granted, err := d.paths.Grants(d.root)
	if err != nil {
		return nil, err
	}
	entries := []ruleEntry{}
	for i, r := range append(slices.Clone(d.cfg.Rules), granted...) {
		e := ruleEntry{Number: i + 1, Permission: r.Permission, Pattern: r.Pattern, Action: r.Action, Scope: r.Scope.String(), rule: r}
		e.Source, e.Line = place(r.Source)
		if i >= len(d.cfg.Rules) {
			e.Granted, e.Source, e.Line = true, d.paths.GrantsFile(), 0
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// place cuts the source of a rule into its file and line.
func place(source string) (file string, line int) {
	at := strings.LastIndexByte(source, ':')
	if at < 0 {
		return source, 0
	}
	n, err := strconv.Atoi(source[at+1:])
	if err != nil {
		return source, 0
	}
	return source[:at], n
}

// Run lists the rules.
func (c *listRulesCommand) Run(p *process) error {
	d := newPatient(p)
	entries, err := rulesOf(d)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(ruleList{d.root, d.trusted, string(d.cfg.Mode), entries})
	}
	for _, problem := range d.problems {
		fmt.Fprintln(p.errout, kinds.Escape(problem.String()))
	}
	fmt.Fprintf(p.out, "%s, %s; mode %s\n\n", d.root, trustWord(d.trusted), d.cfg.Mode)
	if len(entries) == 0 {
		fmt.Fprintln(p.out, "No rules: the mode alone says what is asked about.\n"+
			"`acp-agent permissions add allow bash 'go test *'` adds one; `acp-agent explain 'bash: go test ./...'` shows what decides.")
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(w, "%3d  %s\t%s\t%s\t%s\n", e.Number, e.Action, oneLine(e.Permission), oneLine(patternWord(e.Pattern)), oneLine(e.where()))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !d.trusted {
		fmt.Fprintf(p.out, "\nOf the project's files only what restricts holds: %s.\n", d.why)
	}
	return nil
}

func trustWord(trusted bool) string {
	if trusted {
		return "trusted"
	}
	return "not trusted"
}

func patternWord(pattern string) string {
	if pattern == "" {
		return "(all)"
	}
	return pattern
}

// where says in words where the rule stands.
func (e *ruleEntry) where() string {
	at := e.Source
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	switch {
	case e.Granted:
		return "granted in this project (" + at + ")"
	case e.rule.Scope == permission.Manifest:
		return "administrator (" + at + ")"
	case e.rule.Scope == permission.Project:
		return "project (" + at + ")"
	}
	return at
}

// oneLine shows a text on one line, with nothing hidden in it.
func oneLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(kinds.Escape(text))
}

// namedRule is a rule as it is named on the command line.
type namedRule struct {
	Action     string `arg:"" help:"allow, ask or deny."`
	Permission string `arg:"" help:"A tool, read, edit, mcp:SERVER:TOOL, or * for all."`
	Pattern    string `arg:"" optional:"" help:"Which calls: 'git push *', 'src/**', 'domain:example.com'; without one, all."`
}

// addRuleCommand adds a rule.
type addRuleCommand struct {
	namedRule
	Project bool `help:"For this project alone. It is kept with what you granted here, not in the project's files."`
}

// Help is what --help says beside the flags.
func (*addRuleCommand) Help() string {
	return "Your settings file keeps its comments and all else that stands in it. The most specific rule that matches a call wins; of equal ones deny, then ask. " +
		"Put patterns in quotes, so that the shell leaves their stars alone."
}

// Run adds the rule and says where it stands.
func (c *addRuleCommand) Run(p *process) error {
	scope := permission.Session
	if c.Project {
		scope = permission.Project
	}
	r, err := c.rule(scope)
	if err != nil {
		return err
	}
	d := newPatient(p)
	if !c.Project {
		added, err := d.paths.AddRule(r)
		if err != nil {
			return fmt.Errorf("adding the rule: %w", err)
		}
		return c.told(p, r, added, d.paths.UserFile())
	}
	if r.Action == permission.Allow && catchesAll(r) {
		return errors.New("a rule of one project cannot allow everything: give a pattern, or leave --project out to allow it everywhere")
	}
	before, err := d.paths.Grants(d.root)
	if err != nil {
		return err
	}
	if err := d.paths.AddGrants(d.root, []permission.Rule{r}); err != nil {
		return fmt.Errorf("adding the rule: %w", err)
	}
	return c.told(p, r, !slices.ContainsFunc(before, sameAs(r)), d.paths.GrantsFile()+", for "+d.root)
}

func (c *addRuleCommand) told(p *process, r permission.Rule, added bool, where string) error {
	said := "Added: "
	if !added {
		said = "It was there already: "
	}
	_, err := fmt.Fprintf(p.out, "%s%s (%s).\nSessions that are opened from now on go by it.\n", said, oneLine(r.String()), where)
	return err
}

func catchesAll(r permission.Rule) bool {
	return strings.Trim(r.Pattern, "*/ ") == "" && !strings.HasPrefix(r.Permission, "mcp:")
}

func sameAs(r permission.Rule) func(permission.Rule) bool {
	return func(o permission.Rule) bool {
		return o.Permission == r.Permission && o.Pattern == r.Pattern && o.Action == r.Action
	}
}

// rule checks what was named.
func (n *namedRule) rule(scope permission.Scope) (permission.Rule, error) {
	var action permission.Action
	if err := action.UnmarshalText([]byte(n.Action)); err != nil {
		return permission.Rule{}, &statusError{statusUsage, fmt.Errorf("%w, then the permission and the pattern", err)}
	}
	if err := knownPermission(n.Permission); err != nil {
		return permission.Rule{}, err
	}
	return permission.ParseRule(n.Permission, n.Pattern, action, scope, "")
}

// knownPermission refuses a permission that no call has.
func knownPermission(name string) error {
	names := []string{"*", "read", "edit", "fs.read", "fs.write"}
	for _, t := range tools.Builtin() {
		names = append(names, t.Spec().ID)
	}
	server, isMCP := strings.CutPrefix(name, "mcp:")
	switch {
	case slices.Contains(names, name):
		return nil
	case isMCP:
		if srv, tool, ok := strings.Cut(server, ":"); ok && srv != "" && tool != "" && !strings.Contains(tool, ":") {
			return nil
		}
		return fmt.Errorf("%q names no tool of a server: write mcp:SERVER:TOOL; either may be a star", name)
	}
	hint := "write bash, read, edit, web_fetch, another tool's id, mcp:SERVER:TOOL, or * for all"
	if near := fuzzy.Find(strings.ToLower(name), names); len(near) > 0 {
		hint = "did you mean " + near[0].Str + "? Else " + hint
	}
	return fmt.Errorf("there is no permission %q: %s", name, hint)
}

// removeRuleCommand removes a rule.
type removeRuleCommand struct {
	Action     string `arg:"" name:"number-or-action" help:"The rule's number in the list; or allow, ask or deny, with what follows."`
	Permission string `arg:"" optional:"" help:"The rule's permission."`
	Pattern    string `arg:"" optional:"" help:"The rule's pattern."`
}

// Run removes the rule from where it stands.
func (c *removeRuleCommand) Run(p *process) error {
	d := newPatient(p)
	entries, err := rulesOf(d)
	if err != nil {
		return err
	}
	e, err := c.find(entries)
	if err != nil {
		return err
	}
	removed := false
	switch {
	case e.Granted:
		removed, err = d.paths.RemoveGrants(d.root, []permission.Rule{e.rule})
	case e.Source == d.paths.UserFile():
		removed, err = d.paths.RemoveRule(e.rule)
	default:
		return fmt.Errorf("the rule %s stands in %s:%d, which is not yours alone: edit that file", oneLine(e.rule.String()), e.Source, e.Line)
	}
	if err != nil {
		return fmt.Errorf("removing the rule: %w", err)
	}
	if !removed {
		return fmt.Errorf("the rule %s is gone already: `acp-agent permissions` shows what there is", oneLine(e.rule.String()))
	}
	_, err = fmt.Fprintf(p.out, "Removed: %s (%s).\n", oneLine(e.rule.String()), e.Source)
	return err
}

// find is the one rule that is meant.
func (c *removeRuleCommand) find(entries []ruleEntry) (ruleEntry, error) {
	if n, err := strconv.Atoi(c.Action); err == nil && c.Permission == "" {
		if n < 1 || n > len(entries) {
			return ruleEntry{}, fmt.Errorf("there is no rule %d: `acp-agent permissions` lists the %d there are", n, len(entries))
		}
		return entries[n-1], nil
	}
	var action permission.Action
	if err := action.UnmarshalText([]byte(c.Action)); err != nil || c.Permission == "" {
		return ruleEntry{}, &statusError{statusUsage, errors.New("name the rule by its number in `acp-agent permissions`, or as ACTION PERMISSION [PATTERN]")}
	}
	var found []ruleEntry
	for _, e := range entries {
		if sameAs(permission.Rule{Permission: c.Permission, Pattern: c.Pattern, Action: action})(e.rule) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return ruleEntry{}, errors.New("there is no such rule: `acp-agent permissions` lists those there are, each with a number to remove it by")
	case 1:
		return found[0], nil
	}
	var numbers []string
	for _, e := range found {
		numbers = append(numbers, fmt.Sprintf("%d (%s)", e.Number, e.where()))
	}
	return ruleEntry{}, fmt.Errorf("the rule stands at several places: remove it by its number, %s", strings.Join(numbers, " or "))
}
