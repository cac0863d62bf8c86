package lsp

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"
)

// capabilities are what a server said at its start that it can do.
type capabilities struct {
	PositionEncoding encoding
	Sync             syncOptions
	Diagnostic       *pullOptions // nil: it is not to be asked
	Rename           json.RawMessage
	CodeAction       json.RawMessage

	has map[string]json.RawMessage // all of them
}

// UnmarshalJSON leaves out what is of a type that it cannot be.
func (c *capabilities) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.has) != nil {
		c.has = nil
	}
	lenient(c.has["positionEncoding"], &c.PositionEncoding)
	lenient(c.has["textDocumentSync"], &c.Sync)
	if raw := c.has["diagnosticProvider"]; truthy(raw) {
		c.Diagnostic = &pullOptions{}
		lenient(raw, c.Diagnostic)
	}
	c.Rename, c.CodeAction = c.has["renameProvider"], c.has["codeActionProvider"]
	return nil
}

// lenient decodes a value, and leaves into as it is where that cannot be done.
func lenient[T any](raw json.RawMessage, into *T) {
	var value T
	if len(raw) > 0 && json.Unmarshal(raw, &value) == nil {
		*into = value
	}
}

// syncOptions say what a server wants to be told of open documents.
type syncOptions struct {
	OpenClose bool
	Change    int // 0: nothing
	Save      bool
	SaveText  bool // the text goes along
}

func (s *syncOptions) UnmarshalJSON(data []byte) error {
	var kind int
	if json.Unmarshal(data, &kind) == nil {
		*s = syncOptions{OpenClose: true, Change: kind, Save: kind > 0}
		return nil
	}
	var o struct {
		OpenClose bool            `json:"openClose"`
		Change    int             `json:"change"`
		Save      json.RawMessage `json:"save"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	*s = syncOptions{OpenClose: o.OpenClose, Change: o.Change, Save: truthy(o.Save)}
	var save struct {
		IncludeText bool `json:"includeText"`
	}
	if json.Unmarshal(o.Save, &save) == nil {
		s.SaveText = save.IncludeText
	}
	return nil
}

// pullOptions are those of pulled diagnostics.
type pullOptions struct {
	InterFile *bool `json:"interFileDependencies"`
}

// within reports whether a file's diagnostics depend on no other file.
func (o pullOptions) within() bool { return o.InterFile != nil && !*o.InterFile }

// executes reports whether the server has a command.
func (c *capabilities) executes(name string) bool {
	var o struct {
		Commands []string `json:"commands"`
	}
	return name != "" && json.Unmarshal(c.has["executeCommandProvider"], &o) == nil && slices.Contains(o.Commands, name)
}

// truthy reports whether a capability, a boolean or an object, is there.
func truthy(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "false"
}

// member reports whether an object has a member that is true or an object.
func member(raw json.RawMessage, name string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && truthy(o[name])
}

// initializeResult answers initialize.
type initializeResult struct {
	Capabilities   capabilities
	OffsetEncoding encoding // as clangd spells it
	Version        string   // what it calls itself; empty: not told
}

// UnmarshalJSON leaves out what is of a type that it cannot be.
func (r *initializeResult) UnmarshalJSON(data []byte) error {
	var raw struct {
		Capabilities   capabilities    `json:"capabilities"`
		OffsetEncoding json.RawMessage `json:"offsetEncoding"`
		ServerInfo     json.RawMessage `json:"serverInfo"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	r.Capabilities = raw.Capabilities
	lenient(raw.OffsetEncoding, &r.OffsetEncoding)
	var info struct {
		Version string `json:"version"`
	}
	lenient(raw.ServerInfo, &info)
	r.Version = info.Version
	return nil
}

// encoding is the unit that was agreed on.
func (r *initializeResult) encoding() encoding {
	for _, e := range []encoding{r.Capabilities.PositionEncoding, r.OffsetEncoding} {
		if e == utf8Units || e == utf16Units || e == utf32Units {
			return e
		}
	}
	return utf16Units
}

// initializeParams are the library's, with what version 3.17 and clangd add.
func initializeParams(spec *Spec, root string, pid int) (map[string]any, error) {
	dynamic := func() map[string]any { return map[string]any{"dynamicRegistration": true} }
	base := protocol.InitializeParams{
		ProcessID:  int32(pid), //nolint:gosec // process ids fit
		ClientInfo: &protocol.ClientInfo{Name: "acp-agent"},
		RootPath:   root,
		RootURI:    protocol.DocumentURI(fileURI(root)),
		Capabilities: protocol.ClientCapabilities{
			Workspace: &protocol.WorkspaceClientCapabilities{
				ApplyEdit: true, WorkspaceFolders: true, Configuration: true,
				WorkspaceEdit: &protocol.WorkspaceClientCapabilitiesWorkspaceEdit{
					DocumentChanges: true, ResourceOperations: []string{"create", "rename", "delete"}, FailureHandling: "transactional",
				},
			},
			Window: &protocol.WindowClientCapabilities{WorkDoneProgress: true},
		},
		WorkspaceFolders: []protocol.WorkspaceFolder{{URI: fileURI(root), Name: root}},
	}
	if spec.Options != nil {
		base.InitializationOptions = spec.Options
	}
	data, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	var params map[string]any
	if err := json.Unmarshal(data, &params); err != nil {
		return nil, err
	}
	caps := params["capabilities"].(map[string]any)
	caps["general"] = map[string]any{"positionEncodings": []encoding{utf8Units, utf16Units, utf32Units}}
	caps["offsetEncoding"] = []encoding{utf8Units, utf16Units}
	workspace := caps["workspace"].(map[string]any)
	workspace["didChangeWatchedFiles"] = map[string]any{"dynamicRegistration": true, "relativePatternSupport": true}
	workspace["didChangeConfiguration"] = dynamic()
	workspace["symbol"] = dynamic()
	workspace["executeCommand"] = dynamic()
	workspace["diagnostics"] = map[string]any{"refreshSupport": true}
	caps["textDocument"] = documentCapabilities()
	return params, nil
}

// documentCapabilities is what the client understands of answers about documents.
func documentCapabilities() map[string]any {
	link := map[string]any{"linkSupport": true}
	return map[string]any{
		"synchronization":    map[string]any{"didSave": true},
		"definition":         link,
		"typeDefinition":     link,
		"implementation":     link,
		"references":         map[string]any{},
		"hover":              map[string]any{"contentFormat": []string{"markdown", "plaintext"}},
		"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
		"callHierarchy":      map[string]any{},
		"rename":             map[string]any{"prepareSupport": true, "honorsChangeAnnotations": false},
		"publishDiagnostics": map[string]any{"versionSupport": true, "relatedInformation": true, "codeDescriptionSupport": true, "dataSupport": true},
		"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
		"codeAction": map[string]any{
			"isPreferredSupport": true, "disabledSupport": true, "dataSupport": true,
			"resolveSupport":           map[string]any{"properties": []string{"edit", "command"}},
			"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite", "source", "source.organizeImports", "source.fixAll"}}},
		},
	}
}
