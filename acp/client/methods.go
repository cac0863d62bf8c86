package client

import (
	"context"

	"github.com/acp-agent/acp-agent/acp"
)

// Initialize opens the connection; it comes first.
func (c *Client) Initialize(ctx context.Context, r acp.InitializeRequest) (acp.InitializeResponse, error) {
	return call[acp.InitializeResponse](ctx, c, r)
}

// Authenticate logs in.
func (c *Client) Authenticate(ctx context.Context, r acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return call[acp.AuthenticateResponse](ctx, c, r)
}

// Logout forgets the credentials.
func (c *Client) Logout(ctx context.Context, r acp.LogoutRequest) (acp.LogoutResponse, error) {
	return call[acp.LogoutResponse](ctx, c, r)
}

// NewSession opens a session.
func (c *Client) NewSession(ctx context.Context, r acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return call[acp.NewSessionResponse](ctx, c, r)
}

// LoadSession opens a session of the past. It returns when its whole replay has
// been delivered.
func (c *Client) LoadSession(ctx context.Context, r acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	resp, err := call[acp.LoadSessionResponse](ctx, c, r)
	if err != nil {
		return resp, err
	}
	return resp, c.updates.wait(ctx, c.updates.queued())
}

// ResumeSession opens a session of the past without replay.
func (c *Client) ResumeSession(ctx context.Context, r acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return call[acp.ResumeSessionResponse](ctx, c, r)
}

// ListSessions is one page of sessions.
func (c *Client) ListSessions(ctx context.Context, r acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return call[acp.ListSessionsResponse](ctx, c, r)
}

// CloseSession cancels what runs in a session and frees it.
func (c *Client) CloseSession(ctx context.Context, r acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return call[acp.CloseSessionResponse](ctx, c, r)
}

// DeleteSession deletes a session.
func (c *Client) DeleteSession(ctx context.Context, r acp.DeleteSessionRequest) (acp.DeleteSessionResponse, error) {
	return call[acp.DeleteSessionResponse](ctx, c, r)
}

// Prompt sends a message of the user. It returns when the turn has ended and all
// its updates have been delivered. When ctx ends first, the agent is sent
// $/cancel_request and Prompt returns ctx's error at once; to have the stop
// reason instead, use Cancel.
func (c *Client) Prompt(ctx context.Context, r acp.PromptRequest) (acp.PromptResponse, error) {
	resp, err := call[acp.PromptResponse](ctx, c, r)
	if err != nil {
		return resp, err
	}
	return resp, c.updates.wait(ctx, c.updates.queued())
}

// Cancel ends the turn that runs in a session; its Prompt returns the stop reason.
func (c *Client) Cancel(ctx context.Context, r acp.CancelNotification) error {
	return c.Notify(ctx, r.Method(), r)
}

// SetMode sets the mode of a session.
func (c *Client) SetMode(ctx context.Context, r acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return call[acp.SetSessionModeResponse](ctx, c, r)
}

// SetModel sets the model of a session, in the way older than config options.
func (c *Client) SetModel(ctx context.Context, r acp.SetSessionModelRequest) (acp.SetSessionModelResponse, error) {
	return call[acp.SetSessionModelResponse](ctx, c, r)
}

// SetConfigOption sets an option of a session.
func (c *Client) SetConfigOption(ctx context.Context, r acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return call[acp.SetSessionConfigOptionResponse](ctx, c, r)
}
