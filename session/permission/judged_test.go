package permission

import (
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

// What is allowed without asking runs as it was judged, and in no other form.
func TestJudgedText(t *testing.T) {
	p := project(t)
	for cmd, want := range map[string]string{
		"ls   -l # all":                        "ls -l",
		"ls;pwd":                               "ls\npwd",
		"# nothing":                            ":",
		"echo `date`":                          "echo $(date)",
		"cat <<-'E'\n\t\tx\n\tE":               "cat <<-'E'\n\tx\nE",
		"bash -c 'ls  -l;pwd # x'":             `bash -c $'ls -l\npwd'`,
		`bash -c "bash -c 'ls  -l'"`:           `bash -c "bash -c 'ls -l'"`,
		"git diff":                             "git diff --no-ext-diff --no-textconv",
		"timeout 5 git --no-pager log -3 |cat": "timeout 5 git --no-pager log --no-ext-diff --no-textconv -3 | cat",
		"bash -c 'git show HEAD'":              "bash -c 'git show --no-ext-diff --no-textconv HEAD'",
		"git status -s":                        "git status -s",
		"echo \"$(git diff | wc -l)\" 'a  b'":  "echo \"$(git diff --no-ext-diff --no-textconv | wc -l)\" 'a  b'",
		"if [ -d src ]; then ls;fi":            "if [ -d src ]; then ls; fi",
		"ls \\\n -l":                           "ls \\\n\t-l",
		"\\ls":                                 "\\ls",
		"grep -n $'a\\tb' main.go":             "grep -n $'a\\tb' main.go",
		"ls >/dev/null 2>&1":                   "ls >/dev/null 2>&1",
		"! ls":                                 "! ls",
		"(ls)":                                 "(ls)",
		"time ls":                              "time ls",
		"ls&":                                  "ls &",
	} {
		v := bash(p, cmd)
		if v.Action != Allow || v.Text != want {
			t.Errorf("%q: %v %q, want %q (%s)", cmd, v.Action, v.Text, want, v.Reason)
		}
	}
	for _, cmd := range []string{"make", "rm x", "ls; x() { ls; }"} {
		if v := bash(p, cmd); v.Text != "" || v.Action == Allow {
			t.Errorf("%q: %v %q", cmd, v.Action, v.Text)
		}
	}
}

// Whatever the corpus allows can be written down again, and the rewritten text is
// judged no stricter than what the model wrote.
func TestJudgedTextOfCorpus(t *testing.T) {
	s := newScene(t, layout(t))
	for _, c := range corpusCommands(t) {
		p := s.policy(t, c)
		v := bash(p, s.Expand(c.Cmd))
		if v.Action != Allow {
			continue
		}
		if v.Text == "" {
			t.Errorf("%q is allowed and has no text to run", c.Cmd)
		}
		if len(c.Rules) > 0 {
			continue // a rule may be for the text as it was
		}
		if again := p.Decide(kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: v.Text, Dir: p.Roots.Dir()}}); again.Action != Allow {
			t.Errorf("%q runs as %q, which %v: %s", c.Cmd, v.Text, again.Action, again.Reason)
		}
	}
}
