package acp

// SessionNotification reports what happens in a session.
type SessionNotification struct {
	SessionID string        `json:"sessionId" acp:"required"`
	Update    SessionUpdate `json:"update" acp:"required"` // not nil
	Meta      Meta          `json:"_meta,omitzero"`
}

// Method is "session/update".
func (SessionNotification) Method() string { return MethodSessionUpdate }

// SessionUpdate is one thing that happened: UserMessageChunk, AgentMessageChunk,
// AgentThoughtChunk, ToolCall, SessionToolCallUpdate, Plan,
// AvailableCommandsUpdate, CurrentModeUpdate, ConfigOptionUpdate,
// SessionInfoUpdate, UsageUpdate, Notice, CompactionUpdate,
// CompactionSummaryChunk or UnknownSessionUpdate.
type SessionUpdate interface{ sessionUpdate() }

// ContentChunk is a piece of a message.
type ContentChunk struct {
	Content   ContentBlock `json:"content" acp:"required"` // not nil
	MessageID string       `json:"messageId,omitzero"`     // the same for all chunks of a message
	Meta      Meta         `json:"_meta,omitzero"`
}

// UserMessageChunk is a piece of what the user said, sent in replay.
type UserMessageChunk struct {
	Tag tag[UserMessageChunk] `json:"sessionUpdate"`
	ContentChunk
}

// AgentMessageChunk is a piece of what the agent says.
type AgentMessageChunk struct {
	Tag tag[AgentMessageChunk] `json:"sessionUpdate"`
	ContentChunk
}

// AgentThoughtChunk is a piece of what the agent thinks.
type AgentThoughtChunk struct {
	Tag tag[AgentThoughtChunk] `json:"sessionUpdate"`
	ContentChunk
}

// SessionToolCallUpdate is a ToolCallUpdate as a session update.
type SessionToolCallUpdate struct {
	Tag tag[SessionToolCallUpdate] `json:"sessionUpdate"`
	ToolCallUpdate
}

// Plan is the agent's whole plan; it replaces the one before.
type Plan struct {
	Tag     tag[Plan]       `json:"sessionUpdate"`
	Entries List[PlanEntry] `json:"entries"`
	Meta    Meta            `json:"_meta,omitzero"`
}

// PlanEntry is one step of a plan.
type PlanEntry struct {
	Content  string            `json:"content" acp:"required"`
	Priority PlanEntryPriority `json:"priority" acp:"required"`
	Status   PlanEntryStatus   `json:"status" acp:"required"`
	Meta     Meta              `json:"_meta,omitzero"`
}

// PlanEntryPriority is how much a step matters.
type PlanEntryPriority string

// The priorities of the protocol.
const (
	PlanHigh   PlanEntryPriority = "high"
	PlanMedium PlanEntryPriority = "medium"
	PlanLow    PlanEntryPriority = "low"
)

// PlanEntryStatus is how far a step has come.
type PlanEntryStatus string

// The states of the protocol.
const (
	PlanPending    PlanEntryStatus = "pending"
	PlanInProgress PlanEntryStatus = "in_progress"
	PlanCompleted  PlanEntryStatus = "completed"
)

// AvailableCommandsUpdate has all slash commands; it replaces those before.
type AvailableCommandsUpdate struct {
	Tag               tag[AvailableCommandsUpdate] `json:"sessionUpdate"`
	AvailableCommands List[AvailableCommand]       `json:"availableCommands"`
	Meta              Meta                         `json:"_meta,omitzero"`
}

// AvailableCommand is a slash command.
type AvailableCommand struct {
	Name        string                 `json:"name" acp:"required"` // without the slash
	Description string                 `json:"description" acp:"required"`
	Input       *AvailableCommandInput `json:"input,omitzero"` // nil: takes none
	Meta        Meta                   `json:"_meta,omitzero"`
}

// AvailableCommandInput is free text after the command's name, the one form of
// input that the protocol has.
type AvailableCommandInput struct {
	Hint string `json:"hint" acp:"required"` // shown while it is empty
	Meta Meta   `json:"_meta,omitzero"`
}

// CurrentModeUpdate says that the mode has changed.
type CurrentModeUpdate struct {
	Tag           tag[CurrentModeUpdate] `json:"sessionUpdate"`
	CurrentModeID string                 `json:"currentModeId" acp:"required"`
	Meta          Meta                   `json:"_meta,omitzero"`
}

// ConfigOptionUpdate has all options as they are now.
type ConfigOptionUpdate struct {
	Tag           tag[ConfigOptionUpdate]   `json:"sessionUpdate"`
	ConfigOptions List[SessionConfigOption] `json:"configOptions"`
	Meta          Meta                      `json:"_meta,omitzero"`
}

// SessionInfoUpdate changes what a list shows of the session: what is empty stays.
type SessionInfoUpdate struct {
	Tag       tag[SessionInfoUpdate] `json:"sessionUpdate"`
	Title     string                 `json:"title,omitzero"`
	UpdatedAt string                 `json:"updatedAt,omitzero"` // ISO 8601
	Meta      Meta                   `json:"_meta,omitzero"`
}

