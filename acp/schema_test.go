package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	acpschema "github.com/acp-agent/acp-agent/testdata/acp"
)

// schemaMessages are the Go types of the schema's params and results, by name.
var schemaMessages = map[string]reflect.Type{
	"AuthenticateRequest":             reflect.TypeFor[AuthenticateRequest](),
	"AuthenticateResponse":            reflect.TypeFor[AuthenticateResponse](),
	"CancelNotification":              reflect.TypeFor[CancelNotification](),
	"CancelRequestNotification":       reflect.TypeFor[CancelRequestNotification](),
	"CloseSessionRequest":             reflect.TypeFor[CloseSessionRequest](),
	"CloseSessionResponse":            reflect.TypeFor[CloseSessionResponse](),
	"CompleteElicitationNotification": reflect.TypeFor[CompleteElicitationNotification](),
	"CreateElicitationRequest":        reflect.TypeFor[CreateElicitationRequest](),
	"CreateElicitationResponse":       reflect.TypeFor[CreateElicitationResponse](),
	"CreateTerminalRequest":           reflect.TypeFor[CreateTerminalRequest](),
	"CreateTerminalResponse":          reflect.TypeFor[CreateTerminalResponse](),
	"DeleteSessionRequest":            reflect.TypeFor[DeleteSessionRequest](),
	"DeleteSessionResponse":           reflect.TypeFor[DeleteSessionResponse](),
	"InitializeRequest":               reflect.TypeFor[InitializeRequest](),
	"InitializeResponse":              reflect.TypeFor[InitializeResponse](),
	"KillTerminalRequest":             reflect.TypeFor[KillTerminalRequest](),
	"KillTerminalResponse":            reflect.TypeFor[KillTerminalResponse](),
	"ListSessionsRequest":             reflect.TypeFor[ListSessionsRequest](),
	"ListSessionsResponse":            reflect.TypeFor[ListSessionsResponse](),
	"LoadSessionRequest":              reflect.TypeFor[LoadSessionRequest](),
	"LoadSessionResponse":             reflect.TypeFor[LoadSessionResponse](),
	"LogoutRequest":                   reflect.TypeFor[LogoutRequest](),
	"LogoutResponse":                  reflect.TypeFor[LogoutResponse](),
	"NewSessionRequest":               reflect.TypeFor[NewSessionRequest](),
	"NewSessionResponse":              reflect.TypeFor[NewSessionResponse](),
	"PromptRequest":                   reflect.TypeFor[PromptRequest](),
	"PromptResponse":                  reflect.TypeFor[PromptResponse](),
	"ReadTextFileRequest":             reflect.TypeFor[ReadTextFileRequest](),
	"ReadTextFileResponse":            reflect.TypeFor[ReadTextFileResponse](),
	"ReleaseTerminalRequest":          reflect.TypeFor[ReleaseTerminalRequest](),
	"ReleaseTerminalResponse":         reflect.TypeFor[ReleaseTerminalResponse](),
	"RequestPermissionRequest":        reflect.TypeFor[RequestPermissionRequest](),
	"RequestPermissionResponse":       reflect.TypeFor[RequestPermissionResponse](),
	"ResumeSessionRequest":            reflect.TypeFor[ResumeSessionRequest](),
	"ResumeSessionResponse":           reflect.TypeFor[ResumeSessionResponse](),
	"SessionNotification":             reflect.TypeFor[SessionNotification](),
	"SetSessionConfigOptionRequest":   reflect.TypeFor[SetSessionConfigOptionRequest](),
	"SetSessionConfigOptionResponse":  reflect.TypeFor[SetSessionConfigOptionResponse](),
	"SetSessionModeRequest":           reflect.TypeFor[SetSessionModeRequest](),
	"SetSessionModeResponse":          reflect.TypeFor[SetSessionModeResponse](),
	"TerminalOutputRequest":           reflect.TypeFor[TerminalOutputRequest](),
	"TerminalOutputResponse":          reflect.TypeFor[TerminalOutputResponse](),
	"WaitForTerminalExitRequest":      reflect.TypeFor[WaitForTerminalExitRequest](),
	"WaitForTerminalExitResponse":     reflect.TypeFor[WaitForTerminalExitResponse](),
	"WriteTextFileRequest":            reflect.TypeFor[WriteTextFileRequest](),
	"WriteTextFileResponse":           reflect.TypeFor[WriteTextFileResponse](),
}

