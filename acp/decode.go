package acp

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// Decode reads the params of a request or notification. It is lenient in what
// clients get wrong without harm: unknown members are ignored; null is absent;
// an optional member of the wrong type takes its default, as the protocol's
// schema says; an empty array stands for an empty object and the other way
// round; absent params are an empty object. A required member that is missing or
// wrong is a *jsonrpc.Error of code -32602 that says where and what was expected,
// such as "session/new: cwd: must be a string".
//
// Params must be valid JSON, as the connection delivers them.
func Decode[T any](params json.RawMessage) (T, error) {
	v, p := decode[T](params)
	if p == nil {
		return v, nil
	}
	text := p.text("params")
	if method := methodOf[T](); method != "" {
		text = method + ": " + text
	}
	return v, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

// DecodeResult reads the result of a request by the same rules. Its error says
// where the result is wrong; it is not meant for the peer.
func DecodeResult[T any](result json.RawMessage) (T, error) {
	v, p := decode[T](result)
	if p != nil {
		return v, errors.New(p.text("result"))
	}
	return v, nil
}

func decode[T any](b []byte) (T, *problem) {
	var v T
	c := cursor{b: b}
	if c.kind() == 0 || c.null() {
		c = cursor{b: []byte("{}")}
	}
	p := decoderOf(reflect.TypeFor[T](), false)(&c, reflect.ValueOf(&v).Elem())
	if p == nil && c.kind() != 0 {
		p = wrong(wantJSON)
	}
	if p != nil {
		var zero T
		return zero, p
	}
	return v, nil
}

// methodOf is the method whose params T are, "" if they are no method's.
func methodOf[T any]() string {
	var v T
	switch m := any(v).(type) {
	case interface{ Method() string }:
		return m.Method()
	case nil:
		if reflect.TypeFor[T]() == reflect.TypeFor[CreateElicitationRequest]() {
			return MethodElicitationCreate
		}
	}
	return ""
}

// unmarshal is encoding/json's way into the decoder: the types that hold a
// union call it from their UnmarshalJSON.
func unmarshal(b []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	c := cursor{b: b}
	if c.null() {
		return nil
	}
	if p := decoderOf(v.Type(), false)(&c, v); p != nil {
		return errors.New("acp: " + p.text(v.Type().Name()))
	}
	return nil
}
