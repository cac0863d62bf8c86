package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Found is a place that a look-up found.
type Found struct {
	Path    string // absolute; empty where URI says it
	URI     string // of what is no file, such as a class in an archive
	At, End Place
	Line    string  // the line's text, without blanks around it; of a long one what stands around At
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
	Found  []Found // the first ones: as many as were asked for
	All    int     // how many there are
	Server string
	Busy   string // what the server is at, so that there may be more; empty: nothing
	Left   string // why there may be more all the same, a clause; empty: it is not known to be so
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
			return s.cannot("look up " + strings.ReplaceAll(string(rel), "_", " "))
		}
		var found locations
		var asked Position
		err := s.first(ctx, q, func(at Position) (bool, error) {
			found, asked = nil, at
			if rel == References || rel == Implementation {
				out.Left = v.showProjects(ctx, s, s.wordAt(at))
			}
			err := s.ask(ctx, method, lookupParams(rel, s.doc.path, at), &found)
			if rel == Definition && q.declared {
				found = s.withOwn(found, at)
			}
			return len(found) > 0, err
		})
		if err != nil {
			return err
		}
		left := out.Left
		if rel == References {
			left = cmp.Or(left, v.unbuilt(ctx, s, asked, found.files()))
		}
		out = v.found(ctx, s, found, q.most())
		out.Left = left
		out.Server, out.Busy = s.server.spec.title(), s.client.busy()
		if rel == Definition {
			v.enclose(ctx, s, out.Found)
		}
		return nil
	})
	return out, err
}

// files are the files that locations are in.
func (l locations) files() map[string]bool {
	out := map[string]bool{}
	for _, one := range l {
		if path, err := filePath(one.URI); err == nil {
			out[path] = true
		}
	}
	return out
}

// withOwn adds the place that was asked about, which is a definition, where a server
// leads from there only to another declaration of the same, as clangd does to that in a
// header.
func (s session) withOwn(found locations, at Position) locations {
	for _, l := range found {
		if path, err := filePath(l.URI); err == nil && path == s.doc.path && l.Range.Start.Line <= at.Line && at.Line <= l.Range.End.Line {
			return found
		}
	}
	return append(found, wireLocation{URI: fileURI(s.doc.path), Range: Range{Start: at, End: at}})
}

// first asks about the places that a look-up may be about until one has an answer.
// What a server refuses at one of several places, as in a comment, it may have at
// the next; where there is none, its refusal is the error.
func (s session) first(ctx context.Context, q Target, ask func(Position) (answered bool, err error)) error {
	places, err := s.places(ctx, q)
	if err != nil {
		return err
	}
	var refused error
	for _, at := range places {
		answered, err := ask(at)
		switch {
		case answered && err == nil:
			return nil
		case err == nil:
		case errors.Is(err, errAnswered):
			refused = cmp.Or(refused, err)
		default:
			return err
		}
	}
	return refused
}

// errAnswered is what the errors are that a server answers with, whichever those are.
var errAnswered = errors.New("answered with an error")

// Is has a refusal be an errAnswered.
func (e *refusal) Is(target error) bool { return target == errAnswered }

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

// found turns what a server answered into places: the file that was asked about
// first, then the project's, then others. A place that is there twice counts once.
// Only the files of those that are returned are read.
func (v *View) found(ctx context.Context, s session, list []wireLocation, most int) Answer {
	type place struct {
		wireLocation
		path string // empty: it is no file
		far  int    // from what was asked about
	}
	var places []place
	known := map[wireLocation]bool{}
	for _, l := range list {
		p := place{wireLocation: l, far: 3}
		if path, err := filePath(l.URI); err == nil {
			p.path, p.URI, p.far = path, "", 2
			if _, inside := v.find.folder(path); inside {
				p.far = 1
			}
			if path == s.doc.path {
				p.far = 0
			}
		}
		key := wireLocation{p.path + "\x00" + p.URI, p.Range}
		if !known[key] {
			known[key] = true
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		x, y := a.Range.Start, b.Range.Start
		return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.path, b.path), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Character, y.Character))
	})
	out := Answer{All: len(places)}
	texts := v.lineText(ctx)
	for _, p := range places[:min(len(places), most)] {
		f := s.locate(p.path, p.Range, texts)
		f.URI = p.URI
		out.Found = append(out.Found, f)
	}
	return out
}

// locate is a place in a file; an empty path is none.
func (s session) locate(path string, r Range, texts func(path string) *text) Found {
	var t *text
	switch path {
	case "":
	case s.doc.path:
		t = s.doc.text
	default:
		t = texts(path)
	}
	if t == nil { // columns as the server counts them: the same, but on odd lines
		return Found{
			Path: path,
			At:   Place{int(r.Start.Line) + 1, int(r.Start.Character) + 1},
			End:  Place{int(r.End.Line) + 1, int(r.End.Character) + 1},
		}
	}
	f := Found{Path: path, At: t.place(r.Start, s.unit), End: t.place(r.End, s.unit), Shown: true}
	if n := int(r.Start.Line); n < t.lines() {
		f.Line = t.shown(n, t.offset(r.Start, s.unit))
	}
	return f
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

// Described is what a server says of a symbol.
type Described struct {
	Text string
	From []string // the files where it is declared, from which the text may quote
}

// Hover is what a server says of a symbol; no text where it says nothing.
func (v *View) Hover(ctx context.Context, q Target) (out Described, err error) {
	err = v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		if !s.can("hoverProvider") {
			return s.cannot("describe a symbol")
		}
		var found Position
		err := s.first(ctx, q, func(at Position) (bool, error) {
			var answer hover
			err := s.ask(ctx, "textDocument/hover", positionParams{identifier{fileURI(s.doc.path)}, at}, &answer)
			out.Text, found = strings.TrimSpace(withoutImages(string(answer.Contents))), at
			return out.Text != "", err
		})
		if err == nil && out.Text != "" {
			out.From, err = s.declaring(ctx, found)
		}
		return err
	})
	return out, err
}

