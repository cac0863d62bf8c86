package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/tools"
)

// CustomAnswerMeta is the key of a text field's _meta that says of which choice
// it takes an answer of the user's own: {"questionId": NAME}. Some editors show
// the field as that choice's "other".
const CustomAnswerMeta = "_askUserQuestionCustomAnswer"

// Why there is no answer, as the model reads it.
const (
	noteDeclined = "the user declined to answer"
	noteClosed   = "the user closed the questions without answering"
	noteEmpty    = "the user left it open"
	noteFailed   = "the editor failed to ask"
	noteWrong    = "the editor sent back what was not offered, which was left out"
)

// forms asks the user of one session by elicitation/create in form mode.
type forms struct {
	*server
	id string
}

// AskAll shows all questions in one form and waits for it, however long that
// takes.
func (f forms) AskAll(ctx context.Context, form session.Form) (session.Replies, error) {
	request := ElicitationFormMode{
		ElicitationScope: ElicitationScope{SessionID: f.id, ToolCallID: form.CallID},
		Message:          messageOf(form), RequestedSchema: formOf(form.Questions),
	}
	var raw json.RawMessage
	err := f.conn.Call(ctx, MethodElicitationCreate, request, &raw)
	switch {
	case ctx.Err() != nil:
		return session.Replies{}, context.Cause(ctx)
	case errors.Is(err, jsonrpc.ErrClosed): // the turn's context ends in a moment, too
		return session.Replies{Cancelled: true}, nil
	case err != nil:
		f.log.Warn("the editor did not answer a form", "error", err)
		return unanswered(form.Questions, noteFailed), nil
	}
	response, err := DecodeResult[CreateElicitationResponse](raw)
	if err != nil {
		f.log.Warn("the editor's answer to a form cannot be read", "error", err)
		return unanswered(form.Questions, noteWrong), nil
	}
	switch r := response.(type) {
	case ElicitationAcceptAction:
		return answersOf(form.Questions, r.Content), nil
	case ElicitationDeclineAction:
		return unanswered(form.Questions, noteDeclined), nil
	}
	return unanswered(form.Questions, noteClosed), nil // cancelled, and what nobody knows
}

// unanswered is no answer to any question, for one reason.
func unanswered(questions []tools.Question, note string) session.Replies {
	answers := make([]tools.Answer, len(questions))
	for i := range answers {
		answers[i].Note = note
	}
	return session.Replies{Answers: answers}
}

// messageOf is what stands over the form.
func messageOf(form session.Form) string {
	var lines []string
	if form.From != "" {
		lines = append(lines, form.From)
	}
	for i, q := range form.Questions {
		number := ""
		if len(form.Questions) > 1 {
			number = fmt.Sprintf("%d. ", i+1)
		}
		lines = append(lines, number+q.Question)
	}
	return strings.Join(lines, "\n")
}

// The names of a question's fields.
func fieldOf(i int) string    { return fmt.Sprintf("question_%d", i+1) }
func ownFieldOf(i int) string { return fieldOf(i) + "_other" }

// formOf has a field for each question, and for one with choices a second one
// for an answer of the user's own. Nothing has a default and nothing is
// required: an answer is what the user gave.
func formOf(questions []tools.Question) ElicitationSchema {
	var fields ElicitationProperties
	for i, q := range questions {
		fields = append(fields, ElicitationProperty{fieldOf(i), choiceOf(q)})
		if len(q.Options) > 0 {
			fields = append(fields, ElicitationProperty{ownFieldOf(i), StringPropertySchema{
				Title: ownTitle(questions, i), Description: "An answer of your own",
				Meta: Meta{CustomAnswerMeta: map[string]any{"questionId": fieldOf(i)}},
			}})
		}
	}
	return ElicitationSchema{Properties: fields}
}

// ownTitle says to which question an answer of one's own belongs, where there
// are several.
func ownTitle(questions []tools.Question, i int) string {
	if len(questions) == 1 {
		return "Other"
	}
	return kinds.Title("Other: " + cmp.Or(questions[i].Header, questions[i].Question))
}

// choiceOf is the field of a question: a choice of one or of several, or text.
func choiceOf(q tools.Question) ElicitationPropertySchema {
	title, description := q.Question, ""
	if q.Header != "" {
		title, description = q.Header, q.Question
	}
	var options []EnumOption
	for _, o := range q.Options {
		options = append(options, EnumOption{Const: o.Label, Title: o.Label, Description: o.Description})
	}
	if q.MultiSelect && len(options) > 0 {
		return MultiSelectPropertySchema{Title: title, Description: description, Items: TitledMultiSelectItems{AnyOf: options}}
	}
	return StringPropertySchema{Title: title, Description: description, OneOf: options}
}

// answersOf reads a form that was filled in. What was not offered is dropped,
// so that nothing counts as an answer but what the user could have given.
func answersOf(questions []tools.Question, content map[string]ElicitationContentValue) session.Replies {
	answers := make([]tools.Answer, len(questions))
	for i, q := range questions {
		a := &answers[i]
		wrong := false
		if v, ok := content[fieldOf(i)]; ok {
			a.Chosen, a.Own, wrong = chosenIn(q, v)
		}
		if v, ok := content[ownFieldOf(i)]; ok && len(q.Options) > 0 {
			own, isText := v.(ElicitationString)
			a.Own = strings.TrimSpace(string(own))
			wrong = wrong || !isText
		}
		switch {
		case wrong:
			a.Note = noteWrong
		case len(a.Chosen) == 0 && a.Own == "":
			a.Note = noteEmpty
		}
	}
	return session.Replies{Answers: answers}
}

// chosenIn reads the field of a question. Wrong says that something of it was
// not offered.
func chosenIn(q tools.Question, v ElicitationContentValue) (chosen []string, own string, wrong bool) {
	var values []string
	switch v := v.(type) {
	case ElicitationString:
		if len(q.Options) == 0 {
			return nil, strings.TrimSpace(string(v)), false
		}
		if v == "" { // as some editors send what was left open
			return nil, "", false
		}
		values = []string{string(v)}
	case ElicitationStrings:
		values = v
		if !q.MultiSelect {
			return nil, "", len(v) > 0
		}
	default:
		return nil, "", true
	}
	for _, value := range values {
		offered := slices.ContainsFunc(q.Options, func(o tools.Option) bool { return o.Label == value })
		if offered && !slices.Contains(chosen, value) {
			chosen = append(chosen, value)
		}
		wrong = wrong || !offered
	}
	return chosen, "", wrong
}
