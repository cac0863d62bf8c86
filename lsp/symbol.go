package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"
	"go.lsp.dev/protocol"
)

// Target is what a look-up is about: a symbol by its name, from Line on where that
// is not 0, or a place.
type Target struct {
	Path   string // absolute
	Symbol string // as it is written, perhaps with what holds it: Server.Start
	Line   int    // from 1; 0: any
	Column int    // from 1, in code points; 0: Symbol says it. With a Symbol: which one of the line
	Most   int    // of what is found; 0: all

	declared bool // it is where the symbol is declared
}

func (q Target) most() int {
	if q.Most <= 0 {
		return math.MaxInt
	}
	return q.Most
}

// Symbol is a declaration.
type Symbol struct {
	Name   string
	Detail string
	Kind   string // function, class, …
	Path   string // absolute
	At     Place  // of the name
	First  int    // line of the declaration, from 1
	Last   int
	In     string // what holds it; empty: nothing
	Depth  int    // in an outline
}

// AmbiguousError says that a name stands for several symbols.
type AmbiguousError struct {
	Name       string
	Candidates []Symbol
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d symbols are named %s; say which by its line, or with what holds it", len(e.Candidates), e.Name)
}

// kindName is a symbol's kind in words.
func kindName(k protocol.SymbolKind) string {
	if k < 1 || k > 26 {
		return "symbol"
	}
	switch k {
	case protocol.SymbolKindEnumMember:
		return "enum member"
	case protocol.SymbolKindTypeParameter:
		return "type parameter"
	}
	return strings.ToLower(k.String())
}

// outline asks for the symbols of a document, each behind what holds it.
func (s session) outline(ctx context.Context) ([]Symbol, error) {
	if !s.can("documentSymbolProvider") {
		return nil, s.cannot("list the symbols of a file")
	}
	var answer symbols
	if err := s.ask(ctx, "textDocument/documentSymbol", documentParams{identifier{fileURI(s.doc.path)}}, &answer); err != nil {
		return nil, err
	}
	var out []Symbol
	s.flatten(answer, "", 0, &out)
	return out, nil
}

// maxHolders is how many of what holds a symbol are named.
const maxHolders = 16

// flatten appends symbols with those that they hold.
func (s session) flatten(list symbols, in string, depth int, out *[]Symbol) {
	for _, from := range list {
		if from.Location != nil { // flat, without ranges of names
			if from.Location.Range == nil {
				continue
			}
			from.Range, from.SelectionRange = *from.Location.Range, s.nameIn(*from.Location.Range, from.Name)
		}
		first, last := s.doc.text.place(from.Range.Start, s.unit), s.doc.text.place(from.Range.End, s.unit)
		one := Symbol{
			Name: from.Name, Detail: from.Detail, Kind: kindName(from.Kind), Path: s.doc.path,
			At: s.doc.text.place(from.SelectionRange.Start, s.unit), First: first.Line, Last: last.Line,
			In: cmp.Or(in, from.ContainerName), Depth: depth,
		}
		*out = append(*out, one)
		holder := in
		if depth < maxHolders {
			holder = join(in, from.Name)
		}
		s.flatten(from.Children, holder, depth+1, out)
	}
}

// join is a symbol's name with what holds it, which some servers put before the
// name themselves.
func join(in, name string) string {
	if in == "" || strings.HasPrefix(name, in+".") {
		return name
	}
	return in + "." + name
}

// maxNameSearch is how many bytes of a declaration its name is looked for in.
const maxNameSearch = 64 << 10

// nameIn is where in a range the name stands, if it does; else the range's start.
func (s session) nameIn(r Range, name string) Range {
	t := s.doc.text
	from, to := t.offset(r.Start, s.unit), t.offset(r.End, s.unit)
	_, name = symbolName(name)
	if to = min(to, from+maxNameSearch); from <= to {
		if i := wordIndex(t.body[from:to], name); i >= 0 {
			return Range{Start: t.position(from+i, s.unit), End: t.position(from+i+len(name), s.unit)}
		}
	}
	return Range{Start: r.Start, End: r.Start}
}

// Symbols is the outline of a file.
func (v *View) Symbols(ctx context.Context, path string) (out []Symbol, err error) {
	err = v.with(ctx, path, func(ctx context.Context, s session) error {
		out, err = s.outline(ctx)
		return err
	})
	return out, err
}

