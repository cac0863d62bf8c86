package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// Asker puts a tool's own questions to the user.
type Asker interface {
	// Ask returns an answer to each of the questions, in their order. Where
	// nobody can be asked the error is ErrNoUser; any other error is for the
	// model, or that of a context that ended.
	Ask(ctx context.Context, questions []Question) ([]Answer, error)
}

// ErrNoUser says that nobody is there to be asked. Its text is that of
// spec/tools.md, "question".
var ErrNoUser = errors.New("question: no user is available; proceed with your best judgement")

// Question is one question to the user: with a choice of answers, or for one in
// the user's own words.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"` // a few words that stand over it; may be empty
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multi_select"`
}

// Option is an answer that is offered. No two of a question have one label.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Answer is what the user answered to a question. The zero value is no answer.
type Answer struct {
	Chosen []string // labels of the question's options
	Own    string   // the user's own words
	Note   string   // why there is no answer, or what else to know; a clause
}

// values is the answer as a list: what was chosen, then the user's own words.
func (a Answer) values() []string {
	values := append([]string{}, a.Chosen...)
	if a.Own != "" {
		values = append(values, a.Own)
	}
	return values
}

type questionInput struct {
	Questions []Question `json:"questions"`
}

// AskUser is the tool that asks the user, by a form or whatever their editor has
// in its place.
func AskUser() Tool {
	return Func(Spec{
		ID:      "question",
		Title:   "Ask the user",
		Aliases: []string{"AskUserQuestion"},
		Description: "Asks the user, and waits for the answers. Use it where the work cannot go on well without knowing what they want; " +
			"never for what you can find out yourself, nor for permission to do something: that is asked by itself. " +
			"Offer options wherever you can; beside them the user can answer in their own words, so offer no \"other\". " +
			"Put questions that belong together into one call. No answer is neither a yes nor a no.",
		SearchHint: "ask user clarify choose form input",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"questions": {
					"type": "array",
					"minItems": 1,
					"maxItems": 20,
					"items": {
						"type": "object",
						"properties": {
							"question": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The whole question"},
							"header": {"type": "string", "maxLength": 60, "description": "One to three words that stand over it"},
							"options": {
								"type": "array",
								"maxItems": 100,
								"description": "The answers to choose from; none: the user writes one",
								"items": {
									"type": "object",
									"properties": {
										"label": {"type": "string", "minLength": 1, "maxLength": 100, "description": "The answer, in a few words"},
										"description": {"type": "string", "maxLength": 500, "description": "What choosing it means"}
									},
									"required": ["label"],
									"additionalProperties": false
								}
							},
							"multi_select": {"type": "boolean", "description": "Several options may be chosen"}
						},
						"required": ["question"],
						"additionalProperties": false
					}
				}
			},
			"required": ["questions"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindThink,
		ReadOnly: true,
	}, prepareQuestion)
}

func prepareQuestion(_ context.Context, ws *Workspace, in questionInput) (*Action, error) {
	questions := make([]Question, len(in.Questions))
	for i, q := range in.Questions {
		var err error
		if questions[i], err = q.visible(); err != nil {
			return nil, fmt.Errorf("questions[%d]: %w", i, err)
		}
	}
	title := "Ask: " + questions[0].Question
	if more := len(questions) - 1; more > 0 {
		title += fmt.Sprintf(" (and %d more)", more)
	}
	card := kinds.Think(title)
	card.Text = shownQuestions(questions, nil)
	return &Action{
		Card:  card,
		Facts: kinds.Facts{ReadOnly: true, Harmless: true},
		Run: func(ctx context.Context, _ func(Output)) (Result, error) {
			if ws.Ask == nil {
				return Result{}, ErrNoUser
			}
			answers, err := ws.Ask.Ask(ctx, questions)
			if err != nil {
				return Result{}, err
			}
			return answered(questions, answers), nil
		},
	}, nil
}

// visible is the question with nothing in it that a person would not see, so
// that what is shown, what is chosen and what the model is told are one text.
func (q Question) visible() (Question, error) {
	q.Question = strings.TrimSpace(kinds.Escape(q.Question))
	q.Header = oneLine(q.Header)
	if q.Question == "" {
		return q, errors.New("question is blank: say what is asked")
	}
	options := make([]Option, len(q.Options))
	for i, o := range q.Options {
		o.Label, o.Description = oneLine(o.Label), oneLine(o.Description)
		switch {
		case o.Label == "":
			return q, fmt.Errorf("options[%d].label is blank: say what the answer is", i)
		case slices.ContainsFunc(options[:i], func(other Option) bool { return other.Label == o.Label }):
			return q, fmt.Errorf("the label %q is there twice: give each answer its own", o.Label)
		}
		options[i] = o
	}
	q.Options = options
	return q, nil
}

// OneLine is a text on one line, with all of it seen.
func OneLine(s string) string { return oneLine(s) }

func oneLine(s string) string { return kinds.Escape(strings.Join(strings.Fields(s), " ")) }

// answered is what the model is told and the card shows. Answers that are
// missing are no answers.
func answered(questions []Question, answers []Answer) Result {
	answers = append(slices.Clone(answers), make([]Answer, len(questions))...)[:len(questions)]
	var b strings.Builder
	lists := make([][]string, len(questions))
	open := false
	for i, q := range questions {
		a := answers[i]
		lists[i] = a.values()
		open = open || len(lists[i]) == 0
		fmt.Fprintf(&b, "Question: %s\n%s\n", q.Question, a.text())
	}
	if open {
		b.WriteString("Where there is no answer, nothing was agreed to: proceed with your best judgement and say what you assumed, or ask in your reply.\n")
	}
	return Result{Text: b.String(), Shown: shownQuestions(questions, answers), Metadata: map[string]any{"answers": lists}}
}

// text is the answer in a line for each of its values.
func (a Answer) text() string {
	var lines []string
	for _, label := range a.Chosen {
		lines = append(lines, "Answer: "+label)
	}
	if a.Own != "" {
		lines = append(lines, "Answer in the user's own words: "+a.Own)
	}
	if len(lines) == 0 {
		line := "No answer"
		if a.Note != "" {
			line += ": " + a.Note
		}
		return line
	}
	if a.Note != "" {
		lines = append(lines, "Note: "+a.Note)
	}
	return strings.Join(lines, "\n")
}

// shownQuestions is the questions as the card shows them: with what can be
// answered, or where there are answers with these. It is fenced, since none of
// it is Markdown.
func shownQuestions(questions []Question, answers []Answer) string {
	var b strings.Builder
	for i, q := range questions {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(q.Question + "\n")
		if answers != nil {
			for line := range strings.SplitSeq(kinds.Escape(answers[i].shown()), "\n") {
				b.WriteString("  → " + line + "\n")
			}
			continue
		}
		for _, o := range q.Options {
			b.WriteString("  - " + o.Label)
			if o.Description != "" {
				b.WriteString(": " + o.Description)
			}
			b.WriteString("\n")
		}
	}
	return kinds.Fence("", b.String())
}

// shown is the answer as a person reads it.
func (a Answer) shown() string {
	if values := a.values(); len(values) > 0 {
		return strings.Join(values, "\n")
	}
	if a.Note != "" {
		return "no answer: " + a.Note
	}
	return "no answer"
}
