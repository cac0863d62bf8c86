package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
)

type lspInput struct {
	Operation  string `json:"operation"`
	Path       string `json:"path"`
	Symbol     string `json:"symbol"`
	Line       int    `json:"line"`
	EndLine    int    `json:"end_line"`
	Character  int    `json:"character"`
	Query      string `json:"query"`
	NewName    string `json:"new_name"`
	Apply      string `json:"apply"`
	Severity   string `json:"severity"`
	MaxResults int    `json:"max_results"`
}

// Limits of one result.
const (
	defaultFound = 100
	maxFound     = 1000
)

// LanguageServers is the tool that asks language servers (spec: "LSP: the extension
// tool"). A rename and an action that is applied are prepared as edits of all files
// that they touch; what the server was asked for that changes nothing.
func LanguageServers() Tool {
	return Func(Spec{
		ID:    "lsp",
		Title: "Language servers",
		Guess: guessLSP,
		Description: "Asks the project's language servers, which understand the code: where a symbol is defined (definition, type_definition, implementation), " +
			"where it is used (references, incoming_calls, outgoing_calls), what it is (hover), what a file or the project holds (document_symbols, workspace_symbols), " +
			"what is wrong (diagnostics), and changes that keep the code whole (rename, code_actions). Prefer it to grep for symbols. " +
			"Name a symbol with path and symbol (Type.Method works), and with line where the name occurs often; character is needed only without symbol. " +
			"Lines and characters count from 1. rename and apply change files: all that are touched, or none.",
		SearchHint: "definition references symbol rename diagnostics errors language server type hover calls code action",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"operation": {"type": "string", "enum": ["definition", "type_definition", "implementation", "references", "hover", "document_symbols", "workspace_symbols", "diagnostics", "incoming_calls", "outgoing_calls", "rename", "code_actions", "servers"]},
				"path": {"type": "string", "description": "The file; diagnostics without it are those of all files that are known"},
				"symbol": {"type": "string", "description": "The name as it stands in the file, for example Server.Start"},
				"line": {"type": "integer", "minimum": 1, "description": "The line, or the first from which symbol is looked for"},
				"end_line": {"type": "integer", "minimum": 1, "description": "The last line, for code_actions of several"},
				"character": {"type": "integer", "minimum": 1},
				"query": {"type": "string", "description": "For workspace_symbols: a name or a part of it"},
				"new_name": {"type": "string", "description": "For rename"},
				"apply": {"type": "string", "description": "For code_actions: the title of the action to apply"},
				"severity": {"type": "string", "enum": ["error", "warning", "info", "hint"], "description": "For diagnostics: the least grave to show"},
				"max_results": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Default 100"}
			},
			"required": ["operation"],
			"additionalProperties": false
		}`),
		Kind: kinds.KindSearch,
		// Its edits are judged as such, so that plan mode refuses them.
		ReadOnly: true,
		Requires: Requires{Read: fileSurface, Write: fileSurface},
		Needs:    func(ws *Workspace) bool { return ws.LSP != nil },
		Block:    true,
	}, prepareLSP)
}

// lspCall is one call of lsp.
type lspCall struct {
	ws   *Workspace
	in   lspInput
	file target // of path, where there is one
	show func(kinds.PathAccess) bool
	kept map[string]bool // what hidden found
}

func newLSPCall(ws *Workspace, in lspInput) *lspCall {
	a := &lspCall{ws: ws, in: in, kept: map[string]bool{}}
	if ws.Readable != nil {
		a.show = ws.Readable()
	}
	return a
}

func prepareLSP(ctx context.Context, ws *Workspace, in lspInput) (*Action, error) {
	if ws.LSP == nil {
		return nil, errors.New("language servers are turned off (lsp.enabled in the settings)")
	}
	if in.MaxResults == 0 {
		in.MaxResults = defaultFound
	}
	in.MaxResults = min(in.MaxResults, maxFound)
	a := newLSPCall(ws, in)
	if in.Operation == "servers" {
		return a.servers(), nil
	}
	if err := a.need(); err != nil {
		return nil, err
	}
	if in.Path != "" {
		t, err := resolve(ws, in.Path)
		if err != nil {
			return nil, err
		}
		if t.Inside && !t.Exists {
			return nil, t.missing(ctx)
		}
		if err := t.folder(in.Operation); err != nil {
			return nil, err
		}
		a.file = t
	}
	switch in.Operation {
	case "rename":
		return a.edits(ctx, func(ctx context.Context, t lsp.Target) (lsp.Edit, error) { return ws.LSP.Rename(ctx, t, in.NewName) })
	case "code_actions":
		if in.Apply != "" {
			return a.edits(ctx, func(ctx context.Context, t lsp.Target) (lsp.Edit, error) {
				return ws.LSP.Apply(ctx, t, lsp.Lines{First: in.Line, Last: in.EndLine}, in.Apply)
			})
		}
	}
	return a.action(), nil
}

// folder is the error for a folder, of which no language server knows anything.
func (t target) folder(operation string) error {
	if info, err := os.Stat(t.Target); !t.Inside || err != nil || !info.IsDir() {
		return nil
	}
	if operation == "diagnostics" {
		return fmt.Errorf("%s is a folder: name a file, or none for the problems of the whole project", t.name)
	}
	return fmt.Errorf("%s is a folder: name a file in it", t.name)
}

// need is the error where an argument is missing that the operation needs.
func (a *lspCall) need() error {
	in := a.in
	missing := func(what string) error { return fmt.Errorf("lsp: %s needs %s", in.Operation, what) }
	switch {
	case in.Path == "" && (in.Line > 0 || in.Character > 0):
		return errors.New("lsp: line and character need path")
	case in.Line == 0 && in.Character > 0:
		return errors.New("lsp: character needs line")
	case in.Line == 0 && in.EndLine > 0:
		return errors.New("lsp: end_line needs line")
	case in.EndLine > 0 && in.EndLine < in.Line:
		return fmt.Errorf("lsp: end_line %d lies before line %d", in.EndLine, in.Line)
	}
	switch in.Operation {
	case "workspace_symbols":
		if strings.TrimSpace(in.Query) == "" {
			return missing("query, a name or a part of one")
		}
		return nil
	case "diagnostics":
		return nil
	}
	byFile := in.Operation == "document_symbols" || in.Operation == "code_actions"
	switch {
	case in.Operation == "rename" && strings.TrimSpace(in.NewName) == "":
		return missing("new_name")
	case in.Path == "" && byFile:
		return missing("path")
	case byFile:
		return nil
	case in.Symbol == "" && in.Path == "":
		return missing("symbol, and path where more than one symbol has that name")
	case in.Symbol == "" && (in.Line == 0 || in.Character == 0):
		return missing("symbol, or line and character")
	}
	return nil
}

// target is what the call is about, for the servers. Where it names no file, the
// project's symbols are looked through.
func (a *lspCall) target(ctx context.Context) (lsp.Target, error) {
	if a.in.Path != "" {
		return lsp.Target{Path: a.file.Target, Symbol: a.in.Symbol, Line: a.in.Line, Column: a.in.Character}, nil
	}
	t, err := a.ws.LSP.Locate(ctx, a.in.Symbol)
	if err == nil && a.hidden(t.Path) {
		err = fmt.Errorf("%s, where %s is declared, may not be read", a.ws.Name(t.Path), a.in.Symbol)
	}
	return t, err
}

// action is a call that changes nothing.
func (a *lspCall) action() *Action {
	out := &Action{Card: a.card(), Facts: kinds.Facts{ReadOnly: true, Concurrent: true, Paths: a.access()}}
	out.Run = func(ctx context.Context, _ func(Output)) (Result, error) { return a.run(ctx) }
	return out
}

// access is what is read: the file, or what the project's files are called and hold.
func (a *lspCall) access() []kinds.PathAccess {
	if a.in.Path != "" {
		return a.file.access(kinds.Read)
	}
	return []kinds.PathAccess{{Access: kinds.List, Path: a.ws.Dir(), Target: a.ws.Dir()}}
}

// card says what is looked for, and where.
func (a *lspCall) card() kinds.Card { return a.in.card(kinds.Root(a.ws.Dir()), a.file.Asked) }

// card is the card of a call that changes nothing, about a file or, where path is
// empty, the project.
func (in lspInput) card(root kinds.Root, path string) kinds.Card {
	what := in.what()
	switch in.Operation {
	case "diagnostics":
		return root.Problems(path)
	case "workspace_symbols":
		if strings.TrimSpace(in.Query) == "" {
			return root.LookUp("Symbols of the project", "", 0)
		}
		return root.LookUp("Symbols like "+kinds.Quote(in.Query), "", 0)
	case "document_symbols":
		return root.LookUp("Symbols", path, 0)
	case "code_actions":
		return root.LookUp("Code actions", path, in.Line)
	case "hover":
		return root.LookUp("What is "+what, path, in.Line)
	case "incoming_calls":
		return root.LookUp("Callers of "+what, path, in.Line)
	case "outgoing_calls":
		return root.LookUp("What "+what+" calls", path, in.Line)
	case "references":
		return root.LookUp("References to "+what, path, in.Line)
	case "type_definition":
		return root.LookUp("Type of "+what, path, in.Line)
	case "implementation":
		return root.LookUp("Implementations of "+what, path, in.Line)
	}
	return root.LookUp("Definition of "+what, path, in.Line)
}

// what names what a call is about.
func (in lspInput) what() string {
	switch {
	case strings.TrimSpace(in.Symbol) != "":
		return in.Symbol
	case in.Line > 0:
		return fmt.Sprintf("line %d", in.Line)
	}
	return "a symbol" // which it does not name, and fails with that
}

// guessLSP is the card of a call that could not be prepared, or is not yet.
func guessLSP(input string) kinds.Card {
	var in lspInput
	_ = json.Unmarshal([]byte(input), &in) // what is wrong in it says nothing
	root := kinds.Root("")
	var card kinds.Card
	switch in.Operation {
	case "rename":
		title := "Rename " + in.what()
		if to := strings.TrimSpace(in.NewName); to != "" {
			title += " to " + to
		}
		card = root.Refactor(title, nil)
	case "servers":
		card = kinds.Output("Language servers")
	case "definition", "type_definition", "implementation", "references", "hover", "incoming_calls", "outgoing_calls",
		"document_symbols", "workspace_symbols", "diagnostics", "code_actions":
		if in.Operation == "code_actions" && in.Apply != "" {
			card = root.Refactor("Code action "+kinds.Quote(in.Apply), nil)
			break
		}
		card = in.card(root, in.Path)
	}
	card.Locations = nil
	return card
}

// run asks, and words the answer.
func (a *lspCall) run(ctx context.Context) (Result, error) {
	v := a.ws.LSP
	switch a.in.Operation {
	case "document_symbols", "workspace_symbols", "diagnostics", "code_actions":
		return a.runBroad(ctx, v)
	}
	t, err := a.target(ctx)
	if err != nil {
		return Result{}, a.worded(err)
	}
	if a.in.Operation == "hover" {
		return a.hover(ctx, t)
	}
	t.Most = a.in.MaxResults
	found, err := v.LookUp(ctx, lsp.Relation(a.in.Operation), t)
	if err != nil {
		return Result{}, a.worded(err)
	}
	return a.found(found), nil
}

// hover tells what a symbol is. Servers quote the value of a constant from where it is
// declared, so that what they say of a file that may not be read is not told.
func (a *lspCall) hover(ctx context.Context, t lsp.Target) (Result, error) {
	what, err := a.ws.LSP.Hover(ctx, t)
	if err != nil {
		return Result{}, a.worded(err)
	}
	for _, path := range what.From {
		if path != t.Path && a.hidden(path) {
			return Result{}, fmt.Errorf("it is declared in %s, which may not be read, so that what it is is not told: ask the user", a.ws.Name(path))
		}
	}
	if what.Text == "" {
		return plainResult("Nothing is known about it."), nil
	}
	return described(what.Text), nil
}

// described is what a symbol is as the model reads it, and as the editor shows it.
func described(text string) Result {
	return Result{Text: text, Shown: kinds.SafeMarkdown(wireText(text))}
}

// runBroad asks about a file or the project as a whole.
func (a *lspCall) runBroad(ctx context.Context, v *lsp.View) (Result, error) {
	switch a.in.Operation {
	case "document_symbols":
		list, err := v.Symbols(ctx, a.file.Target)
		if err != nil {
			return Result{}, a.worded(err)
		}
		return a.outline(list), nil
	case "workspace_symbols":
		list, failed := v.WorkspaceSymbols(ctx, a.in.Query)
		if len(list) == 0 && len(failed) > 0 {
			return Result{}, a.worded(errors.Join(failed...))
		}
		return a.symbols(list, failed), nil
	case "diagnostics":
		p, err := v.Diagnostics(ctx, a.file.Target)
		if err != nil {
			return Result{}, a.worded(err)
		}
		return a.problems(p), nil
	}
	t, err := a.target(ctx)
	if err != nil {
		return Result{}, a.worded(err)
	}
	list, err := v.Actions(ctx, t, lsp.Lines{First: a.in.Line, Last: a.in.EndLine})
	if err != nil {
		return Result{}, a.worded(err)
	}
	return a.actions(list), nil
}

// worded is an error with the symbols that a name may mean.
func (a *lspCall) worded(err error) error {
	var several *lsp.AmbiguousError
	if !errors.As(err, &several) {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v:", err)
	for i, c := range several.Candidates {
		if i == maxCandidates {
			fmt.Fprintf(&b, "\nand %d more", len(several.Candidates)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s:%d: %s %s", a.ws.Name(c.Path), c.At.Line, c.Kind, a.joinName(c))
	}
	return errors.New(b.String())
}

// maxCandidates is how many symbols of one name are listed.
const maxCandidates = 20

// joinName is a symbol's name with what holds it.
func (a *lspCall) joinName(s lsp.Symbol) string {
	if s.In == "" {
		return a.called(s.Name)
	}
	return a.called(s.In) + "." + a.called(s.Name)
}

// called is a symbol's name on one line. Modules are called by their files, as the
// project calls those.
func (a *lspCall) called(name string) string {
	name = oneLine(lineText(name))
	if bare := strings.Trim(name, `"`); filepath.IsAbs(bare) {
		return a.ws.Name(bare)
	}
	return name
}

