package acp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// decoding is Decode[T] for tables.
func decoding[T any](params string) error {
	_, err := Decode[T](json.RawMessage(params))
	return err
}

func TestDecodeNamesTheWrongField(t *testing.T) {
	for _, test := range []struct {
		name   string
		decode func(string) error
		params string
		want   string
	}{
		{"string for params", decoding[InitializeRequest], `"hello"`, "initialize: params: must be an object"},
		{"list for params", decoding[InitializeRequest], `[1]`, "initialize: params: must be an object"},
		{"version a string", decoding[InitializeRequest], `{"protocolVersion":"1"}`, "initialize: protocolVersion: must be an integer"},
		{"version a fraction", decoding[InitializeRequest], `{"protocolVersion":1.5}`, "initialize: protocolVersion: must be an integer"},
		{"version negative", decoding[InitializeRequest], `{"protocolVersion":-1}`, "initialize: protocolVersion: must be an integer from 0 to 65535"},
		{"version too large", decoding[InitializeRequest], `{"protocolVersion":65536}`, "initialize: protocolVersion: must be an integer from 0 to 65535"},
		{"no params", decoding[InitializeRequest], ``, "initialize: protocolVersion: is required"},
		{"cwd a number", decoding[NewSessionRequest], `{"cwd":7,"mcpServers":[]}`, "session/new: cwd: must be a string"},
		{"cwd null", decoding[NewSessionRequest], `{"cwd":null,"mcpServers":[]}`, "session/new: cwd: is required"},
		{"cwd missing", decoding[NewSessionRequest], `{"mcpServers":[]}`, "session/new: cwd: is required"},
		{"cwd null at last", decoding[NewSessionRequest], `{"cwd":"/a","cwd":null}`, "session/new: cwd: is required"},
		{"server without a command", decoding[NewSessionRequest], `{"cwd":"/a","mcpServers":[{"name":"x"}]}`, "session/new: mcpServers.0.command: is required"},
		{"server's argument", decoding[NewSessionRequest], `{"cwd":"/a","mcpServers":[{"name":"x","command":"y","args":["a",2]}]}`, "session/new: mcpServers.0.args.1: must be a string"},
		{"server's tag", decoding[LoadSessionRequest], `{"sessionId":"s","cwd":"/a","mcpServers":[{"type":3}]}`, "session/load: mcpServers.0.type: must be a string"},
		{"servers a string", decoding[ResumeSessionRequest], `{"sessionId":"s","cwd":"/a","mcpServers":"x"}`, "session/resume: mcpServers: must be an array"},
		{"first missing is named", decoding[SetSessionModeRequest], `{}`, "session/set_mode: sessionId: is required"},
		{"no mode", decoding[SetSessionModeRequest], `{"sessionId":"s"}`, "session/set_mode: modeId: is required"},
		{"session id a number", decoding[SetSessionModeRequest], `{"sessionId":5,"modeId":"m"}`, "session/set_mode: sessionId: must be a string"},
		{"no model", decoding[SetSessionModelRequest], `{"sessionId":"s"}`, "session/set_model: modelId: is required"},
		{"option's value", decoding[SetSessionConfigOptionRequest], `{"sessionId":"s","configId":"c","value":1}`, "session/set_config_option: value: must be a string, or true or false"},
		{"block without a type", decoding[PromptRequest], `{"sessionId":"s","prompt":[{"text":"x"}]}`, "session/prompt: prompt.0.type: is required"},
		{"block a string", decoding[PromptRequest], `{"sessionId":"s","prompt":["x"]}`, "session/prompt: prompt.0: must be an object"},
		{"known block, bad body", decoding[PromptRequest], `{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"text","text":5}]}`, "session/prompt: prompt.1.text: must be a string"},
		{"prompt a string", decoding[PromptRequest], `{"sessionId":"s","prompt":"x"}`, "session/prompt: prompt: must be an array"},
		{"prompt missing", decoding[PromptRequest], `{"sessionId":"s"}`, "session/prompt: prompt: is required"},
		{"resource without content", decoding[PromptRequest], `{"sessionId":"s","prompt":[{"type":"resource","resource":{"uri":"u"}}]}`, "session/prompt: prompt.0.resource.text: is required"},
		{"cancelled id", decoding[CancelRequestNotification], `{"requestId":{}}`, "$/cancel_request: requestId: must be an integer, a string or null"},
		{"form", decoding[CreateElicitationRequest], `{"mode":"form","message":"m"}`, "elicitation/create: requestedSchema: is required"},
		{"not JSON", decoding[InitializeRequest], `{"protocolVersion":1,`, "initialize: params: must be valid JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.decode(test.params)
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) {
				t.Fatalf("got %v, want a *jsonrpc.Error", err)
			}
			if rpc.Code != jsonrpc.CodeInvalidParams || rpc.Message != test.want {
				t.Errorf("got %d %q\nwant %d %q", rpc.Code, rpc.Message, jsonrpc.CodeInvalidParams, test.want)
			}
		})
	}
}

