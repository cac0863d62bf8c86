package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf8"
)

// nullID is the id of an answer to what has none.
var nullID = json.RawMessage("null")

// encoder writes one line at a time: one message and a newline. It does not
// escape HTML, and text that is not UTF-8 is made so.
type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// encoders lends encoders, so that an update costs no allocation of its own.
type encoders struct{ pool sync.Pool }

// get is an empty encoder.
func (p *encoders) get() *encoder {
	if e, ok := p.pool.Get().(*encoder); ok {
		e.buf.Reset()
		return e
	}
	e := &encoder{}
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}

// put takes an encoder back whose line nobody holds. A large buffer is let go.
func (p *encoders) put(e *encoder) {
	if e.buf.Cap() <= 2*chunkSize {
		p.pool.Put(e)
	}
}

// value appends a JSON value.
func (e *encoder) value(v any) error {
	if err := e.enc.Encode(v); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - 1) // Encode's newline
	return nil
}

// end ends the message and returns the line.
func (e *encoder) end() []byte {
	e.buf.WriteString("}\n")
	line := e.buf.Bytes()
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	return line
}

// request is the line of a notification, or of a request where id is not nil.
// Nil params are left out. The line is valid until the encoder is used again.
func (e *encoder) request(id json.RawMessage, method string, params any) ([]byte, error) {
	e.buf.WriteString(`{"jsonrpc":"2.0"`)
	if id != nil {
		e.buf.WriteString(`,"id":`)
		e.buf.Write(id)
	}
	e.buf.WriteString(`,"method":`)
	if err := e.value(method); err != nil {
		return nil, err
	}
	if params != nil {
		e.buf.WriteString(`,"params":`)
		if err := e.value(params); err != nil {
			return nil, fmt.Errorf("encoding the parameters of %s: %w", method, err)
		}
	}
	return e.end(), nil
}

// resultLine is the answer to the request id, a new slice.
func resultLine(id json.RawMessage, result any) ([]byte, error) {
	e := new(encoders).get()
	e.answer(id)
	e.buf.WriteString(`,"result":`)
	if err := e.value(result); err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	return e.end(), nil
}

// errorLine is the error answer to the request id, a new slice. Data that cannot
// be encoded is left out.
func errorLine(id json.RawMessage, fault *Error) []byte {
	e := new(encoders).get()
	e.answer(id)
	e.buf.WriteString(`,"error":`)
	if e.value(fault) != nil {
		_ = e.value(&Error{Code: fault.Code, Message: fault.Message}) // plain fields: cannot fail
	}
	return e.end()
}

// answer begins an answer.
func (e *encoder) answer(id json.RawMessage) {
	e.buf.WriteString(`{"jsonrpc":"2.0","id":`)
	e.buf.Write(id)
}
