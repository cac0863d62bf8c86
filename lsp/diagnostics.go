package lsp

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// Severity is how grave a diagnostic is; the smaller, the graver.
type Severity int

// The severities.
const (
	Error Severity = 1 + iota
	Warning
	Information
	Hint
)

// String is the severity's name.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Information:
		return "info"
	}
	return "hint"
}

// severityOf is a severity; one that is not told counts as an error.
func severityOf(s protocol.DiagnosticSeverity) Severity {
	if s < 1 || s > 4 {
		return Error
	}
	return Severity(s)
}

// Diagnostic is what a server has to say about a place in a file.
type Diagnostic struct {
	Path     string // absolute
	At, End  Place
	Severity Severity
	Code     string
	Source   string // who says it, as the server spells it
	Message  string // of several lines, maybe, and cut where it is very long
	Server   string // the server's name
}

// diagnostics are a file's diagnostics with places as people count them.
func (s session) diagnostics(path string, items []wireDiagnostic, texts func(path string) *text) []Diagnostic {
	var out []Diagnostic
	for _, d := range items {
		found := s.locate(path, d.Range, texts)
		out = append(out, Diagnostic{
			Path: path, At: found.At, End: found.End, Severity: severityOf(d.Severity), Code: string(d.Code),
			Source: d.Source, Message: strings.TrimSpace(string(d.Message)), Server: s.server.spec.Name,
		})
	}
	return out
}

// Limits of what is kept of verdicts. What a server tells beyond them is counted.
const (
	maxDiagnostics = 10_000   // of one file
	maxKept        = 32 << 20 // bytes of one server
	maxFiles       = 50_000   // of one server, beside those that were open
	maxText        = 2 << 10  // bytes of a message; the rest is cut off
	maxRaw         = 8 << 10  // bytes of a diagnostic as it goes back to the server
	itemCost       = 128      // bytes of a diagnostic beside its texts
)

// cost is how many bytes a diagnostic takes.
func (d *wireDiagnostic) cost() int {
	return itemCost + len(d.Message) + len(d.Code) + len(d.Source) + len(d.raw)
}

// keep are the items that are kept of a verdict, the gravest first where not all
// are, what they take, and how many are left out.
func keep(items []wireDiagnostic, room int) (kept []wireDiagnostic, size, more int) {
	if len(items) > maxDiagnostics {
		items = gravest(items)
	}
	kept = make([]wireDiagnostic, 0, min(len(items), maxDiagnostics))
	for i := range items {
		d := items[i].bounded()
		if len(kept) == maxDiagnostics || size+d.cost() > room {
			break
		}
		size += d.cost()
		kept = append(kept, d)
	}
	return kept, size, len(items) - len(kept)
}

// bounded is a diagnostic without what is too long to be kept.
func (d wireDiagnostic) bounded() wireDiagnostic {
	d.Message = marked(cut(string(d.Message), maxText))
	d.Source = cut(d.Source, maxText)
	d.Code = code(cut(string(d.Code), maxText))
	if len(d.raw) > maxRaw {
		d.raw = nil
	}
	d.Tags = nil
	return d
}

// cut is the beginning of a text of at most max bytes. What is returned does not
// keep a longer text in memory.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return strings.Clone(s[:max]) + "…"
}

// sent is a diagnostic as it goes back to the server that made it.
func (d *wireDiagnostic) sent() json.RawMessage {
	if d.raw != nil {
		return d.raw
	}
	plain := map[string]any{"range": d.Range, "severity": severityOf(d.Severity), "message": string(d.Message)}
	if d.Code != "" {
		plain["code"] = string(d.Code)
	}
	if d.Source != "" {
		plain["source"] = d.Source
	}
	data, _ := json.Marshal(plain) // of nothing that can fail
	return data
}

// gravest are the items, the gravest first.
func gravest(items []wireDiagnostic) []wireDiagnostic {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b wireDiagnostic) int { return int(severityOf(a.Severity)) - int(severityOf(b.Severity)) })
	return items
}
