package acp

// The types that hold a union are read by Decode's rules also where
// encoding/json comes upon them, since it cannot fill an interface.

// UnmarshalJSON reads the value as Decode does.
func (v *InitializeResponse) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *NewSessionRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *NewSessionResponse) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *LoadSessionRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *LoadSessionResponse) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ResumeSessionRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ResumeSessionResponse) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *PromptRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *SetSessionConfigOptionRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *SetSessionConfigOptionResponse) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *SessionConfigSelect) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *SessionNotification) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ContentChunk) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ToolCall) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ToolCallUpdate) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *Content) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *EmbeddedResource) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ConfigOptionUpdate) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *CompactionUpdate) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *CompactionSummaryChunk) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *RequestPermissionRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *RequestPermissionResponse) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ElicitationFormMode) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *ElicitationAcceptAction) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }

// UnmarshalJSON reads the value as Decode does.
func (v *MultiSelectPropertySchema) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }
