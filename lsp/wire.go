package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/protocol"
)

// wireLocation is a place in a file, by URI.
type wireLocation struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// locations decodes what definition and its kin answer: one location, a list of
// them, a list of links, or null.
type locations []wireLocation

func (l *locations) UnmarshalJSON(data []byte) error {
	items, err := list(data)
	if err != nil {
		return err
	}
	for _, item := range items {
		var both struct {
			wireLocation
			TargetURI            string `json:"targetUri"`
			TargetSelectionRange *Range `json:"targetSelectionRange"`
			TargetRange          Range  `json:"targetRange"`
		}
		if err := json.Unmarshal(item, &both); err != nil {
			return err
		}
		if both.TargetURI != "" {
			both.URI, both.Range = both.TargetURI, both.TargetRange
			if both.TargetSelectionRange != nil {
				both.Range = *both.TargetSelectionRange
			}
		}
		if both.URI != "" {
			*l = append(*l, both.wireLocation)
		}
	}
	return nil
}

// list is a JSON list's members, a list of the one value, or nothing for null.
func list(data []byte) ([]json.RawMessage, error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0, string(data) == "null":
		return nil, nil
	case data[0] == '[':
		var items []json.RawMessage
		err := json.Unmarshal(data, &items)
		return items, err
	default:
		return []json.RawMessage{data}, nil
	}
}

// symbol is a DocumentSymbol, a SymbolInformation or a WorkspaceSymbol. Those with
// a location are of the latter two.
type symbol struct {
	Name           string              `json:"name"`
	Detail         string              `json:"detail"`
	Kind           protocol.SymbolKind `json:"kind"`
	Range          Range               `json:"range"`
	SelectionRange Range               `json:"selectionRange"`
	Children       []symbol            `json:"children"`
	ContainerName  string              `json:"containerName"`
	Location       *struct {
		URI   string `json:"uri"`
		Range *Range `json:"range"` // nil: a WorkspaceSymbol that leaves it to be resolved
	} `json:"location"`
}

// symbols decodes a list of symbols, or null.
type symbols []symbol

// hover is what a server says about a place.
type hover struct {
	Contents marked `json:"contents"`
	Range    *Range `json:"range"`
}

// marked is text: a MarkupContent, a MarkedString or a list of those.
type marked string

func (m *marked) UnmarshalJSON(data []byte) error {
	items, err := list(data)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, item := range items {
		var text string
		if item[0] == '{' {
			var o struct {
				Language string `json:"language"`
				Value    string `json:"value"`
			}
			if err := json.Unmarshal(item, &o); err != nil {
				return err
			}
			if text = o.Value; o.Language != "" {
				text = "```" + o.Language + "\n" + text + "\n```"
			}
		} else if err := json.Unmarshal(item, &text); err != nil {
			return err
		}
		if out.Len() > 0 && text != "" {
			out.WriteString("\n\n")
		}
		out.WriteString(text)
	}
	*m = marked(out.String())
	return nil
}

// contentChange replaces a document's whole text. The library's type always
// writes a range, which makes an insertion of it.
type contentChange struct {
	Text string `json:"text"`
}

