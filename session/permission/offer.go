package permission

import (
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// arity is how many words of a tool say what it does; a grant is these words and
// a star (policy section 7).
var arity = map[string]map[string]int{
	"go":            {"test": 2, "build": 2, "vet": 2, "fmt": 2, "doc": 2, "list": 2},
	"cargo":         {"test": 2, "build": 2, "check": 2, "clippy": 2, "fmt": 2, "doc": 2, "tree": 2, "bench": 2},
	"git":           {"add": 2, "commit": 2, "checkout": 2, "switch": 2, "branch": 2, "diff": 2, "log": 2, "show": 2, "status": 2, "stash": 2, "tag": 2, "merge": 2, "restore": 2, "blame": 2, "grep": 2, "ls-files": 2, "rev-parse": 2, "describe": 2},
	"docker":        {"ps": 2, "images": 2, "logs": 2, "inspect": 2, "build": 2, "compose ps": 3, "compose logs": 3, "compose build": 3},
	"kubectl":       {"get": 2, "describe": 2, "logs": 2, "explain": 2},
	"npm":           {"ls": 2, "outdated": 2, "view": 2},
	"npx":           {"tsc": 2, "eslint": 2, "prettier": 2, "jest": 2, "vitest": 2, "mocha": 2},
	"golangci-lint": {"run": 2},
	"mvn":           {"test": 2, "compile": 2},
	"gradle":        {"test": 2, "build": 2},
	"dotnet":        {"test": 2, "build": 2},
	"ruff":          {"check": 2, "format": 2},
	"mix":           {"test": 2},
	"bundle":        {"exec rspec": 3},
	"pytest":        {"": 1},
	"jest":          {"": 1},
	"tsc":           {"": 1},
	"eslint":        {"": 1},
	"mypy":          {"": 1},
	"staticcheck":   {"": 1},
	"gofmt":         {"": 1},
	"rspec":         {"": 1},
	"phpunit":       {"": 1},
}

// maxOfferedParts is the most commands of one text that "always" is offered for.
const maxOfferedParts = 5

// offers is what "always" may be offered for a call that asks.
func (j *judge) offers(f kinds.Facts) []Grant {
	for _, found := range j.found {
		if found.class > edits {
			return nil
		}
	}
	switch {
	case f.Command != nil:
		return j.offerCommands()
	case len(j.writes) > 0:
		return j.offerEdits()
	case f.URL != nil:
		return j.offerHost(f.URL)
	case f.Sends != "":
		r := Rule{Permission: f.Tool, Action: Allow, Scope: Session}
		return []Grant{{Rules: []Rule{r}, Scopes: []Scope{Session, Project}, Label: "`" + f.Tool + "`"}}
	case strings.HasPrefix(f.Tool, "mcp:") && !strings.ContainsAny(f.Tool, "*?["):
		r := Rule{Permission: f.Tool, Action: Allow, Scope: Session}
		return []Grant{{Rules: []Rule{r}, Scopes: []Scope{Session, Project}, Label: "`" + f.Tool + "`"}}
	}
	return nil
}

// offerCommands makes one grant of the patterns of all commands that ask and
// have one.
func (j *judge) offerCommands() []Grant {
	if len(j.parts) > maxOfferedParts {
		return nil
	}
	g := Grant{Scopes: []Scope{Session, Project}}
	var labels []string
	for _, f := range j.found {
		if f.part == nil || f.part.nested {
			continue
		}
		pattern, session := j.pattern(f.part)
		if pattern == "" {
			continue
		}
		r, err := ParseRule(permBash, pattern, Allow, Session, "")
		if err != nil || contains(g.Rules, r) {
			continue
		}
		if session {
			g.Scopes = []Scope{Session}
		}
		g.Rules = append(g.Rules, r)
		labels = append(labels, "`"+pattern+"`")
	}
	if len(g.Rules) == 0 {
		return nil
	}
	g.Label = strings.Join(labels, ", ")
	return []Grant{g}
}

func contains(rules []Rule, r Rule) bool {
	for _, o := range rules {
		if o == r {
			return true
		}
	}
	return false
}

// pattern is what may be granted for a command; session says that it may not be
// kept for longer.
func (j *judge) pattern(c *command) (pattern string, session bool) {
	argv := guesses(c.words)
	if len(argv) == 0 || len(c.assigns) > 0 && !allSafe(c.assigns) {
		return "", false
	}
	for _, a := range argv {
		if strings.ContainsAny(a, "*`\n\t\r") || hiddenIn(a) || len(a) > 200 {
			return "", false
		}
	}
	name := argv[0]
	switch {
	case strings.HasPrefix(name, "./") && j.scriptInside(c):
		return exactPattern(argv), true
	case strings.Contains(name, "/"):
		return "", false
	case scriptRunner(argv):
		return exactPattern(argv), false
	case network(argv):
		return exactPattern(argv), true
	}
	n := literalWords(argv)
	if n == 0 || beyondWildcard(name, argv, &compiled{command: parseCommand(strings.Join(argv[:n], " ") + " *")}) != "" {
		return "", false
	}
	return strings.Join(argv[:n], " ") + " *", false
}

func allSafe(list []assign) bool {
	for _, a := range list {
		if !safeAssignment(a) {
			return false
		}
	}
	return true
}

// scriptInside reports whether the program is a file of the project.
func (j *judge) scriptInside(c *command) bool {
	if j.Roots == nil || len(c.at) != 1 || filepath.Clean(c.at[0]) != j.Roots.Dir() {
		return false
	}
	p, err := j.Roots.Resolve(filepath.Join(c.at[0], c.words[0].text))
	return err == nil && p.Inside && p.Exists
}

// literalWords is how many words of the command its pattern keeps.
func literalWords(argv []string) int {
	subs, ok := arity[argv[0]]
	if !ok {
		return 0
	}
	for n := 3; n >= 1; n-- {
		if n > len(argv) {
			continue
		}
		if subs[strings.Join(argv[1:n], " ")] == n {
			return n
		}
	}
	return 0
}

// scriptRunner reports whether a command runs a script of the project by name:
// it is granted exactly.
func scriptRunner(argv []string) bool {
	switch argv[0] {
	case "npm", "pnpm", "yarn", "bun":
		if len(argv) == 3 && argv[1] == "run" {
			return plainWord(argv[2]) && !deploys(argv[2])
		}
		if (argv[0] == "npm" || argv[0] == "pnpm") && len(argv) == 2 && (argv[1] == "test" || argv[1] == "start") {
			return true // short for npm run
		}
		return argv[0] == "yarn" && len(argv) == 2 && plainWord(argv[1]) && !deploys(argv[1]) && argv[1] != "install" && argv[1] != "add"
	case "make", "gmake", "just":
		for _, a := range argv[1:] {
			if !plainWord(a) || deploys(a) {
				return false
			}
		}
		return true
	}
	return false
}

func plainWord(s string) bool {
	return s != "" && !strings.HasPrefix(s, "-") && !strings.ContainsAny(s, "= \\'\"$&|;<>()")
}

func deploys(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "publish") || strings.Contains(s, "deploy") || strings.Contains(s, "release") || s == "apply"
}

