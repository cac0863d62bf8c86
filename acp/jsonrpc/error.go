package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// The error codes of JSON-RPC 2.0 and of the Agent Client Protocol.
const (
	CodeParse          = -32700 // the line is not JSON
	CodeInvalidRequest = -32600 // JSON, but not a request; or one that is out of place
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeAuthRequired   = -32000
	CodeNotFound       = -32002 // a session or another resource is unknown
	CodeCancelled      = -32800 // the request was cancelled
)

// Error is an error as it stands on the wire. Of an error that the peer
// answered, Data is a json.RawMessage or nil.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitzero"`
}

// Error is the message and the code.
func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("error %d", e.Code)
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// details is the data of an internal error: the one key that editors show.
type details struct {
	Details string `json:"details"`
}

// ErrorOf is the one function from an error to its wire form. An *Error in err's
// chain is taken as it is; a cancelled context is CodeCancelled; all else is
// CodeInternal with the text as message and as data {"details": text}. It is nil
// for nil.
//
// An *Error that the peer answered to a Call counts too: wrap it with %v, not
// with %w, where its code must not become the code of our own answer.
func ErrorOf(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		if e.Code == CodeInternal && e.Data == nil {
			return &Error{Code: e.Code, Message: e.Message, Data: details{e.Message}}
		}
		return e
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: CodeCancelled, Message: "request cancelled"}
	}
	text := err.Error()
	return &Error{Code: CodeInternal, Message: text, Data: details{text}}
}

// invalid is the error of a message that is JSON but no request.
func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "invalid request: " + fmt.Sprintf(format, args...)}
}

// peerError reads the error member of an answer, however odd: peers are known to
// send text instead of an object.
func peerError(raw json.RawMessage) *Error {
	var e struct {
		Code    json.Number     `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &e) != nil {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = "the peer answered an error that cannot be read: " + clip(raw)
		}
		return &Error{Code: CodeInternal, Message: text}
	}
	out := &Error{Code: CodeInternal, Message: e.Message}
	if n, err := e.Code.Int64(); err == nil {
		out.Code = int(n)
	}
	if e.Data != nil && string(e.Data) != "null" {
		out.Data = e.Data
	}
	return out
}

// clip is the beginning of raw, for a message.
func clip(raw []byte) string {
	const most = 80
	if len(raw) <= most {
		return string(raw)
	}
	return string(raw[:most]) + "…"
}
