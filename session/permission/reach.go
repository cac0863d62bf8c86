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
	Network bool // all of it that does more than read is a use of the network, which a rule names
	Git     bool // all of it that may change something is git, and only git reads files that it does not name
	Beyond  bool // by its own words it does what no confined command can
	// Local are ports of this host, where they are all that it uses the network for.
	Local []int
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
	r.Network, r.Git = j.reach()
	r.Local = j.local()
	return r
}

// reach looks at the parts of a command: what one of them is let do binds the others
// no looser, as all run in one shell. It has the network where each part that does
// more than read is a use of it that a rule names, or the rule is for the whole text.
func (j *judge) reach() (network, git bool) {
	s := &shell{judge: j}
	other, unnamed, below := false, false, false
	for _, part := range j.parts {
		argv := guesses(part.words)
		if len(argv) == 0 {
			continue
		}
		out := reachesOut(argv)
		network = network || out
		unnamed = unnamed || !part.reads && (!out || !s.named(part))
		below = below || readsUnnamed(argv)
		git = git || argv[0] == "git"
		other = other || argv[0] != "git" && !part.reads
	}
	return network && (j.whole || !unnamed), git && !other && !below
}

// named reports whether a rule allows the command by naming its program, at least.
func (s *shell) named(c *command) bool {
	r := s.allows(c)
	return r.rule != nil && r.action == Allow && r.rule.command != nil && len(r.rule.command.words) > 0
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

// networkUse is how a program uses the network: with which subcommands, of one or two
// words; those of them that may be granted exactly, for the session, since they fetch
// or push one branch; and the short flags that they may have then. A star is any.
type networkUse struct{ subs, exact, flags string }

func networkUseOf(name string) (u networkUse, ok bool) {
	switch name {
	case "curl":
		return networkUse{"*", "*", "sSfLiI"}, true
	case "wget", "ssh", "scp", "sftp", "rsync", "ping", "dig", "nslookup", "host", "gh", "glab", "aws", "gcloud", "az", "kubectl", "helm", "docker", "podman":
		return networkUse{subs: "*"}, true
	case "git":
		return networkUse{"push,pull,fetch,clone,ls-remote,submodule,remote update,remote show", "push,pull,fetch", ""}, true
	case "npm", "pnpm", "yarn":
		return networkUse{"install,i,ci,add,update,outdated,view,audit,publish", "install,ci,add,i", "D"}, true
	case "bun":
		return networkUse{subs: "install,i,ci,add,update,outdated,view,audit,publish"}, true
	case "pip", "pip3":
		return networkUse{"install,download", "install", "U"}, true
	case "uv", "poetry":
		return networkUse{subs: "install,download,sync,add,lock,pip install,pip sync"}, true
	case "go":
		return networkUse{"get,mod tidy,mod download", "get,mod tidy,mod download", "u"}, true
	case "cargo":
		return networkUse{"add,fetch,update,install,publish,search", "add,fetch,update", ""}, true
	}
	return networkUse{}, false
}

// has reports whether the command's subcommand is in a list.
func has(list string, argv []string) bool {
	if list == "*" {
		return true
	}
	for sub := range strings.SplitSeq(list, ",") {
		words := strings.Fields(sub)
		if len(words) > 0 && len(argv) > len(words) && slices.Equal(argv[1:1+len(words)], words) {
			return true
		}
	}
	return false
}

// reachesOut reports whether a command is nothing without the network.
func reachesOut(argv []string) bool {
	u, ok := networkUseOf(argv[0])
	return ok && has(u.subs, argv)
}

// network reports whether a command uses the network in a way that may be granted
// exactly, for the session.
func network(argv []string) bool {
	u, ok := networkUseOf(argv[0])
	if !ok || len(argv) < 2 || !has(u.exact, argv) {
		return false
	}
	for _, a := range argv[1:] {
		if strings.HasPrefix(a, "-") && (strings.HasPrefix(a, "--") || strings.Trim(a[1:], u.flags) != "") {
			return false
		}
		if strings.Contains(a, "::") || argv[0] == "curl" && strings.Contains(a, "@") {
			return false
		}
	}
	switch argv[0] {
	case "git": // one branch, under its own name
		return !strings.ContainsAny(strings.Join(argv, " "), "+:")
	case "go":
		return argv[1] != "mod" || len(argv) == 3
	}
	return true
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
