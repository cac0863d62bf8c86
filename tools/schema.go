package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema checks the arguments of one tool's calls against its JSON Schema. It
// is compiled at the first call, so that a tool which is never called costs
// nothing. It is safe for concurrent use.
type Schema struct {
	tool       string
	parameters json.RawMessage
	compiled   func() (*jsonschema.Schema, error)
}

// maxFindings is how many faults of one call are told at once.
const maxFindings = 5

// NewSchema is the schema of a tool, whose id begins its errors. Parameters may
// be empty: then any object will do.
func NewSchema(tool string, parameters json.RawMessage) *Schema {
	return &Schema{tool, parameters, sync.OnceValues(func() (*jsonschema.Schema, error) {
		return compileSchema(parameters)
	})}
}

// Check returns the arguments in the form that is decoded: what is empty or
// null counts as {}. An error is for the model: it quotes what the schema says,
// names the place, and tells what the tool expects. Where the schema itself
// cannot be compiled, as may be with a server's, any object passes.
func (s *Schema) Check(args json.RawMessage) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = json.RawMessage("{}")
	}
	value, err := parseJSON(args)
	if err != nil {
		return nil, fmt.Errorf("%s: the arguments are not valid JSON: %w; send one JSON object%s", s.tool, err, s.expected())
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, fmt.Errorf("%s: the arguments must be a JSON object%s", s.tool, s.expected())
	}
	if n := longestNumber(value); n > maxDigits {
		return nil, fmt.Errorf("%s: the arguments have a number of %d digits%s", s.tool, n, s.expected())
	}
	compiled, err := s.compiled()
	if err != nil || compiled == nil {
		return args, nil
	}
	err = compiled.Validate(value)
	if err == nil {
		return args, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("%s: %w", s.tool, err)
	}
	return nil, fmt.Errorf("%s: %s%s", s.tool, findings(invalid), s.expected())
}

// maxDigits is how many characters a number may be written in: the library works
// out the exact value, which takes minutes with a million digits.
const maxDigits = 1000

// longestNumber is how many characters the longest number of a JSON value has.
func longestNumber(value any) int {
	longest := 0
	switch v := value.(type) {
	case map[string]any:
		for _, one := range v {
			longest = max(longest, longestNumber(one))
		}
	case []any:
		for _, one := range v {
			longest = max(longest, longestNumber(one))
		}
	case json.Number:
		longest = len(v)
	}
	return longest
}

// Err says why the schema cannot be compiled; nil where it can.
func (s *Schema) Err() error {
	_, err := s.compiled()
	return err
}

// parseJSON reads one value with its numbers as they are written; an error
// names the byte.
func parseJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%w (at byte %d)", err, syntax.Offset)
		}
		return nil, fmt.Errorf("%w (at byte %d)", err, len(raw))
	}
	at := dec.InputOffset()
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the object (at byte %d)", at)
	}
	return value, nil
}

func compileSchema(parameters json.RawMessage) (*jsonschema.Schema, error) {
	if len(parameters) == 0 {
		return nil, nil
	}
	doc, err := parseJSON(parameters)
	if err != nil {
		return nil, err
	}
	const url = "tool:///parameters"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// noLoader refuses references out of the schema: the library's own loader
// would open files that a server's schema names.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s, which is not loaded", url)
}

// findings joins the innermost faults of a validation, each with its place.
func findings(err *jsonschema.ValidationError) string {
	var found []string
	printer := message.NewPrinter(language.English)
	var collect func(e *jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			text := e.ErrorKind.LocalizedString(printer)
			if len(e.InstanceLocation) > 0 {
				text = place(e.InstanceLocation) + ": " + text
			}
			if !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
		for _, cause := range e.Causes {
			collect(cause)
		}
	}
	collect(err)
	if more := len(found) - maxFindings; more > 0 {
		found = append(found[:maxFindings], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(found, "; ")
}

// place spells a location as one would in code: todos[0].status.
func place(location []string) string {
	var b strings.Builder
	for i, part := range location {
		switch _, err := strconv.Atoi(part); {
		case err == nil:
			b.WriteString("[" + part + "]")
		case i > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}

// expected tells the properties of the schema and their types, those that are
// required first; empty where it has none.
func (s *Schema) expected() string {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(s.parameters, &schema) != nil || len(schema.Properties) == 0 {
		return ""
	}
	var optional []string
	for name := range schema.Properties {
		if !slices.Contains(schema.Required, name) {
			optional = append(optional, name)
		}
	}
	slices.Sort(optional)
	var all []string
	for i, name := range slices.Concat(schema.Required, optional) {
		text := name
		if i >= len(schema.Required) {
			text += "?"
		}
		if kind, ok := schema.Properties[name].Type.(string); ok {
			text += ": " + kind
		}
		all = append(all, text)
	}
	return ". Expected: {" + strings.Join(all, ", ") + "}"
}
