package acp

// RequestID is the id of a JSON-RPC request, an integer, a string or null, kept
// as it stood on the wire. It can be compared and be a key. The zero value is no
// id at all, which differs from null.
type RequestID struct{ text string }

// NewRequestID is the id with the JSON text raw.
func NewRequestID(raw []byte) RequestID { return RequestID{string(raw)} }

// String is the id's JSON text.
func (id RequestID) String() string { return id.text }

// MarshalJSON is the id as it came, and null for none.
func (id RequestID) MarshalJSON() ([]byte, error) {
	if id.text == "" {
		return []byte("null"), nil
	}
	return []byte(id.text), nil
}

// UnmarshalJSON reads the id as Decode does.
func (id *RequestID) UnmarshalJSON(b []byte) error { return unmarshal(b, id) }

func (id *RequestID) decode(c *cursor) *problem {
	switch k := c.kind(); {
	case k == '"', k == 'n', k == '-', k >= '0' && k <= '9':
		raw, p := c.raw()
		if p == nil {
			id.text = string(raw)
		}
		return p
	}
	return wrong("must be an integer, a string or null")
}
