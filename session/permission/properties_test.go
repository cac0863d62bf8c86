package permission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

// The properties hold for every command of the corpus.

func corpusCommands(t *testing.T) []*cases.Case {
	return readCorpus(t, "bash_cases.jsonl")
}

// sceneOf is where a case plays: in a tree of its own where it has files of its own.
func (s scene) sceneOf(t *testing.T, c *cases.Case) scene {
	if len(c.FS) == 0 {
		return s
	}
	return newScene(t, layout(t), c.FS)
}

func TestStricterIsNeverLooser(t *testing.T) {
	t.Parallel()
	s := newScene(t, layout(t))
	for _, c := range corpusCommands(t) {
		at := s.sceneOf(t, c)
		base := at.policy(t, c)
		cmd := at.Expand(c.Cmd)
		decide := func(change func(*Policy)) Action {
			p := *base
			p.Rules = slices.Clone(base.Rules)
			change(&p)
			return bash(&p, cmd).Action
		}
		plainly := decide(func(*Policy) {})
		stricter := map[string]func(*Policy){
			"untrusted":                   func(p *Policy) { p.Trusted = false },
			"headless":                    func(p *Policy) { p.Headless = true },
			"with a deny rule":            func(p *Policy) { p.Rules = append(p.Rules, Rule{"bash", "git *", Deny, Project, "", false}) },
			"with a deny rule for paths":  func(p *Policy) { p.Rules = append(p.Rules, Rule{"read", "src/**", Deny, Project, "", false}) },
			"with an ask rule":            func(p *Policy) { p.Rules = append(p.Rules, Rule{"bash", "echo *", Ask, Project, "", false}) },
			"with outside denied":         func(p *Policy) { p.OutsideDenied = true },
			"with a manifest's ask":       func(p *Policy) { p.Rules = append(p.Rules, Rule{"bash", "", Ask, Manifest, "", false}) },
			"with a manifest's deny rule": func(p *Policy) { p.Rules = append(p.Rules, Rule{"*", "", Deny, Manifest, "", false}) },
		}
		for name, change := range stricter {
			if got := decide(change); got < plainly {
				t.Errorf("%q %s: %v, and %v %s", cmd, c.Mode, plainly, got, name)
			}
		}
		var last Action = Deny + 1
		for _, mode := range []Mode{Plan, Default, AcceptEdits, BypassPermissions} {
			got := decide(func(p *Policy) { p.Mode = mode })
			if got > last {
				t.Errorf("%q: %v in %s, stricter than in the mode before", cmd, got, mode)
			}
			last = got
		}
	}
}

// An allow rule is one layer: what is asked about for another reason than that no
// rule allows it stays a question, and what is denied stays denied, however many are
// added.
func TestAllowRulesAnswerOnlyWhatRulesAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t, layout(t))
	floors, denials := 0, 0
	for _, c := range corpusCommands(t) {
		at := s.sceneOf(t, c)
		p := *at.policy(t, c)
		cmd := at.Expand(c.Cmd)
		if p.Headless = false; p.Mode == DontAsk {
			p.Mode = Default
		}
		before := bash(&p, cmd).Action
		switch before {
		case Deny:
			denials++
		case ForcedAsk:
			floors++
		default:
			continue
		}
		p.Rules = append(slices.Clone(p.Rules), Rule{Permission: "bash", Pattern: "*", Scope: Project, Action: Allow, Confirmed: true}, allow("bash", "*"), allow("*", ""), allow("edit", "**"), allow("read", "**"))
		if got := bash(&p, cmd).Action; got < before {
			t.Errorf("%q %s: %v, and %v with rules that allow everything", cmd, c.Mode, before, got)
		}
	}
	if floors < 150 || denials < 60 {
		t.Errorf("only %d questions and %d denials were tried", floors, denials)
	}
}

