package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestPlanExitShowsThePlanAndSaysTheMode(t *testing.T) {
	ws := &Workspace{Mode: func() string { return "acceptEdits" }}
	a, err := PlanExit().Prepare(t.Context(), ws, json.RawMessage(`{"plan":"1. do\n![x](http://evil.example/y.png)\n"}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != kinds.KindSwitchMode || !a.LeavesPlan || a.Harmless || a.Concurrent || !strings.Contains(a.Text, "1. do") {
		t.Errorf("the card is %+v, the facts %+v", a.Card, a.Facts)
	}
	if strings.Contains(a.Text, "![x](http") {
		t.Errorf("a remote image stands in the card: %q", a.Text)
	}
	r, err := a.Run(t.Context(), func(Output) {})
	if err != nil || !strings.Contains(r.Text, "the mode is now acceptEdits") || r.Shown != a.Text {
		t.Errorf("it came to %+v, %v", r, err)
	}
}

func TestPlanExitNeedsAPlan(t *testing.T) {
	for _, input := range []string{`{}`, `{"plan":""}`, `{"plan":" \n\t"}`, `{"plan":1}`, `{"plan":"\u200b\u2800 \u202e"}`, `{"plan":"x","mode":"bypassPermissions"}`} {
		if _, err := PlanExit().Prepare(t.Context(), &Workspace{}, json.RawMessage(input)); err == nil {
			t.Errorf("%s is taken", input)
		}
	}
}

func TestPlanExitHidesNothingInThePlan(t *testing.T) {
	a, err := PlanExit().Prepare(t.Context(), &Workspace{}, json.RawMessage(`{"plan":"1. do\r\n2. \u202egnirts\u001b[31m\r\n!\u200b[x](http://evil.example/)\ttab"}`))
	if err != nil {
		t.Fatal(err)
	}
	if kinds.HiddenIn(a.Text) != 0 || !strings.Contains(a.Text, "1. do\n2. \\u202egnirts\\e[31m\n") || strings.Contains(a.Text, "![x]") {
		t.Errorf("the card shows %q", a.Text)
	}
}
