package main

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
)

func property(name string, schema acp.ElicitationPropertySchema) acp.ElicitationProperty {
	return acp.ElicitationProperty{Name: name, Schema: schema}
}

// TestForm: a person fills in a form line by line.
func TestForm(t *testing.T) {
	options := []acp.EnumOption{{Const: "a", Title: "First", Description: "the first"}, {Const: "b", Title: "Second"}}
	choice := property("q", acp.StringPropertySchema{Title: "Which?", OneOf: options})
	own := property("q_other", acp.StringPropertySchema{Title: "Other", Meta: acp.Meta{acp.CustomAnswerMeta: map[string]any{"questionId": "q"}}})
	several := property("m", acp.MultiSelectPropertySchema{Items: acp.TitledMultiSelectItems{AnyOf: options}})
	plain := property("p", acp.StringPropertySchema{Enum: []string{"x", "y"}})
	type content = map[string]acp.ElicitationContentValue
	accept := func(c content) acp.CreateElicitationResponse { return acp.ElicitationAcceptAction{Content: c} }
	for name, c := range map[string]struct {
		fields   []acp.ElicitationProperty
		required []string
		typed    string
		want     acp.CreateElicitationResponse
	}{
		"a choice":              {fields: []acp.ElicitationProperty{choice, own}, typed: "2\n", want: accept(content{"q": acp.ElicitationString("b")})},
		"one's own words":       {fields: []acp.ElicitationProperty{choice, own}, typed: "neither, use C\n", want: accept(content{"q_other": acp.ElicitationString("neither, use C")})},
		"only one":              {fields: []acp.ElicitationProperty{choice, own}, typed: "1,2\n1\n", want: accept(content{"q": acp.ElicitationString("a")})},
		"left open":             {fields: []acp.ElicitationProperty{choice, own, plain}, typed: "\n2\n", want: accept(content{"p": acp.ElicitationString("y")})},
		"several":               {fields: []acp.ElicitationProperty{several}, typed: "2, 1 2\n", want: accept(content{"m": acp.ElicitationStrings{"b", "a"}})},
		"no such choice":        {fields: []acp.ElicitationProperty{plain}, typed: "3\nz\n1\n", want: accept(content{"p": acp.ElicitationString("x")})},
		"the end of input":      {fields: []acp.ElicitationProperty{plain, several}, typed: "1\n", want: acp.ElicitationCancelAction{}},
		"required and not told": {fields: []acp.ElicitationProperty{plain}, required: []string{"p"}, typed: "\n", want: acp.ElicitationDeclineAction{}},
		"other types": {fields: []acp.ElicitationProperty{property("b", acp.BooleanPropertySchema{}), property("i", acp.IntegerPropertySchema{}),
			property("n", acp.NumberPropertySchema{}), property("t", acp.StringPropertySchema{}), property("u", acp.UnknownPropertySchema{})},
			typed: "perhaps\nyes\n1.5\n7\n1.5\n 2 words \n",
			want: accept(content{"b": acp.ElicitationBoolean(true), "i": acp.ElicitationInteger(7), "n": acp.ElicitationNumber(1.5),
				"t": acp.ElicitationString("2 words")})},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			s := newScreen(&out, &out, false)
			s.answers = newAnswers(strings.NewReader(c.typed))
			got, err := s.elicitation(context.Background(), acp.ElicitationFormMode{Message: "Which?",
				RequestedSchema: acp.ElicitationSchema{Properties: c.fields, Required: c.required}})
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, %v, want %#v; shown:\n%s", got, err, c.want, out.String())
			}
		})
	}
}

// TestFormIsShown: what an agent sends cannot drive the terminal, and a title
// that is the message is not shown twice.
func TestFormIsShown(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, &out, false)
	s.answers = newAnswers(strings.NewReader("1\n"))
	_, err := s.elicitation(context.Background(), acp.ElicitationFormMode{Message: "Wh\x1b[2Jich?", RequestedSchema: acp.ElicitationSchema{
		Properties: acp.ElicitationProperties{property("q", acp.StringPropertySchema{Title: "Wh\x1b[2Jich?", OneOf: []acp.EnumOption{{Const: "a\a", Title: "A\x1b", Description: "d\r"}}})}}})
	if want := "Wh\\e[2Jich?\n  1) A\\e: d\\r\n  1-1 (nothing: leave it open):   → a\\u0007\n"; err != nil || out.String() != want {
		t.Errorf("got %q, %v, want %q", out.String(), err, want)
	}
}

// TestFormIsCanceled: a turn that is cancelled waits for no answer.
func TestFormIsCanceled(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, &out, false)
	r, w := io.Pipe()
	s.answers = newAnswers(r)
	s.answers.cancel()
	defer w.Close()
	got, err := s.elicitation(context.Background(), acp.ElicitationFormMode{Message: "?", RequestedSchema: acp.ElicitationSchema{
		Properties: acp.ElicitationProperties{property("q", acp.StringPropertySchema{})}}})
	if _, ok := got.(acp.ElicitationCancelAction); !ok || err != nil {
		t.Errorf("got %#v, %v", got, err)
	}
}
