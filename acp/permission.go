package acp

// RequestPermissionRequest asks the user whether a tool call may run.
type RequestPermissionRequest struct {
	SessionID string                 `json:"sessionId" acp:"required"`
	ToolCall  ToolCallUpdate         `json:"toolCall" acp:"required"` // everything that was announced
	Options   List[PermissionOption] `json:"options" acp:"required"`
	Meta      Meta                   `json:"_meta,omitzero"`
}

// Method is "session/request_permission".
func (RequestPermissionRequest) Method() string { return MethodSessionRequestPermission }

// PermissionOption is one answer that the user can give.
type PermissionOption struct {
	OptionID string               `json:"optionId" acp:"required"`
	Name     string               `json:"name" acp:"required"`
	Kind     PermissionOptionKind `json:"kind" acp:"required"`
	Meta     Meta                 `json:"_meta,omitzero"`
}

// PermissionOptionKind is what an editor picks the icon of an option by.
type PermissionOptionKind string

// The kinds of the protocol.
const (
	PermissionAllowOnce    PermissionOptionKind = "allow_once"
	PermissionAllowAlways  PermissionOptionKind = "allow_always"
	PermissionRejectOnce   PermissionOptionKind = "reject_once"
	PermissionRejectAlways PermissionOptionKind = "reject_always"
)

// RequestPermissionResponse is the user's answer.
type RequestPermissionResponse struct {
	Outcome RequestPermissionOutcome `json:"outcome" acp:"required"` // not nil
	Meta    Meta                     `json:"_meta,omitzero"`
}

// RequestPermissionOutcome is what became of the question:
// SelectedPermissionOutcome, CancelledPermissionOutcome or
// UnknownPermissionOutcome, which counts as no.
type RequestPermissionOutcome interface{ permissionOutcome() }

// SelectedPermissionOutcome is the chosen option. On the wire one without an
// option is a cancelled outcome: a client sends it when its dialog is closed.
type SelectedPermissionOutcome struct {
	Tag      tag[SelectedPermissionOutcome] `json:"outcome"`
	OptionID string                         `json:"optionId"`
	Meta     Meta                           `json:"_meta,omitzero"`
}

// CancelledPermissionOutcome: the turn was cancelled before the user answered.
type CancelledPermissionOutcome struct {
	Tag tag[CancelledPermissionOutcome] `json:"outcome"`
}

// UnknownPermissionOutcome has a tag that this version does not know.
type UnknownPermissionOutcome struct{ Unknown }

func (SelectedPermissionOutcome) permissionOutcome()  {}
func (CancelledPermissionOutcome) permissionOutcome() {}
func (UnknownPermissionOutcome) permissionOutcome()   {}

func (SelectedPermissionOutcome) tag() string  { return "selected" }
func (CancelledPermissionOutcome) tag() string { return "cancelled" }

func permissionOutcomeUnion() *union {
	u := taggedUnion[RequestPermissionOutcome]("outcome", UnknownPermissionOutcome{},
		SelectedPermissionOutcome{}, CancelledPermissionOutcome{})
	u.settle = func(v any) any {
		if s, ok := v.(SelectedPermissionOutcome); ok && s.OptionID == "" {
			return CancelledPermissionOutcome{}
		}
		return v
	}
	return u
}
