package acp

import "reflect"

// SessionConfigOption is an option of a session that its user can set:
// SessionConfigSelect, SessionConfigBoolean or UnknownSessionConfigOption.
type SessionConfigOption interface{ sessionConfigOption() }

// SessionConfigOptionCategory says where an editor shows an option. Others than
// those below are allowed.
type SessionConfigOptionCategory string

// The categories of the protocol.
const (
	CategoryMode         SessionConfigOptionCategory = "mode"
	CategoryModel        SessionConfigOptionCategory = "model"
	CategoryModelConfig  SessionConfigOptionCategory = "model_config"
	CategoryThoughtLevel SessionConfigOptionCategory = "thought_level"
)

// SessionConfigSelect is a choice of one value.
type SessionConfigSelect struct {
	Tag          tag[SessionConfigSelect]    `json:"type"`
	ID           string                      `json:"id" acp:"required"`
	Name         string                      `json:"name" acp:"required"`
	Description  string                      `json:"description,omitzero"`
	Category     SessionConfigOptionCategory `json:"category,omitzero"`
	CurrentValue string                      `json:"currentValue" acp:"required"`
	Options      SessionConfigSelectOptions  `json:"options" acp:"required"` // not nil
	Meta         Meta                        `json:"_meta,omitzero"`
}

// SessionConfigBoolean is a switch. It is sent only to clients that take it.
type SessionConfigBoolean struct {
	Tag          tag[SessionConfigBoolean]   `json:"type"`
	ID           string                      `json:"id" acp:"required"`
	Name         string                      `json:"name" acp:"required"`
	Description  string                      `json:"description,omitzero"`
	Category     SessionConfigOptionCategory `json:"category,omitzero"`
	CurrentValue bool                        `json:"currentValue" acp:"required"`
	Meta         Meta                        `json:"_meta,omitzero"`
}

// UnknownSessionConfigOption has a type that this version does not know.
type UnknownSessionConfigOption struct{ Unknown }

func (SessionConfigSelect) sessionConfigOption()        {}
func (SessionConfigBoolean) sessionConfigOption()       {}
func (UnknownSessionConfigOption) sessionConfigOption() {}

func (SessionConfigSelect) tag() string  { return "select" }
func (SessionConfigBoolean) tag() string { return "boolean" }

func configOptionUnion() *union {
	return taggedUnion[SessionConfigOption]("type", UnknownSessionConfigOption{}, SessionConfigSelect{}, SessionConfigBoolean{})
}

// SessionConfigSelectOptions are the values of a select: SelectOptions or
// SelectGroups. The first element tells which.
type SessionConfigSelectOptions interface{ selectOptions() }

// SelectOptions are values in one list.
type SelectOptions []SessionConfigSelectOption

// SelectGroups are values in groups.
type SelectGroups []SessionConfigSelectGroup

func (SelectOptions) selectOptions() {}
func (SelectGroups) selectOptions()  {}

// MarshalJSON writes an array, also for a nil list.
func (o SelectOptions) MarshalJSON() ([]byte, error) {
	return List[SessionConfigSelectOption](o).MarshalJSON()
}

// MarshalJSON writes an array, also for a nil list.
func (g SelectGroups) MarshalJSON() ([]byte, error) {
	return List[SessionConfigSelectGroup](g).MarshalJSON()
}

func selectOptionsUnion() *union {
	return &union{pick: func(c *cursor) (reflect.Type, *problem) {
		first := cursor{b: c.b, i: c.i}
		if first.kind() == '[' {
			first.i++
			if first.has("group") {
				return reflect.TypeFor[SelectGroups](), nil
			}
		}
		return reflect.TypeFor[SelectOptions](), nil
	}}
}

// SessionConfigSelectOption is one value of a select.
type SessionConfigSelectOption struct {
	Value       string `json:"value" acp:"required"`
	Name        string `json:"name" acp:"required"`
	Description string `json:"description,omitzero"`
	Meta        Meta   `json:"_meta,omitzero"`
}

// SessionConfigSelectGroup is a named group of values.
type SessionConfigSelectGroup struct {
	Group   string                          `json:"group" acp:"required"`
	Name    string                          `json:"name" acp:"required"`
	Options List[SessionConfigSelectOption] `json:"options"`
	Meta    Meta                            `json:"_meta,omitzero"`
}

// SetSessionConfigOptionRequest sets an option.
type SetSessionConfigOptionRequest struct {
	SessionID string             `json:"sessionId" acp:"required"`
	ConfigID  string             `json:"configId" acp:"required"`
	Value     SessionConfigValue `json:"value" acp:"required"`
	Meta      Meta               `json:"_meta,omitzero"`
}

// Method is "session/set_config_option".
func (SetSessionConfigOptionRequest) Method() string { return MethodSessionSetConfigOption }

// MarshalJSON writes the type that a boolean value needs beside it.
func (r SetSessionConfigOptionRequest) MarshalJSON() ([]byte, error) {
	type plain SetSessionConfigOptionRequest
	out := struct {
		Type string `json:"type,omitzero"`
		plain
	}{plain: plain(r)}
	if _, ok := r.Value.(SessionConfigSwitch); ok {
		out.Type = "boolean"
	}
	return marshal(out)
}

// SessionConfigValue is the new value of an option: a SessionConfigValueID or a
// SessionConfigSwitch. The form of the JSON value tells which, since clients
// leave the type out.
type SessionConfigValue interface{ sessionConfigValue() }

// SessionConfigValueID is one of the values of a select.
type SessionConfigValueID string

// SessionConfigSwitch is the position of a switch.
type SessionConfigSwitch bool

func (SessionConfigValueID) sessionConfigValue() {}
func (SessionConfigSwitch) sessionConfigValue()  {}

func configValueUnion() *union {
	return &union{pick: func(c *cursor) (reflect.Type, *problem) {
		switch c.kind() {
		case '"':
			return reflect.TypeFor[SessionConfigValueID](), nil
		case 't', 'f':
			return reflect.TypeFor[SessionConfigSwitch](), nil
		}
		return nil, wrong("must be a string, or true or false")
	}}
}

// SetSessionConfigOptionResponse has all options as they are now.
type SetSessionConfigOptionResponse struct {
	ConfigOptions List[SessionConfigOption] `json:"configOptions"`
	Meta          Meta                      `json:"_meta,omitzero"`
}
