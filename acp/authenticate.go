package acp

import "reflect"

// AuthMethod is a way to log in: AuthMethodAgent, AuthMethodTerminal or
// UnknownAuthMethod.
type AuthMethod interface{ authMethod() }

// AuthMethodAgent is handled by the agent itself. It has no type on the wire.
type AuthMethodAgent struct {
	ID          string `json:"id" acp:"required"`
	Name        string `json:"name" acp:"required"`
	Description string `json:"description,omitzero"`
	Meta        Meta   `json:"_meta,omitzero"`
}

// AuthMethodTerminal has the client run the agent's own program in a terminal,
// with these arguments and environment beside those it was started with.
type AuthMethodTerminal struct {
	Tag         tag[AuthMethodTerminal] `json:"type"`
	ID          string                  `json:"id" acp:"required"`
	Name        string                  `json:"name" acp:"required"`
	Description string                  `json:"description,omitzero"`
	Args        []string                `json:"args,omitzero"`
	Env         map[string]string       `json:"env,omitzero"`
	Meta        Meta                    `json:"_meta,omitzero"`
}

// UnknownAuthMethod has a type that this version does not know.
type UnknownAuthMethod struct{ Unknown }

func (AuthMethodAgent) authMethod()    {}
func (AuthMethodTerminal) authMethod() {}
func (UnknownAuthMethod) authMethod()  {}

func (AuthMethodAgent) tag() string    { return "agent" } // accepted, never written
func (AuthMethodTerminal) tag() string { return "terminal" }

func authMethodUnion() *union {
	u := taggedUnion[AuthMethod]("type", UnknownAuthMethod{}, AuthMethodAgent{}, AuthMethodTerminal{})
	u.untagged = reflect.TypeFor[AuthMethodAgent]()
	return u
}

// AuthenticateRequest logs in by one of the methods of InitializeResponse.
type AuthenticateRequest struct {
	MethodID string `json:"methodId" acp:"required"`
	Meta     Meta   `json:"_meta,omitzero"`
}

// Method is "authenticate".
func (AuthenticateRequest) Method() string { return MethodAuthenticate }

// AuthenticateResponse says that the login succeeded.
type AuthenticateResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}

// LogoutRequest forgets the credentials.
type LogoutRequest struct {
	Meta Meta `json:"_meta,omitzero"`
}

// Method is "logout".
func (LogoutRequest) Method() string { return MethodLogout }

// LogoutResponse says that they are forgotten.
type LogoutResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}
