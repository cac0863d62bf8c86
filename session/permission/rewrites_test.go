package permission

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission/cases"
	"mvdan.cc/sh/v3/syntax"
)

// rewrites are other spellings of a command, which a shell reads alike or which
// run more around it.
var rewrites = map[string]func(words []string) string{
	"first word in quotes":   func(w []string) string { return `"` + w[0] + `" ` + strings.Join(w[1:], " ") },
	"first word escaped":     func(w []string) string { return `\` + strings.Join(w, " ") },
	"first word continued":   func(w []string) string { return w[0][:1] + "\\\n" + w[0][1:] + " " + strings.Join(w[1:], " ") },
	"first word in $'…'":     func(w []string) string { return "$'" + w[0] + "' " + strings.Join(w[1:], " ") },
	"words in single quotes": func(w []string) string { return w[0] + " '" + strings.Join(w[1:], "' '") + "'" },
	"words continued":        func(w []string) string { return strings.Join(w, " \\\n ") },
	"in braces":              func(w []string) string { return "{" + strings.Join(w, ",") + "}" },
	"last word in braces": func(w []string) string {
		return strings.Join(w[:len(w)-1], " ") + " {" + w[len(w)-1] + "," + w[len(w)-1] + "}"
	},
	"behind timeout":            func(w []string) string { return "timeout 5 " + strings.Join(w, " ") },
	"behind nice":               func(w []string) string { return "nice -n 5 " + strings.Join(w, " ") },
	"behind env":                func(w []string) string { return "env " + strings.Join(w, " ") },
	"behind command":            func(w []string) string { return "command " + strings.Join(w, " ") },
	"behind nohup":              func(w []string) string { return "nohup " + strings.Join(w, " ") },
	"behind time":               func(w []string) string { return "time " + strings.Join(w, " ") },
	"in bash -c":                func(w []string) string { return "bash -c '" + strings.Join(w, " ") + "'" },
	"behind a safe assignment":  func(w []string) string { return "LANG=C " + strings.Join(w, " ") },
	"behind another assignment": func(w []string) string { return "LD_PRELOAD=x " + strings.Join(w, " ") },
	"the last word assigned":    func(w []string) string { return "x=" + w[len(w)-1] + "; " + strings.Join(w[:len(w)-1], " ") + ` "$x"` },
	"in a loop":                 func(w []string) string { return "for y in a b; do " + strings.Join(w, " ") + "; done" },
	"in a case":                 func(w []string) string { return "case a in *) " + strings.Join(w, " ") + ";; esac" },
	"in a substitution":         func(w []string) string { return `echo "$(` + strings.Join(w, " ") + `)"` },
}

// bareWords are the words of a command that is nothing but words.
func bareWords(cmd string) []string {
	file, err := syntax.NewParser().Parse(strings.NewReader(cmd), "")
	if err != nil || !isASCII(cmd) || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || strings.ContainsAny(cmd, "#~*?[{}\\\r\n'\"$`=|&;()<>!") {
		return nil
	}
	if _, ok := file.Stmts[0].Cmd.(*syntax.CallExpr); !ok {
		return nil
	}
	if words := strings.Fields(cmd); len(words) > 1 && len(words[0]) > 1 && words[0] != "cd" {
		return words
	}
	return nil
}