// exactPattern writes a command so that the pattern is it and nothing else;
// empty where that cannot be.
func exactPattern(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		q, err := syntax.Quote(a, syntax.LangPOSIX)
		if err != nil {
			return ""
		}
		words[i] = q
	}
	text := strings.Join(words, " ")
	p := parseCommand(text)
	if p.whole || p.starred || !p.matches(argv, false) {
		return ""
	}
	return text
}

// offerEdits offers the folder of the one file that would be changed, or for a
// file in the project's top folder the mode that accepts edits.
func (j *judge) offerEdits() []Grant {
	if j.Roots == nil {
		return nil
	}
	dir := ""
	for _, w := range j.writes {
		asked, target := filepath.Dir(j.Roots.Name(w.path)), filepath.Dir(j.Roots.Name(w.target))
		if asked != target || dir != "" && asked != dir || filepath.IsAbs(asked) {
			return nil
		}
		dir = asked
	}
	if dir == "." {
		if !j.Trusted {
			return nil
		}
		return []Grant{{Mode: AcceptEdits, Scopes: []Scope{Session}, Label: "all edits in the project in this session"}}
	}
	dir = filepath.ToSlash(dir)
	r, err := ParseRule(permEdit, dir+"/**", Allow, Session, "")
	if err != nil || isGlob(dir) || hiddenIn(dir) {
		return nil
	}
	return []Grant{{Rules: []Rule{r}, Scopes: []Scope{Session, Project}, Label: "edits in `" + dir + "/`"}}
}
