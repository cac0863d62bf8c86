package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/permission"
)

// The ids of a session's settings, which are also their categories.
const (
	settingMode     = "mode"
	settingModel    = "model"
	settingThinking = "thought_level"
)

// Mode is the session's mode.
func (s *Session) Mode() permission.Mode {
	s = s.top()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// SetMode changes the mode, from the next call on.
func (s *Session) SetMode(mode permission.Mode) error {
	if !mode.Valid() {
		return &InvalidError{"modeId", fmt.Sprintf("%q is no mode; the modes are %s", mode, modeNames())}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
	s.settling.ring()
	return nil
}

func modeNames() string {
	var names []string
	for _, m := range permission.Modes() {
		names = append(names, string(m.ID))
	}
	return strings.Join(names, ", ")
}

// SetModel changes the model, from the next request on. Whether it has
// credentials shows at the next prompt.
func (s *Session) SetModel(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkModel(name); err != nil {
		return &InvalidError{"modelId", err.Error()}
	}
	s.model = name
	if !slices.Contains(s.infoOf(name).Thinking, s.thinking) {
		s.thinking = ""
	}
	return nil
}

// Set changes a setting.
func (s *Session) Set(id, value string) error {
	var err error
	switch id {
	case settingMode:
		err = s.SetMode(permission.Mode(value))
	case settingModel:
		err = s.SetModel(value)
	case settingThinking:
		err = s.setThinking(value)
	default:
		return &InvalidError{"configId", fmt.Sprintf("%q is no setting; the settings are %s, %s and, where the model has it, %s", id, settingMode, settingModel, settingThinking)}
	}
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return &InvalidError{"value", invalid.Reason}
	}
	return err
}

func (s *Session) setThinking(level string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	levels := s.infoOf(s.modelLocked()).Thinking
	if !slices.Contains(levels, level) {
		return &InvalidError{"value", fmt.Sprintf("%q is no level of this model; it has [%s]", level, strings.Join(levels, ", "))}
	}
	s.thinking = level
	return nil
}

// Settings is all settings with their values and choices.
func (s *Session) Settings() []Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	mode := Setting{ID: settingMode, Name: "Mode", Category: settingMode, Value: string(s.mode),
		Description: "What is asked before it is done"}
	for _, m := range permission.Modes() {
		mode.Choices = append(mode.Choices, Choice{string(m.ID), m.Name, m.Description})
	}
	name := s.modelLocked()
	out := []Setting{mode, {ID: settingModel, Name: "Model", Category: settingModel, Value: name,
		Description: "Who answers", Choices: s.modelChoicesLocked(name)}}
	if levels := s.infoOf(name).Thinking; len(levels) > 0 {
		out = append(out, thinkingSetting(levels, s.thinking))
	}
	return out
}

func thinkingSetting(levels []string, value string) Setting {
	if value == "" {
		value = levels[0]
	}
	t := Setting{ID: settingThinking, Name: "Thinking", Category: settingThinking, Value: value,
		Description: "How much the model reasons before it answers"}
	for _, l := range levels {
		t.Choices = append(t.Choices, Choice{Value: l, Name: l})
	}
	return t
}

// modelChoicesLocked is the models the user can choose from: the current one,
// those configured, and those that providers listed.
func (s *Session) modelChoicesLocked(current string) []Choice {
	names := []string{current}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range s.configuredModels() {
		add(name)
	}
	choices := make([]Choice, 0, len(names))
	for _, n := range names {
		choices = append(choices, Choice{Value: n, Name: n})
	}
	return choices
}
