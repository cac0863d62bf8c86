package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MCPPrefix begins the id of every tool that a server provides, and of no
// other, so that nothing a server does can shadow a tool.
const MCPPrefix = "mcp__"

// ErrUnknownTool is wrapped where no tool has the name.
var ErrUnknownTool = errors.New("unknown tool")

// variables are those that a tool's Requires may name.
var variables = []string{"workspace", "ad-hoc", "user-data"}

// Registry holds tools by their names (spec/tools.md, "The registry"). It never
// changes: With makes a larger one. So it needs no lock, and one list is one
// list however often it is asked for.
type Registry struct {
	tools []entry // by id, those of servers last
	names map[string]int
}

type entry struct {
	tool   Tool
	schema *Schema
}

// NewRegistry holds the tools. An id or alias that is there twice, is spelled
// wrongly, or requires a variable that does not exist is an error.
func NewRegistry(tools ...Tool) (*Registry, error) { return (&Registry{}).With(tools...) }

// With is a registry that holds further tools, such as those of a session's
// servers. The receiver stays as it is.
func (r *Registry) With(tools ...Tool) (*Registry, error) {
	larger := &Registry{tools: slices.Clone(r.tools)}
	for _, t := range tools {
		if err := checkSpec(t.Spec()); err != nil {
			return nil, err
		}
		larger.tools = append(larger.tools, entry{t, schemaOf(t)})
	}
	slices.SortStableFunc(larger.tools, func(a, b entry) int {
		return compareIDs(a.tool.Spec().ID, b.tool.Spec().ID)
	})
	larger.names = map[string]int{}
	for i, e := range larger.tools {
		spec := e.tool.Spec()
		for _, name := range append([]string{spec.ID}, spec.Aliases...) {
			if other, ok := larger.names[name]; ok {
				return nil, fmt.Errorf("tool %s: the name %q is taken by tool %s", spec.ID, name, larger.tools[other].tool.Spec().ID)
			}
			larger.names[name] = i
		}
	}
	return larger, nil
}

// Find resolves a name as a model wrote it: an id, an alias, or either in
// other case where that is unambiguous. The error wraps ErrUnknownTool, names
// what was asked for and what is nearest.
func (r *Registry) Find(name string) (Tool, error) {
	if i, ok := r.names[name]; ok {
		return r.tools[i].tool, nil
	}
	found := -1
	for known, i := range r.names {
		if strings.EqualFold(known, name) {
			if found >= 0 && found != i {
				found = -1
				break
			}
			found = i
		}
	}
	if found >= 0 {
		return r.tools[found].tool, nil
	}
	return nil, r.unknown(name)
}

func (r *Registry) unknown(name string) error {
	var ids []string
	for _, e := range r.tools {
		ids = append(ids, e.tool.Spec().ID)
	}
	hint := "did you mean " + strings.Join(nearest(name, ids, 3), ", ") + "?"
	if len(nearest(name, ids, 3)) == 0 {
		hint = "there are " + strings.Join(ids[:min(len(ids), 20)], ", ")
	}
	if len(ids) == 0 {
		hint = "there are no tools"
	}
	return fmt.Errorf("%w %q: %s", ErrUnknownTool, name, hint)
}

// List gives the tools that keep lets through (nil: all), in an order that
// depends on nothing but their ids: the program's own first, so that a prompt
// cache holds when a server comes or goes.
func (r *Registry) List(keep func(*Spec) bool) []Tool {
	list := []Tool{}
	for _, e := range r.tools {
		if keep == nil || keep(e.tool.Spec()) {
			list = append(list, e.tool)
		}
	}
	return list
}

// Validate checks a call's arguments against the tool's schema, as Schema.Check
// does. A tool made by Func does so by itself.
func (r *Registry) Validate(spec *Spec, args json.RawMessage) (json.RawMessage, error) {
	if i, ok := r.names[spec.ID]; ok {
		return r.tools[i].schema.Check(args)
	}
	return NewSchema(spec.ID, spec.Parameters).Check(args)
}

func schemaOf(t Tool) *Schema {
	if has, ok := t.(interface{ schema() *Schema }); ok {
		return has.schema()
	}
	return NewSchema(t.Spec().ID, t.Spec().Parameters)
}

func compareIDs(a, b string) int {
	if aServer, bServer := strings.HasPrefix(a, MCPPrefix), strings.HasPrefix(b, MCPPrefix); aServer != bServer {
		if aServer {
			return 1
		}
		return -1
	}
	return strings.Compare(a, b)
}

// checkSpec says what is wrong with a tool's names and requirements.
func checkSpec(s *Spec) error {
	if strings.HasPrefix(s.ID, MCPPrefix) {
		if !validName(s.ID, true) || len(s.Aliases) > 0 {
			return fmt.Errorf("tool %q: a server's tool has 1 to 64 of A-Z, a-z, 0-9, _ and - as its id, and no aliases", s.ID)
		}
	} else if !validName(s.ID, false) {
		return fmt.Errorf("tool %q: an id is made of a-z, 0-9 and _, beginning with a letter, at most 64", s.ID)
	}
	for _, alias := range s.Aliases {
		if !validName(alias, true) || strings.HasPrefix(strings.ToLower(alias), MCPPrefix) {
			return fmt.Errorf("tool %s: the alias %q is not allowed", s.ID, alias)
		}
	}
	for _, pattern := range slices.Concat(s.Requires.Read, s.Requires.Write, s.Requires.Hosts) {
		if err := checkVariables(pattern); err != nil {
			return fmt.Errorf("tool %s: %w", s.ID, err)
		}
	}
	return nil
}

// validName reports whether a name is one that model APIs take; those of the
// program's own tools are lower-case.
func validName(name string, mixed bool) bool {
	if name == "" || len(name) > 64 || !mixed && (name[0] < 'a' || name[0] > 'z') {
		return false
	}
	for _, c := range []byte(name) {
		lower := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
		if !lower && !(mixed && (c >= 'A' && c <= 'Z' || c == '-')) {
			return false
		}
	}
	return true
}

// checkVariables refuses variables that nothing would ever be put in for.
// Braces with a comma in them are a pattern's alternatives.
func checkVariables(pattern string) error {
	for rest := pattern; ; {
		_, after, open := strings.Cut(rest, "{")
		name, more, closed := strings.Cut(after, "}")
		if !open || !closed {
			return nil
		}
		if !strings.Contains(name, ",") && !slices.Contains(variables, name) {
			return fmt.Errorf("the pattern %q uses the unknown variable {%s}; there are {%s}", pattern, name, strings.Join(variables, "}, {"))
		}
		rest = more
	}
}