func TestDecodeIsLenient(t *testing.T) {
	for _, test := range []struct {
		name   string
		decode func(string) (any, error)
		params string
		want   string // what the value is written as
	}{
		{"bare initialize", decoded[InitializeRequest], `{"protocolVersion":1}`, `{"protocolVersion":1}`},
		{"integral float", decoded[InitializeRequest], `{"protocolVersion":1.0}`, `{"protocolVersion":1}`},
		{"Lua's empty tables", decoded[InitializeRequest], `{"protocolVersion":1,"clientCapabilities":[],"_meta":[],"clientInfo":[]}`,
			`{"protocolVersion":1,"clientInfo":{"name":"","version":""}}`},
		{"Lua's empty tables inside", decoded[InitializeRequest], `{"protocolVersion":1,"clientCapabilities":{"fs":[],"session":{"configOptions":{"boolean":[]}},"terminal":true}}`,
			`{"protocolVersion":1,"clientCapabilities":{"terminal":true,"session":{"configOptions":{"boolean":{}}}}}`},
		{"null for absent", decoded[InitializeRequest], `{"protocolVersion":1,"clientCapabilities":null,"clientInfo":null,"_meta":null}`, `{"protocolVersion":1}`},
		{"wrong optional members", decoded[InitializeRequest], `{"protocolVersion":1,"clientCapabilities":{"terminal":"yes","fs":{"readTextFile":1,"writeTextFile":true}},"clientInfo":"x"}`,
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"writeTextFile":true}}}`},
		{"client without a version", decoded[InitializeRequest], `{"protocolVersion":1,"clientInfo":{"name":"zed"}}`,
			`{"protocolVersion":1,"clientInfo":{"name":"zed","version":""}}`},
		{"unknown members", decoded[InitializeRequest], `{"x":[{"y":"]\"}"}],"protocolVersion":1}`, `{"protocolVersion":1}`},
		{"escaped names", decoded[InitializeRequest], `{"protocol\u0056ersion":1}`, `{"protocolVersion":1}`},
		{"no servers", decoded[NewSessionRequest], `{"cwd":"/a"}`, `{"cwd":"/a","mcpServers":[]}`},
		{"null for servers", decoded[NewSessionRequest], `{"cwd":"/a","mcpServers":null}`, `{"cwd":"/a","mcpServers":[]}`},
		{"an empty object of servers", decoded[NewSessionRequest], `{"cwd":"/a","mcpServers":{}}`, `{"cwd":"/a","mcpServers":[]}`},
		{"wrong folders", decoded[NewSessionRequest], `{"cwd":"/a","additionalDirectories":[1,"/b"]}`, `{"cwd":"/a","additionalDirectories":["/b"],"mcpServers":[]}`},
		{"server of few words", decoded[NewSessionRequest], `{"cwd":"/a","mcpServers":[{"name":"n","command":"c"},{"type":"stdio","name":"n","command":"c","args":null,"env":{}},{"type":"http","name":"h","url":"u"}]}`,
			`{"cwd":"/a","mcpServers":[{"name":"n","command":"c","args":[],"env":[]},{"name":"n","command":"c","args":[],"env":[]},{"type":"http","name":"h","url":"u","headers":[]}]}`},
		{"server of the future", decoded[NewSessionRequest], `{"cwd":"/a","mcpServers":[{"type":"acp","id":1}]}`, `{"cwd":"/a","mcpServers":[{"type":"acp","id":1}]}`},
		{"no params at all", decoded[ListSessionsRequest], ``, `{}`},
		{"null params", decoded[ListSessionsRequest], `null`, `{}`},
		{"block of the future", decoded[PromptRequest], `{"sessionId":"s","prompt":[{"type":"smell","x":1.0}]}`, `{"sessionId":"s","prompt":[{"type":"smell","x":1.0}]}`},
		{"wrong annotations", decoded[PromptRequest], `{"sessionId":"s","prompt":[{"type":"text","text":"","annotations":5}]}`, `{"sessionId":"s","prompt":[{"type":"text","text":""}]}`},
		{"meta is kept", decoded[PromptRequest], `{"sessionId":"s","prompt":[],"_meta":{"n":12345678901234567890,"o":{"p":[null]}}}`,
			`{"sessionId":"s","prompt":[],"_meta":{"n":12345678901234567890,"o":{"p":[null]}}}`},
		{"switch without its type", decoded[SetSessionConfigOptionRequest], `{"sessionId":"s","configId":"c","value":true}`,
			`{"type":"boolean","sessionId":"s","configId":"c","value":true}`},
		{"value with a type", decoded[SetSessionConfigOptionRequest], `{"sessionId":"s","configId":"c","value":"v","type":"x"}`,
			`{"sessionId":"s","configId":"c","value":"v"}`},
		{"selected nothing", decoded[RequestPermissionResponse], `{"outcome":{"outcome":"selected"}}`, `{"outcome":{"outcome":"cancelled"}}`},
		{"selected null", decoded[RequestPermissionResponse], `{"outcome":{"outcome":"selected","optionId":null}}`, `{"outcome":{"outcome":"cancelled"}}`},
		{"no answer to a write", decoded[WriteTextFileResponse], `null`, `{}`},
		{"wrong content is left out", decoded[ToolCallUpdate], `{"toolCallId":"c","content":[{"type":"diff"},{"type":"terminal","terminalId":"t"}],"locations":"x"}`,
			`{"toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]}`},
		{"null request id", decoded[CancelRequestNotification], `{"requestId":null}`, `{"requestId":null}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := test.decode(test.params)
			if err != nil {
				t.Fatal(err)
			}
			got, err := marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func decoded[T any](params string) (any, error) { return Decode[T](json.RawMessage(params)) }

func TestDecodeResultSaysWhatIsWrong(t *testing.T) {
	_, err := DecodeResult[ReadTextFileResponse](json.RawMessage("null"))
	if err == nil || err.Error() != "content: is required" {
		t.Errorf("reading null: %v", err)
	}
	_, err = DecodeResult[WriteTextFileResponse](json.RawMessage(`"disk full"`))
	if err == nil || err.Error() != "result: must be an object" {
		t.Errorf("writing, answered by a string: %v", err)
	}
}

func TestUnmarshalJSONFollowsDecode(t *testing.T) {
	const text = `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}`
	var n SessionNotification
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	chunk, ok := n.Update.(AgentMessageChunk)
	if !ok || chunk.Content.(TextContent).Text != "hi" {
		t.Errorf("got %#v", n.Update)
	}
	if err := json.Unmarshal([]byte(`{"type":"image","text":"x"}`), &TextContent{}); err == nil {
		t.Error("a tag that is not the variant's own was accepted")
	}
}

func TestLargeTextIsCopiedOnce(t *testing.T) {
	const size = 8 << 20
	block := strings.Repeat(`line with \"quotes\" and a\n`, size/27)
	params := json.RawMessage(`{"sessionId":"s","prompt":[{"type":"text","text":"` + block + `"}]}`)
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode[PromptRequest](params); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got := result.AllocedBytesPerOp(); got > size*3/2 {
		t.Errorf("decoding %d bytes allocates %d", size, got)
	}
}
