package lsp

import (
	"encoding/json"
	"testing"
)

// TestUnions: what servers send in several forms means the same in each.
func TestUnions(t *testing.T) {
	for _, data := range []string{
		`{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}`,
		`[{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}]`,
		`[{"targetUri":"file:///a","targetRange":{"start":{"line":0,"character":0},"end":{"line":9,"character":0}},"targetSelectionRange":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}]`,
		`{"targetUri":"file:///a","targetRange":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}`,
	} {
		var l locations
		if err := json.Unmarshal([]byte(data), &l); err != nil || len(l) != 1 || l[0].URI != "file:///a" || l[0].Range.Start != (pos(1, 2)) {
			t.Errorf("%s: %+v, %v", data, l, err)
		}
	}
	for _, data := range []string{`null`, `[]`} {
		var l locations
		if err := json.Unmarshal([]byte(data), &l); err != nil || len(l) != 0 {
			t.Errorf("%s: %+v, %v", data, l, err)
		}
	}
	for data, want := range map[string]string{
		`"text"`: "text", `{"kind":"markdown","value":"*x*"}`: "*x*", `{"language":"go","value":"x"}`: "```go\nx\n```",
		`["a",{"language":"go","value":"b"}]`: "a\n\n```go\nb\n```", `null`: "", `[]`: "",
	} {
		var h hover
		if err := json.Unmarshal([]byte(`{"contents":`+data+`}`), &h); err != nil || string(h.Contents) != want {
			t.Errorf("%s: %q, %v; want %q", data, h.Contents, err, want)
		}
	}
	for data, want := range map[string]code{`1`: "1", `"E1"`: "E1", `-32768`: "-32768", `null`: "", `{"value":"x"}`: "x", `{"value":7,"target":"t"}`: "7", `{"value":{}}`: "", `[]`: ""} {
		var d wireDiagnostic
		if err := json.Unmarshal([]byte(`{"message":"m","code":`+data+`}`), &d); err != nil || d.Code != want {
			t.Errorf("%s: %q, %v; want %q", data, d.Code, err, want)
		}
	}
	for data, want := range map[string]syncOptions{
		`1`: {OpenClose: true, Change: 1, Save: true}, `0`: {OpenClose: true},
		`{"openClose":true,"change":2,"save":{"includeText":true}}`: {OpenClose: true, Change: 2, Save: true, SaveText: true},
		`{"change":2,"save":true}`:                                  {Change: 2, Save: true}, `null`: {OpenClose: true},
	} {
		var s syncOptions
		if err := json.Unmarshal([]byte(data), &s); err != nil || s != want {
			t.Errorf("%s: %+v, %v; want %+v", data, s, err, want)
		}
	}
}

func TestWorkspaceEdits(t *testing.T) {
	for data, want := range map[string]int{
		`{"changes":{"file:///b":[],"file:///a":[{"range":{},"newText":"x"}]}}`: 2,
		`{"documentChanges":[{"textDocument":{"uri":"file:///a","version":null},"edits":[]},{"kind":"create","uri":"file:///c"},{"kind":"rename","oldUri":"file:///a","newUri":"file:///d"},{"kind":"delete","uri":"file:///e"}]}`: 4,
		`{"changes":{"file:///a":[]},"documentChanges":[]}`: 0,
		`{}`: 0, `{"changes":null}`: 0,
	} {
		var w workspaceEdit
		if err := json.Unmarshal([]byte(data), &w); err != nil || len(w.steps) != want {
			t.Errorf("%s: %d steps, %v; want %d", data, len(w.steps), err, want)
		}
	}
	for _, data := range []string{`{"documentChanges":[{"kind":"snippet"}]}`, `{"documentChanges":[{"edits":[]}]}`, `{"documentChanges":[{"kind":"create"}]}`, `{"documentChanges":[{"kind":"rename","oldUri":"file:///a"}]}`, `{"changes":[]}`} {
		var w workspaceEdit
		if err := json.Unmarshal([]byte(data), &w); err == nil {
			t.Errorf("%s: no error", data)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{`null`, `[]`, `{"uri":"file:///a","range":{}}`, `{"contents":["a",{"value":"b"}]}`, `{"changes":{"file:///a":[{"range":{},"newText":"x"}]}}`, `[{"name":"x","location":{"uri":"file:///a"}}]`, `{"documentChanges":[{"kind":"create","uri":"file:///c"}]}`, `{"title":"t","command":"c"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, v := range []any{&locations{}, &symbols{}, &hover{}, &workspaceEdit{}, &publishParams{}, &pullReport{}, &[]codeAction{}, &[]callItem{}, &[]callEdge{}, &initializeResult{}} {
			_ = json.Unmarshal(data, v) // must not panic
		}
		_, _ = newWatch(data)
		section(data, "a.b.c")
	})
}
