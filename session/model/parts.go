package model

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// EncodeJSON is v as JSON on one line. Unlike json.Marshal it leaves <, > and &
// as they are: requests are full of code.
func EncodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// ArgsObject makes the arguments of a call a JSON object, as every provider
// demands of a history, also where the model wrote none: {} for nothing at all
// and {"_invalid": text} for what is no object.
func ArgsObject(args string) json.RawMessage {
	raw := bytes.TrimSpace([]byte(args))
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	if raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	wrapped, err := EncodeJSON(map[string]string{"_invalid": args})
	if err != nil {
		return json.RawMessage("{}") // a map of strings: it does not happen
	}
	return wrapped
}

// Unshown is the text that stands in a request for media that the model does
// not take.
func Unshown(p Part) string {
	return fmt.Sprintf("[%s, %d bytes, is not shown: this model does not take it]", p.MIME, len(p.Data))
}
