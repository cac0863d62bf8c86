package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/permission"
)

// asker asks the user of one session by session/request_permission.
type asker struct {
	*server
	id string
}

// The ids of the options. That of an always names its offer and its scope.
const (
	optionAllow  = "allow-once"
	optionReject = "reject-once"
	optionAlways = "allow-always"
	optionNever  = "reject-always"
)

// Ask shows the question in the editor and waits for its answer, however long
// that takes.
func (a asker) Ask(ctx context.Context, q session.Question) (session.Answer, error) {
	request := a.requestOf(q)
	var response RequestPermissionResponse
	err := a.conn.Call(ctx, MethodSessionRequestPermission, request, &response)
	if cause := context.Cause(ctx); cause != nil && (err != nil || !errors.Is(cause, session.ErrSettled)) {
		return session.Answer{}, cause
	}
	if errors.Is(err, jsonrpc.ErrClosed) { // the turn's context ends in a moment, too: nobody said no
		return session.Answer{Decision: session.Cancelled}, nil
	}
	if err != nil {
		a.log.Warn("the editor did not answer a permission request", "error", err)
		return session.Answer{}, nil
	}
	switch o := response.Outcome.(type) {
	case CancelledPermissionOutcome:
		return session.Answer{Decision: session.Cancelled}, nil
	case SelectedPermissionOutcome:
		if len(q.Options) > 0 {
			return chosenOf(o.OptionID, q.Options), nil
		}
		return answerOf(o.OptionID, request.Options), nil
	}
	return session.Answer{}, nil // an answer that nobody knows is a no
}

// requestOf repeats everything that was announced: some editors show nothing
// else in their dialog.
func (a asker) requestOf(q session.Question) RequestPermissionRequest {
	options := ownOptions(q.Options)
	if len(q.Options) == 0 {
		options = a.optionsOf(a.always(q))
	}
	return RequestPermissionRequest{
		SessionID: a.id,
		ToolCall: ToolCallUpdate{
			ToolCallID: q.CallID, Title: q.Card.Title, Name: q.Tool, Kind: ToolKind(q.Card.Kind), Status: ToolCallPending,
			Content: contentOf(q.Content), Locations: sink(a).locationsOf(q.Card.Locations), RawInput: q.Input,
		},
		Options: options,
	}
}

// always is what may be granted for good: nothing where the editor would not show
// all of what is asked about.
func (a asker) always(q session.Question) []permission.Grant {
	if a.client.Load().quirks.TitleOnly && !q.Card.TitleTellsAll() {
		return nil
	}
	return q.Always
}

// optionsOf offers once, and always where there is something safe to remember.
// Only editors that show them get a second option of a kind.
func (a asker) optionsOf(always []permission.Grant) []PermissionOption {
	options := []PermissionOption{{OptionID: optionAllow, Name: "Allow once", Kind: PermissionAllowOnce}}
	several := !a.client.Load().quirks.OneOptionPerKind
	for i, g := range always {
		if i > 0 && !several {
			break
		}
		options = append(options, alwaysOption(i, g, permission.Session))
		if several && slices.Contains(g.Scopes, permission.Project) {
			options = append(options, alwaysOption(i, g, permission.Project))
		}
	}
	options = append(options, PermissionOption{OptionID: optionReject, Name: "Reject", Kind: PermissionRejectOnce})
	if several && len(always) == 1 && len(always[0].Rules) > 0 {
		options = append(options, PermissionOption{OptionID: optionNever, Name: "Always reject " + always[0].Label + " in this session", Kind: PermissionRejectAlways})
	}
	return options
}

// kindOf is the kind of an option that a question brings itself.
func kindOf(d session.Decision) PermissionOptionKind {
	switch d {
	case session.AllowedOnce:
		return PermissionAllowOnce
	case session.AllowedAlways:
		return PermissionAllowAlways
	case session.RejectedAlways:
		return PermissionRejectAlways
	}
	return PermissionRejectOnce
}

// ownOptions are those that a question brings itself, all of which are shown or
// dropped by an editor without harm.
func ownOptions(list []session.Option) []PermissionOption {
	options := make([]PermissionOption, len(list))
	for i, o := range list {
		options[i] = PermissionOption{OptionID: o.ID, Name: o.Name, Kind: kindOf(o.Decision)}
	}
	return options
}

// chosenOf is the answer that was chosen of those offered. Another one is a no.
func chosenOf(id string, offered []session.Option) session.Answer {
	for _, o := range offered {
		if o.ID == id {
			return session.Answer{Decision: o.Decision, Option: o.ID}
		}
	}
	return session.Answer{}
}

func alwaysOption(i int, g permission.Grant, scope permission.Scope) PermissionOption {
	return PermissionOption{OptionID: fmt.Sprintf("%s-%s-%d", optionAlways, scope, i), Name: g.Name(scope), Kind: PermissionAllowAlways}
}

// answerOf reads the option that was chosen. One that was not offered is a no.
func answerOf(id string, offered []PermissionOption) session.Answer {
	for _, o := range offered {
		if o.OptionID != id {
			continue
		}
		switch o.Kind {
		case PermissionAllowOnce:
			return session.Answer{Decision: session.AllowedOnce}
		case PermissionRejectAlways:
			return session.Answer{Decision: session.RejectedAlways}
		case PermissionAllowAlways:
			return alwaysAnswer(strings.TrimPrefix(id, optionAlways+"-"))
		}
	}
	return session.Answer{}
}

func alwaysAnswer(id string) session.Answer {
	scope, index, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(index)
	if err != nil {
		return session.Answer{}
	}
	a := session.Answer{Decision: session.AllowedAlways, Grant: n, Scope: permission.Session}
	if scope == permission.Project.String() {
		a.Scope = permission.Project
	}
	return a
}
