package acp

// CreateTerminalRequest starts a command in a terminal of the editor.
type CreateTerminalRequest struct {
	SessionID       string        `json:"sessionId" acp:"required"`
	Command         string        `json:"command" acp:"required"`
	Args            []string      `json:"args,omitzero" acp:"strict"`
	Env             []EnvVariable `json:"env,omitzero" acp:"strict"` // beside the editor's own
	Cwd             string        `json:"cwd,omitzero"`              // absolute
	OutputByteLimit *uint64       `json:"outputByteLimit,omitzero"`  // the tail is kept; nil: the editor's limit
	Meta            Meta          `json:"_meta,omitzero"`
}

// Method is "terminal/create".
func (CreateTerminalRequest) Method() string { return MethodTerminalCreate }

// CreateTerminalResponse names the terminal; the command may still run.
type CreateTerminalResponse struct {
	TerminalID string `json:"terminalId" acp:"required"`
	Meta       Meta   `json:"_meta,omitzero"`
}

// TerminalOutputRequest asks for the output so far.
type TerminalOutputRequest struct {
	SessionID  string `json:"sessionId" acp:"required"`
	TerminalID string `json:"terminalId" acp:"required"`
	Meta       Meta   `json:"_meta,omitzero"`
}

// Method is "terminal/output".
func (TerminalOutputRequest) Method() string { return MethodTerminalOutput }

// TerminalOutputResponse is the output so far.
type TerminalOutputResponse struct {
	Output     string              `json:"output" acp:"required"`
	Truncated  bool                `json:"truncated"`           // the head was dropped
	ExitStatus *TerminalExitStatus `json:"exitStatus,omitzero"` // nil: still running
	Meta       Meta                `json:"_meta,omitzero"`
}

// TerminalExitStatus is how a command ended: by itself or by a signal.
type TerminalExitStatus struct {
	ExitCode *uint32 `json:"exitCode,omitzero"`
	Signal   string  `json:"signal,omitzero"`
	Meta     Meta    `json:"_meta,omitzero"`
}

// WaitForTerminalExitRequest is answered when the command has ended.
type WaitForTerminalExitRequest struct {
	SessionID  string `json:"sessionId" acp:"required"`
	TerminalID string `json:"terminalId" acp:"required"`
	Meta       Meta   `json:"_meta,omitzero"`
}

// Method is "terminal/wait_for_exit".
func (WaitForTerminalExitRequest) Method() string { return MethodTerminalWaitForExit }

// WaitForTerminalExitResponse is how the command ended.
type WaitForTerminalExitResponse struct {
	ExitCode *uint32 `json:"exitCode,omitzero"`
	Signal   string  `json:"signal,omitzero"`
	Meta     Meta    `json:"_meta,omitzero"`
}

// KillTerminalRequest ends the command; the terminal stays, with its output.
type KillTerminalRequest struct {
	SessionID  string `json:"sessionId" acp:"required"`
	TerminalID string `json:"terminalId" acp:"required"`
	Meta       Meta   `json:"_meta,omitzero"`
}

// Method is "terminal/kill".
func (KillTerminalRequest) Method() string { return MethodTerminalKill }

// KillTerminalResponse says that the command was told to end.
type KillTerminalResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}

// ReleaseTerminalRequest ends the command, if it runs, and frees the terminal.
type ReleaseTerminalRequest struct {
	SessionID  string `json:"sessionId" acp:"required"`
	TerminalID string `json:"terminalId" acp:"required"`
	Meta       Meta   `json:"_meta,omitzero"`
}

// Method is "terminal/release".
func (ReleaseTerminalRequest) Method() string { return MethodTerminalRelease }

// ReleaseTerminalResponse says that the terminal is free.
type ReleaseTerminalResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}
