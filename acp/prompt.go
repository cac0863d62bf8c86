package acp

// PromptRequest is a message of the user; its answer ends the turn.
type PromptRequest struct {
	SessionID string             `json:"sessionId" acp:"required"`
	Prompt    List[ContentBlock] `json:"prompt" acp:"required"`
	Meta      Meta               `json:"_meta,omitzero"`
}

// Method is "session/prompt".
func (PromptRequest) Method() string { return MethodSessionPrompt }

// PromptResponse ends a turn.
type PromptResponse struct {
	StopReason StopReason `json:"stopReason" acp:"required"`
	Meta       Meta       `json:"_meta,omitzero"`
}

// StopReason is why a turn ended.
type StopReason string

// The stop reasons of the protocol.
const (
	StopEndTurn         StopReason = "end_turn"
	StopMaxTokens       StopReason = "max_tokens"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopRefusal         StopReason = "refusal"
	StopCancelled       StopReason = "cancelled"
)

// CancelNotification ends the turn that runs in a session.
type CancelNotification struct {
	SessionID string `json:"sessionId" acp:"required"`
	Meta      Meta   `json:"_meta,omitzero"`
}

// Method is "session/cancel".
func (CancelNotification) Method() string { return MethodSessionCancel }

// CancelRequestNotification cancels one request of its sender, whatever its method.
type CancelRequestNotification struct {
	RequestID RequestID `json:"requestId" acp:"required"`
	Meta      Meta      `json:"_meta,omitzero"`
}

// Method is "$/cancel_request".
func (CancelRequestNotification) Method() string { return MethodCancelRequest }
