package acp

// ReadTextFileRequest asks for a file as the editor has it, unsaved changes
// included.
type ReadTextFileRequest struct {
	SessionID string  `json:"sessionId" acp:"required"`
	Path      string  `json:"path" acp:"required"` // absolute
	Line      *uint32 `json:"line,omitzero"`       // from 1; nil: from the start
	Limit     *uint32 `json:"limit,omitzero"`      // lines; nil: to the end
	Meta      Meta    `json:"_meta,omitzero"`
}

// Method is "fs/read_text_file".
func (ReadTextFileRequest) Method() string { return MethodReadTextFile }

// ReadTextFileResponse is the file's text.
type ReadTextFileResponse struct {
	Content string `json:"content" acp:"required"`
	Meta    Meta   `json:"_meta,omitzero"`
}

// WriteTextFileRequest asks the editor to create or replace a file.
type WriteTextFileRequest struct {
	SessionID string `json:"sessionId" acp:"required"`
	Path      string `json:"path" acp:"required"` // absolute
	Content   string `json:"content" acp:"required"`
	Meta      Meta   `json:"_meta,omitzero"`
}

// Method is "fs/write_text_file".
func (WriteTextFileRequest) Method() string { return MethodWriteTextFile }

// WriteTextFileResponse says that the file is written.
type WriteTextFileResponse struct {
	Meta Meta `json:"_meta,omitzero"`
}
