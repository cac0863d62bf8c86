package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// slowTool takes long to prepare a call.
type slowTool struct {
	takes time.Duration
	err   error
}

func (t slowTool) Spec() *tools.Spec { return &tools.Spec{ID: "slow"} }
func (t slowTool) Prepare(context.Context, *tools.Workspace, json.RawMessage) (*tools.Action, error) {
	time.Sleep(t.takes)
	return &tools.Action{Card: kinds.Card{Title: "Prepared"}}, t.err
}

// A call that takes long to prepare is shown before, as it is guessed at, and what is
// then known of it is an update.
func TestSlowCallIsShownBefore(t *testing.T) {
	for _, c := range []struct {
		tool  slowTool
		early int
	}{
		{slowTool{takes: prepareShown / 2}, 0},
		{slowTool{takes: prepareShown * 3}, 1},
		{slowTool{takes: prepareShown * 2, err: errors.New("there is no such symbol")}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			sink := &told{}
			turn := &Turn{session: &Session{workspace: &tools.Workspace{}, ends: Ends{Sink: sink}}}
			made := &call{tool: c.tool, rec: callRecord{ID: "call_1", Tool: "slow", Args: "{}", Status: Pending}}
			made.rec.Card = made.failedCard()
			if err := turn.prepare(t.Context(), made); (err == nil) != (c.tool.err == nil) {
				t.Fatal(err)
			}
			if len(sink.updates) != c.early {
				t.Fatalf("%d updates while it is prepared, want %d", len(sink.updates), c.early)
			}
			turn.announce(t.Context(), made)
			for i, u := range sink.updates {
				if shown := u.(Call); shown.New != (i == 0) || shown.Status != Pending || shown.ID != "call_1" {
					t.Errorf("update %d: %+v", i, shown)
				}
			}
			if last := sink.updates[len(sink.updates)-1].(Call); c.tool.err == nil && last.Card.Title != "Prepared" {
				t.Errorf("in the end it is called %q", last.Card.Title)
			}
		})
	}
}

// What a call ends with that fails: a cancel hides why, but never what stays changed, and
// an error is never longer in the card than other texts.
func TestFailedCallTells(t *testing.T) {
	left := &tools.LeftError{Err: context.Canceled, Left: []string{"a.go, which holds something else by now"}}
	for _, c := range []struct {
		name      string
		err       error
		cancelled bool
		want      string
	}{
		{"cancelled", errors.New("the server is gone"), true, cancelledText},
		{"cancelled, with something left", left, true, cancelledText + ". Of what was changed before, this could not be put back: a.go, which holds something else by now"},
		{"failed, with something left", left, false, "the change was not made: context canceled. Of what was changed before, this could not be put back: a.go, which holds something else by now"},
		{"failed at length", errors.New(strings.Repeat("x", 1<<20)), false, strings.Repeat("x", tools.DefaultMaxOutput)},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			if c.cancelled {
				cancel()
			}
			defer cancel()
			sink := &told{}
			turn := &Turn{session: &Session{workspace: &tools.Workspace{}, ends: Ends{Sink: sink}}}
			made := &call{tool: slowTool{}, rec: callRecord{ID: "call_1", Tool: "slow", Args: "{}", Status: InProgress}}
			made.put = func(context.Context) {}
			turn.finish(ctx, made, tools.Result{}, c.err, 0)
			got := sink.updates[0].(Call)
			if text := strings.Trim(got.Content[0].Text, "`\n"); text != c.want || got.Status != Failed {
				t.Errorf("%s: %.300s", got.Status, text)
			}
		})
	}
}