// UsageUpdate says how full the model's context is, in tokens.
type UsageUpdate struct {
	Tag  tag[UsageUpdate] `json:"sessionUpdate"`
	Used uint64           `json:"used" acp:"required"`
	Size uint64           `json:"size" acp:"required"`
	Cost *Cost            `json:"cost,omitzero"` // of the session so far
	Meta Meta             `json:"_meta,omitzero"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount" acp:"required"`
	Currency string  `json:"currency" acp:"required"` // ISO 4217
	Meta     Meta    `json:"_meta,omitzero"`
}

// Notice tells the user something that is no part of the conversation. It is
// sent only to clients that take it.
type Notice struct {
	Tag         tag[Notice]    `json:"sessionUpdate"`
	Severity    NoticeSeverity `json:"severity" acp:"required"`
	Title       string         `json:"title" acp:"required"` // not empty, plain text
	Description string         `json:"description,omitzero"` // plain text
	Meta        Meta           `json:"_meta,omitzero"`
}

// NoticeSeverity is how much a notice matters. Others than those below are allowed.
type NoticeSeverity string

// The severities of the protocol.
const (
	NoticeInfo    NoticeSeverity = "info"
	NoticeWarning NoticeSeverity = "warning"
	NoticeError   NoticeSeverity = "error"
)

// CompactionUpdate reports that the conversation is being shortened. It is sent
// only to clients that take it. What is zero stays; an empty summary clears it.
type CompactionUpdate struct {
	Tag          tag[CompactionUpdate] `json:"sessionUpdate"`
	CompactionID string                `json:"compactionId" acp:"required"`
	Status       CompactionStatus      `json:"status" acp:"required"`
	Summary      []ContentBlock        `json:"summary,omitzero"`
	Error        string                `json:"error,omitzero"`
	Meta         Meta                  `json:"_meta,omitzero"`
}

// CompactionStatus is how far a compaction has come. Others than those below are allowed.
type CompactionStatus string

// The states of the protocol.
const (
	CompactionInProgress CompactionStatus = "in_progress"
	CompactionCompleted  CompactionStatus = "completed"
	CompactionFailed     CompactionStatus = "failed"
	CompactionCancelled  CompactionStatus = "cancelled"
)

// CompactionSummaryChunk is appended to the summary of a compaction. It is sent
// only to clients that take it.
type CompactionSummaryChunk struct {
	Tag          tag[CompactionSummaryChunk] `json:"sessionUpdate"`
	CompactionID string                      `json:"compactionId" acp:"required"`
	Content      ContentBlock                `json:"content" acp:"required"` // not nil
	Meta         Meta                        `json:"_meta,omitzero"`
}

// UnknownSessionUpdate has a tag that this version does not know.
type UnknownSessionUpdate struct{ Unknown }

func (UserMessageChunk) sessionUpdate()        {}
func (AgentMessageChunk) sessionUpdate()       {}
func (AgentThoughtChunk) sessionUpdate()       {}
func (ToolCall) sessionUpdate()                {}
func (SessionToolCallUpdate) sessionUpdate()   {}
func (Plan) sessionUpdate()                    {}
func (AvailableCommandsUpdate) sessionUpdate() {}
func (CurrentModeUpdate) sessionUpdate()       {}
func (ConfigOptionUpdate) sessionUpdate()      {}
func (SessionInfoUpdate) sessionUpdate()       {}
func (UsageUpdate) sessionUpdate()             {}
func (Notice) sessionUpdate()                  {}
func (CompactionUpdate) sessionUpdate()        {}
func (CompactionSummaryChunk) sessionUpdate()  {}
func (UnknownSessionUpdate) sessionUpdate()    {}

func (UserMessageChunk) tag() string        { return "user_message_chunk" }
func (AgentMessageChunk) tag() string       { return "agent_message_chunk" }
func (AgentThoughtChunk) tag() string       { return "agent_thought_chunk" }
func (ToolCall) tag() string                { return "tool_call" }
func (SessionToolCallUpdate) tag() string   { return "tool_call_update" }
func (Plan) tag() string                    { return "plan" }
func (AvailableCommandsUpdate) tag() string { return "available_commands_update" }
func (CurrentModeUpdate) tag() string       { return "current_mode_update" }
func (ConfigOptionUpdate) tag() string      { return "config_option_update" }
func (SessionInfoUpdate) tag() string       { return "session_info_update" }
func (UsageUpdate) tag() string             { return "usage_update" }
func (Notice) tag() string                  { return "notice" }
func (CompactionUpdate) tag() string        { return "compaction_update" }
func (CompactionSummaryChunk) tag() string  { return "compaction_summary_chunk" }

func sessionUpdateUnion() *union {
	return taggedUnion[SessionUpdate]("sessionUpdate", UnknownSessionUpdate{},
		UserMessageChunk{}, AgentMessageChunk{}, AgentThoughtChunk{}, ToolCall{}, SessionToolCallUpdate{},
		Plan{}, AvailableCommandsUpdate{}, CurrentModeUpdate{}, ConfigOptionUpdate{}, SessionInfoUpdate{},
		UsageUpdate{}, Notice{}, CompactionUpdate{}, CompactionSummaryChunk{})
}
