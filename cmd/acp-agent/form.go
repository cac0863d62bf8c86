package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/kinds"
)

// elicitation asks the person at the terminal what a form asks, field by field.
// A field without an answer is left out, one that is required ends the form.
func (s *screen) elicitation(ctx context.Context, r acp.CreateElicitationRequest) (acp.CreateElicitationResponse, error) {
	request, ok := r.(acp.ElicitationFormMode)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "mode: only form is shown here"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(bold, "%s", kinds.Escape(request.Message))
	f := form{screen: s, message: request.Message, content: map[string]acp.ElicitationContentValue{}}
	fields := request.RequestedSchema.Properties
	for i := 0; i < len(fields); i++ {
		f.own = ""
		if i+1 < len(fields) && takesOwn(fields[i+1], fields[i].Name) {
			f.own = fields[i+1].Name
		}
		switch f.ask(ctx, fields[i], slices.Contains(request.RequestedSchema.Required, fields[i].Name)) {
		case formClosed:
			s.line(dim, "  → no answer")
			return acp.ElicitationCancelAction{}, nil
		case formDeclined:
			s.line(dim, "  → no answer")
			return acp.ElicitationDeclineAction{}, nil
		}
		if f.own != "" {
			i++ // it was asked together with the choice
		}
	}
	return acp.ElicitationAcceptAction{Content: f.content}, nil
}

// takesOwn reports whether a field takes an answer of the user's own to the
// choice of that name.
func takesOwn(p acp.ElicitationProperty, choice string) bool {
	text, ok := p.Schema.(acp.StringPropertySchema)
	if !ok {
		return false
	}
	of, _ := text.Meta[acp.CustomAnswerMeta].(map[string]any)
	return of["questionId"] == choice
}

// form is one that is being filled in.
type form struct {
	*screen
	message string
	own     string // the name of the field for an answer of one's own beside this choice; empty: none
	content map[string]acp.ElicitationContentValue
}

// formState is how a form goes on after a field.
type formState int

const (
	formOpen formState = iota
	formClosed
	formDeclined
)

// field is what of a property's schema a terminal needs.
type field struct {
	title, description, hint string
	options                  []acp.EnumOption
	several                  bool
	read                     func(line string) (acp.ElicitationContentValue, error) // of what is no choice
}

func fieldOf(p acp.ElicitationProperty) (field, bool) {
	switch p := p.Schema.(type) {
	case acp.StringPropertySchema:
		f := field{title: p.Title, description: p.Description, options: p.OneOf, hint: "text", read: readText}
		for _, value := range p.Enum {
			f.options = append(f.options, acp.EnumOption{Const: value, Title: value})
		}
		return f, true
	case acp.MultiSelectPropertySchema:
		f := field{title: p.Title, description: p.Description, several: true}
		switch items := p.Items.(type) {
		case acp.TitledMultiSelectItems:
			f.options = items.AnyOf
		case acp.StringMultiSelectItems:
			for _, value := range items.Enum {
				f.options = append(f.options, acp.EnumOption{Const: value, Title: value})
			}
		}
		return f, len(f.options) > 0
	case acp.BooleanPropertySchema:
		return field{title: p.Title, description: p.Description, hint: "y or n", read: readBool}, true
	case acp.IntegerPropertySchema:
		return field{title: p.Title, description: p.Description, hint: "a whole number", read: readInt}, true
	case acp.NumberPropertySchema:
		return field{title: p.Title, description: p.Description, hint: "a number", read: readNumber}, true
	}
	return field{}, false
}

func readText(line string) (acp.ElicitationContentValue, error) {
	return acp.ElicitationString(line), nil
}

func readBool(line string) (acp.ElicitationContentValue, error) {
	switch strings.ToLower(line) {
	case "y", "yes":
		return acp.ElicitationBoolean(true), nil
	case "n", "no":
		return acp.ElicitationBoolean(false), nil
	}
	return nil, fmt.Errorf("%q is neither y nor n", line)
}

func readInt(line string) (acp.ElicitationContentValue, error) {
	n, err := strconv.ParseInt(line, 10, 64)
	return acp.ElicitationInteger(n), err
}

func readNumber(line string) (acp.ElicitationContentValue, error) {
	n, err := strconv.ParseFloat(line, 64)
	return acp.ElicitationNumber(n), err
}

// ask asks for one field until the answer fits. A field of a kind that is not
// known is left out.
func (f *form) ask(ctx context.Context, p acp.ElicitationProperty, required bool) formState {
	one, ok := fieldOf(p)
	if !ok {
		if required {
			return formDeclined
		}
		return formOpen
	}
	for _, text := range []string{one.title, one.description} {
		if text != "" && text != f.message {
			f.line(bold, "%s", kinds.Escape(text))
		}
	}
	for i, o := range one.options {
		text := o.Title
		if o.Description != "" {
			text += ": " + o.Description
		}
		f.line(blue, "  %d) %s", i+1, kinds.Escape(text))
	}
	for {
		fmt.Fprintf(f.side, "  %s: ", f.hintOf(one, required))
		line, ok := f.answers.next(ctx)
		if !ok {
			fmt.Fprintln(f.side)
			return formClosed
		}
		line = strings.TrimSpace(line)
		if line == "" && required {
			return formDeclined
		}
		if line == "" {
			return formOpen
		}
		err := f.take(p.Name, one, line)
		if err == nil {
			return formOpen
		}
		f.line(red, "  %s", kinds.Escape(err.Error()))
	}
}

// hintOf says what may be typed.
func (f *form) hintOf(one field, required bool) string {
	hint := one.hint
	if len(one.options) > 0 {
		hint = "1-" + strconv.Itoa(len(one.options))
		if one.several {
			hint = "numbers from " + hint + ", with commas"
		}
		if f.own != "" {
			hint += ", or your own words"
		}
	}
	if required {
		return hint + " (nothing: decline)"
	}
	return hint + " (nothing: leave it open)"
}

// take enters a line into the form.
func (f *form) take(name string, one field, line string) error {
	if len(one.options) == 0 {
		value, err := one.read(line)
		if err == nil {
			f.content[name] = value
		}
		return err
	}
	chosen, ok := one.choose(line)
	switch {
	case ok && one.several:
		f.content[name] = acp.ElicitationStrings(chosen)
		f.line(dim, "  → %s", kinds.Escape(strings.Join(chosen, ", ")))
	case ok && len(chosen) == 1:
		f.content[name] = acp.ElicitationString(chosen[0])
		f.line(dim, "  → %s", kinds.Escape(chosen[0]))
	case ok:
		return fmt.Errorf("only one can be chosen")
	case f.own != "":
		f.content[f.own] = acp.ElicitationString(line)
	default:
		return fmt.Errorf("%q is none of the choices", line)
	}
	return nil
}

// choose reads numbers of options; not ok where the line is something else.
func (one field) choose(line string) (chosen []string, ok bool) {
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > len(one.options) {
			return nil, false
		}
		if value := one.options[n-1].Const; !slices.Contains(chosen, value) {
			chosen = append(chosen, value)
		}
	}
	return chosen, len(chosen) > 0
}
