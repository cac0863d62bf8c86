package acp

import (
	"bytes"
	"encoding/json"
)

// Meta is the _meta member that most types have: data beyond the protocol. It
// is kept as it came; numbers are json.Number, so that none loses a digit.
type Meta map[string]any

func (m *Meta) decode(c *cursor) *problem {
	if k := c.kind(); k != '{' {
		return c.object(nil) // an empty list, or a problem
	}
	raw, p := c.raw()
	if p != nil {
		return p
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return wrong(wantJSON)
	}
	if len(v) > 0 {
		*m = v
	}
	return nil
}

// UnmarshalJSON reads the object as Decode does.
func (m *Meta) UnmarshalJSON(b []byte) error { return unmarshal(b, m) }
