package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/tools"
)

// noteNoForms is why an editor without forms was not asked for text.
const noteNoForms = "this editor asks for no text, only for a choice of options"

// optionForms asks the user of one session by session/request_permission, for
// editors without forms: the answers are its options. A choice of several is
// asked for one by one; what has no options cannot be asked.
type optionForms struct {
	*server
	id string
}

// AskAll asks the questions one after the other. Whoever rejects one may still
// answer the next.
func (f optionForms) AskAll(ctx context.Context, form session.Form) (session.Replies, error) {
	replies := unanswered(form.Questions, noteNoForms)
	for i, q := range form.Questions {
		if len(q.Options) == 0 {
			continue
		}
		a, cancelled, err := f.ask(ctx, form, q)
		if err != nil || cancelled {
			return session.Replies{Cancelled: cancelled}, err
		}
		replies.Answers[i] = a
	}
	return replies, nil
}

// ask asks one question; of several answers until the user has no more.
func (f optionForms) ask(ctx context.Context, form session.Form, q tools.Question) (a tools.Answer, cancelled bool, err error) {
	for {
		request, labels := f.requestOf(form, q, a.Chosen)
		label, outcome, err := f.choose(ctx, request, labels)
		switch {
		case err != nil || outcome == outcomeCancelled:
			return a, outcome == outcomeCancelled, err
		case outcome == outcomeWrong:
			a.Note = noteWrong
			return a, false, nil
		case outcome == outcomeFailed:
			a.Note = noteFailed
			return a, false, nil
		case outcome == outcomeRejected:
			if len(a.Chosen) == 0 {
				a.Note = noteDeclined
			}
			return a, false, nil
		}
		a.Chosen = append(a.Chosen, label)
		if !q.MultiSelect || len(a.Chosen) == len(q.Options) {
			return a, false, nil
		}
	}
}

// outcome is what came of one request. The zero value is none of the answers.
type outcome int

const (
	outcomeWrong outcome = iota
	outcomeChosen
	outcomeRejected
	outcomeFailed
	outcomeCancelled
)

// choose asks once. An editor that does not know the method has no user.
func (f optionForms) choose(ctx context.Context, request RequestPermissionRequest, labels []string) (string, outcome, error) {
	var response RequestPermissionResponse
	err := f.conn.Call(ctx, MethodSessionRequestPermission, request, &response)
	if ctx.Err() != nil {
		return "", outcomeFailed, context.Cause(ctx)
	}
	if errors.Is(err, jsonrpc.ErrClosed) {
		return "", outcomeCancelled, nil
	}
	if answered, ok := errors.AsType[*jsonrpc.Error](err); ok && answered.Code == jsonrpc.CodeMethodNotFound {
		return "", outcomeFailed, tools.ErrNoUser
	}
	if err != nil {
		f.log.Warn("the editor did not answer a question", "error", err)
		return "", outcomeFailed, nil
	}
	switch o := response.Outcome.(type) {
	case CancelledPermissionOutcome:
		return "", outcomeCancelled, nil
	case SelectedPermissionOutcome:
		i := slices.IndexFunc(request.Options, func(p PermissionOption) bool { return p.OptionID == o.OptionID })
		switch {
		case i < 0:
			return "", outcomeWrong, nil
		case i == len(labels): // the last one
			return "", outcomeRejected, nil
		}
		return labels[i], outcomeChosen, nil
	}
	return "", outcomeWrong, nil
}

// requestOf offers the labels that are not chosen yet, and to answer nothing
// more. The title is the question, and how far it is answered: some editors show
// nothing else.
func (f optionForms) requestOf(form session.Form, q tools.Question, chosen []string) (request RequestPermissionRequest, labels []string) {
	var options []PermissionOption
	var about strings.Builder
	for _, o := range q.Options {
		if slices.Contains(chosen, o.Label) {
			continue
		}
		options = append(options, PermissionOption{OptionID: fmt.Sprintf("answer-%d", len(options)+1), Name: o.Label, Kind: PermissionAllowOnce})
		labels = append(labels, o.Label)
		if o.Description != "" {
			fmt.Fprintf(&about, "%s: %s\n", o.Label, o.Description)
		}
	}
	none := "No answer"
	several := ""
	text, title := q.Question, q.Question
	if q.MultiSelect {
		several = " (several may be chosen, one at a time)"
	}
	if form.From != "" {
		text, title = form.From+"\n\n"+text, form.From+" "+title
	}
	if about.Len() > 0 {
		text += "\n\n" + strings.TrimSpace(about.String())
	}
	if len(chosen) > 0 {
		none = "No more"
		several = " (chosen so far: " + strings.Join(chosen, ", ") + ")"
		text += "\n\nChosen so far: " + strings.Join(chosen, ", ")
	}
	options = append(options, PermissionOption{OptionID: "no-answer", Name: none, Kind: PermissionRejectOnce})
	return RequestPermissionRequest{SessionID: f.id, Options: options, ToolCall: ToolCallUpdate{
		ToolCallID: form.CallID, Title: kinds.Title(title + several), Name: form.Tool, Kind: ToolKind(form.Card.Kind), Status: ToolCallInProgress,
		Content: contentOf([]session.Shown{{Text: kinds.Fence("", text)}}), Locations: []ToolCallLocation{}, RawInput: form.Input,
	}}, labels
}