func TestRewritesNeverLoosen(t *testing.T) {
	t.Parallel()
	s := newScene(t, layout(t))
	all := corpusCommands(t)
	n := 0
	for _, cmd := range []string{"rm -rf src", "make", "make all", "git push -f", "cat main.go", "ls -la", "cat .env", "curl -o x y", "touch x", "sed -i p main.go", "go test -exec x", "cp a b", "ln -s a b", "rm -rf /", "python3 x.py"} {
		for _, mode := range []Mode{Default, AcceptEdits, Plan, BypassPermissions} {
			all = append(all, &cases.Case{Cmd: cmd, Mode: string(mode)})
		}
	}
	for _, c := range all {
		words := bareWords(c.Cmd)
		if words == nil || slices.ContainsFunc(c.Rules, func(r cases.Rule) bool { return r.Action == "allow" }) {
			continue // a rule for the text as it stands may ask about another
		}
		p := s.policy(t, c)
		plainly := bash(p, s.Expand(c.Cmd)).Action
		for name, rewrite := range rewrites {
			if words[0] == "rg" && name == "last word in braces" {
				continue // another folder to search
			}
			if cmd := s.Expand(rewrite(words)); loosened(bash(p, cmd).Action, plainly) {
				t.Errorf("%s: %q is %v, and %q %v (%s)", c.Mode, c.Cmd, plainly, cmd, bash(p, cmd).Action, name)
			}
			n++
		}
	}
	if n < 1000 {
		t.Errorf("only %d rewrites were tried", n)
	}
}

// loosened compares as a person sees it: a question is a question.
func loosened(now, before Action) bool {
	if now == Ask {
		now = ForcedAsk
	}
	return now < before
}

// An allow rule changes no denial of a manifest, none of a higher scope, and none
// that is as specific.
func TestAllowNeverBeatsDeny(t *testing.T) {
	t.Parallel()
	s := newScene(t, layout(t))
	for _, c := range corpusCommands(t) {
		words := bareWords(c.Cmd)
		if words == nil || len(c.Rules) > 0 {
			continue
		}
		exact := strings.Join(words, " ")
		p := *s.policy(t, c)
		base := slices.Clone(p.Rules)
		for _, with := range [][2]Rule{
			{{permBash, words[0] + " *", Deny, Manifest, "", false}, {permBash, exact, Allow, Session, "", false}},
			{{permBash, "", Deny, Manifest, "", false}, {permBash, exact, Allow, Manifest, "", false}},
			{{permBash, exact, Deny, Session, "", false}, {permBash, exact, Allow, Session, "", false}},
			{{permBash, words[0] + " *", Deny, Session, "", false}, {permBash, exact, Allow, Project, "", false}},
			{{permBash, words[0] + " *", Deny, Session, "", false}, {permBash, "*", Allow, Session, "", false}},
			{{permBash, exact, Deny, Project, "", false}, {permBash, words[0] + " *", Allow, Project, "", false}},
		} {
			p.Rules = append(slices.Clone(base), with[0])
			alone := bash(&p, exact).Action
			p.Rules = append(p.Rules, with[1])
			if got := bash(&p, exact).Action; alone != Deny || got != Deny {
				t.Errorf("%q: %v with %v, %v with %v too", exact, alone, with[0], got, with[1])
			}
		}
	}
}

// No pattern that is offered for "always" lets a command through that is denied
// or asks whatever the rules say, nor one outside of its literal words.
func TestOfferedPatternsOpenNothingElse(t *testing.T) {
	t.Parallel()
	s := newScene(t, layout(t))
	p := s.policy(t, &cases.Case{})
	offered := map[string]Rule{}
	for _, file := range []string{"bash_cases.jsonl", "always_cases.jsonl"} {
		for _, c := range readCorpus(t, file) {
			for _, g := range bash(p, s.Expand(c.Cmd)).Always {
				for _, r := range g.Rules {
					offered[r.Pattern] = r
				}
			}
		}
	}
	if len(offered) < 20 {
		t.Errorf("only %d patterns were offered", len(offered))
	}
	cases := corpusCommands(t)
	for pattern, r := range offered {
		literal := strings.Fields(strings.TrimSuffix(pattern, " *"))
		with := *p
		with.Rules = []Rule{r}
		for _, c := range cases {
			if c.Mode != string(Default) || len(c.Rules) > 0 || c.Headless || c.Trusted != nil || c.Want == "allow" || !strings.Contains(c.Cmd, literal[0][:1]) {
				continue
			}
			cmd := s.Expand(c.Cmd)
			if before := bash(p, cmd).Action; before == Allow || bash(&with, cmd).Action != Allow {
				continue
			} else if before >= ForcedAsk || !strings.Contains(strings.Join(strings.Fields(cmd), " "), strings.Join(literal, " ")) {
				t.Errorf("%q, offered for another command, lets %q through, which is %v", pattern, cmd, before)
			}
		}
	}
}

