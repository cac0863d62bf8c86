package corpus_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/session/permission/corpus"
)

const folder = "../../../testdata/security"

// failing is how many benign cases of a file may ask too much still: it only
// sinks.
var failing = map[string]int{}

// TestCorpus judges every case of the repository: none may fail.
func TestCorpus(t *testing.T) {
	layout, err := cases.ReadLayout(filepath.Join(folder, "layout.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "path", "always", "net", "display"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := corpus.New(layout)
			defer r.Close()
			passed, strict, failed := 0, 0, 0
			for c, err := range cases.Read(filepath.Join(folder, name+"_cases.jsonl")) {
				if err != nil {
					t.Fatal(err)
				}
				out, err := r.Run(c)
				switch {
				case err != nil:
					t.Errorf("%s: %v", c.Place(), err)
				case out.Failure != "" && strings.HasPrefix(c.Kind, "benign") && failed < failing[name]:
					failed++
					t.Logf("%s: %s (%s): %q: %s", c.Place(), c.ID, c.Kind, c.Cmd+c.Path, out.Failure)
				case out.Failure != "":
					t.Errorf("%s: %s (%s): %q: %s", c.Place(), c.ID, c.Kind, c.Cmd+c.Path, out.Failure)
				default:
					passed++
				}
				if out.Stricter != "" {
					strict++
					t.Logf("%s (%s): %q: %s", c.ID, c.Kind, c.Cmd+c.Path, out.Stricter)
				}
			}
			t.Logf("%d cases pass, %d of them stricter than wanted", passed, strict)
		})
	}
}

// TestFurther judges further cases of the kinds that the repository's cases have,
// in other forms. Those of paths stand in the tree of tree.json.
func TestFurther(t *testing.T) {
	layout, err := cases.ReadLayout(filepath.Join(folder, "layout.json"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := cases.ReadLayout(filepath.Join("testdata", "tree.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"path", "net", "net_kinds", "always", "display", "display_kinds"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := corpus.New(layout)
			defer r.Close()
			for c, err := range cases.Read(filepath.Join("testdata", name+".jsonl")) {
				if err != nil {
					t.Fatal(err)
				}
				if name == "path" {
					c.FS = append(slices.Clone(tree), c.FS...)
				}
				if out, err := r.Run(c); err != nil || out.Failure != "" {
					t.Errorf("%s: %s: %q: %v %s", c.Place(), c.ID, c.Cmd+c.Path+c.URL, err, out.Failure)
				}
			}
		})
	}
}

// TestMalformed tells what is wrong with a case that is none, and where.
func TestMalformed(t *testing.T) {
	layout, err := cases.ReadLayout(filepath.Join(folder, "layout.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := corpus.New(layout)
	defer r.Close()
	for _, test := range []struct{ line, says string }{
		{`not json`, "one JSON object a line"},
		{`[]`, "it holds a JSON array"},
		{`{"id":"a"}`, `neither "cmd" nor "op"`},
		{`{"cmd":"ls"}`, `no "id"`},
		{`{"id":"a","cmd":"ls","wnat":"allow"}`, `field "wnat"`},
		{`{"id":"a","cmd":"ls","want":"maybe"}`, `write allow, ask or deny`},
		{`{"id":"a","cmd":"ls","want":1}`, `"want" holds a JSON number`},
		{`{"id":"a","op":"reed","path":"x","want":"allow"}`, `no operation "reed"`},
		{`{"id":"a","op":"read","want":"deny"}`, `no "path"`},
		{`{"id":"a","op":"read","path":["x"],"want":"deny"}`, `no "path"`},
		{`{"id":"a","op":"read","path":"x","caps":{"paths_outside":"never"},"want":"deny"}`, `write ask or deny`},
		{`{"id":"a","cmd":"ls","mode":"yolo","want":"allow"}`, `no mode "yolo"`},
		{`{"id":"a","cmd":"ls","rules":[{"permision":"bash","action":"allow"}],"want":"allow"}`, `no "permission"`},
		{`{"id":"a","cmd":"ls","rules":"x","want":"allow"}`, `"rules" holds a JSON string`},
		{`{"id":"a","op":"web_fetch","want":"deny"}`, `no "url"`},
		{`{"id":"a","op":"web_fetch","url":"https://x.example/","dns":{"x.example":["nope"]},"want":"deny"}`, `"nope" is no address`},
		{`{"id":"a","op":"web_fetch","url":"https://x.example/","redirects":[["a"]],"want":"deny"}`, `a redirect is a pair`},
		{`{"id":"a","op":"mcp_connect","url":"https://x.example/","config_scope":"world","want":"deny"}`, `write user or project`},
		{`{"id":"a","op":"inbound","url":"http://127.0.0.1:1/","headers":{"Host":5},"want":"deny"}`, `"headers" holds a JSON number`},
		{`{"id":"a","cmd":"ls","must_contain":["x"],"check":"box"}`, `no check "box"`},
	} {
		name := filepath.Join(t.TempDir(), "cases.jsonl")
		if err := os.WriteFile(name, []byte("\n"+test.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for c, err := range cases.Read(name) {
			if err == nil {
				_, err = r.Run(c)
			} else if !strings.Contains(err.Error(), "cases.jsonl:2: ") {
				t.Errorf("%s: %v: it names no line", test.line, err)
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v, want %s", test.line, err, test.says)
			}
		}
	}
}
