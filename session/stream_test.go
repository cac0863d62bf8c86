package session

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
)

// endless is a model whose reply has no end.
type endless struct{ event model.Event }

func (e endless) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for yield(e.event, nil) {
		}
	}
}

func TestReplyWithoutEnd(t *testing.T) {
	long := strings.Repeat("x", maxReply/8)
	for _, event := range []model.Event{model.Text{Text: long}, model.Thought{Text: long}} {
		m := New(Options{Log: slog.New(slog.DiscardHandler)})
		m.database = newDatabase(t.TempDir())
		s := &Session{backlog: &backlog{}, sessions: m, id: "sess_1", ends: Ends{Sink: &told{}}}
		turn := &Turn{session: s, llm: chosenModel{model: endless{event}, name: "some/model"}}
		_, err := turn.attempt(t.Context(), &model.Request{})
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Retry || !strings.Contains(err.Error(), "some/model") {
			t.Errorf("%T: got %v", event, err)
		}
		if err := m.database.close(); err != nil {
			t.Error(err)
		}
	}
}
