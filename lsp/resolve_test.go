package lsp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSymbolNames(t *testing.T) {
	for written, want := range map[string][2]string{
		"Add": {"", "Add"}, " Add() ": {"", "Add"}, "Store.Add": {"Store", "Add"}, "(*Store).Add": {"*Store", "Add"},
		"(*Store).Add(item string) int": {"", ""}, "(*Store).Add(item string)": {"*Store", "Add"},
		"pkg.Func": {"pkg", "Func"}, "net/http.Get": {"net.http", "Get"}, "Class::method": {"Class", "method"},
		"a::b::c": {"a.b", "c"}, "Class#method": {"Class", "method"}, "#count": {"", "count"}, "p->next": {"p", "next"},
		"List[T].Len": {"List", "Len"}, "Map[K, pkg.V].Get": {"Map", "Get"}, "Vec<T>::push": {"Vec", "push"},
		"List[pkg.T]": {"", "List"}, "add(String) : int": {"", "add"}, "main(String[])": {"", "main"}, "add/2": {"", "add"},
		`App\Models\User::find`: {"App.Models.User", "find"}, "Foo::operator()": {"Foo", "operator()"},
		"Foo::operator==": {"Foo", "operator=="}, "operator<": {"", "operator<"}, "Foo::operator[]": {"Foo", "operator[]"},
		"operators": {"", "operators"}, "my.operator": {"my", "operator"}, "Foo::~Foo": {"Foo", "~Foo"}, "`Add`": {"", "Add"},
		"(Store) Add": {"", "(Store) Add"}, "": {"", ""}, "日本.語": {"日本", "語"}, "a <": {"", "a <"}, "$x": {"", "$x"},
	} {
		if holder, name := symbolName(written); want[1] != "" && (strings.Trim(holder, "*") != strings.Trim(want[0], "*") || name != want[1]) {
			t.Errorf("%q is %q in %q, want %q", written, name, holder, want)
		}
	}
	for holder, want := range map[string]string{"(*Store)": "Store", "impl Display for Store<T>": "Store", "a.b": "b", "List[T]": "List", "": "", `"main"`: "main"} {
		if got := lastName(holder); got != want {
			t.Errorf("what %q ends with is %q, want %q", holder, got, want)
		}
	}
}

func FuzzSymbolNames(f *testing.F) {
	for _, seed := range []string{"(*Store).Add(x)", "Vec<T>::push", "operator()", "a[", "]>", "日本.語", "f() : T"} {
		f.Add(seed, "x "+seed+" y")
	}
	f.Fuzz(func(t *testing.T, written, body string) {
		_, name := symbolName(written)
		lastName(written)
		if i := wordIndex(body, name); i >= 0 && !strings.HasPrefix(body[i:], name) {
			t.Errorf("%q stands at %d of %q?", name, i, body)
		}
	})
}

// symbolsScript is a server whose outline is a Store and a Cache that both have Add.
const symbolsScript = `{
	"Capabilities": {"documentSymbolProvider": true},
	"Answers": {"textDocument/documentSymbol": [
		{"name": "Store", "kind": 5, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 9}}, "selectionRange": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}},
		 "children": [{"name": "Add", "kind": 6, "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 9}}, "selectionRange": {"start": {"line": 1, "character": 5}, "end": {"line": 1, "character": 8}}}]},
		{"name": "Cache", "kind": 5, "range": {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 9}}, "selectionRange": {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 9}},
		 "children": [{"name": "Add", "kind": 6, "range": {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 9}}, "selectionRange": {"start": {"line": 3, "character": 5}, "end": {"line": 3, "character": 8}}}]},
		{"name": "start", "kind": 12, "range": {"start": {"line": 5, "character": 0}, "end": {"line": 5, "character": 9}}, "selectionRange": {"start": {"line": 5, "character": 4}, "end": {"line": 5, "character": 9}}}
	]}
}`

const symbolsText = "def Store\n def Add\ndef Cache\n def Add\n// start begins it, total $total total\ndef start\nstore.Add fmt.Println total Cache.Add\n"

func TestPlaces(t *testing.T) {
	p := newProject(t, scriptedConfig(), "a.fake", symbolsText, scriptFile, symbolsScript)
	for _, tt := range []struct {
		name string
		q    Target
		want []Place // the first ones
		err  string
	}{
		{name: "held", q: Target{Symbol: "Cache.Add"}, want: []Place{{4, 6}}},
		{name: "held, as Go writes it", q: Target{Symbol: "(*Store).Add"}, want: []Place{{2, 6}}},
		{name: "held, by letters", q: Target{Symbol: "cache::Add"}, want: []Place{{4, 6}}},
		{name: "several", q: Target{Symbol: "Add"}, err: "2 symbols are named Add; say which by its line, or with what holds it"},
		{name: "the first from a line on", q: Target{Symbol: "Add", Line: 3}, want: []Place{{4, 6}, {7, 7}}},
		{name: "on the line", q: Target{Symbol: "Add", Line: 7}, want: []Place{{7, 7}, {7, 35}}},
		{name: "on the line, held", q: Target{Symbol: "Cache.Add", Line: 7}, want: []Place{{7, 35}, {7, 7}}},
		{name: "on the line, by a column", q: Target{Symbol: "Add", Line: 7, Column: 36}, want: []Place{{7, 35}, {7, 7}}},
		{name: "of a package", q: Target{Symbol: "fmt.Println"}, want: []Place{{7, 15}}},
		{name: "in text only", q: Target{Symbol: "total"}, want: []Place{{5, 21}, {5, 34}, {5, 28}, {7, 23}}},
		{name: "in a comment, then declared", q: Target{Symbol: "start", Line: 5}, want: []Place{{5, 4}, {6, 5}}},
		{name: "of another", q: Target{Symbol: "List.Add"}, err: "no List.Add stands in the file from line 1 on; there is Store.Add on line 2, Cache.Add on line 4"},
		{name: "only before", q: Target{Symbol: "Println", Line: 8}, err: "Println does not stand on line 8 or behind it; it stands on line 7"},
		{name: "like another", q: Target{Symbol: "Printn"}, err: "Printn does not stand in the file as a whole word; there is Println"},
		{name: "unknown", q: Target{Symbol: "nowhere"}, err: "nowhere does not stand in the file as a whole word; check the name and the path"},
		{name: "behind the end", q: Target{Symbol: "Add", Line: 9}, err: "line 9 lies behind the end: the file has 8 lines"},
		{name: "a column behind the end", q: Target{Line: 1, Column: 11}, err: "column 11 lies behind the end of line 1, which has 9 characters"},
		{name: "at the end of a line", q: Target{Line: 1, Column: 10}, want: []Place{{1, 10}}},
		{name: "nothing", q: Target{Symbol: "Store."}, err: `symbol "Store." names nothing`},
	} {
		tt.q.Path = p.path("a.fake")
		var got []Place
		err := p.view.with(p.context(), tt.q.Path, func(ctx context.Context, s session) error {
			places, err := s.places(ctx, tt.q)
			for _, at := range places {
				got = append(got, s.doc.text.place(at, s.unit))
			}
			return err
		})
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil || len(got) < len(tt.want) || !slices.Equal(got[:len(tt.want)], tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.name, got, err, tt.want)
		}
	}
	var several *AmbiguousError
	if _, err := p.view.Hover(p.context(), Target{Path: p.path("a.fake"), Symbol: "Add"}); err == nil || errors.As(err, &several) {
		t.Errorf("a hover of a server that has none: %v", err)
	}
}