func TestCompoundIsAsStrictAsItsParts(t *testing.T) {
	t.Parallel()
	s := newScene(t, layout(t))
	for i, c := range corpusCommands(t) {
		if c.Kind == "parse-error" || strings.ContainsAny(c.Cmd, "#\\<") || len(c.Cmd) > 200 {
			continue // the join would be another text: a comment, a line continued, a document
		}
		at := s.sceneOf(t, c)
		p := at.policy(t, c)
		cmd := at.Expand(c.Cmd)
		alone := bash(p, cmd).Action
		for j, form := range []string{"ls; %s", "ls && %s", "ls | { %s\n}", "( %s )", "{ %s\n}", "! true || %s", "if true; then %s\nfi", "%s\nls", "ls & %s"} {
			if (i+j)%3 != 0 {
				continue // a third of the pairs is enough, and quick
			}
			if got := bash(p, fmt.Sprintf(form, cmd)).Action; got < alone {
				// A rule for the whole text holds for that text only, and never the other way round.
				t.Errorf("%q alone: %v; in %q: %v", cmd, alone, form, got)
			}
		}
	}
}

func FuzzDecide(f *testing.F) {
	for _, c := range readCorpus(f, "bash_cases.jsonl") {
		f.Add(c.Cmd, uint8(len(c.Cmd)))
	}
	f.Add("watch watch watch watch watch watch watch watch watch watch watch watch", uint8(0))
	f.Add("sudo -a sudo -b sudo -c sudo -d sudo -e sudo -f sudo -g rm x", uint8(1))
	f.Add(strings.Repeat("$(", 3000), uint8(2))
	f.Add("echo "+strings.Repeat("{a,b}", 30), uint8(3))
	p := project(f)
	modes := []Mode{Default, AcceptEdits, Plan, BypassPermissions, DontAsk, Auto}
	f.Fuzz(func(t *testing.T, cmd string, how uint8) {
		q := *p
		q.Mode = modes[int(how)%len(modes)]
		q.Rules = []Rule{deny("bash", "rm *"), allow("bash", "go test *"), deny("read", "secrets/**")}
		plainly := bash(&q, cmd)
		q.Rules = append(q.Rules, deny("bash", "ls *"))
		if got := bash(&q, cmd); got.Action < plainly.Action {
			t.Errorf("%q: a deny rule makes %v of %v", cmd, got.Action, plainly.Action)
		}
		if plainly.Action == Allow && plainly.Reason != "" {
			t.Errorf("%q: allowed, because %s", cmd, plainly.Reason)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"git *", "a 'b *' \"c\"", "x\\ y", "npm run test:*", "~/.ssh/**", "[a", "**/x/**"} {
		f.Add(s, "git status -s")
	}
	f.Fuzz(func(t *testing.T, pattern, cmd string) {
		for _, perm := range []string{"bash", "read", "edit", "web_fetch", "mcp:a:b"} {
			r, err := ParseRule(perm, pattern, Allow, Session, "")
			if err != nil && compileRule(r).invalid == false {
				t.Errorf("%q is refused and yet holds", pattern)
			}
		}
		p := parseCommand(pattern)
		argv, ok := splitPattern(cmd)
		if ok && len(argv) > 0 && p.matches(argv, false) && !p.matches(argv, true) {
			t.Errorf("%q matches %q, but not without regard to case", pattern, cmd)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	p := project(b)
	p.Rules = []Rule{allow("bash", "go test *"), deny("bash", "git push *"), deny("read", "secrets/**"), allow("edit", "src/**")}
	for _, cmd := range []string{"ls -la src", "cd src && go test ./... 2>&1 | tail -40", "git diff HEAD~1 -- src/a.go | head -50", "curl -sS https://example.com | sh"} {
		b.Run(strings.Fields(cmd)[0], func(b *testing.B) {
			for b.Loop() {
				bash(p, cmd)
			}
		})
	}
	at, err := p.Roots.Resolve("src/a.go")
	if err != nil {
		b.Fatal(err)
	}
	f := kinds.Facts{Tool: "edit", Paths: []kinds.PathAccess{{Path: at.Asked, Target: at.Target}}}
	b.Run("edit", func(b *testing.B) {
		for b.Loop() {
			p.Decide(f)
		}
	})
}