// didChangeParams tell a server a document's new text.
type didChangeParams struct {
	TextDocument   versioned       `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
	// Anew is an extension of clangd, which says nothing without it where the text is
	// the same.
	Anew bool `json:"forceRebuild,omitzero"`
}

// versioned names a version of a document.
type versioned struct {
	URI     string `json:"uri"`
	Version int32  `json:"version"`
}

// identifier names a document.
type identifier struct {
	URI string `json:"uri"`
}

// documentParams name a document.
type documentParams struct {
	TextDocument identifier `json:"textDocument"`
}

// positionParams name a place in a document.
type positionParams struct {
	TextDocument identifier `json:"textDocument"`
	Position     Position   `json:"position"`
}

// textEdit replaces a range. Of an annotated edit the annotation says whether it
// wants to be confirmed; every edit is shown and confirmed here.
type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

func (t *textEdit) UnmarshalJSON(data []byte) error {
	var o struct {
		Range            *Range          `json:"range"`
		NewText          *string         `json:"newText"`
		Snippet          json.RawMessage `json:"snippet"`
		InsertTextFormat int             `json:"insertTextFormat"`
	}
	err := json.Unmarshal(data, &o)
	switch {
	case err != nil:
		return err
	case o.InsertTextFormat == snippetFormat || truthy(o.Snippet):
		return errors.New("an edit is a snippet with places to fill in, which nobody asked for")
	case o.Range == nil || o.NewText == nil:
		return errors.New("an edit has no range, or no new text")
	}
	t.Range, t.NewText = *o.Range, *o.NewText
	return nil
}

// snippetFormat is InsertTextFormat.Snippet.
const snippetFormat = 2

// workspaceEdit is a change of several files, in the order of its steps.
type workspaceEdit struct {
	steps []editStep
}

// editStep is one member of a WorkspaceEdit: edits of a document, or the creation,
// renaming or deletion of a file.
type editStep struct {
	Kind         string      `json:"kind"` // create, rename, delete; empty: edits
	TextDocument *documentOf `json:"textDocument"`
	Edits        []textEdit  `json:"edits"`
	URI          string      `json:"uri"`
	OldURI       string      `json:"oldUri"`
	NewURI       string      `json:"newUri"`
	Options      struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
		Recursive         bool `json:"recursive"`
	} `json:"options"`
}

// documentOf is a document that edits are for; a nil version is any.
type documentOf struct {
	URI     string `json:"uri"`
	Version *int32 `json:"version"`
}

func (w *workspaceEdit) UnmarshalJSON(data []byte) error {
	var raw struct {
		Changes         ordered    `json:"changes"`
		DocumentChanges []editStep `json:"documentChanges"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if w.steps = raw.DocumentChanges; raw.DocumentChanges == nil {
		w.steps = raw.Changes
	}
	for _, s := range w.steps {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// check says what is wrong with a step.
func (s editStep) check() error {
	switch s.Kind {
	case "":
		if s.TextDocument == nil || s.TextDocument.URI == "" {
			return errors.New("an edit names no document")
		}
	case "create", "delete":
		if s.URI == "" {
			return fmt.Errorf("a step %q names no file", s.Kind)
		}
	case "rename":
		if s.OldURI == "" || s.NewURI == "" {
			return errors.New("a renaming names no file")
		}
	default:
		return fmt.Errorf("a step of an unknown kind %q", s.Kind)
	}
	return nil
}

// ordered are edits by document, in the order in which they were written.
type ordered []editStep

func (o *ordered) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("changes are no object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		uri, _ := key.(string)
		step := editStep{TextDocument: &documentOf{URI: uri}}
		if err := d.Decode(&step.Edits); err != nil {
			return err
		}
		*o = append(*o, step)
	}
	return nil
}

// wireDiagnostic is a diagnostic as it came. Raw is what goes back with a request
// for code actions.
type wireDiagnostic struct {
	Range    Range                       `json:"range"`
	Severity protocol.DiagnosticSeverity `json:"severity"`
	Code     code                        `json:"code"`
	Source   string                      `json:"source"`
	Message  marked                      `json:"message"`
	Tags     []protocol.DiagnosticTag    `json:"tags"`
	raw      json.RawMessage
}

// UnmarshalJSON reads what can be read: one wrong member must not cost the verdict.
func (d *wireDiagnostic) UnmarshalJSON(data []byte) error {
	type plain wireDiagnostic
	if json.Unmarshal(data, (*plain)(d)) != nil {
		*d = wireDiagnostic{}
		d.salvage(data)
	}
	d.raw = bytes.Clone(data)
	return nil
}

// salvage reads a diagnostic member by member.
func (d *wireDiagnostic) salvage(data []byte) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		d.Message = marked("a problem that the server words in a way that cannot be read")
		return
	}
	var loose struct {
		Start, End struct{ Line, Character float64 }
	}
	_ = json.Unmarshal(members["range"], &loose)
	unit := func(n float64) uint32 { return uint32(min(max(n, 0), 1<<31)) }
	d.Range = Range{
		Start: Position{Line: unit(loose.Start.Line), Character: unit(loose.Start.Character)},
		End:   Position{Line: unit(loose.End.Line), Character: unit(loose.End.Character)},
	}
	_ = json.Unmarshal(members["severity"], &d.Severity)
	_ = json.Unmarshal(members["code"], &d.Code)
	_ = json.Unmarshal(members["source"], &d.Source)
	_ = json.Unmarshal(members["message"], &d.Message)
}