// WorkspaceSymbols are the symbols of the project whose names are like query, the
// likest first, from all servers that this session uses, or whose marker the
// project has. Errors of single servers come beside what the others found.
func (v *View) WorkspaceSymbols(ctx context.Context, query string) ([]Symbol, []error) {
	servers, err := v.projectServers()
	if err != nil {
		return nil, []error{err}
	}
	var out []Symbol
	var failed []error
	for _, srv := range servers {
		err := v.withServer(ctx, srv, "", func(ctx context.Context, s session) error {
			found, err := v.symbolsNamed(ctx, s, query)
			out = append(out, found...)
			return err
		})
		if err != nil {
			failed = append(failed, err)
		}
	}
	slices.SortStableFunc(out, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.At.Line, b.At.Line))
	})
	rank(out, query, func(s Symbol) string { return s.Name })
	v.ownFirst(out, query)
	type place struct {
		path, name string
		at         Place
	}
	return unique(out, func(s Symbol) place { return place{s.Path, s.Name, s.At} }), failed
}

// ownFirst sorts the project's symbols before those of libraries, but for ones of just
// that name.
func (v *View) ownFirst(list []Symbol, query string) {
	_, query = symbolName(query)
	class := func(s Symbol) int {
		_, name := symbolName(s.Name)
		_, inside := v.find.folder(s.Path)
		switch exact := strings.EqualFold(name, query); {
		case exact && inside:
			return 0
		case exact:
			return 1
		case inside:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(list, func(a, b Symbol) int { return cmp.Compare(class(a), class(b)) })
}

// Locate is where the project declares a symbol of that name, for a look-up that
// names no file. Several are an *AmbiguousError.
func (v *View) Locate(ctx context.Context, written string) (Target, error) {
	holder, name := symbolName(written)
	list, failed := v.WorkspaceSymbols(ctx, name)
	same := v.declaredAs(list, holder, name)
	if len(same) == 0 && holder != "" && len(failed) == 0 { // it may be one of too many of that name
		list, failed = v.WorkspaceSymbols(ctx, holder+"."+name)
		same = v.declaredAs(list, holder, name)
	}
	switch {
	case len(same) == 1:
		return declaredTarget(same[0]), nil
	case len(same) > 1:
		if same = v.withoutExports(ctx, same); len(same) > 1 {
			return Target{}, &AmbiguousError{written, same}
		}
		return declaredTarget(same[0]), nil
	case len(failed) > 0:
		return Target{}, errors.Join(failed...)
	}
	var near []string
	for _, s := range list[:min(len(list), 3)] {
		near = append(near, join(s.In, s.Name))
	}
	if len(near) > 0 {
		return Target{}, fmt.Errorf("no symbol of the project is named %s; the likest: %s; name the file with path where it is used", written, strings.Join(near, ", "))
	}
	return Target{}, fmt.Errorf("no symbol of the project is named %s; name the file with path where it is used", written)
}

// declaredTarget is where a symbol is declared.
func declaredTarget(s Symbol) Target {
	return Target{Path: s.Path, Line: s.At.Line, Column: s.At.Column, declared: true}
}

// maxExports is how many symbols of a name are looked at to tell exports from what they
// pass on.
const maxExports = 8

// withoutExports are symbols of a name without those that only pass on another of them,
// as the index of a package does, which servers list beside it.
func (v *View) withoutExports(ctx context.Context, same []Symbol) []Symbol {
	if len(same) > maxExports {
		return same
	}
	left := slices.DeleteFunc(slices.Clone(same), func(s Symbol) bool {
		answer, err := v.LookUp(ctx, Definition, Target{Path: s.Path, Line: s.At.Line, Column: s.At.Column})
		return err == nil && len(answer.Found) == 1 && slices.ContainsFunc(same, func(o Symbol) bool {
			at := answer.Found[0]
			return o != s && o.Path == at.Path && o.At.Line == at.At.Line && (o.Path != s.Path || o.At.Line != s.At.Line)
		})
	})
	if len(left) == 0 {
		return same // they lead to each other
	}
	return left
}

// declaredAs are the symbols of the project with a name, those of a holder where
// one is given. A place counts once.
func (v *View) declaredAs(list []Symbol, holder, name string) []Symbol {
	var same []Symbol
	for _, s := range list {
		_, own := symbolName(s.Name)
		if _, inside := v.find.folder(s.Path); !inside || own != name {
			continue
		}
		if !slices.ContainsFunc(same, func(o Symbol) bool { return o.Path == s.Path && o.At == s.At }) {
			same = append(same, s)
		}
	}
	fit, _ := byHolder(same, holder)
	return fit
}

// projectServers are the servers that a question about the whole project goes to.
func (v *View) projectServers() ([]*server, error) {
	v.mu.Lock()
	out := slices.DeleteFunc(slices.Clone(v.used), func(s *server) bool { return s.spec.Beside })
	v.mu.Unlock()
	var firstErr error
	for _, dir := range v.opts.Dirs {
		for _, p := range v.marked(dir) {
			s, err := v.server(p)
			if err != nil {
				firstErr = cmp.Or(firstErr, err)
				continue
			}
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case firstErr != nil:
		return nil, firstErr
	}
	return nil, v.noProjectServer()
}

// noProjectServer is why there is no server that a question about the whole project
// could go to.
func (v *View) noProjectServer() error {
	return cmp.Or(v.Refused(), v.Missing(), fmt.Errorf("no language server was asked yet and no marker of a project is in %s; ask with a path first", v.opts.Dirs[0]))
}

// workspaceSymbols asks one server, again with the beginning of the name where
// the whole finds nothing: not all servers take approximate names.
func (s session) workspaceSymbols(ctx context.Context, query string, lines func(path string) *text) ([]Symbol, error) {
	if !s.can("workspaceSymbolProvider") {
		return nil, nil
	}
	var found symbols
	for _, q := range []string{query, prefix(query, 3), prefix(query, 1)} {
		found = nil
		if err := s.ask(ctx, "workspace/symbol", map[string]string{"query": q}, &found); err != nil {
			return nil, err
		}
		if q != query {
			found = slices.DeleteFunc(found, func(one symbol) bool { return !like(one.Name, query) })
		}
		if len(found) > 0 || q == "" {
			break
		}
	}
	rank(found, query, func(one symbol) string { return one.Name })
	var out []Symbol
	for _, from := range found[:min(len(found), maxSymbols)] {
		if one, ok := s.workspaceSymbol(ctx, from, lines); ok {
			out = append(out, one)
		}
	}
	return out, nil
}

// maxSymbols is how many symbols of the project one server is taken at its word for.
const maxSymbols = 1000

func prefix(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// like reports whether a name may be meant by a query: its letters in that order,
// or all but one or two of them.
func like(name, query string) bool {
	if len(name) > maxName {
		return false
	}
	if len(fuzzy.Find(query, []string{name})) > 0 {
		return true
	}
	return distance(strings.ToLower(name), strings.ToLower(query)) <= 1+len([]rune(query))/5
}

// maxName is the longest name in bytes that is compared with others.
const maxName = 200

// distance is how many letters must be changed, added or dropped.
func distance(a, b string) int {
	x, y := []rune(a[:min(len(a), maxName)]), []rune(b[:min(len(b), maxName)])
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		left := row[0]
		row[0] = i + 1
		for j := range y {
			cost := left
			if x[i] != y[j] {
				cost++
			}
			left, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// workspaceSymbol is a symbol as the server found it.
func (s session) workspaceSymbol(ctx context.Context, from symbol, lines func(path string) *text) (Symbol, bool) {
	if from.Location == nil {
		return Symbol{}, false
	}
	if from.Location.Range == nil {
		if raw, err := json.Marshal(from); err == nil {
			_ = s.ask(ctx, "workspaceSymbol/resolve", json.RawMessage(raw), &from)
		}
	}
	path, err := filePath(from.Location.URI)
	if err != nil {
		return Symbol{}, false
	}
	out := Symbol{Name: from.Name, Kind: kindName(from.Kind), Path: path, In: from.ContainerName, At: Place{1, 1}}
	if r := from.Location.Range; r != nil {
		out.At = Place{int(r.Start.Line) + 1, int(r.Start.Character) + 1}
		out.First, out.Last = int(r.Start.Line)+1, int(r.End.Line)+1
		if t := lines(path); t != nil {
			at := session{run: s.run, doc: synced{path: path, text: t}}.nameIn(*r, from.Name)
			out.At = t.place(at.Start, s.unit)
		}
	}
	return out, true
}

// rank sorts symbols, the likest to the query first.
func rank[S any](list []S, query string, nameOf func(S) string) {
	_, query = symbolName(query)
	lower := strings.ToLower(query)
	score := func(name string) int {
		_, name = symbolName(name)
		switch {
		case name == query:
			return 1 << 20
		case strings.EqualFold(name, query):
			return 1 << 19
		case strings.HasPrefix(strings.ToLower(name), lower):
			return 1<<18 - len(name)
		}
		if m := fuzzy.Find(query, []string{name}); len(m) > 0 {
			return m[0].Score
		}
		return -1<<10 - distance(strings.ToLower(name), lower)
	}
	scores := map[string]int{}
	for _, s := range list {
		if name := nameOf(s); len(scores) == 0 || scores[name] == 0 {
			scores[name] = score(name)
		}
	}
	slices.SortStableFunc(list, func(a, b S) int { return cmp.Compare(scores[nameOf(b)], scores[nameOf(a)]) })
}
