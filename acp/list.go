package acp

import (
	"bytes"
	"encoding/json"
)

// List is a list that the protocol requires: nil is written as [], never null.
type List[T any] []T

// MarshalJSON writes an array, also for a nil list. Escaping of HTML is left to
// the encoder around it.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// UnmarshalJSON reads the list as Decode does.
func (l *List[T]) UnmarshalJSON(b []byte) error { return unmarshal(b, (*[]T)(l)) }

// marshal is json.Marshal without HTML escaping, which an outer encoder could
// not undo.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
