package permission

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// Watchdog is a check of a call before it runs, beside the rules: it sees what
// they cannot say (policy section 1, step 3). It comes after the capabilities and
// before hooks, rules and modes, and only ever makes a verdict stricter.
type Watchdog interface {
	// Check says Allow, or Ask or Deny with the reason: a clause without a capital
	// and a stop. It is called for every call, must be quick, and must not block.
	Check(f kinds.Facts) (Action, string)
}

// watch has the built-in watchdog, and those of the policy, look at the call. What
// one asks about, no mode answers, and of the rules only one for the whole text.
func (j *judge) watch(f kinds.Facts) {
	for _, w := range append([]Watchdog{shapes{}}, j.Watchdogs...) {
		switch action, why := w.Check(f); {
		case action == Deny:
			j.deny(why)
		case action > Allow && !j.wholeAllowed(f):
			j.floor(why)
		}
	}
}

// wholeAllowed reports whether a rule of the user's allows just this text, all of it.
func (j *judge) wholeAllowed(f kinds.Facts) bool {
	return f.Command != nil && slices.ContainsFunc(j.rules.all, func(r compiled) bool {
		return r.Action == Allow && r.Scope > Project && r.command != nil && !r.command.starred && r.command.text == strings.TrimSpace(f.Command.Text)
	})
}

// shapes is the built-in watchdog: it knows what the theft of secrets and the
// destruction of what cannot be brought back look like.
type shapes struct{}

// Check implements Watchdog.
func (shapes) Check(f kinds.Facts) (Action, string) {
	switch {
	case f.Command != nil:
		if why := watchCommand(f.Command.Text); why != "" {
			return Ask, why
		}
	case f.Sends != "" && secretShape(f.Sends):
		return Ask, "it would send what looks like a key or a token"
	}
	return Allow, ""
}

// suspects are the words without which a command needs no closer look.
var suspects = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:curl|wget|nc|ncat|netcat|socat|telnet|ftp|sftp|scp|rsync|ssh|mail|sendmail|https?|dig|nslookup|host|` +
		`terraform|tofu|pulumi|kubectl|aws|gsutil|gcloud|gh|docker|podman|push|drop|truncate|flushall|flushdb|dropdb|helm|heroku)\b`)
})

// watchCommand says what is suspicious about a command.
func watchCommand(text string) string {
	if !suspects().MatchString(text) {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return "" // which is asked about, whatever it is
	}
	why := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		if why != "" {
			return false
		}
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				if to := sender(n.Y); to != "" {
					why = sends(leaks(n.X), to)
				}
			}
		case *syntax.Stmt:
			if call, ok := n.Cmd.(*syntax.CallExpr); ok {
				why = watchCall(call, n.Redirs)
			}
		}
		return why == ""
	})
	return why
}

func sends(what, to string) string {
	if what == "" {
		return ""
	}
	return "`" + to + "` would send " + what + " over the network"
}

// watchCall says what is suspicious about one command, by itself or by what it runs.
func watchCall(c *syntax.CallExpr, redirs []*syntax.Redirect) string {
	for _, argv := range behind(plainWords(c.Args)) {
		name := baseName(argv[0])
		if why := destroys(name, argv[1:]); why != "" {
			return why
		}
		if !reaches(name) {
			continue
		}
		if slices.ContainsFunc(argv[1:], secretShape) {
			return "an argument of `" + name + "` looks like a key or a token"
		}
		what := sentFile(name, argv[1:])
		for _, r := range redirs {
			if r.Op == syntax.RdrIn && what == "" {
				what = secretFile(staticText(r.Word))
			}
			if r.Op == syntax.WordHdoc && what == "" {
				what = leaks(r.Word)
			}
		}
		for _, w := range c.Args {
			if what == "" {
				what = leaks(w)
			}
		}
		if why := sends(what, name); why != "" {
			return why
		}
	}
	return ""
}

// behind is a command, and those that it runs in turn.
func behind(argv []string) [][]string {
	var all [][]string
	for depth := 0; len(argv) > 0 && depth < 5; depth++ {
		all = append(all, argv)
		if _, runs := runners[baseName(argv[0])]; !runs || len(argv) < 2 || reaches(baseName(argv[0])) {
			break
		}
		inner, _ := followers(baseName(argv[0]), argv[1:])
		if len(inner) == 0 {
			break
		}
		argv = inner[len(inner)-1]
	}
	return all
}

// reaches reports whether a program sends what it is given to another machine.
func reaches(name string) bool {
	switch name {
	case "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "sftp", "scp", "rsync", "ssh", "mail", "sendmail", "http", "https", "dig", "nslookup", "host":
		return true
	}
	return false
}

// sender is the program of a pipeline's end that sends, if it does.
func sender(s *syntax.Stmt) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return ""
	}
	for _, argv := range behind(plainWords(call.Args)) {
		if name := baseName(argv[0]); reaches(name) {
			return name
		}
	}
	return ""
}

// leaks says what secret a part of a command reads and hands on.
func leaks(n syntax.Node) (what string) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if what != "" {
			return false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			argv := plainWords(n.Args)
			if len(argv) == 0 {
				break
			}
			switch name := baseName(argv[0]); {
			case name == "printenv", name == "env" && len(argv) == 1, name == "export" && len(argv) == 2 && argv[1] == "-p":
				what = "the environment"
			case name == "ls", name == "find", name == "test", name == "[", name == "echo": // names alone
			default:
				for _, a := range argv[1:] {
					if what = secretFile(a); what != "" {
						break
					}
				}
			}
		case *syntax.Redirect:
			if n.Op == syntax.RdrIn {
				what = secretFile(staticText(n.Word))
			}
		}
		return what == ""
	})
	return what
}

// secretFile names a path that holds a secret.
func secretFile(path string) string {
	if path == "" || strings.HasPrefix(path, "-") {
		return ""
	}
	if name, ok := secret(strings.Split(strings.TrimPrefix(path, "~/"), "/")); ok || strings.HasSuffix(path, "/environ") {
		if name == "" {
			name = "environ"
		}
		return "`" + visible(name) + "`"
	}
	return ""
}

// sentFile names the secret among the files that a program is told to send.
func sentFile(name string, args []string) string {
	switch name {
	case "curl", "http", "https":
		for i, a := range args {
			if at := strings.LastIndexByte(a, '@'); at >= 0 && !strings.Contains(a, "://") {
				if what := secretFile(a[at+1:]); what != "" {
					return what
				}
			}
			if i > 0 && (args[i-1] == "-T" || args[i-1] == "--upload-file") {
				if what := secretFile(a); what != "" {
					return what
				}
			}
		}
	case "wget":
		for _, a := range args {
			if file, ok := strings.CutPrefix(a, "--post-file="); ok {
				return secretFile(file)
			}
		}
	case "scp", "rsync":
		if len(args) > 1 && strings.Contains(args[len(args)-1], ":") {
			for _, a := range args[:len(args)-1] {
				if what := secretFile(a); what != "" {
					return what
				}
			}
		}
	}
	return ""
}

// plainWords are the words of a command as far as they stand there; what is not
// known before it runs is empty.
func plainWords(words []*syntax.Word) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, staticText(w))
	}
	if len(out) > 0 && out[0] == "" {
		return nil
	}
	return out
}

func staticText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(staticText(&syntax.Word{Parts: part.Parts}))
		}
	}
	return b.String()
}
