package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
	children "github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/sandbox"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// explainCommand says what decides about a call.
type explainCommand struct {
	Call      []string `arg:"" help:"What would be done: 'bash: git push', 'edit: src/a.go', 'read: .env', 'web_fetch: https://…', mcp:SERVER:TOOL."`
	Mode      string   `help:"In this mode, instead of the one that new sessions have." placeholder:"MODE"`
	Headless  bool     `help:"Where nobody can be asked."`
	Untrusted bool     `help:"As if this folder were not trusted."`
}

// Help is what --help says beside the flags.
func (*explainCommand) Help() string {
	return "Nothing of the call is run, read or fetched. The rules and settings are those of a session in this folder; " +
		"`acp-agent permissions` lists them. Exit status: 0 whatever the verdict, 1 an error."
}

// Run judges the call as a session in this folder would, and shows how.
func (c *explainCommand) Run(p *process) error {
	d := newPatient(p)
	if d.folder == "" {
		return errors.New("this folder is gone: go to another one")
	}
	policy, err := c.policy(d)
	if err != nil {
		return err
	}
	defer policy.Roots.Close()
	text := strings.Join(c.Call, " ")
	facts, refused, err := factsOf(policy.Roots, text)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nin %s, %s; mode %s%s\n\n", oneLine(text), d.folder, trustWord(policy.Trusted), policy.Mode, headlessWord(c.Headless))
	if refused != nil {
		fmt.Fprintf(&b, "deny: the tool refuses it: %s\n", oneLine(refused.Error()))
	} else {
		e := policy.Explain(facts)
		writeExplanation(&b, e, facts)
		if facts.Command != nil && e.Verdict.Action != permission.Deny {
			says := session.Confinement(*policy, d.cfg.Sandbox, prober(), facts, e.Verdict.Action != permission.Allow)
			fmt.Fprintf(&b, "%s%s.\n", strings.ToUpper(says[:1]), oneLine(says[1:]))
		}
	}
	_, err = fmt.Fprint(p.out, b.String())
	return err
}

func headlessWord(headless bool) string {
	if headless {
		return "; nobody can be asked"
	}
	return ""
}

