package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
	"go.lsp.dev/protocol"
)

// Target is what a look-up is about: a symbol by its name, from Line on where that
// is not 0, or a place.
type Target struct {
	Path   string // absolute
	Symbol string // as it is written, perhaps with what holds it: Server.Start
	Line   int    // from 1; 0: any
	Column int    // from 1, in code points; 0: Symbol says it
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
	return fmt.Sprintf("%d symbols are named %s; say which by its line", len(e.Candidates), e.Name)
}

// symbolName takes a name apart: the identifier, and what holds it.
func symbolName(written string) (holder, name string) {
	written = strings.TrimSpace(written)
	written = strings.TrimSuffix(written, "()")
	for _, separator := range []string{"::", "->", "#", "/"} {
		written = strings.ReplaceAll(written, separator, ".")
	}
	i := strings.LastIndexByte(written, '.')
	if i < 0 {
		return "", written
	}
	return strings.Trim(written[:i], "()*&. "), written[i+1:]
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
		s.flatten(from.Children, join(in, from.Name), depth+1, out)
	}
}

func join(in, name string) string {
	if in == "" {
		return name
	}
	return in + "." + name
}

// nameIn is where in a range the name stands, if it does; else the range's start.
func (s session) nameIn(r Range, name string) Range {
	t := s.doc.text
	from, to := t.offset(r.Start, s.unit), t.offset(r.End, s.unit)
	_, name = symbolName(name)
	if from <= to {
		if i := wordIndex(t.body[from:to], name); i >= 0 {
			return Range{Start: t.position(from+i, s.unit), End: t.position(from+i+len(name), s.unit)}
		}
	}
	return Range{Start: r.Start, End: r.Start}
}

// places are where a look-up may be about, the likeliest first.
func (s session) places(ctx context.Context, q Target) ([]Position, error) {
	t := s.doc.text
	if q.Symbol == "" || q.Column > 0 {
		at, ok := t.at(Place{max(q.Line, 1), max(q.Column, 1)}, s.unit)
		if !ok {
			return nil, fmt.Errorf("line %d, column %d lies behind the end: the file has %d lines%s", q.Line, q.Column, t.lines(), lineLength(t, q.Line))
		}
		return []Position{at}, nil
	}
	holder, name := symbolName(q.Symbol)
	if name == "" {
		return nil, fmt.Errorf("symbol %q names nothing", q.Symbol)
	}
	if q.Line > t.lines() {
		return nil, fmt.Errorf("line %d lies behind the end: the file has %d lines", q.Line, t.lines())
	}
	if q.Line > 0 {
		if on := s.onLine(q.Line, name); len(on) > 0 {
			return on, nil
		}
	}
	declared, err := s.declared(ctx, holder, name)
	if err != nil {
		return nil, err
	}
	if q.Line > 0 {
		declared = slices.DeleteFunc(declared, func(d Symbol) bool { return d.At.Line < q.Line })
	} else if len(declared) > 1 {
		return nil, &AmbiguousError{q.Symbol, declared}
	}
	var out []Position
	for _, d := range declared {
		if at, ok := t.at(d.At, s.unit); ok {
			out = append(out, at)
		}
	}
	if len(out) > 0 {
		return out[:1], nil
	}
	if out = s.written(name, max(q.Line, 1), holder); len(out) == 0 {
		return nil, s.notFound(q, name)
	}
	return out, nil
}

// lineLength says how long a line is, for a message.
func lineLength(t *text, line int) string {
	if line < 1 || line > t.lines() {
		return ""
	}
	return fmt.Sprintf(", and line %d has %d characters", line, utf8.RuneCountInString(t.line(line-1)))
}

// declared are the symbols of the document with a name, those of a holder where one
// is given and found.
func (s session) declared(ctx context.Context, holder, name string) ([]Symbol, error) {
	if !s.can("documentSymbolProvider") {
		return nil, nil
	}
	all, err := s.outline(ctx)
	if err != nil {
		return nil, err
	}
	var out, held []Symbol
	for _, d := range all {
		in, own := symbolName(d.Name)
		if own != name {
			continue
		}
		out = append(out, d)
		if holder != "" && (lastName(in) == lastName(holder) || lastName(d.In) == lastName(holder)) {
			held = append(held, d)
		}
	}
	if len(held) > 0 {
		return held, nil
	}
	return out, nil
}