// definition is an entry of the schema's $defs.
type definition struct {
	Method     string                     `json:"x-method"`
	Side       string                     `json:"x-side"` // who serves it
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

func definitions(t *testing.T) map[string]definition {
	t.Helper()
	var s struct {
		Defs map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal(acpschema.V1(), &s); err != nil {
		t.Fatal(err)
	}
	return s.Defs
}

// fromAgent are the names of the messages that an agent sends.
func fromAgent(t *testing.T) []string {
	var names []string
	for name, def := range definitions(t) {
		answer := strings.HasSuffix(name, "Response")
		if def.Method != "" && (def.Side == "protocol" || (def.Side == "agent") == answer) {
			names = append(names, name)
		}
	}
	return names
}

var schemaCompiler = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(acpschema.V1()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	return c, c.AddResource("v1.json", doc)
})

// checkSchema checks JSON text by a definition of the schema.
func checkSchema(t *testing.T, def string, text []byte) error {
	t.Helper()
	c, err := schemaCompiler()
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("v1.json#/$defs/" + def)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func TestEveryMessageOfTheSchemaHasAType(t *testing.T) {
	defs := definitions(t)
	for name, def := range defs {
		if def.Method == "" {
			continue
		}
		typ := schemaMessages[name]
		if typ == nil {
			t.Errorf("%s (%s) has no type", name, def.Method)
			continue
		}
		if strings.HasSuffix(name, "Response") || typ.Kind() == reflect.Interface {
			continue
		}
		m, ok := reflect.Zero(typ).Interface().(interface{ Method() string })
		if !ok || m.Method() != def.Method {
			t.Errorf("%s is not of method %s", name, def.Method)
		}
	}
	for name := range schemaMessages {
		if defs[name].Method == "" {
			t.Errorf("%s is no message of the schema", name)
		}
	}
}

// readValid decodes JSON text that must be valid by a definition.
func readValid(t *testing.T, def string, text []byte) any {
	t.Helper()
	if err := checkSchema(t, def, text); err != nil {
		t.Errorf("%s\n%v", text, err)
	}
	got := reflect.New(schemaMessages[def]).Elem()
	if p := decoderOf(schemaMessages[def], false)(&cursor{b: text}, got); p != nil {
		t.Fatalf("%s\n%s", text, p.text(def))
	}
	return got.Interface()
}

func TestFilledMessagesAreValidAndRoundTrip(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(schemaMessages)) {
		t.Run(name, func(t *testing.T) {
			for _, v := range samplesOf(schemaMessages[name]) {
				text, err := marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				if got := readValid(t, name, text); !reflect.DeepEqual(got, v) {
					t.Errorf("%s\nread as %#v\nwant    %#v", text, got, v)
				}
			}
		})
	}
}

// A zero value may be invalid, but what is absent is left out and a list that is
// required is a list.
func TestZeroMessagesHaveNoNull(t *testing.T) {
	for name, typ := range schemaMessages {
		if typ.Kind() == reflect.Interface {
			continue
		}
		text, err := marshal(reflect.Zero(typ).Interface())
		if err != nil {
			t.Fatal(err)
		}
		for _, required := range []string{`"update":null`, `"outcome":null`, `"value":null`, `"requestId":null`} {
			text = bytes.Replace(text, []byte(required), nil, 1) // documented as never nil
		}
		if bytes.Contains(text, []byte("null")) {
			t.Errorf("%s is written as %s", name, text)
		}
	}
}

// renamed are the Go names of definitions, where they are not the same but for
// the case of letters.
var renamed = map[string]string{
	"UnstructuredCommandInput": "AvailableCommandInput",
	"ElicitationSessionScope":  "ElicitationScope",
	"ElicitationRequestScope":  "ElicitationScope",
}

// notStructs are definitions with properties that have no struct of their own:
// envelopes of JSON-RPC, and unions whose common properties each variant repeats.
var notStructs = []string{"AgentRequest", "AgentNotification", "ClientRequest", "ClientNotification", "Error",
	"SessionConfigOption", "CreateElicitationRequest", "CreateElicitationResponse"}

func TestEveryPropertyOfTheSchemaHasAField(t *testing.T) {
	types := map[string]reflect.Type{}
	for _, typ := range schemaMessages {
		reach(typ, types)
	}
	for name, def := range definitions(t) {
		if len(def.Properties) == 0 || slices.Contains(notStructs, name) {
			continue
		}
		goName := name
		if r, ok := renamed[name]; ok {
			goName = r
		}
		typ := types[strings.ToLower(goName)]
		if typ == nil {
			t.Errorf("%s has no type", name)
			continue
		}
		fields := jsonFields(typ)
		for property := range def.Properties {
			options, ok := fields[property]
			if !ok {
				t.Errorf("%s has no field for %s", typ, property)
				continue
			}
			if slices.Contains(def.Required, property) && options != "" && typ.Name() != "ElicitationScope" {
				t.Errorf("%s: %s is required, but may be left out", typ, property)
			}
		}
	}
}

// reach collects the structs that a type is made of, by their names in lower case.
func reach(t reflect.Type, into map[string]reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		reach(t.Elem(), into)
		if t == reflect.TypeFor[ElicitationProperties]() {
			reach(reflect.TypeFor[ElicitationPropertySchema](), into)
		}
	case reflect.Interface:
		if unions()[t] == nil {
			return
		}
		for _, v := range variantsOf(t) {
			reach(v, into)
		}
	case reflect.Struct:
		if into[strings.ToLower(t.Name())] != nil {
			return
		}
		into[strings.ToLower(t.Name())] = t
		for i := range t.NumField() {
			reach(t.Field(i).Type, into)
		}
	}
}

// jsonFields are the members of a struct and the options of their tags.
func jsonFields(t reflect.Type) map[string]string {
	fields := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = options
		}
	}
	return fields
}
