// Package acptest checks what goes over a connection of the Agent Client Protocol
// by the protocol's own JSON Schema, for tests of whichever side.
//
// It leaves out everything that a schema cannot say, such as the order of
// messages, and driving an agent (package acp/client).
package acptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// Side is who sent a message.
type Side int

// The two sides.
const (
	Agent Side = iota
	Client
)

func (s Side) other() Side { return 1 - s }

// String is "agent" or "client".
func (s Side) String() string { return [...]string{"agent", "client"}[s] }

// Validator checks the messages of one connection in the order in which they
// pass, so that it knows the method of the request that an answer belongs to. It
// may be used by both directions at once.
type Validator struct {
	schema *Schema

	mu   sync.Mutex
	open [2]map[string]string // of each side's requests: id → method
}

// Schema is a schema of the protocol, compiled, which takes a while. Any number
// of validators may share it.
type Schema struct {
	methods map[string]method
	errors  *jsonschema.Schema
	allowed []string
}

// method is what the schema says of a method.
type method struct {
	server       Side // who serves it
	both         bool // either side
	notification bool
	params       *jsonschema.Schema
	result       *jsonschema.Schema
}

// location is where the schema is for the compiler; nothing is fetched.
const location = "acp.schema.json"

// NewValidator compiles a schema for one connection; see Compile.
func NewValidator(schema []byte, allowed ...string) (*Validator, error) {
	s, err := Compile(schema, allowed...)
	if err != nil {
		return nil, err
	}
	return s.Validator(), nil
}

// Validator is a new validator, for one connection.
func (s *Schema) Validator() *Validator {
	return &Validator{schema: s, open: [2]map[string]string{{}, {}}}
}

// Compile reads a schema of the protocol, such as acpschema.V1. The methods
// allowed are those it does not know and that may pass unchecked; one that ends
// in "/" or "_" allows all that begin so.
func Compile(schema []byte, allowed ...string) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	var defs struct {
		Defs map[string]struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &defs); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	out := &Schema{methods: map[string]method{}, allowed: slices.Clone(allowed)}
	if out.errors, err = c.Compile(location + "#/$defs/Error"); err != nil {
		return nil, err
	}
	for name, def := range defs.Defs {
		if def.Method == "" {
			continue
		}
		s, err := c.Compile(location + "#/$defs/" + name)
		if err != nil {
			return nil, err
		}
		out.enter(name, def.Method, def.Side, s)
	}
	return out, nil
}

// enter adds a definition to the method that it is the params or the result of.
func (s *Schema) enter(name, wire, side string, def *jsonschema.Schema) {
	m := s.methods[wire]
	m.both = side == "protocol"
	if side == "client" {
		m.server = Client
	}
	if strings.HasSuffix(name, "Response") {
		m.result = def
	} else {
		m.params = def
		m.notification = strings.HasSuffix(name, "Notification")
	}
	s.methods[wire] = m
}

// Observe is for jsonrpc.Options: it checks every line of a connection whose own
// side is local and reports what is wrong, from two goroutines.
func (v *Validator) Observe(local Side, report func(error)) func(jsonrpc.Direction, []byte) {
	return func(dir jsonrpc.Direction, line []byte) {
		from := local
		if dir == jsonrpc.In {
			from = local.other()
		}
		if err := v.Check(from, line); err != nil {
			report(err)
		}
	}
}

// message is a line, read just far enough.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// Check says what is wrong with a line that from sent: params are checked by
// their method, a result by the method of the request with its id, an error as
// an error. A notification must not have an id, a request must; an answer must
// belong to a request, except for an error to what could not be read.
func (v *Validator) Check(from Side, line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("%s: not a message: %w", from, err)
	}
	err := v.check(from, &m)
	if err != nil {
		return fmt.Errorf("%s: %w, in %s", from, err, clip(line))
	}
	return nil
}

func (v *Validator) check(from Side, m *message) error {
	switch {
	case m.Version != "2.0":
		return errors.New(`"jsonrpc" is not "2.0"`)
	case m.Method != nil:
		return v.checkCall(from, m)
	case m.ID == nil:
		return errors.New("neither a method nor an id")
	case (m.Result == nil) == (m.Error == nil):
		return errors.New("an answer has either a result or an error")
	}
	return v.checkAnswer(from, m)
}

func (v *Validator) checkCall(from Side, m *message) error {
	name := *m.Method
	if m.ID != nil {
		v.mu.Lock()
		v.open[from][string(m.ID)] = name
		v.mu.Unlock()
	}
	def, known := v.schema.methods[name]
	switch {
	case !known && v.schema.allows(name):
		return nil
	case !known:
		return fmt.Errorf("unknown method %s", name)
	case def.server == from && !def.both:
		return fmt.Errorf("%s is served by the %s, not called by it", name, from)
	case def.notification && m.ID != nil:
		return fmt.Errorf("notification %s has an id", name)
	case !def.notification && m.ID == nil:
		return fmt.Errorf("request %s has no id", name)
	}
	return validate(def.params, m.Params, "params of "+name)
}

func (v *Validator) checkAnswer(from Side, m *message) error {
	v.mu.Lock()
	open := v.open[from.other()]
	name, known := open[string(m.ID)]
	delete(open, string(m.ID))
	v.mu.Unlock()
	if m.Error != nil {
		if !known && string(m.ID) != "null" {
			return errors.New("an error for a request that was not made")
		}
		return validate(v.schema.errors, m.Error, "error")
	}
	if !known {
		return errors.New("a result for a request that was not made")
	}
	def, stable := v.schema.methods[name]
	if !stable {
		return nil
	}
	return validate(def.result, m.Result, "result of "+name)
}

func (s *Schema) allows(method string) bool {
	return slices.ContainsFunc(s.allowed, func(a string) bool {
		if strings.HasSuffix(a, "/") || strings.HasSuffix(a, "_") {
			return strings.HasPrefix(method, a)
		}
		return method == a
	})
}

// Open lists the methods of the requests of a side that were not answered.
func (v *Validator) Open(side Side) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var names []string
	for _, name := range v.open[side] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func validate(s *jsonschema.Schema, raw json.RawMessage, what string) error {
	if raw == nil {
		raw = json.RawMessage("null")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// clip is a line short enough for a message of a test.
func clip(line []byte) string {
	const limit = 2000
	if len(line) > limit {
		return string(line[:limit]) + "…"
	}
	return string(line)
}
