package jsonrpc

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Framing is how messages are told apart on the wire. With it goes the spelling
// of what belongs to the connection itself: its protocol's cancel notification,
// and what the ids of our calls look like.
type Framing int

// The framings.
const (
	// Lines is one message a line, as in the Agent Client Protocol.
	Lines Framing = iota
	// Headers is a header with the body's length before each message, as in the
	// base protocol of the Language Server Protocol. Ids of calls are numbers,
	// which every server takes, and other notifications of the `$/` kind reach
	// the handler, `$/progress` among them.
	Headers
)

// frames cuts an input into messages.
type frames interface {
	// next is the next message; the slice is the caller's. A message above the
	// limit is skipped and reported as errTooLong, after which reading goes on.
	next() ([]byte, error)
}

// reader is a reader of messages of at most max bytes.
func (f Framing) reader(r io.Reader, max int) frames {
	if f == Headers {
		return newHeaderReader(r, max)
	}
	return newLineReader(r, max)
}

// cancelMethod asks for a request to be cancelled.
func (f Framing) cancelMethod() string {
	if f == Headers {
		return "$/cancelRequest"
	}
	return "$/cancel_request"
}

// cancelMember is the member of a cancel's parameters that names the request.
func (f Framing) cancelMember() string {
	if f == Headers {
		return "id"
	}
	return "requestId"
}

// cancelParams are the parameters of a cancel of our own call.
func (f Framing) cancelParams(id string) any {
	return map[string]json.RawMessage{f.cancelMember(): f.wireID(id)}
}

// optional reports whether a notification belongs to the connection's protocol
// and not to the handler.
func (f Framing) optional(method string) bool {
	if f == Headers {
		return method == f.cancelMethod()
	}
	return strings.HasPrefix(method, "$/")
}

// callPrefix begins the library's ids of our own calls; on the wire of Lines
// they are these strings too, so that an answer to nothing (id null, which the
// library reads as 0) can never meet a call.
const callPrefix = "call-"

// wireID is the id of a call as it is written.
func (f Framing) wireID(id string) json.RawMessage {
	if f == Headers {
		return json.RawMessage(strings.TrimPrefix(id, callPrefix))
	}
	return json.RawMessage(`"` + id + `"`) // our own ids need no escapes
}

// callID is the call that an answer's id names; ok is false for an id that this
// side cannot have given out.
func (f Framing) callID(raw json.RawMessage) (id string, ok bool) {
	if f == Headers {
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil {
			return "", false
		}
		return callPrefix + strconv.FormatUint(n, 10), true
	}
	id, ok = strings.CutPrefix(idKey(raw), `"`)
	return id, ok && strings.HasPrefix(id, callPrefix)
}
