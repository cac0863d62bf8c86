package acp

import "encoding/json"

// ToolCall announces a tool call, once for each id.
type ToolCall struct {
	Tag        tag[ToolCall]      `json:"sessionUpdate"`
	ToolCallID string             `json:"toolCallId" acp:"required"`
	Title      string             `json:"title" acp:"required"` // one line
	Name       string             `json:"name,omitzero"`        // id of the tool
	Kind       ToolKind           `json:"kind,omitzero"`        // empty: other
	Status     ToolCallStatus     `json:"status,omitzero"`      // empty: pending
	Content    []ToolCallContent  `json:"content,omitzero"`
	Locations  []ToolCallLocation `json:"locations,omitzero"`
	RawInput   json.RawMessage    `json:"rawInput,omitzero"`
	RawOutput  json.RawMessage    `json:"rawOutput,omitzero"`
	Meta       Meta               `json:"_meta,omitzero"`
}

// ToolCallUpdate changes a tool call: what is zero stays as it is. An empty list
// that is not nil clears the list.
type ToolCallUpdate struct {
	ToolCallID string             `json:"toolCallId" acp:"required"`
	Title      string             `json:"title,omitzero"`
	Name       string             `json:"name,omitzero"`
	Kind       ToolKind           `json:"kind,omitzero"`
	Status     ToolCallStatus     `json:"status,omitzero"`
	Content    []ToolCallContent  `json:"content,omitzero"`
	Locations  []ToolCallLocation `json:"locations,omitzero"`
	RawInput   json.RawMessage    `json:"rawInput,omitzero"`
	RawOutput  json.RawMessage    `json:"rawOutput,omitzero"`
	Meta       Meta               `json:"_meta,omitzero"`
}

// ToolKind is what an editor picks an icon and a treatment by.
type ToolKind string

// The kinds of the protocol.
const (
	ToolKindRead       ToolKind = "read"
	ToolKindEdit       ToolKind = "edit"
	ToolKindDelete     ToolKind = "delete"
	ToolKindMove       ToolKind = "move"
	ToolKindSearch     ToolKind = "search"
	ToolKindExecute    ToolKind = "execute"
	ToolKindThink      ToolKind = "think"
	ToolKindFetch      ToolKind = "fetch"
	ToolKindSwitchMode ToolKind = "switch_mode"
	ToolKindOther      ToolKind = "other"
)

// ToolCallStatus is how far a tool call has come.
type ToolCallStatus string

// The states of the protocol.
const (
	ToolCallPending    ToolCallStatus = "pending"
	ToolCallInProgress ToolCallStatus = "in_progress"
	ToolCallCompleted  ToolCallStatus = "completed"
	ToolCallFailed     ToolCallStatus = "failed"
)

// ToolCallLocation is a place that a tool call works on.
type ToolCallLocation struct {
	Path string  `json:"path" acp:"required"` // absolute
	Line *uint32 `json:"line,omitzero"`       // from 1; some editors count from 0
	Meta Meta    `json:"_meta,omitzero"`
}

// ToolCallContent is what a tool call shows: Content, Diff, Terminal or
// UnknownToolCallContent.
type ToolCallContent interface{ toolCallContent() }

// Content is a content block.
type Content struct {
	Tag     tag[Content] `json:"type"`
	Content ContentBlock `json:"content" acp:"required"` // not nil
	Meta    Meta         `json:"_meta,omitzero"`
}

// Diff is a changed file, as whole texts.
type Diff struct {
	Tag     tag[Diff] `json:"type"`
	Path    string    `json:"path" acp:"required"` // absolute
	OldText *string   `json:"oldText,omitzero"`    // nil: the file is new
	NewText string    `json:"newText" acp:"required"`
	Meta    Meta      `json:"_meta,omitzero"`
}

// Terminal shows a terminal that terminal/create made.
type Terminal struct {
	Tag        tag[Terminal] `json:"type"`
	TerminalID string        `json:"terminalId" acp:"required"`
	Meta       Meta          `json:"_meta,omitzero"`
}

// UnknownToolCallContent has a type that this version does not know.
type UnknownToolCallContent struct{ Unknown }

func (Content) toolCallContent()                {}
func (Diff) toolCallContent()                   {}
func (Terminal) toolCallContent()               {}
func (UnknownToolCallContent) toolCallContent() {}

func (Content) tag() string  { return "content" }
func (Diff) tag() string     { return "diff" }
func (Terminal) tag() string { return "terminal" }

func toolCallContentUnion() *union {
	return taggedUnion[ToolCallContent]("type", UnknownToolCallContent{}, Content{}, Diff{}, Terminal{})
}
