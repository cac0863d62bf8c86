package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Found is a place that a look-up found.
type Found struct {
	Path    string // absolute
	At, End Place
	Line    string  // the line's text
	Shown   bool    // Line is there: the file may be read
	In      *Symbol // the declaration around it; nil: not looked for, or none
	Name    string  // of a call: what calls, or is called
	Kind    string
	Calls   []Place // of a call: where in Path, or in the caller
}

// Relation is what a look-up looks for.
type Relation string

// The relations.
const (
	Definition     Relation = "definition"
	TypeDefinition Relation = "type_definition"
	Implementation Relation = "implementation"
	References     Relation = "references"
	Incoming       Relation = "incoming_calls"
	Outgoing       Relation = "outgoing_calls"
)

// method is the request of a relation, and the capability that it needs.
func (r Relation) method() (method, provider string) {
	switch r {
	case TypeDefinition:
		return "textDocument/typeDefinition", "typeDefinitionProvider"
	case Implementation:
		return "textDocument/implementation", "implementationProvider"
	case References:
		return "textDocument/references", "referencesProvider"
	}
	return "textDocument/definition", "definitionProvider"
}

// can reports whether the server has a capability.
func (s session) can(provider string) bool { return truthy(s.caps.has[provider]) }

// cannot says that the server has none.
func (s session) cannot(what string) error {
	return fmt.Errorf("%s cannot %s", s.server.spec.Name, what)
}

// Answer is what a look-up came to.
type Answer struct {
	Found  []Found
	Server string
	Busy   string // what the server is at, so that there may be more; empty: nothing
}

// LookUp finds what stands in a relation to a symbol. No error and nothing found
// means that the server knows of none.
func (v *View) LookUp(ctx context.Context, rel Relation, q Target) (Answer, error) {
	if rel == Incoming || rel == Outgoing {
		return v.calls(ctx, rel, q)
	}
	var out Answer
	err := v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		method, provider := rel.method()
		if !s.can(provider) {
			return s.cannot("look up a " + strings.ReplaceAll(string(rel), "_", " "))
		}
		places, err := s.places(ctx, q)
		if err != nil {
			return err
		}
		var found locations
		for _, at := range places {
			if err = s.ask(ctx, method, lookupParams(rel, s.doc.path, at), &found); err != nil || len(found) > 0 {
				break
			}
		}
		if err != nil {
			return err
		}
		out = Answer{Found: v.found(ctx, s, found), Server: s.server.spec.Name, Busy: s.client.busy()}
		if rel == Definition {
			v.enclose(ctx, s, out.Found)
		}
		return nil
	})
	return out, err
}

// lookupParams are the parameters of a look-up.
func lookupParams(rel Relation, path string, at Position) any {
	base := positionParams{identifier{fileURI(path)}, at}
	if rel != References {
		return base
	}
	return struct {
		positionParams
		Context map[string]bool `json:"context"`
	}{base, map[string]bool{"includeDeclaration": true}}
}

// lineText gives the texts of files, each read once, as the agent sees them; nil
// for one that must not be read.
func (v *View) lineText(ctx context.Context) func(path string) *text {
	known := map[string]*text{}
	return func(path string) *text {
		if t, ok := known[path]; ok {
			return t
		}
		var t *text
		if _, inside := v.find.folder(path); inside {
			if body, _, err := v.opts.Read(ctx, path); err == nil {
				t = newText(body)
			}
		}
		known[path] = t
		return t
	}
}

// found turns what a server answered into places. Those without a file are left
// out, and a place that is there twice counts once.
func (v *View) found(ctx context.Context, s session, list []wireLocation) []Found {
	texts := v.lineText(ctx)
	var out []Found
	for _, l := range list {
		path, err := filePath(l.URI)
		if err != nil {
			continue
		}
		f := s.locate(path, l.Range, texts)
		if !slices.ContainsFunc(out, func(o Found) bool { return o.Path == f.Path && o.At == f.At && o.End == f.End }) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Found) int {
		if a.Path != b.Path {
			switch s.doc.path { // the file that was asked about first
			case a.Path:
				return -1
			case b.Path:
				return 1
			}
			return strings.Compare(a.Path, b.Path)
		}
		return a.At.Line - b.At.Line
	})
	return out
}

// locate is a place in a file.
func (s session) locate(path string, r Range, texts func(path string) *text) Found {
	t := texts(path)
	if path == s.doc.path {
		t = s.doc.text
	}
	if t == nil { // columns as the server counts them: the same, but on odd lines
		return Found{
			Path: path,
			At:   Place{int(r.Start.Line) + 1, int(r.Start.Character) + 1},
			End:  Place{int(r.End.Line) + 1, int(r.End.Character) + 1},
		}
	}
	return Found{Path: path, At: t.place(r.Start, s.unit), End: t.place(r.End, s.unit), Line: t.line(int(r.Start.Line)), Shown: true}
}

