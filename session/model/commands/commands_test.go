package commands

import (
	"context"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
)

func TestAnswer(t *testing.T) {
	said, ended := "", 0
	for ev, err := range New().Stream(t.Context(), &model.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case model.Text:
			said += ev.Text
		case model.Done:
			ended++
			if len(ev.Message.Parts) != 1 || ev.Message.Parts[0].Text != said || ev.Stop != model.StopEnd || ev.Usage != (model.Usage{}) {
				t.Errorf("got %+v", ev)
			}
		default:
			t.Errorf("got a %T", ev)
		}
	}
	if ended != 1 {
		t.Errorf("Done came %d times", ended)
	}
	for _, want := range []string{"model", "/read", "/grep", "/glob", "/run", "/edit", "ACP_AGENT_MODEL", "acp-agent login", "config.json"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in the answer", want)
		}
	}
}

func TestLeavingAndCancelling(t *testing.T) {
	for range New().Stream(t.Context(), nil) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for ev, err := range New().Stream(ctx, nil) {
		if err == nil {
			t.Errorf("got %v after cancel", ev)
		}
	}
}
