package permission

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission/cases"
)

func TestExplainNamesWhatDecides(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{
		{"bash", "go test *", Allow, Session, "config.json:4", false},
		{"bash", "git push *", Deny, Project, "project.json:7", false},
		{"bash", "git *", Ask, Session, "config.json:5", false},
	}
	e := p.Explain(kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: "ls src && go test ./... && git push; touch x >> .env", Dir: p.Roots.Dir()}})
	var got []string
	for _, part := range e.Parts {
		line := part.Text + ": " + strings.TrimPrefix(part.Action.String(), "forced-")
		if part.By != nil {
			line += " by " + part.By.Source
		}
		for _, r := range part.Reasons {
			line += "; " + r.Layer
			if r.Rule != nil {
				line += " " + r.Rule.Source
			}
		}
		got = append(got, line)
	}
	want := []string{
		": ask; " + LayerAlways,
		"ls src: allow",
		"go test ./...: allow by config.json:4",
		"git push: deny; rule project.json:7",
		"touch x: ask; " + LayerPlain,
	}
	if !slices.Equal(got, want) || e.Verdict.Action != Deny {
		t.Errorf("%v\ngot  %q\nwant %q", e.Verdict.Action, got, want)
	}
}

// TestExplainSaysWhatDecideSays holds both to the same verdict for every command
// of the corpus, and the parts to the verdict.
func TestExplainSaysWhatDecideSays(t *testing.T) {
	p := project(t)
	for c, err := range cases.Read("../../testdata/security/bash_cases.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		q := *p
		q.Mode = Mode(c.Mode)
		f := kinds.Facts{Tool: "bash", Command: &kinds.Command{Text: c.Cmd, Dir: p.Roots.Dir()}}
		v, e := q.Decide(f), q.Explain(f)
		if v.Action != e.Verdict.Action || v.Reason != e.Verdict.Reason {
			t.Errorf("%q: %v, explained as %v", c.Cmd, v, e.Verdict)
		}
		strictest, told := Allow, v.Reason == ""
		for _, part := range e.Parts {
			strictest = max(strictest, part.Action)
			for _, r := range part.Reasons {
				told = told || strings.HasSuffix(v.Reason, r.Text) || strings.HasPrefix(v.Reason, r.Text)
			}
		}
		if strictest != v.Action || !told {
			t.Errorf("%q: %v (%s), and its parts %v: %+v", c.Cmd, v.Action, v.Reason, strictest, e.Parts)
		}
	}
}
