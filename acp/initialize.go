package acp

// InitializeRequest opens a connection (protocol, "Initialization").
type InitializeRequest struct {
	ProtocolVersion    uint16             `json:"protocolVersion" acp:"required"` // the latest the client speaks
	ClientCapabilities ClientCapabilities `json:"clientCapabilities,omitzero"`
	ClientInfo         *Implementation    `json:"clientInfo,omitzero"`
	Meta               Meta               `json:"_meta,omitzero"`
}

// Method is "initialize".
func (InitializeRequest) Method() string { return MethodInitialize }

// InitializeResponse says what the agent speaks and can do.
type InitializeResponse struct {
	ProtocolVersion   uint16            `json:"protocolVersion" acp:"required"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AuthMethods       List[AuthMethod]  `json:"authMethods"`
	AgentInfo         *Implementation   `json:"agentInfo,omitzero"`
	Meta              Meta              `json:"_meta,omitzero"`
}

// Implementation names a client or an agent. What a peer leaves out is empty.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"` // for people
	Version string `json:"version"`
	Meta    Meta   `json:"_meta,omitzero"`
}

// ClientCapabilities is what a client serves. The zero value is nothing.
type ClientCapabilities struct {
	FS          FileSystemCapabilities     `json:"fs,omitzero"`
	Terminal    bool                       `json:"terminal,omitzero"` // all terminal/* methods
	Session     *ClientSessionCapabilities `json:"session,omitzero"`
	Auth        AuthCapabilities           `json:"auth,omitzero"`
	Elicitation *ElicitationCapabilities   `json:"elicitation,omitzero"`
	Meta        Meta                       `json:"_meta,omitzero"`
}

// FileSystemCapabilities says which fs/* methods a client serves.
type FileSystemCapabilities struct {
	ReadTextFile  bool `json:"readTextFile,omitzero"`
	WriteTextFile bool `json:"writeTextFile,omitzero"`
	Meta          Meta `json:"_meta,omitzero"`
}

// ClientSessionCapabilities says which additions to session updates a client understands.
type ClientSessionCapabilities struct {
	Compaction    *CompactionCapabilities           `json:"compaction,omitzero"`
	ConfigOptions *SessionConfigOptionsCapabilities `json:"configOptions,omitzero"`
	Notices       *NoticeCapabilities               `json:"notices,omitzero"`
	Meta          Meta                              `json:"_meta,omitzero"`
}

// CompactionCapabilities: the client shows compaction_update.
type CompactionCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// NoticeCapabilities: the client shows notice.
type NoticeCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SessionConfigOptionsCapabilities says which kinds of options a client shows, beside select.
type SessionConfigOptionsCapabilities struct {
	Boolean *BooleanConfigOptionCapabilities `json:"boolean,omitzero"`
	Meta    Meta                             `json:"_meta,omitzero"`
}

// BooleanConfigOptionCapabilities: the client shows boolean options.
type BooleanConfigOptionCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// AuthCapabilities says which kinds of authentication a client offers.
type AuthCapabilities struct {
	Terminal bool `json:"terminal,omitzero"`
	Meta     Meta `json:"_meta,omitzero"`
}

// ElicitationCapabilities says which modes of elicitation/create a client shows.
type ElicitationCapabilities struct {
	Form *ElicitationFormCapabilities `json:"form,omitzero"`
	URL  *ElicitationURLCapabilities  `json:"url,omitzero"`
	Meta Meta                         `json:"_meta,omitzero"`
}

// ElicitationFormCapabilities: the client shows forms.
type ElicitationFormCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// ElicitationURLCapabilities: the client opens URLs.
type ElicitationURLCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// AgentCapabilities is what an agent serves. The zero value is the base protocol.
type AgentCapabilities struct {
	LoadSession         bool                  `json:"loadSession"`
	PromptCapabilities  PromptCapabilities    `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities       `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities   `json:"sessionCapabilities"`
	Auth                AgentAuthCapabilities `json:"auth"`
	Meta                Meta                  `json:"_meta,omitzero"`
}

// PromptCapabilities says which content a prompt may have beyond text and resource links.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"` // embedded resources
	Meta            Meta `json:"_meta,omitzero"`
}

// MCPCapabilities says which transports of MCP servers an agent speaks beyond stdio.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
	Meta Meta `json:"_meta,omitzero"`
}

// SessionCapabilities says which session/* methods an agent serves beyond the
// base protocol; nil is absent.
type SessionCapabilities struct {
	List                  *SessionListCapabilities                  `json:"list,omitzero"`
	Delete                *SessionDeleteCapabilities                `json:"delete,omitzero"`
	AdditionalDirectories *SessionAdditionalDirectoriesCapabilities `json:"additionalDirectories,omitzero"`
	Resume                *SessionResumeCapabilities                `json:"resume,omitzero"`
	Close                 *SessionCloseCapabilities                 `json:"close,omitzero"`
	Meta                  Meta                                      `json:"_meta,omitzero"`
}

// SessionListCapabilities: session/list is served.
type SessionListCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SessionDeleteCapabilities: session/delete is served.
type SessionDeleteCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SessionAdditionalDirectoriesCapabilities: sessions may have more than one root.
type SessionAdditionalDirectoriesCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SessionResumeCapabilities: session/resume is served.
type SessionResumeCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// SessionCloseCapabilities: session/close is served.
type SessionCloseCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}

// AgentAuthCapabilities says which methods of authentication an agent serves beyond authenticate.
type AgentAuthCapabilities struct {
	Logout *LogoutCapabilities `json:"logout,omitzero"`
	Meta   Meta                `json:"_meta,omitzero"`
}

// LogoutCapabilities: logout is served.
type LogoutCapabilities struct {
	Meta Meta `json:"_meta,omitzero"`
}
