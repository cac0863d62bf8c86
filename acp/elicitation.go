package acp

import "reflect"

// CreateElicitationRequest asks the user for something: ElicitationFormMode,
// ElicitationURLMode or UnknownElicitationMode.
type CreateElicitationRequest interface{ elicitationRequest() }

// ElicitationScope is what a question belongs to: a session, and a tool call in
// it, or else a request of the client that came before any session.
type ElicitationScope struct {
	SessionID  string    `json:"sessionId,omitzero"`
	ToolCallID string    `json:"toolCallId,omitzero"`
	RequestID  RequestID `json:"requestId,omitzero"`
}

// ElicitationFormMode asks by a form.
type ElicitationFormMode struct {
	Tag tag[ElicitationFormMode] `json:"mode"`
	ElicitationScope
	Message         string            `json:"message" acp:"required"`
	RequestedSchema ElicitationSchema `json:"requestedSchema" acp:"required"`
	Meta            Meta              `json:"_meta,omitzero"`
}

// ElicitationURLMode asks the user to open a URL. Its end is reported by
// CompleteElicitationNotification.
type ElicitationURLMode struct {
	Tag tag[ElicitationURLMode] `json:"mode"`
	ElicitationScope
	Message       string `json:"message" acp:"required"`
	ElicitationID string `json:"elicitationId" acp:"required"`
	URL           string `json:"url" acp:"required"`
	Meta          Meta   `json:"_meta,omitzero"`
}

// UnknownElicitationMode has a mode that this version does not know.
type UnknownElicitationMode struct{ Unknown }

func (ElicitationFormMode) elicitationRequest()    {}
func (ElicitationURLMode) elicitationRequest()     {}
func (UnknownElicitationMode) elicitationRequest() {}

func (ElicitationFormMode) tag() string { return "form" }
func (ElicitationURLMode) tag() string  { return "url" }

// Method is "elicitation/create".
func (ElicitationFormMode) Method() string { return MethodElicitationCreate }

// Method is "elicitation/create".
func (ElicitationURLMode) Method() string { return MethodElicitationCreate }

func elicitationRequestUnion() *union {
	return taggedUnion[CreateElicitationRequest]("mode", UnknownElicitationMode{},
		ElicitationFormMode{}, ElicitationURLMode{})
}

// CreateElicitationResponse is the user's answer: ElicitationAcceptAction,
// ElicitationDeclineAction, ElicitationCancelAction or UnknownElicitationAction,
// which counts as cancelled.
type CreateElicitationResponse interface{ elicitationResponse() }

// ElicitationAcceptAction is a form filled in, by the names of its properties, or
// a URL opened.
type ElicitationAcceptAction struct {
	Tag     tag[ElicitationAcceptAction]       `json:"action"`
	Content map[string]ElicitationContentValue `json:"content,omitzero" acp:"strict"`
	Meta    Meta                               `json:"_meta,omitzero"`
}

// ElicitationDeclineAction is a no.
type ElicitationDeclineAction struct {
	Tag  tag[ElicitationDeclineAction] `json:"action"`
	Meta Meta                          `json:"_meta,omitzero"`
}

// ElicitationCancelAction is a form closed without an answer.
type ElicitationCancelAction struct {
	Tag  tag[ElicitationCancelAction] `json:"action"`
	Meta Meta                         `json:"_meta,omitzero"`
}

// UnknownElicitationAction has an action that this version does not know.
type UnknownElicitationAction struct{ Unknown }

func (ElicitationAcceptAction) elicitationResponse()  {}
func (ElicitationDeclineAction) elicitationResponse() {}
func (ElicitationCancelAction) elicitationResponse()  {}
func (UnknownElicitationAction) elicitationResponse() {}

func (ElicitationAcceptAction) tag() string  { return "accept" }
func (ElicitationDeclineAction) tag() string { return "decline" }
func (ElicitationCancelAction) tag() string  { return "cancel" }

func elicitationResponseUnion() *union {
	return taggedUnion[CreateElicitationResponse]("action", UnknownElicitationAction{},
		ElicitationAcceptAction{}, ElicitationDeclineAction{}, ElicitationCancelAction{})
}

// ElicitationContentValue is the value of one field of a form: ElicitationString,
// ElicitationInteger, ElicitationNumber, ElicitationBoolean, ElicitationStrings or
// UnknownElicitationValue. The form of the JSON value tells which.
type ElicitationContentValue interface{ elicitationValue() }

// The values of form fields.
type (
	ElicitationString  string
	ElicitationInteger int64
	ElicitationNumber  float64
	ElicitationBoolean bool
	ElicitationStrings []string
	// UnknownElicitationValue is of no form that the protocol has.
	UnknownElicitationValue struct{ Unknown }
)

func (ElicitationString) elicitationValue()       {}
func (ElicitationInteger) elicitationValue()      {}
func (ElicitationNumber) elicitationValue()       {}
func (ElicitationBoolean) elicitationValue()      {}
func (ElicitationStrings) elicitationValue()      {}
func (UnknownElicitationValue) elicitationValue() {}

// MarshalJSON writes an array, also for a nil list.
func (s ElicitationStrings) MarshalJSON() ([]byte, error) { return List[string](s).MarshalJSON() }

func elicitationValueUnion() *union {
	unknown := reflect.TypeFor[UnknownElicitationValue]()
	return &union{unknown: unknown, pick: func(c *cursor) (reflect.Type, *problem) {
		switch k := c.kind(); {
		case k == '"':
			return reflect.TypeFor[ElicitationString](), nil
		case k == 't', k == 'f':
			return reflect.TypeFor[ElicitationBoolean](), nil
		case k == '[':
			return reflect.TypeFor[ElicitationStrings](), nil
		case k == '-', k >= '0' && k <= '9':
			look := cursor{b: c.b, i: c.i}
			if _, p := look.integer(); p == nil {
				return reflect.TypeFor[ElicitationInteger](), nil
			}
			return reflect.TypeFor[ElicitationNumber](), nil
		}
		return unknown, nil
	}}
}

// CompleteElicitationNotification says that what a URL was opened for is done.
type CompleteElicitationNotification struct {
	ElicitationID string `json:"elicitationId" acp:"required"`
	Meta          Meta   `json:"_meta,omitzero"`
}

// Method is "elicitation/complete".
func (CompleteElicitationNotification) Method() string { return MethodElicitationComplete }
