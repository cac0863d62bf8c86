package tools

import (
	"encoding/json"
	"maps"
	"strings"
	"time"
	"unicode/utf8"
)

// EnvelopeType says whether a call came to a result or failed.
type EnvelopeType string

// The types of an envelope. An envelope of no type is an error: see IsError.
const (
	EnvelopeOutput EnvelopeType = "output"
	EnvelopeError  EnvelopeType = "error"
)

// WireLimit is how many bytes of an envelope's data go to the editor.
const WireLimit = 8 << 10

// Envelope is what every call came to, whatever the tool (spec/tools.md, "The
// envelope"): it is stored, replayed, sent as rawOutput, and the model reads
// one rendering of it.
type Envelope struct {
	Type      EnvelopeType `json:"type"`
	Data      string       `json:"data,omitzero"`
	ErrorText string       `json:"error_text,omitzero"`
	Metadata  Metadata     `json:"metadata"`
}

// Metadata is what an envelope says beside its data. In JSON the further
// entries stand beside the named ones, which they never replace.
type Metadata struct {
	DurationMS int64
	Truncated  bool           // Data is not all there was
	OutputPath string         // the file that holds all of it, or more
	Extra      map[string]any // what the tool adds
}

// Conclude makes the envelope of a call that ended. It holds the result to its
// tool's limit first, as Fit does; r is what is left then. A call that failed
// may have come to something, such as a command's output, which stays.
func Conclude(spec *Spec, r *Result, err error, took time.Duration, spool Spool) Envelope {
	*r = Fit(*r, spec, spool)
	e := Describe(*r, err, took)
	e.ErrorText = BoundError(e.ErrorText)
	return e
}

// BoundError is as much of an error's text as anybody is told.
func BoundError(text string) string { return head(text, DefaultMaxOutput) }

// Describe is the envelope of what a call came to, whatever its size.
func Describe(r Result, err error, took time.Duration) Envelope {
	e := Envelope{Type: EnvelopeOutput, Data: r.Text,
		Metadata: Metadata{took.Milliseconds(), r.Truncated, r.OutputPath, r.Metadata}}
	if err != nil {
		e.Type, e.ErrorText = EnvelopeError, err.Error()
	}
	return e
}

// IsError reports whether the call failed.
func (e Envelope) IsError() bool { return e.Type != EnvelopeOutput }

// Rendering is the envelope as the model reads it. It is never empty, since
// some providers refuse an empty result.
func (e Envelope) Rendering() string {
	switch {
	case e.IsError() && e.Data != "":
		return e.ErrorText + "\n\n" + e.Data
	case e.IsError() && e.ErrorText == "":
		return "the call failed without saying why"
	case e.IsError():
		return e.ErrorText
	case e.Data == "":
		return "(no output)"
	}
	return e.Data
}

// Wire is the envelope as it goes to the editor: its texts cut to WireLimit.
// The metadata still says what holds for the model.
func (e Envelope) Wire() Envelope {
	e.Data = wireText(e.Data)
	e.ErrorText = wireText(e.ErrorText)
	return e
}

// wireText is a text as it goes to the editor: no longer than WireLimit.
func wireText(s string) string {
	const mark = "\n[… more]"
	if len(s) <= WireLimit {
		return s
	}
	return head(s, WireLimit-len(mark)) + mark
}

// MarshalJSON writes the named entries and the tool's own in one object.
func (m Metadata) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	maps.Copy(all, m.Extra)
	all["duration_ms"] = m.DurationMS
	delete(all, "truncated")
	delete(all, "output_path")
	if m.Truncated {
		all["truncated"] = true
	}
	if m.OutputPath != "" {
		all["output_path"] = m.OutputPath
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	var named struct {
		DurationMS int64  `json:"duration_ms"`
		Truncated  bool   `json:"truncated"`
		OutputPath string `json:"output_path"`
	}
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, name := range []string{"duration_ms", "truncated", "output_path"} {
		delete(all, name)
	}
	if len(all) == 0 {
		all = nil
	}
	*m = Metadata{named.DurationMS, named.Truncated, named.OutputPath, all}
	return nil
}

// head is the beginning of s in at most n bytes: whole lines, or as much of a
// line as fits where that would lose more than half.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	if end := strings.LastIndexByte(s[:n], '\n'); end > n/2 {
		return s[:end]
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail is the end of s in at most n bytes, cut like head.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - max(n, 0)
	if end := strings.IndexByte(s[from:], '\n'); end >= 0 && end < n/2 {
		return s[from+end+1:]
	}
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}
