package jsonrpc

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// message is one line of the peer, taken apart but not decoded: the fields are
// slices of the line, nil where the member is absent.
type message struct {
	method, params, id, result, failure json.RawMessage

	answer bool   // an answer to a call of ours, not a request
	fault  *Error // what is wrong with it; answered instead of handled
}

// parse takes a line apart and classifies it. It never fails: what is wrong with
// the line is its fault. A member that is null counts as absent (some peers
// write null for "none"), except for the id, which may be null in its own right.
// The "jsonrpc" member is not looked at.
func parse(line []byte, f Framing) *message {
	m := &message{}
	switch {
	case !utf8.Valid(line):
		m.fault = &Error{Code: CodeParse, Message: "parse error: the line is not valid UTF-8"}
	case !json.Valid(line):
		m.fault = &Error{Code: CodeParse, Message: "parse error: the line is not JSON, or nested too deeply"}
	case line[0] == '[':
		m.fault = invalid("batches are not supported, send one message a line")
	case line[0] != '{':
		m.fault = invalid("a message must be a JSON object")
	default:
		m.take(line)
		m.fault = m.check(f)
	}
	return m
}

// take finds the members of a message; of a repeated one the last counts.
func (m *message) take(line []byte) {
	for name, value := range members(line) {
		switch name {
		case "id":
			m.id = value
			continue
		case "method":
			m.method = orNil(value)
		case "params":
			m.params = orNil(value)
		case "result":
			m.result = value
		case "error":
			m.failure = value
		}
	}
}

// orNil is raw, or nil where it is null.
func orNil(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// check says what is wrong with a message, and whether it is an answer. An id
// that cannot be one is forgotten, so that the fault is answered with null.
func (m *message) check(f Framing) *Error {
	wrongID := m.id != nil && !validID(m.id)
	if wrongID {
		m.id = nil
	}
	if m.method == nil {
		// Answers without a result arrive from peers whose language drops nil.
		_, ours := f.callID(m.id)
		m.answer = m.result != nil || m.failure != nil || ours
		if m.answer {
			return nil
		}
		m.id = nil
		return invalid("there is no method")
	}
	switch {
	case wrongID:
		return invalid("the id must be a string, a number or null")
	case m.method[0] != '"':
		return invalid("the method must be a string")
	case orNil(m.result) != nil || orNil(m.failure) != nil:
		return invalid("a request has no result and no error")
	}
	return nil
}

// validID reports whether raw is a string, a number of any kind or null.
func validID(raw json.RawMessage) bool {
	switch c := raw[0]; {
	case c == '"', c == '-', c >= '0' && c <= '9':
		return true
	default:
		return string(raw) == "null"
	}
}

// idKey is the form in which ids are compared: strings decoded, since "a" may be
// written as an escape, and numbers as they stand, since they need not fit any
// type. It is "" for what is no id.
func idKey(raw json.RawMessage) string {
	if raw == nil || !validID(raw) {
		return ""
	}
	if raw[0] != '"' {
		return string(raw)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return `"` + s
}

// members yields the members of a JSON object, names decoded and values as they
// stand. The object must be valid JSON; nothing is copied but names with escapes.
func members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		rest := skipSpace(object[1:])
		for rest[0] != '}' {
			n := stringEnd(rest)
			name := memberName(rest[:n])
			rest = skipSpace(skipSpace(rest[n:])[1:]) // the colon
			n = valueEnd(rest)
			if !yield(name, json.RawMessage(rest[:n:n])) {
				return
			}
			if rest = skipSpace(rest[n:]); rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
		}
	}
}

// memberName is the text of a JSON string.
func memberName(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var name string
	_ = json.Unmarshal(raw, &name) // raw is valid: the whole line was checked
	return name
}

// skipSpace is b without the white space at its start.
func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// stringEnd is the length of the JSON string at the start of b.
func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// valueEnd is the length of the JSON value at the start of b.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:])
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the end of what the value stands in
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(b)
}