// policy is that of a session in the folder. The caller closes its roots.
func (c *explainCommand) policy(d *patient) (*permission.Policy, error) {
	mode := d.cfg.Mode
	if c.Mode != "" {
		if mode = permission.Mode(c.Mode); !mode.Valid() {
			return nil, &statusError{statusUsage, fmt.Errorf("there is no mode %q: write default, acceptEdits, plan, dontAsk or bypassPermissions", c.Mode)}
		}
	}
	if c.Untrusted {
		d = d.untrusted()
	}
	granted, err := d.paths.Grants(d.root)
	if err != nil {
		return nil, err
	}
	dirs := []string{d.folder}
	for _, dir := range d.cfg.AdditionalDirectories {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	roots, err := workspace.NewRoots(dirs...)
	if err != nil {
		return nil, err
	}
	p := session.NewPolicy(d.paths, d.cfg, roots, mode, d.trusted, granted)
	p.Headless = c.Headless
	p.Masked = func() bool {
		return sandbox.New(sandbox.Options{Mode: sandbox.Mode(d.cfg.Sandbox.Mode), Prober: prober()}).Masks()
	}
	environ := os.Environ()
	if path := d.cfg.Env["PATH"]; path != nil {
		environ = append(environ, "PATH="+*path)
	}
	p.Path, p.RemovedPath = children.NewSearchPath(environ, roots.Dirs()).Dirs()
	return &p, nil
}

// factsOf is what a call would do that is named as "TOOL: WHAT". Refused is why the
// tool would not even prepare it.
func factsOf(roots *workspace.Roots, text string) (facts kinds.Facts, refused, err error) {
	tool, what, ok := strings.Cut(text, ":")
	tool, what = strings.TrimSpace(tool), strings.TrimSpace(what)
	access := map[string]kinds.Access{
		"read": kinds.Read, "grep": kinds.Read, "glob": kinds.List,
		"edit": kinds.Write, "write": kinds.Write, "apply_patch": kinds.Write,
	}
	how, isPath := access[tool]
	switch {
	case tool == "mcp" && ok:
		if err := knownPermission(text); err != nil || strings.ContainsAny(text, "*?") {
			return facts, nil, fmt.Errorf("%q is no tool of a server: write mcp:SERVER:TOOL", text)
		}
		return kinds.Facts{Tool: text}, nil, nil
	case ok && what == "" || !ok:
		return facts, nil, &statusError{statusUsage, errors.New("write what would be done as 'TOOL: WHAT', such as 'bash: git push' or 'edit: src/a.go'")}
	case tool == "bash":
		input, err := json.Marshal(map[string]string{"command": what})
		if err != nil {
			return facts, nil, err
		}
		action, refused := tools.Bash().Prepare(context.Background(), &tools.Workspace{Roots: roots}, input)
		if refused != nil {
			return facts, refused, nil
		}
		return action.Facts, nil, nil
	case isPath:
		at, refused := roots.Resolve(what)
		return kinds.Facts{Tool: tool, Paths: []kinds.PathAccess{{Access: how, Path: at.Asked, Target: at.Target}}, ReadOnly: how != kinds.Write}, refused, nil
	case tool == "web_fetch":
		if !strings.Contains(what, "://") {
			what = "https://" + what
		}
		u, refused := kinds.ParseURL(what)
		return kinds.Facts{Tool: tool, URL: u, ReadOnly: true}, refused, nil
	case tool == "web_search":
		return kinds.Facts{Tool: tool, Sends: what, ReadOnly: true}, nil, nil
	}
	return facts, nil, &statusError{statusUsage, fmt.Errorf("%q cannot be explained: write bash, read, glob, grep, edit, write, web_fetch, web_search or mcp:SERVER:TOOL", tool)}
}

// writeExplanation writes the parts of a call, the verdict, and what may be done
// about it.
func writeExplanation(b *strings.Builder, e permission.Explanation, f kinds.Facts) {
	for _, part := range e.Parts {
		writePart(b, part, f)
	}
	if e.Whole {
		b.WriteString("A rule with this very text answers what would be asked about its parts.\n")
	}
	fmt.Fprintf(b, "\nVerdict: %s", verdictWord(e.Verdict.Action))
	if e.Verdict.Reason != "" {
		b.WriteString(": " + oneLine(e.Verdict.Reason))
	}
	b.WriteString(".\n")
	if e.Verdict.Action == permission.Allow || e.Verdict.Action == permission.Deny {
		return
	}
	offers := "nothing; it is asked about each time"
	if len(e.Verdict.Always) > 0 {
		var labels []string
		for _, g := range e.Verdict.Always {
			label := oneLine(g.Label)
			if g.Mode == "" { // the label of a mode says already how far it goes
				label += " for " + scopeWords(g.Scopes)
			}
			labels = append(labels, label)
		}
		offers = strings.Join(labels, "; ")
	}
	fmt.Fprintf(b, "\"Allow always\" would offer: %s.\n", offers)
}

func scopeWords(scopes []permission.Scope) string {
	words := map[permission.Scope]string{permission.Session: "this session", permission.Project: "this project"}
	var said []string
	for _, s := range scopes {
		said = append(said, words[s])
	}
	return strings.Join(said, " or ")
}

// verdictWord is what happens by an action.
func verdictWord(a permission.Action) string {
	if a == permission.ForcedAsk {
		return "ask (no ordinary rule answers it)"
	}
	return a.String()
}

// writePart writes one part: its verdict, what speaks against it, and the rules.
func writePart(b *strings.Builder, part permission.Part, f kinds.Facts) {
	name := oneLine(part.Text)
	switch {
	case name == "" && f.Command != nil:
		name = "(the text as a whole)"
	case name == "":
		name = "(the call)"
	}
	action := part.Action
	if action == permission.ForcedAsk {
		action = permission.Ask
	}
	fmt.Fprintf(b, "  %-5s  %s\n", action, name)
	for _, r := range part.Reasons {
		line := r.Layer + ": " + oneLine(r.Text)
		if r.Action != r.Usual {
			line += fmt.Sprintf(" (in the default mode, with somebody to ask: %s)", strings.TrimPrefix(r.Usual.String(), "forced-"))
		}
		fmt.Fprintf(b, "         %s\n", line)
	}
	if len(part.Reasons) == 0 {
		fmt.Fprintf(b, "         %s\n", whyAllowed(part, f))
	}
	for _, t := range part.Tried {
		for _, r := range t.Rules {
			mark := "matches"
			if t.Decides != nil && *t.Decides == r {
				mark = "decides"
			}
			fmt.Fprintf(b, "         rule %s: %s (%s)\n", mark, oneLine(r.String()), oneLine(r.Source))
		}
	}
}

func whyAllowed(part permission.Part, f kinds.Facts) string {
	switch {
	case part.By != nil:
		return "a rule allows it"
	case f.Command != nil:
		return "it only reads, and nothing outside of the project"
	}
	return "it only reads inside of the project"
}

// untrusted is the patient as if the folder were not trusted.
func (d *patient) untrusted() *patient {
	other := *d
	other.trusted = false
	other.cfg, other.problems = config.Load(config.LoadOptions{Paths: d.paths, Project: d.root, Dir: d.folder})
	return &other
}