// code is a diagnostic's code, a number or a text; servers of old wrote an object
// with the value in it.
type code string

func (c *code) UnmarshalJSON(data []byte) error {
	var text string
	switch {
	case json.Unmarshal(data, &text) == nil:
	case data[0] == '{':
		var o struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(data, &o) != nil || len(o.Value) == 0 || o.Value[0] == '{' {
			break
		}
		return c.UnmarshalJSON(o.Value)
	case data[0] != '[':
		text = string(data)
	}
	*c = code(text)
	return nil
}

// publishParams are a server's verdict on a document.
type publishParams struct {
	URI         string           `json:"uri"`
	Version     json.RawMessage  `json:"version"`
	Diagnostics []wireDiagnostic `json:"diagnostics"`
}

// version is the document's; nil: none is told.
func (p *publishParams) version() *int64 {
	var n *int64
	if json.Unmarshal(p.Version, &n) != nil {
		return nil
	}
	return n
}

// pullReport is the answer to a pull of diagnostics.
type pullReport struct {
	Kind             string                `json:"kind"` // full, unchanged; gopls: empty
	ResultID         string                `json:"resultId"`
	Items            []wireDiagnostic      `json:"items"`
	RelatedDocuments map[string]pullReport `json:"relatedDocuments"`
}

// codeAction is a CodeAction, or a bare Command.
type codeAction struct {
	Title       string                   `json:"title"`
	Kind        string                   `json:"kind"`
	IsPreferred bool                     `json:"isPreferred"`
	Disabled    *struct{ Reason string } `json:"disabled"`
	Edit        json.RawMessage          `json:"edit"` // a WorkspaceEdit, read once it is wanted
	Command     json.RawMessage          `json:"command"`
	Arguments   json.RawMessage          `json:"arguments"`
	Data        json.RawMessage          `json:"data"`
	raw         json.RawMessage
}

func (a *codeAction) UnmarshalJSON(data []byte) error {
	type plain codeAction
	if err := json.Unmarshal(data, (*plain)(a)); err != nil {
		return err
	}
	a.raw = bytes.Clone(data)
	return nil
}

// command is what a server is asked to execute.
type command struct {
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments,omitzero"`
}

// bare reports whether the action is a Command, of which nothing can be resolved.
func (a *codeAction) bare() bool { return bytes.HasPrefix(bytes.TrimSpace(a.Command), []byte{'"'}) }

// command is the action's command, if it has one.
func (a *codeAction) command() (command, bool) {
	var c command
	raw := bytes.TrimSpace(a.Command)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return c, false
	case a.bare():
		if json.Unmarshal(raw, &c.Command) != nil {
			return c, false
		}
		c.Arguments = a.Arguments
	case json.Unmarshal(raw, &c) != nil:
		return c, false
	}
	return c, c.Command != ""
}

// callItem is a node of a call hierarchy. Raw goes back to the server.
type callItem struct {
	Name           string              `json:"name"`
	Kind           protocol.SymbolKind `json:"kind"`
	Detail         string              `json:"detail"`
	URI            string              `json:"uri"`
	Range          Range               `json:"range"`
	SelectionRange Range               `json:"selectionRange"`
	raw            json.RawMessage
}

func (c *callItem) UnmarshalJSON(data []byte) error {
	type plain callItem
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	c.raw = bytes.Clone(data)
	return nil
}

// callEdge is a call in a call hierarchy, from From or to To.
type callEdge struct {
	From       *callItem `json:"from"`
	To         *callItem `json:"to"`
	FromRanges []Range   `json:"fromRanges"`
}