// hidden reports whether a rule keeps a file's text from being shown, by its name or
// by that of the file which it leads to.
func (a *lspCall) hidden(path string) bool {
	if a.show == nil {
		return false
	}
	hide, known := a.kept[path]
	if !known {
		p, err := a.ws.Follow(path)
		hide = err != nil || !a.show(kinds.PathAccess{Access: kinds.Read, Path: p.Asked, Target: p.Target})
		a.kept[path] = hide
	}
	return hide
}

// servers is the call that tells of the servers.
func (a *lspCall) servers() *Action {
	return &Action{
		Card:  kinds.Output("Language servers"),
		Facts: kinds.Facts{ReadOnly: true, Concurrent: true, Harmless: true},
		Run: func(context.Context, func(Output)) (Result, error) {
			return plainResult(ServersText(a.ws.LSP, a.ws.Name)), nil
		},
	}
}

// ServersText tells of language servers, a line each, or why there are none; name is
// how a root is called.
func ServersText(v *lsp.View, name func(string) string) string {
	if err := v.Refused(); err != nil {
		return err.Error()
	}
	list := v.Status()
	if len(list) == 0 && v.Missing() != nil {
		return kinds.Capital(v.Missing().Error()) + "."
	}
	if len(list) == 0 {
		return "No language server runs. One starts when a file of its language is asked about."
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.Name)
		if s.Version != "" {
			b.WriteString(" " + oneLine(s.Version))
		}
		fmt.Fprintf(&b, " for %s", strings.Join(s.Languages, ", "))
		if root := name(s.Root); root != "." {
			b.WriteString(" in " + root)
		}
		b.WriteString(": " + string(s.State))
		if s.State == lsp.Running {
			fmt.Fprintf(&b, " for %s, pid %d, %s open", s.Up, s.PID, count(s.Open, "file"))
			if s.Memory > 0 {
				fmt.Fprintf(&b, ", %d MB", s.Memory/1e6)
			}
		}
		if s.Busy != "" {
			b.WriteString("; at work: " + s.Busy)
		}
		if s.Crashes > 0 {
			b.WriteString("; crashed " + count(s.Crashes, "time"))
		}
		if s.Error != "" {
			b.WriteString("; last error: " + oneLine(s.Error))
		}
	}
	return b.String()
}

// plainResult is a result that the editor shows as it is.
func plainResult(text string) Result {
	return Result{Text: text, Shown: kinds.Fence("", kinds.Escape(wireText(text)))}
}

// places are the first places of what was found, for the editor, each line once.
func (a *lspCall) places(list []lsp.Found) []kinds.Location {
	out := []kinds.Location{}
	for _, f := range list {
		if f.Path == "" {
			continue
		}
		at := kinds.Location{Path: a.asked(f.Path), Line: f.At.Line}
		if len(out) < maxPlaces && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// asked is a resolved path as the client spells it.
func (a *lspCall) asked(path string) string { return kinds.Root(a.ws.Dir()).Abs(a.ws.Name(path)) }