// withoutImages is Markdown without the pictures that stand in it: they are much text,
// and nobody sees them.
func withoutImages(text string) string {
	for {
		at := strings.Index(text, "](data:")
		if at < 0 {
			return text
		}
		from, to := strings.LastIndex(text[:at], "!["), strings.IndexByte(text[at:], ')')
		if from < 0 || to < 0 || strings.Contains(text[from:at], "]") {
			return text
		}
		text = text[:from] + text[at+to+1:]
	}
}

// declaring are the files in which what stands at a place is declared, as far as the
// server says.
func (s session) declaring(ctx context.Context, at Position) ([]string, error) {
	if !s.can("definitionProvider") {
		return nil, nil
	}
	var found locations
	err := s.ask(ctx, "textDocument/definition", positionParams{identifier{fileURI(s.doc.path)}, at}, &found)
	if err != nil && !errors.Is(err, errAnswered) {
		return nil, err
	}
	var files []string
	for _, l := range found {
		if path, err := filePath(l.URI); err == nil {
			files = append(files, path)
		}
	}
	return files, nil
}

// calls finds what calls a function, or what it calls.
func (v *View) calls(ctx context.Context, rel Relation, q Target) (Answer, error) {
	var out Answer
	err := v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		if !s.can("callHierarchyProvider") {
			return s.cannot("follow calls")
		}
		var items []callItem
		var asked Position
		err := s.first(ctx, q, func(at Position) (bool, error) {
			items, asked = nil, at
			if rel == Incoming {
				out.Left = v.showProjects(ctx, s, s.wordAt(at))
			}
			err := s.ask(ctx, "textDocument/prepareCallHierarchy", positionParams{identifier{fileURI(s.doc.path)}, at}, &items)
			return len(items) > 0, err
		})
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return errors.New("no function stands there; name one by its symbol")
		}
		out.Server, out.Busy = s.server.spec.title(), s.client.busy()
		texts, callers := v.lineText(ctx), map[string]bool{}
		for _, item := range items {
			edges, err := s.edges(ctx, rel, item)
			if err != nil {
				return err
			}
			for _, e := range edges {
				if path, err := filePath(e.end(rel).URI); err == nil {
					callers[path] = true
				}
			}
			out.All += len(edges)
			for _, e := range edges[:min(len(edges), q.most()-len(out.Found))] {
				out.Found = append(out.Found, s.call(rel, item, e, texts))
			}
		}
		if rel == Incoming {
			out.Left = cmp.Or(out.Left, v.unbuilt(ctx, s, asked, callers))
		}
		return nil
	})
	return out, err
}

// edges are the calls to or from one item.
func (s session) edges(ctx context.Context, rel Relation, item callItem) ([]callEdge, error) {
	method := "callHierarchy/incomingCalls"
	if rel == Outgoing {
		method = "callHierarchy/outgoingCalls"
	}
	var edges []callEdge
	if err := s.ask(ctx, method, map[string]any{"item": item.raw}, &edges); err != nil {
		return nil, err
	}
	edges = slices.DeleteFunc(edges, func(e callEdge) bool { return e.end(rel) == nil })
	slices.SortStableFunc(edges, func(a, b callEdge) int {
		x, y := a.end(rel), b.end(rel)
		return cmp.Or(strings.Compare(x.URI, y.URI), cmp.Compare(x.SelectionRange.Start.Line, y.SelectionRange.Start.Line))
	})
	return edges, nil
}

// end is the other end of a call.
func (e callEdge) end(rel Relation) *callItem {
	if rel == Outgoing {
		return e.To
	}
	return e.From
}

// call is a call to or from an item. The places of the calls are in the caller.
func (s session) call(rel Relation, item callItem, e callEdge, texts func(path string) *text) Found {
	end := e.end(rel)
	path, err := filePath(end.URI)
	f := s.locate(path, end.SelectionRange, texts)
	if err != nil {
		f.URI = end.URI
	}
	f.Name, f.Kind = end.Name, kindName(end.Kind)
	callsIn := end.URI
	if rel == Outgoing {
		callsIn = item.URI
	}
	from, err := filePath(callsIn)
	if err != nil {
		return f
	}
	for _, r := range e.FromRanges[:min(len(e.FromRanges), maxCalls)] {
		if at := s.locate(from, r, texts).At; !slices.Contains(f.Calls, at) {
			f.Calls = append(f.Calls, at)
		}
	}
	return f
}

// maxCalls is how many places of calls are told of one caller.
const maxCalls = 50