// worst are commands that are made to take long.
func worst() map[string]string {
	long := "ls " + strings.Repeat("a", maxCommandBytes-4)
	return map[string]string{
		"ten thousand bytes":     long,
		"many words":             "ls" + strings.Repeat(" a", 4900),
		"64 KiB":                 "ls " + strings.Repeat("a ", 32<<10-2),
		"more than 64 KiB":       strings.Repeat("ls a; ", 16<<10),
		"hundred commands":       strings.Repeat("cat main.go | wc -l; ", 50),
		"thousands of commands":  strings.Repeat("ls;", 10_000),
		"nesting":                strings.Repeat("$(", 2000) + strings.Repeat(")", 2000),
		"nesting of groups":      strings.Repeat("(", 700) + "ls" + strings.Repeat(")", 700),
		"nesting of bash -c":     "bash -c bash\\ -c\\ bash\\ -c\\ ls",
		"a brace of a million":   "echo {1..1000000}",
		"braces of braces":       "echo " + strings.Repeat("{a,b}", 30),
		"nested braces":          "echo " + strings.Repeat("{a,", 500) + strings.Repeat("}", 500),
		"many globs":             "cat" + strings.Repeat(" */*/*", 90),
		"loops of loops":         "for a in " + strings.Repeat("x ", 200) + "; do for b in " + strings.Repeat("y ", 200) + "; do cat $a$b; done; done",
		"wrappers":               strings.Repeat("timeout 5 nice -n 5 ", 400) + "ls",
		"sudo of sudo":           strings.Repeat("sudo -a ", 1000) + "ls",
		"quotes":                 "echo " + strings.Repeat(`"a"'b'`, 1500),
		"an awk of many braces":  "awk '" + strings.Repeat("{", 4000) + strings.Repeat("}", 4000) + "' main.go",
		"a sed of many commands": "sed '" + strings.Repeat("s/a/b/;", 1300) + "' main.go",
		"many assignments":       strings.Repeat("x=a; ", 1500) + "echo $x",
		"many cases":             "case a in " + strings.Repeat("a) x=b;; ", 1000) + "esac",
	}
}

func BenchmarkWorst(b *testing.B) {
	p := project(b)
	p.Rules = []Rule{allow("bash", "go test *"), deny("bash", "git push *"), deny("read", "secrets/**"), allow("edit", "src/**")}
	for name, cmd := range worst() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				bash(p, cmd)
			}
		})
	}
}

// BenchmarkCorpus gives the time that a command of the corpus takes, usually and at
// worst, each at its best of all rounds, and says which is the slowest.
func BenchmarkCorpus(b *testing.B) {
	s := newScene(b, layout(b))
	type job struct {
		p    *Policy
		f    kinds.Facts
		best time.Duration
	}
	var jobs []*job
	for _, c := range readCorpus(b, "bash_cases.jsonl") {
		p := s.policy(b, c)
		jobs = append(jobs, &job{p, facts(p, s.Expand(c.Cmd)), time.Hour})
	}
	for b.Loop() {
		for _, j := range jobs {
			start := time.Now()
			j.p.Decide(j.f)
			j.best = min(j.best, time.Since(start))
		}
	}
	slices.SortFunc(jobs, func(x, y *job) int { return cmp.Compare(x.best, y.best) })
	slowest := jobs[len(jobs)-1]
	b.ReportMetric(float64(jobs[len(jobs)/2].best.Microseconds()), "µs/usual")
	b.ReportMetric(float64(slowest.best.Microseconds()), "µs/slowest")
	b.Logf("the slowest, %v, is %.200q", slowest.best, slowest.f.Command.Text)
}
