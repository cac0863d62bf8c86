package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestManyReferences: of many places only those that are asked for are looked into,
// the nearest first, and all are counted, each once.
func TestManyReferences(t *testing.T) {
	const most = 20_000
	var list []wireLocation
	for i := range most {
		list = append(list, wireLocation{"ROOT/" + []string{"z", "a", "b"}[i%3] + ".fake", lineRange(0, i, i+1)})
	}
	list = append(list, list[:1000]...)
	list = append(list, wireLocation{URI: "jdt://x"}, wireLocation{URI: "file:///outside"})
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	long := "def foo " + strings.Repeat("x", most) + "\n"
	p := newProject(t, scriptedConfig(), "b.fake", long, "a.fake", long, "z.fake", long, scriptFile, answers("textDocument/references", string(data), ""))
	a, err := p.view.LookUp(p.context(), References, Target{Path: p.path("b.fake"), Symbol: "foo", Most: 1000})
	if err != nil || a.All != most+2 || len(a.Found) != 1000 {
		t.Fatalf("%d of %d, %v", len(a.Found), a.All, err)
	}
	for i, f := range a.Found {
		if want := (Place{1, 3*i + 3}); f.Path != p.path("b.fake") || f.At != want || !f.Shown {
			t.Fatalf("%d is %+v, want %v", i, f, want)
		}
	}
	if all, err := p.view.LookUp(p.context(), References, Target{Path: p.path("b.fake"), Symbol: "foo"}); err != nil || len(all.Found) != most+2 || all.Found[most].Path != "/outside" || all.Found[most+1].URI != "jdt://x" {
		t.Errorf("%d, %v", len(all.Found), err)
	}
}

// TestPicturesAreLeftOut: pictures that stand in a text are no text.
func TestPicturesAreLeftOut(t *testing.T) {
	for in, want := range map[string]string{
		"a":                                    "a",
		"a ![p](data:x,y) b ![](data:z)":       "a  b ",
		"![p](http://x) [l](data:x)":           "![p](http://x) [l](data:x)",
		"[l](data:x)":                          "[l](data:x)",
		"![p](data:x":                          "![p](data:x",
		"![p](http://x) and ![q](data:x), end": "![p](http://x) and , end",
	} {
		if got := withoutImages(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestDeepOutline: symbols that hold one another without an end in sight are listed.
func TestDeepOutline(t *testing.T) {
	const deep = 3000
	one := `{"name": "name", "kind": 12, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}, "selectionRange": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}, "children": [`
	p := newProject(t, scriptedConfig(), "a.fake", "def foo\n", scriptFile,
		answers("textDocument/documentSymbol", "["+strings.Repeat(one, deep)+strings.Repeat("]}", deep)+"]", `"documentSymbolProvider": true`))
	list, err := p.view.Symbols(p.context(), p.path("a.fake"))
	if err != nil || len(list) != deep || list[deep-1].Depth != deep-1 || len(list[deep-1].In) > 10*maxHolders {
		t.Errorf("%d, %v", len(list), err)
	}
}

// TestLookUpAnswers: every form of an answer, and of a refusal, comes to places or a
// reason.
func TestLookUpAnswers(t *testing.T) {
	const at = `{"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}`
	const item = `{"name": "run", "kind": 12, "uri": "ROOT/a.fake", "range": ` + at + `, "selectionRange": ` + at + `}`
	for _, tt := range []struct {
		rel          Relation
		answer, want string
	}{
		{Definition, `{"uri": "ROOT/a.fake", "range": ` + at + `}`, "a.fake 2:1 foo"},
		{Definition, `[{"targetUri": "ROOT/a%2Efake", "targetRange": ` + at + `, "targetSelectionRange": ` + at + `}]`, "a.fake 2:1 foo"},
		{Definition, `[null, {"uri": ""}]`, ""},
		{TypeDefinition, `null`, ""},
		{Implementation, `[]`, ""},
		{Definition, `{"uri": "ROOT/a.fake", "range": {"start": {"line": 40, "character": 7}, "end": {"line": 41, "character": 0}}}`, "a.fake 41:1 "},
		{Incoming, `null`, "error: no function stands there; name one by its symbol"},
		{Incoming, `[` + item + `]`, "a.fake 2:1 foo"},
	} {
		provider := map[Relation]string{TypeDefinition: "typeDefinitionProvider", Implementation: "implementationProvider", Incoming: "callHierarchyProvider"}[tt.rel]
		method, _ := tt.rel.method()
		if tt.rel == Incoming {
			method = "textDocument/prepareCallHierarchy"
		}
		if provider == "" {
			provider = "definitionProvider"
		}
		p := newProject(t, scriptedConfig(), "a.fake", "def foo\nfoo\n", scriptFile, fmt.Sprintf(
			`{"Capabilities": {%q: true}, "Answers": {%q: %s, "callHierarchy/incomingCalls": [null, {"from": %s, "fromRanges": [%s, %s]}]}}`, provider, method, tt.answer, item, at, at))
		a, err := p.view.LookUp(p.context(), tt.rel, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
		var got string
		for _, f := range a.Found {
			got += fmt.Sprintf("%s %d:%d %s", strings.TrimPrefix(f.Path, p.dir+"/"), f.At.Line, f.At.Column, f.Line)
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.rel, tt.answer, got, tt.want)
		}
	}
	p := newProject(t, scriptedConfig(), "a.fake", "def foo\nfoo\n", scriptFile, `{"Errors": {"textDocument/definition": "not here"}}`)
	if _, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo"}); err == nil || err.Error() != "fake answered: not here" {
		t.Errorf("error %v", err)
	}
}
