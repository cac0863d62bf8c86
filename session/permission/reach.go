package permission

import (
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// Reach is what a command would need of the system: what a sandbox is opened for
// where the command may run at all (policy section 13).
type Reach struct {
	Reads   bool // the built-in table alone allows it: it changes nothing
	Network bool // it is a use of the network as such, which a rule that covers it allows
	Git     bool // all of it that may change something is git, and only git reads files that it does not name
	Beyond  bool // by its own words it does what no confined command can
}

// Reach looks at what a command would need. Of other calls nothing is said.
func (p *Policy) Reach(f kinds.Facts) Reach {
	if f.Command == nil {
		return Reach{}
	}
	table := *p
	table.Mode, table.Headless = Plan, false
	table.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r Rule) bool { return r.Action == Allow })
	r := Reach{Reads: table.Decide(f).Action == Allow}
	j := newJudge(p, f.Tool)
	j.command(f.Command.Text, f.Command.Dir)
	j.paths(f.Paths)
	for _, found := range j.found {
		r.Beyond = r.Beyond || found.beyond
	}
	git, other, below := false, false, false
	for _, part := range j.parts {
		argv := guesses(part.words)
		if len(argv) == 0 {
			continue
		}
		r.Network = r.Network || network(argv) || reachesOut(argv)
		below = below || readsUnnamed(argv)
		switch argv[0] {
		case "git":
			git = true
		case "cd", "echo", "true", "printf", "cat", "ls", "pwd", "test", "[", "head", "tail", "grep", "wc":
		default:
			other = true
		}
	}
	r.Git = git && (r.Reads || !other) && !below
	return r
}

// readsUnnamed reports whether a command shows what is in files that it does not
// name, and that were not judged one by one.
func readsUnnamed(argv []string) bool {
	switch argv[0] {
	case "rg", "ag", "ack", "diff", "xargs":
		return true
	case "git":
		return slices.Contains(argv, "grep")
	case "grep", "egrep", "fgrep":
		return slices.ContainsFunc(argv[1:], func(word string) bool {
			long, isLong := strings.CutPrefix(word, "--")
			return isLong && (strings.HasPrefix(long, "r") || strings.HasPrefix(long, "d")) || !isLong && strings.HasPrefix(word, "-") && strings.ContainsAny(word, "rRd")
		})
	}
	return false
}

// reachesOut reports whether a command is nothing without the network, beside
// those that network knows.
func reachesOut(argv []string) bool {
	sub := ""
	if len(argv) > 1 {
		sub = argv[1]
	}
	switch argv[0] {
	case "curl", "wget", "ssh", "scp", "sftp", "rsync", "ping", "dig", "nslookup", "host", "gh", "glab", "aws", "gcloud", "az", "kubectl", "helm", "docker", "podman":
		return true
	case "git":
		return slices.Contains([]string{"push", "pull", "fetch", "clone", "ls-remote", "submodule"}, sub)
	case "npm", "pnpm", "yarn", "bun":
		return slices.Contains([]string{"install", "i", "ci", "add", "update", "outdated", "view", "audit", "publish"}, sub)
	case "pip", "pip3", "uv", "poetry":
		return slices.Contains([]string{"install", "download", "sync", "add", "lock"}, sub)
	case "go":
		return sub == "get" || sub == "mod" && len(argv) > 2 && (argv[2] == "tidy" || argv[2] == "download")
	case "cargo":
		return slices.Contains([]string{"add", "fetch", "update", "install", "publish", "search"}, sub)
	}
	return false
}

// Guarded says how a path is protected against writes (policy 10.5) by its names,
// which are those below a root, or all of an absolute path: whether a rule that
// names it may open it, or nothing may.
func Guarded(names []string) (guard, never bool) {
	p, _ := protected(names)
	return p != open, p == untouched
}

// Secret reports whether a path's names say that its content is a secret (policy
// 10.4).
func Secret(names []string) bool {
	_, ok := secret(names)
	return ok
}
