package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// Skills are the instructions that a session found for certain work.
type Skills interface {
	// Names are the skills that there are.
	Names() []string
	// Skill finds one by its name.
	Skill(name string) (Skill, bool)
}

// Skill is one of them.
type Skill struct {
	Name        string // safe in a tag
	Description string // one line
	Folder      string // where the files are that it speaks of
	File        kinds.PathAccess
	Body        func() (string, error)
}

type skillInput struct {
	Name string `json:"name"`
}

// LoadSkill is the tool that puts a skill's whole text into the conversation.
func LoadSkill() Tool {
	return Func(Spec{
		ID:      "skill",
		Title:   "Skill {name}",
		Aliases: []string{"Skill"},
		Description: "Loads a skill: instructions, by the user or the project, for a certain sort of work. " +
			"The skills and what they are for are listed in your instructions; where none are, there are none.",
		SearchHint: "instructions workflow guide load",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {"name": {"type": "string", "minLength": 1, "description": "The skill's name"}},
			"required": ["name"],
			"additionalProperties": false
		}`),
		Kind:      kinds.KindThink,
		ReadOnly:  true,
		MaxOutput: maxSkill,
	}, prepareSkill)
}

// maxSkill is the longest text of a skill in bytes, with what is put around it.
const maxSkill = 192 << 10

func prepareSkill(_ context.Context, ws *Workspace, in skillInput) (*Action, error) {
	if ws.Skills == nil {
		return nil, errors.New("there are no skills here: go on without")
	}
	s, ok := ws.Skills.Skill(in.Name)
	if !ok {
		return nil, unknownSkill(in.Name, ws.Skills.Names())
	}
	card := kinds.Think("Skill " + s.Name)
	card.Text = kinds.Fence("", kinds.Escape(s.Description))
	return &Action{
		Card:  card,
		Facts: kinds.Facts{ReadOnly: true, Concurrent: true, Paths: []kinds.PathAccess{s.File}},
		Run: func(context.Context, func(Output)) (Result, error) {
			text, err := s.Content()
			return Result{Text: text, Shown: card.Text, Metadata: map[string]any{"folder": s.Folder}}, err
		},
	}, nil
}

func unknownSkill(name string, names []string) error {
	switch near := nearest(name, names, 3); {
	case len(near) > 0:
		return fmt.Errorf("there is no skill %q; did you mean %s?", name, strings.Join(near, ", "))
	case len(names) > 0:
		return fmt.Errorf("there is no skill %q: there are %s", name, strings.Join(names[:min(len(names), 20)], ", "))
	}
	return fmt.Errorf("there is no skill %q, nor any other: go on without", name)
}

// Content is the skill as the model reads it: the whole text in a tag, which
// nothing in it can close, and where its files are.
func (s Skill) Content() (string, error) {
	body, err := s.Body()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("<%s name=%q>\nFolder of the skill, to which paths in it are relative: %s\n\n%s\n</%[1]s>",
		skillTag, s.Name, plainTags(kinds.Escape(s.Folder)), plainTags(strings.TrimSpace(body))), nil
}

const skillTag = "skill_content"

// plainTags makes every tag of that name in a text, opening or closing, one that
// is only text.
func plainTags(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name := strings.TrimLeft(after, "/ \t\r\n\f\v")
		if len(name) >= len(skillTag) && strings.EqualFold(name[:len(skillTag)], skillTag) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
		s = after
	}
}
