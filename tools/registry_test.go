package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func fakeTool(id string, aliases ...string) Tool {
	return toolOf(Spec{ID: id, Aliases: aliases})
}

func toolOf(spec Spec) Tool {
	return Func(spec, func(context.Context, *Workspace, struct{}) (*Action, error) { return &Action{}, nil })
}

func TestRegistryFind(t *testing.T) {
	r, err := NewRegistry(Read(), Write(), Edit(), Todo(), fakeTool("odd", "Mixed"), fakeTool("other", "MIXED"), fakeTool("mcp__srv__Who-am-I"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"read": "read", "Read": "read", "READ": "read", "TodoWrite": "todo", "todowrite": "todo", "Edit": "edit",
		"mcp__srv__Who-am-I": "mcp__srv__Who-am-I", "Mixed": "odd", "MIXED": "other",
	} {
		if tool, err := r.Find(name); err != nil || tool.Spec().ID != want {
			t.Errorf("Find(%q): %v, want %s", name, err, want)
		}
	}
	for name, hint := range map[string]string{
		"raed": "did you mean read", "wirte": "did you mean write", "no_such_tool": "there are edit, odd", "mixed": "", "": "there are",
	} {
		tool, err := r.Find(name)
		if !errors.Is(err, ErrUnknownTool) || !strings.Contains(err.Error(), hint) || !strings.Contains(err.Error(), name) {
			t.Errorf("Find(%q): %v, %v", name, tool, err)
		}
	}
	empty, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Find("read"); !errors.Is(err, ErrUnknownTool) {
		t.Errorf("%v", err)
	}
}

func TestRegistryList(t *testing.T) {
	one, err := NewRegistry(Write(), fakeTool("mcp__a__b"), Todo(), Read(), Edit())
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewRegistry(Edit(), Read(), Todo(), Write())
	if err != nil {
		t.Fatal(err)
	}
	if two, err = two.With(fakeTool("mcp__a__b")); err != nil {
		t.Fatal(err)
	}
	want := "edit read todo write mcp__a__b"
	for _, r := range []*Registry{one, two} {
		if got := ids(r.List(nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := ids(one.List(func(s *Spec) bool { return s.ReadOnly })); got != "read todo" {
		t.Errorf("read-only: %s", got)
	}
	if list := one.List(func(*Spec) bool { return false }); list == nil || len(list) != 0 {
		t.Errorf("%v", list)
	}
}

func ids(list []Tool) string {
	var ids []string
	for _, tool := range list {
		ids = append(ids, tool.Spec().ID)
	}
	return strings.Join(ids, " ")
}

func TestRegistryRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		tools []Tool
		want  string
	}{
		"an id twice":               {[]Tool{fakeTool("a"), fakeTool("a")}, `"a" is taken by tool a`},
		"an alias twice":            {[]Tool{fakeTool("a", "X"), fakeTool("b", "X")}, `"X" is taken by tool a`},
		"an alias that is an id":    {[]Tool{fakeTool("a"), fakeTool("b", "a")}, `"a" is taken`},
		"an alias of its own id":    {[]Tool{fakeTool("a", "a")}, `"a" is taken`},
		"capitals":                  {[]Tool{fakeTool("Read")}, "a-z"},
		"no id":                     {[]Tool{fakeTool("")}, "a-z"},
		"a space":                   {[]Tool{fakeTool("a b")}, "a-z"},
		"a server's with an alias":  {[]Tool{fakeTool("mcp__a__b", "read")}, "no aliases"},
		"a server's that is long":   {[]Tool{fakeTool("mcp__" + strings.Repeat("x", 60))}, "1 to 64"},
		"an alias like a server's":  {[]Tool{fakeTool("a", "MCP__x")}, "not allowed"},
		"an unknown variable":       {[]Tool{toolOf(Spec{ID: "a", Requires: Requires{Read: []string{"{home}/x"}}})}, "{home}"},
		"an unknown one to write":   {[]Tool{toolOf(Spec{ID: "a", Requires: Requires{Write: []string{"{}/x"}}})}, "{}"},
		"an unknown one among many": {[]Tool{toolOf(Spec{ID: "a", Requires: Requires{Read: []string{"{workspace}/{a,b}/{c}"}}})}, "{c}"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewRegistry(c.tools...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
	r, err := NewRegistry(toolOf(Spec{ID: "a", Requires: Requires{Read: []string{"{workspace}/**/*.{go,mod}", "{ad-hoc}", "{user-data}/x"}}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.With(fakeTool("b", "a")); err == nil {
		t.Error("With shadowed a tool")
	}
	if got := ids(r.List(nil)); got != "a" {
		t.Errorf("With changed its receiver: %s", got)
	}
}

func TestBuiltInSchemas(t *testing.T) {
	for _, tool := range []Tool{Read(), Write(), Edit(), Todo()} {
		spec := tool.Spec()
		if err := NewSchema(spec.ID, spec.Parameters).Err(); err != nil {
			t.Errorf("%s: %v", spec.ID, err)
		}
		if spec.Description == "" || spec.SearchHint == "" || spec.Kind == "" {
			t.Errorf("%s lacks something: %+v", spec.ID, spec)
		}
	}
}

func TestSchemaCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		tool Tool
		args string
		want []string // in the error; none: it passes
	}{
		{"fine", Edit(), `{"path":"a","old_string":"b","new_string":""}`, nil},
		{"missing", Edit(), `{"path":"a.txt"}`, []string{"edit: ", "missing properties 'old_string', 'new_string'", "Expected: {path: string, old_string: string, new_string: string, replace_all?: boolean}"}},
		{"missing one", Write(), `{"path":"a.txt"}`, []string{"write: missing property 'content'"}},
		{"empty counts as {}", Read(), ``, []string{"read: missing property 'path'"}},
		{"null counts as {}", Read(), ` null `, []string{"read: missing property 'path'"}},
		{"a number as a string", Read(), `{"path":"a","offset":"5"}`, []string{"offset: got string, want integer"}},
		{"a fraction", Read(), `{"path":"a","offset":1.5}`, []string{"offset: got number, want integer"}},
		{"negative", Read(), `{"path":"a","offset":-1}`, []string{"offset: minimum"}},
		{"unknown", Read(), `{"path":"a","file":"b"}`, []string{"additional properties 'file' not allowed"}},
		{"deep", Todo(), `{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"done"}]}`, []string{"todos[1].status: value must be one of", "'in_progress'"}},
		{"many", Todo(), `{"todos":[1,2,3,4,5,6,7]}`, []string{"todos[0]: got number, want object", "and 2 more"}},
		{"cut", Read(), `{"path": `, []string{"not valid JSON", "byte 9"}},
		{"broken", Read(), `{"path" "a"}`, []string{"not valid JSON", "at byte 9"}},
		{"more than one", Read(), `{"path":"a"} {}`, []string{"not valid JSON", "follows", "byte 12"}},
		{"no object", Read(), `["a"]`, []string{"must be a JSON object", "path: string"}},
		{"a string", Read(), `"{\"path\":\"a\"}"`, []string{"must be a JSON object"}},
		{"too large for the type", Read(), `{"path":"a","offset":99999999999999999999}`, []string{"read: ", "offset"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.tool.Prepare(t.Context(), diskWorkspace(t, nil), json.RawMessage(c.args))
			if c.want == nil {
				if err == nil || strings.Contains(err.Error(), "Expected") {
					t.Fatalf("%v", err) // there is no such file, which is another matter
				}
				return
			}
			if err == nil {
				t.Fatal("it passed")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
		})
	}
}

func TestSchemaOfAServer(t *testing.T) {
	for name, schema := range map[string]string{
		"a reference to a file": `{"type":"object","properties":{"x":{"$ref":"file:///etc/hostname"}}}`,
		"a reference to a URL":  `{"$ref":"https://example.com/schema.json"}`,
		"look-ahead":            `{"type":"object","properties":{"x":{"pattern":"^(?!a)"}}}`,
		"no JSON":               `{"type":`,
		"not a schema":          `{"type":"strin"}`,
	} {
		s := NewSchema("mcp__a__b", json.RawMessage(schema))
		if s.Err() == nil {
			t.Errorf("%s: it compiles", name)
		}
		if _, err := s.Check(json.RawMessage(`{"x":"y"}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Check(json.RawMessage(`[]`)); err == nil {
			t.Errorf("%s: a list passes", name)
		}
	}
	for schema, bad := range map[string]string{
		``: `[]`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$defs":{"n":{"type":"integer"}},"properties":{"x":{"$ref":"#/$defs/n"}}}`: `{"x":"1"}`,
	} {
		s := NewSchema("mcp__a__b", json.RawMessage(schema))
		if err := s.Err(); err != nil {
			t.Error(err)
		}
		if args, err := s.Check(json.RawMessage(`{"x":1}`)); err != nil || string(args) != `{"x":1}` {
			t.Errorf("%s, %v", args, err)
		}
		if _, err := s.Check(json.RawMessage(bad)); err == nil {
			t.Errorf("%s passes %s", schema, bad)
		}
	}
}

func TestRegistryValidate(t *testing.T) {
	r, err := NewRegistry(Read())
	if err != nil {
		t.Fatal(err)
	}
	args, err := r.Validate(Read().Spec(), json.RawMessage(`{"path":"a"}`))
	if err != nil || string(args) != `{"path":"a"}` {
		t.Errorf("%s, %v", args, err)
	}
	for _, spec := range []*Spec{Read().Spec(), Write().Spec()} {
		if _, err := r.Validate(spec, nil); err == nil || !strings.HasPrefix(err.Error(), spec.ID+": missing") {
			t.Errorf("%v", err)
		}
	}
}

func TestFuncNamesTheTool(t *testing.T) {
	a, err := fakeTool("named").Prepare(t.Context(), nil, nil)
	if err != nil || a.Facts.Tool != "named" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestNearest(t *testing.T) {
	files := []string{"main.go", "main_test.go", "Makefile", "README.md", "config.yaml", "naïve.txt"}
	for name, want := range map[string]string{
		"mian.go": "main.go", "maingo": "main.go", "Main.go": "main.go", "readme.md": "README.md", "naive.txt": "naïve.txt",
		"config.yml": "config.yaml", "mtest": "main_test.go", "zzz": "", "": "",
	} {
		got := nearest(name, files, 3)
		if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
			t.Errorf("nearest(%q) = %v, want %q first", name, got, want)
		}
	}
}
