package tools

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
)

// askFunc is an Asker that is a function.
type askFunc func(context.Context, []Question) ([]Answer, error)

func (f askFunc) Ask(ctx context.Context, questions []Question) ([]Answer, error) {
	return f(ctx, questions)
}

func asking(answers ...Answer) *Workspace {
	return &Workspace{Ask: askFunc(func(context.Context, []Question) ([]Answer, error) { return answers, nil })}
}

func TestQuestion(t *testing.T) {
	in := args{"questions": []args{
		{"question": " Which? ", "options": []args{{"label": "A\n1", "description": "first"}, {"label": "B"}}},
		{"question": "Name?"},
	}}
	a, err := prepared(t, asking(Answer{Chosen: []string{"A 1"}, Own: "or C"}, Answer{}), AskUser(), in)
	if err != nil {
		t.Fatal(err)
	}
	if a.Title != "Ask: Which? (and 1 more)" || a.Kind != kinds.KindThink || !a.ReadOnly || !a.Harmless || a.Concurrent || !strings.Contains(a.Text, "- A 1: first") {
		t.Errorf("%+v %+v", a.Card, a.Facts)
	}
	r, err := a.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"A 1", "or C"}, {}}; !reflect.DeepEqual(r.Metadata["answers"], want) {
		t.Errorf("answers are %v, want %v", r.Metadata["answers"], want)
	}
	for _, want := range []string{"Question: Which?\nAnswer: A 1\nAnswer in the user's own words: or C\n", "Question: Name?\nNo answer\n"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is not in %q", want, r.Text)
		}
	}
}

// TestQuestionUnanswered: fewer answers than questions are no answers, and one
// without a user is the error that is fixed.
func TestQuestionUnanswered(t *testing.T) {
	in := args{"questions": []args{{"question": "Which?"}}}
	r := must(t, asking(), AskUser(), in)
	if !strings.Contains(r.Text, "No answer") || !strings.Contains(r.Shown, "→ no answer") {
		t.Errorf("%+v", r)
	}
	if _, err := call(t, &Workspace{}, AskUser(), in); !errors.Is(err, ErrNoUser) || err.Error() != "question: no user is available; proceed with your best judgement" {
		t.Error(err)
	}
}

// FuzzQuestion: whatever is asked, what is shown holds nothing that is not seen
// and does not leave its fence.
func FuzzQuestion(f *testing.F) {
	f.Add("Which?", "A", "```\nB", "own\x1b[2J")
	f.Add("\u202e", "\x00", "````", "\n→ yes")
	f.Fuzz(func(t *testing.T, question, label, description, own string) {
		q, err := Question{Question: question, Options: []Option{{label, description}}}.visible()
		if err != nil {
			return
		}
		for _, text := range []string{shownQuestions([]Question{q}, nil), shownQuestions([]Question{q}, []Answer{{Chosen: []string{q.Options[0].Label}, Own: own}})} {
			if kinds.Escape(text) != text || !utf8.ValidString(text) {
				t.Errorf("%q hides something", text)
			}
			fence, _, _ := strings.Cut(text, "\n")
			if !strings.HasSuffix(text, "\n"+fence) || strings.Count(text, fence) != 2 {
				t.Errorf("%q leaves its fence", text)
			}
		}
	})
}
