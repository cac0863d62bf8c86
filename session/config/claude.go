package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/session/permission"
)

// ClaudeFiles are the settings that a project has for Claude Code; of them the
// permissions are read (spec/editors-cli.md).
func ClaudeFiles(dir string) []string {
	return []string{filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")}
}

// claude reads the permissions of settings for Claude Code. What cannot be said in
// a rule of ours is told, and allows nothing.
func (r *reader) claude(root *hujson.Object) {
	v := find(root, "permissions")
	if v == nil {
		return
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		r.tell(v.StartOffset, "permissions must be an object")
		return
	}
	for _, m := range o.Members {
		var action permission.Action
		if action.UnmarshalText([]byte(m.Name.Value.(hujson.Literal).String())) != nil {
			continue // a mode, further folders and the like are not taken over
		}
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			r.tell(m.Value.StartOffset, "permissions.%s must be a list", action)
			continue
		}
		for _, e := range list.Elements {
			r.claudeRule(e, action)
		}
	}
}

var claudeDenies = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"deny"\s*:\s*(\[[^\]]*\])`) })

// brokenClaude keeps the readable deny rules of a file that is no JSON.
func (r *reader) brokenClaude() {
	for _, at := range claudeDenies().FindAllSubmatchIndex(r.data, -1) {
		v, err := hujson.Parse(r.data[at[2]:at[3]])
		if err != nil {
			continue
		}
		if list, ok := v.Value.(*hujson.Array); ok {
			for _, e := range list.Elements {
				e.StartOffset += at[2]
				r.claudeRule(e, permission.Deny)
			}
		}
	}
}

func find(o *hujson.Object, name string) *hujson.Value {
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

func (r *reader) claudeRule(e hujson.Value, action permission.Action) {
	var text string
	if decode(e, &text) != nil {
		r.tell(e.StartOffset, "a rule must be a text such as Bash(git status *)")
		return
	}
	rules, err := claudeRules(text, action, r.root, r.dir)
	if err != nil {
		r.warn(e.StartOffset, "%s %s: %v", action, text, err)
	}
	for _, c := range rules {
		scope := permission.Project
		if c.action > permission.Allow {
			// There a restriction holds against every permission of a project. So it has
			// the scope that only the user's own rules lift; it can but restrict.
			scope = permission.Session
		}
		rule, err := permission.ParseRule(c.permission, c.pattern, c.action, scope, r.place(e.StartOffset))
		switch {
		case err != nil:
			r.warn(e.StartOffset, "%s %s: %v; it allows nothing", action, text, err)
			if c.action == permission.Allow {
				continue
			}
		case c.action == permission.Allow && !r.allows(&rule, e.StartOffset):
			continue
		}
		r.config.Rules = append(r.config.Rules, rule)
	}
}

// claudeOne is a rule that one of Claude Code's comes to.
type claudeOne struct {
	permission, pattern string
	action              permission.Action
}

// claudeTools are the tools whose rules take no pattern, by their names there.
var claudeTools = map[string]string{
	"WebSearch": "web_search", "Task": "task", "Agent": "task", "Skill": "skill", "TodoWrite": "todo", "Glob": "glob", "Grep": "grep",
	"AskUserQuestion": "question", "ExitPlanMode": "plan_exit", "BashOutput": "task_output", "KillShell": "task_stop",
	"ToolSearch": "tool_search", "Write": "write", "NotebookEdit": "edit", "MultiEdit": "edit",
}

// claudeRules translates one rule. An error beside rules says where they differ:
// they never allow more than it does, nor restrict less but where that is told.
func claudeRules(text string, action permission.Action, root, dir string) ([]claudeOne, error) {
	text = strings.TrimSpace(text)
	name, spec, err := cutSpec(text)
	if err != nil {
		return nil, err
	}
	switch {
	case name == "Bash":
		return claudeBash(spec, action)
	case strings.HasPrefix(name, "mcp__") && spec == "":
		return claudeServer(name, action)
	case name == "Read" || name == "Edit":
		return claudePath(strings.ToLower(name), spec, action, root, dir)
	case name == "WebFetch":
		return claudeFetch(spec, action)
	case claudeTools[name] != "" && spec == "":
		return []claudeOne{{claudeTools[name], "", action}}, nil
	case claudeTools[name] != "" && action == permission.Deny && claudeTools[name] != "edit" && name != "Write":
		// A part of the tool's calls cannot be told apart here: all of them are asked about.
		return []claudeOne{{claudeTools[name], "", permission.Ask}}, fmt.Errorf("a rule for %s takes no pattern here; all its calls are asked about", name)
	}
	return nil, errors.New("this cannot be said in a rule here, and does nothing")
}

// cutSpec cuts NAME(SPEC).
func cutSpec(text string) (name, spec string, err error) {
	name, spec, ok := strings.Cut(text, "(")
	if !ok {
		return text, "", nil
	}
	spec, ok = strings.CutSuffix(spec, ")")
	if !ok {
		return "", "", errors.New("the bracket is not closed, so it does nothing")
	}
	if spec = strings.TrimSpace(spec); spec == "*" {
		spec = ""
	}
	return name, spec, nil
}

// claudeBash translates a pattern of commands. There a star stands for any
// characters, blanks too; here for further words, or for a part of one word. A
// restriction is made as wide as it has to be.
func claudeBash(spec string, action permission.Action) ([]claudeOne, error) {
	if head, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = head + " *"
	}
	head, rest := strings.CutSuffix(spec, " *")
	head = strings.TrimSpace(head)
	switch {
	case spec == "":
		return []claudeOne{{"bash", "", action}}, nil
	case head == "" && action == permission.Allow:
		return nil, errors.New("it names no program, and allows nothing")
	case head != "" && !strings.Contains(head, "*"):
		return []claudeOne{{"bash", spec, action}}, nil
	case action == permission.Allow && strings.IndexByte(head, '*') == len(head)-1 && !rest:
		return []claudeOne{{"bash", spec, action}}, nil // narrower here
	case action == permission.Allow:
		return nil, errors.New("a star may stand only at the end here; it allows nothing")
	}
	literal, _, _ := strings.Cut(head, "*")
	if strings.TrimSpace(literal) == "" {
		return []claudeOne{{"bash", "", permission.Ask}}, errors.New("it names no program; every command is asked about")
	}
	words := strings.Fields(literal)
	if len(words) > 1 && !strings.HasSuffix(literal, " ") {
		words = words[:len(words)-1] // a part of a word
	}
	wide := strings.Join(words, " ") + " *"
	return []claudeOne{{"bash", wide, permission.Ask}}, fmt.Errorf("a star within cannot be said here; `%s` is asked about", wide)
}

// claudePath translates a pattern of paths.
func claudePath(perm, spec string, action permission.Action, root, dir string) ([]claudeOne, error) {
	if spec == "" {
		return []claudeOne{{perm, "", action}}, nil
	}
	patterns, err := claudePatterns(spec, action, root, dir)
	if err != nil {
		return nil, err
	}
	var rules []claudeOne
	for _, p := range patterns {
		rules = append(rules, claudeOne{perm, p, action})
		if perm == "read" && action == permission.Deny { // what may not be read is not to be edited there
			rules = append(rules, claudeOne{"edit", p, action})
		}
	}
	return rules, nil
}

func claudePatterns(spec string, action permission.Action, root, dir string) ([]string, error) {
	absolute := func(base, rest string) ([]string, error) {
		if base == "" {
			return nil, errors.New("the folder that it begins in is not known; it does nothing")
		}
		return []string{literalGlob(filepath.ToSlash(base)) + "/" + rest}, nil
	}
	restricts := action > permission.Allow
	switch {
	case strings.HasPrefix(spec, "//"):
		return []string{spec[1:]}, nil
	case strings.HasPrefix(spec, "~/"):
		return []string{spec}, nil
	case strings.HasPrefix(spec, "/"):
		return absolute(root, spec[1:])
	case strings.HasPrefix(spec, "./") && !restricts:
		return absolute(dir, strings.TrimPrefix(spec, "./"))
	}
	spec = strings.TrimPrefix(spec, "./")
	first, below, ok := strings.Cut(spec, "/")
	if restricts && ok && below == "**" && first != "**" {
		return []string{spec, "**/" + spec}, nil // there it holds at any depth
	}
	return []string{spec}, nil
}

// literalGlob is a path as a pattern that means itself.
func literalGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(strings.TrimSuffix(path, "/"))
}

func claudeFetch(spec string, action permission.Action) ([]claudeOne, error) {
	host, ok := strings.CutPrefix(spec, "domain:")
	switch {
	case spec == "" || host == "*" && ok:
		return []claudeOne{{"web_fetch", "", action}}, nil
	case ok:
		return []claudeOne{{"web_fetch", "domain:" + host, action}}, nil
	case action > permission.Allow:
		return []claudeOne{{"web_fetch", "", permission.Ask}}, errors.New("only domain:HOST is known here; every fetch is asked about")
	}
	return nil, errors.New("only domain:HOST is known here; it allows nothing")
}

// claudeServer translates mcp__SERVER and mcp__SERVER__TOOL.
func claudeServer(name string, action permission.Action) ([]claudeOne, error) {
	server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	if !ok || tool == "" {
		tool = "*"
	}
	if server == "" {
		return nil, errors.New("it names no server, and does nothing")
	}
	if action == permission.Allow && strings.ContainsAny(server, "*?") {
		return nil, errors.New("a server has to be named in full; it allows nothing")
	}
	return []claudeOne{{"mcp:" + server + ":" + tool, "", action}}, nil
}
