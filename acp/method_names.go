package acp

// Methods that a client calls.
const (
	MethodInitialize             = "initialize"
	MethodAuthenticate           = "authenticate"
	MethodLogout                 = "logout"
	MethodSessionNew             = "session/new"
	MethodSessionLoad            = "session/load"
	MethodSessionList            = "session/list"
	MethodSessionDelete          = "session/delete"
	MethodSessionResume          = "session/resume"
	MethodSessionClose           = "session/close"
	MethodSessionSetMode         = "session/set_mode"
	MethodSessionSetModel        = "session/set_model" // before config options; not in the schema
	MethodSessionSetConfigOption = "session/set_config_option"
	MethodSessionPrompt          = "session/prompt"
	MethodSessionCancel          = "session/cancel" // a notification
)

// Methods that an agent calls.
const (
	MethodSessionUpdate            = "session/update" // a notification
	MethodSessionRequestPermission = "session/request_permission"
	MethodReadTextFile             = "fs/read_text_file"
	MethodWriteTextFile            = "fs/write_text_file"
	MethodTerminalCreate           = "terminal/create"
	MethodTerminalOutput           = "terminal/output"
	MethodTerminalRelease          = "terminal/release"
	MethodTerminalWaitForExit      = "terminal/wait_for_exit"
	MethodTerminalKill             = "terminal/kill"
	MethodElicitationCreate        = "elicitation/create"
	MethodElicitationComplete      = "elicitation/complete" // a notification
)

// MethodCancelRequest is a notification of either side.
const MethodCancelRequest = "$/cancel_request"

// ProtocolVersion is the latest stable version of the protocol.
const ProtocolVersion = 1
