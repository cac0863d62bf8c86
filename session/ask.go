package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// Questioner puts the questions of a tool to the user.
type Questioner interface {
	// AskAll returns an answer to each of the form's questions. What the editor
	// answers wrongly or not at all is no answer, with a note; a lost editor is
	// Cancelled. The only errors are tools.ErrNoUser and ctx's.
	AskAll(ctx context.Context, f Form) (Replies, error)
}

// Form is the questions of one call.
type Form struct {
	CallID    string
	Tool      string
	Card      kinds.Card
	Input     json.RawMessage
	Questions []tools.Question
	From      string // who asks, where it is not the session's own agent
}

// Replies are the answers to a Form. The zero value is none.
type Replies struct {
	Answers   []tools.Answer
	Cancelled bool // the turn is to end
}

// callAsker asks the questions of one call.
type callAsker struct {
	turn *Turn
	call *call
}

// Ask implements tools.Asker. In a mode that asks nothing nobody is there.
func (a callAsker) Ask(ctx context.Context, questions []tools.Question) ([]tools.Answer, error) {
	s := a.turn.session
	if s.policy().Mode == permission.DontAsk {
		return nil, tools.ErrNoUser
	}
	rec := &a.call.rec
	replies, err := s.ends.Questioner.AskAll(ctx, Form{rec.ID, rec.Tool, rec.Card, rawInput(rec.input()), questions, ""})
	if err == nil && replies.Cancelled {
		a.turn.cancel(errCancelledByUser)
		err = errCancelledByUser
	}
	return replies.Answers, err
}

// insteadError is a call that the user rejected, with what they want instead.
type insteadError struct{ words string }

func (e *insteadError) Error() string {
	return errRejected.Error() + "; asked what to do instead, the user says: " + e.words
}

func (e *insteadError) Unwrap() error { return errRejected }

// askReason asks what to do instead of a call that was rejected, where the user wants
// to be asked and the editor has forms (spec/config-keys.md, "permissions.askReason").
// It returns why the call may not run.
func (t *Turn) askReason(ctx context.Context, c *call) error {
	s := t.session
	if !s.cfg().AskReason || !s.top().ends.Forms || s.ends.Questioner == nil {
		return errRejected
	}
	rec := &c.rec
	question := tools.Question{Question: "What should be done instead of: " + rec.Card.Title + "?", Header: "Instead"}
	replies, err := s.ends.Questioner.AskAll(ctx, Form{rec.ID, rec.Tool, rec.Card, rawInput(rec.input()), []tools.Question{question}, ""})
	switch {
	case errors.Is(err, tools.ErrNoUser):
		return errRejected
	case err != nil:
		return err
	case replies.Cancelled:
		t.cancel(errCancelledByUser)
		return errCancelledByUser
	}
	for _, a := range replies.Answers {
		if words := strings.TrimSpace(a.Own); words != "" {
			return &insteadError{words}
		}
	}
	return errRejected
}

// workspaceOf is the session's workspace as one call sees it: its questions are
// asked on the card of the call.
func (t *Turn) workspaceOf(c *call) *tools.Workspace {
	ws := *t.session.workspace
	if t.session.ends.Questioner != nil {
		ws.Ask = callAsker{t, c}
	}
	return &ws
}
