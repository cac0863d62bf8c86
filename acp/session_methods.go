package acp

// NewSessionRequest opens a session. Missing mcpServers are none.
type NewSessionRequest struct {
	Cwd                   string          `json:"cwd" acp:"required"` // absolute
	AdditionalDirectories []string        `json:"additionalDirectories,omitzero"`
	MCPServers            List[MCPServer] `json:"mcpServers" acp:"strict"`
	Meta                  Meta            `json:"_meta,omitzero"`
}

// Method is "session/new".
func (NewSessionRequest) Method() string { return MethodSessionNew }

// NewSessionResponse names the session.
type NewSessionResponse struct {
	SessionID     string                `json:"sessionId" acp:"required"`
	Modes         *SessionModeState     `json:"modes,omitzero"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero"`
	Meta          Meta                  `json:"_meta,omitzero"`
}

// LoadSessionRequest opens a session of the past; it is replayed before the answer.
type LoadSessionRequest struct {
	SessionID             string          `json:"sessionId" acp:"required"`
	Cwd                   string          `json:"cwd" acp:"required"` // absolute
	AdditionalDirectories []string        `json:"additionalDirectories,omitzero"`
	MCPServers            List[MCPServer] `json:"mcpServers" acp:"strict"`
	Meta                  Meta            `json:"_meta,omitzero"`
}

// Method is "session/load".
func (LoadSessionRequest) Method() string { return MethodSessionLoad }

// LoadSessionResponse ends the replay.
type LoadSessionResponse struct {
	Modes         *SessionModeState     `json:"modes,omitzero"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero"`
	Meta          Meta                  `json:"_meta,omitzero"`
}

// ResumeSessionRequest opens a session of the past without replay.
type ResumeSessionRequest struct {
	SessionID             string      `json:"sessionId" acp:"required"`
	Cwd                   string      `json:"cwd" acp:"required"` // absolute
	AdditionalDirectories []string    `json:"additionalDirectories,omitzero"`
	MCPServers            []MCPServer `json:"mcpServers,omitzero" acp:"strict"`
	Meta                  Meta        `json:"_meta,omitzero"`
}

// Method is "session/resume".
func (ResumeSessionRequest) Method() string { return MethodSessionResume }

// ResumeSessionResponse says that the session can be prompted.
type ResumeSessionResponse struct {
	Modes         *SessionModeState     `json:"modes,omitzero"`
	ConfigOptions []SessionConfigOption `json:"configOptions,omitzero"`
	Meta          Meta                  `json:"_meta,omitzero"`
}

// ListSessionsRequest asks for one page of sessions.
type ListSessionsRequest struct {
	Cwd    string `json:"cwd,omitzero"`    // absolute; empty: of every folder
	Cursor string `json:"cursor,omitzero"` // NextCursor of the page before
	Meta   Meta   `json:"_meta,omitzero"`
}

// Method is "session/list".
func (ListSessionsRequest) Method() string { return MethodSessionList }

// ListSessionsResponse is one page of sessions.
type ListSessionsResponse struct {
	Sessions   List[SessionInfo] `json:"sessions"`
	NextCursor string            `json:"nextCursor,omitzero"` // empty: the last page
	Meta       Meta              `json:"_meta,omitzero"`
}

// SessionInfo is a row of session/list.
type SessionInfo struct {
	SessionID             string   `json:"sessionId" acp:"required"`
	Cwd                   string   `json:"cwd" acp:"required"`
	AdditionalDirectories []string `json:"additionalDirectories,omitzero"`
	Title                 string   `json:"title,omitzero"`
	UpdatedAt             string   `json:"updatedAt,omitzero"` // ISO 8601
	Meta                  Meta     `json:"_meta,omitzero"`
}

// DeleteSessionRequest deletes a session from the list and the store.
type DeleteSessionRequest struct {
	SessionID string `json:"sessionId" acp:"required"`
	Meta      Meta   `json:"_meta,omitzero"`
}

// Method is "session/delete".
func (DeleteSessionRequest) Method() string { return MethodSessionDelete }

// DeleteSessionResponse says that the session is gone.
type DeleteSessionResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}

// CloseSessionRequest cancels what runs in a session and frees it.
type CloseSessionRequest struct {
	SessionID string `json:"sessionId" acp:"required"`
	Meta      Meta   `json:"_meta,omitzero"`
}

// Method is "session/close".
func (CloseSessionRequest) Method() string { return MethodSessionClose }

// CloseSessionResponse says that the session is closed.
type CloseSessionResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SessionModeState is the mode of a session and those it can have.
type SessionModeState struct {
	CurrentModeID  string            `json:"currentModeId" acp:"required"`
	AvailableModes List[SessionMode] `json:"availableModes"`
	Meta           Meta              `json:"_meta,omitzero"`
}

// SessionMode is a way in which the agent works.
type SessionMode struct {
	ID          string `json:"id" acp:"required"`
	Name        string `json:"name" acp:"required"`
	Description string `json:"description,omitzero"`
	Meta        Meta   `json:"_meta,omitzero"`
}

// SetSessionModeRequest sets the mode of a session.
type SetSessionModeRequest struct {
	SessionID string `json:"sessionId" acp:"required"`
	ModeID    string `json:"modeId" acp:"required"`
	Meta      Meta   `json:"_meta,omitzero"`
}

// Method is "session/set_mode".
func (SetSessionModeRequest) Method() string { return MethodSessionSetMode }

// SetSessionModeResponse says that the mode is set.
type SetSessionModeResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SetSessionModelRequest sets the model of a session. It is older than the
// option of category "model" and no longer in the schema; editors still send it.
type SetSessionModelRequest struct {
	SessionID string `json:"sessionId" acp:"required"`
	ModelID   string `json:"modelId" acp:"required"`
	Meta      Meta   `json:"_meta,omitzero"`
}

// Method is "session/set_model".
func (SetSessionModelRequest) Method() string { return MethodSessionSetModel }

// SetSessionModelResponse says that the model is set.
type SetSessionModelResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}