// lastName is the last part of a dotted name.
func lastName(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

// onLine are the places of a name on a line.
func (s session) onLine(line int, name string) []Position {
	t := s.doc.text
	var out []Position
	body, from := t.line(line-1), t.starts[line-1]
	for at := 0; ; {
		i := wordIndex(body[at:], name)
		if i < 0 {
			return out
		}
		out = append(out, t.position(from+at+i, s.unit))
		at += i + len(name)
	}
}

// maxPlaces is how many places of a name in a text are tried.
const maxPlaces = 8

// written are the first places of a name in the text from a line on, those behind
// what holds it first.
func (s session) written(name string, line int, holder string) []Position {
	t := s.doc.text
	var out, held []Position
	for n := line; n <= t.lines() && len(out) < maxPlaces; n++ {
		for _, at := range s.onLine(n, name) {
			before := t.body[t.starts[n-1]:t.offset(at, s.unit)]
			if holder != "" && strings.HasSuffix(strings.TrimRight(before, ".:->"), lastName(holder)) {
				held = append(held, at)
			} else {
				out = append(out, at)
			}
		}
	}
	return append(held, out...)
}

// notFound says that a name does not stand where it was looked for, and where it
// does.
func (s session) notFound(q Target, name string) error {
	var lines []string
	for _, at := range s.written(name, 1, "") {
		if n := fmt.Sprint(at.Line + 1); len(lines) == 0 || lines[len(lines)-1] != n {
			lines = append(lines, n)
		}
	}
	if len(lines) > 0 {
		return fmt.Errorf("%s does not stand on line %d or behind it; it stands on line %s", name, q.Line, strings.Join(lines[:min(5, len(lines))], ", "))
	}
	return fmt.Errorf("%s does not stand in the file as a whole word; check the name and the path", name)
}

// wordIndex is where in s a whole word stands first; below 0: nowhere.
func wordIndex(s, word string) int {
	if word == "" {
		return -1
	}
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return -1
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if (i == 0 || !inWord(before) || !inWord(first)) && (i+len(word) == len(s) || !inWord(after) || !inWord(last)) {
			return i
		}
		at = i + len(word)
	}
}

// inWord reports whether a rune may stand in an identifier.
func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

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
			found, err := s.workspaceSymbols(ctx, query, v.lineText(ctx))
			out = append(out, found...)
			return err
		})
		if err != nil {
			failed = append(failed, err)
		}
	}
	rank(out, query)
	return out, failed
}

// Locate is where the project declares a symbol of that name, for a look-up that
// names no file. Several are an *AmbiguousError.
func (v *View) Locate(ctx context.Context, written string) (Target, error) {
	holder, name := symbolName(written)
	list, failed := v.WorkspaceSymbols(ctx, name)
	var same, held []Symbol
	for _, s := range list {
		in, own := symbolName(s.Name)
		if _, inside := v.find.folder(s.Path); !inside || own != name {
			continue
		}
		same = append(same, s)
		if holder != "" && (lastName(in) == lastName(holder) || lastName(s.In) == lastName(holder)) {
			held = append(held, s)
		}
	}
	if len(held) > 0 {
		same = held
	}
	switch {
	case len(same) == 1:
		return Target{Path: same[0].Path, Line: same[0].At.Line, Column: same[0].At.Column}, nil
	case len(same) > 1:
		return Target{}, &AmbiguousError{written, same}
	case len(failed) > 0:
		return Target{}, errors.Join(failed...)
	case len(list) > 0:
		return Target{}, fmt.Errorf("no symbol of the project is named %s; the likest is %s; name the file with path where it is used", written, list[0].Name)
	}
	return Target{}, fmt.Errorf("no symbol of the project is named %s; name the file with path where it is used", written)
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
	return nil, fmt.Errorf("no language server was asked yet and no marker of a project is in %s; ask with a path first", v.opts.Dirs[0])
}

// workspaceSymbols asks one server, again with the beginning of the name where
// the whole finds nothing: not all servers take approximate names.
func (s session) workspaceSymbols(ctx context.Context, query string, lines func(path string) *text) ([]Symbol, error) {
	if !s.can("workspaceSymbolProvider") {
		return nil, nil
	}
	var out []Symbol
	for _, q := range []string{query, prefix(query, 3), prefix(query, 1)} {
		var answer symbols
		if err := s.ask(ctx, "workspace/symbol", map[string]string{"query": q}, &answer); err != nil {
			return nil, err
		}
		for _, from := range answer {
			if found, ok := s.workspaceSymbol(ctx, from, lines); ok && (q == query || like(found.Name, query)) {
				out = append(out, found)
			}
		}
		if len(out) > 0 || q == "" {
			break
		}
	}
	return out, nil
}

func prefix(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// like reports whether a name may be meant by a query: its letters in that order,
// or all but one or two of them.
func like(name, query string) bool {
	if len(fuzzy.Find(query, []string{name})) > 0 {
		return true
	}
	return distance(strings.ToLower(name), strings.ToLower(query)) <= 1+len([]rune(query))/5
}

// distance is how many letters must be changed, added or dropped.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
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
func rank(list []Symbol, query string) {
	_, query = symbolName(query)
	score := func(s Symbol) int {
		_, name := symbolName(s.Name)
		switch {
		case name == query:
			return 1 << 20
		case strings.EqualFold(name, query):
			return 1 << 19
		case strings.HasPrefix(strings.ToLower(name), strings.ToLower(query)):
			return 1<<18 - len(name)
		}
		if m := fuzzy.Find(query, []string{name}); len(m) > 0 {
			return m[0].Score
		}
		return -1<<10 - distance(strings.ToLower(name), strings.ToLower(query))
	}
	slices.SortStableFunc(list, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.At.Line, b.At.Line))
	})
}