// maxEnclosed is for how many definitions the declaration around them is looked up.
const maxEnclosed = 5

// enclose finds the declarations around definitions in files of the project.
func (v *View) enclose(ctx context.Context, s session, found []Found) {
	if !s.can("documentSymbolProvider") {
		return
	}
	for i := range found[:min(len(found), maxEnclosed)] {
		f := &found[i]
		if _, inside := v.find.folder(f.Path); !inside {
			continue
		}
		doc, err := v.show(ctx, s.run, f.Path)
		if err != nil {
			continue
		}
		all, err := session{run: s.run, doc: doc}.outline(ctx)
		if err != nil {
			continue
		}
		f.In = around(all, f.At)
	}
}

// around is the declaration of what stands at a place, or else the smallest around
// it that holds code. nil: there is none.
func around(all []Symbol, at Place) *Symbol {
	var out *Symbol
	for _, d := range all {
		switch {
		case d.At == at:
			return &d
		case d.First > at.Line || at.Line > d.Last || !holdsCode(d.Kind):
		case out == nil || d.Last-d.First <= out.Last-out.First:
			out = &d
		}
	}
	return out
}

// holdsCode reports whether a declaration of that kind has others, or statements,
// in it.
func holdsCode(kind string) bool {
	switch kind {
	case "function", "method", "constructor", "class", "struct", "interface", "enum", "module", "namespace", "package":
		return true
	}
	return false
}

// Hover is what the server says about a symbol, as Markdown; empty: nothing.
func (v *View) Hover(ctx context.Context, q Target) (out string, err error) {
	err = v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		if !s.can("hoverProvider") {
			return s.cannot("describe a symbol")
		}
		places, err := s.places(ctx, q)
		if err != nil {
			return err
		}
		for _, at := range places {
			var answer hover
			if err := s.ask(ctx, "textDocument/hover", positionParams{identifier{fileURI(s.doc.path)}, at}, &answer); err != nil {
				return err
			}
			if out = strings.TrimSpace(string(answer.Contents)); out != "" {
				return nil
			}
		}
		return nil
	})
	return out, err
}

// calls finds what calls a function, or what it calls.
func (v *View) calls(ctx context.Context, rel Relation, q Target) (Answer, error) {
	var out Answer
	err := v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		if !s.can("callHierarchyProvider") {
			return s.cannot("follow calls")
		}
		places, err := s.places(ctx, q)
		if err != nil {
			return err
		}
		var items []callItem
		for _, at := range places {
			if err := s.ask(ctx, "textDocument/prepareCallHierarchy", positionParams{identifier{fileURI(s.doc.path)}, at}, &items); err != nil {
				return err
			}
			if len(items) > 0 {
				break
			}
		}
		if len(items) == 0 {
			return errors.New("no function stands there; name one by its symbol")
		}
		out.Server, out.Busy = s.server.spec.Name, s.client.busy()
		texts := v.lineText(ctx)
		for _, item := range items {
			found, err := s.edges(ctx, rel, item, texts)
			if err != nil {
				return err
			}
			out.Found = append(out.Found, found...)
		}
		return nil
	})
	return out, err
}

// edges are the calls to or from one item.
func (s session) edges(ctx context.Context, rel Relation, item callItem, texts func(path string) *text) ([]Found, error) {
	method := "callHierarchy/incomingCalls"
	if rel == Outgoing {
		method = "callHierarchy/outgoingCalls"
	}
	var edges []callEdge
	if err := s.ask(ctx, method, map[string]any{"item": item.raw}, &edges); err != nil {
		return nil, err
	}
	var out []Found
	for _, e := range edges {
		end, callsIn := e.From, e.From
		if rel == Outgoing {
			end, callsIn = e.To, &item
		}
		if end == nil {
			continue
		}
		path, err := filePath(end.URI)
		if err != nil {
			continue
		}
		f := s.locate(path, end.SelectionRange, texts)
		f.Name, f.Kind = end.Name, kindName(end.Kind)
		if from, err := filePath(callsIn.URI); err == nil {
			for _, r := range e.FromRanges {
				if at := s.locate(from, r, texts).At; !slices.Contains(f.Calls, at) {
					f.Calls = append(f.Calls, at)
				}
			}
		}
		out = append(out, f)
	}
	return out, nil
}
