package acptest

import (
	"strings"
	"testing"

	acpschema "github.com/acp-agent/acp-agent/testdata/acp"
)

func TestCheck(t *testing.T) {
	v, err := NewValidator(acpschema.V1(), "session/set_model", "_x/")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		from Side
		line string
		want string // part of the error; empty: none
	}{
		{"request", Client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, ""},
		{"answer", Agent, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`, ""},
		{"second answer", Agent, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`, "not made"},
		{"bad params", Client, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"mcpServers":[]}}`, "cwd"},
		{"bad result", Agent, `{"jsonrpc":"2.0","id":2,"result":{"modes":null}}`, "sessionId"},
		{"same id, other side", Agent, `{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}`, ""},
		{"its answer", Client, `{"jsonrpc":"2.0","id":1,"result":{"content":""}}`, ""},
		{"bad status", Agent, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"done"}}}`, "params of session/update"},
		{"null list", Agent, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":null}}}`, "params of session/update"},
		{"wrong side", Agent, `{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/a","mcpServers":[]}}`, "served by the agent"},
		{"cancel by either", Agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}`, ""},
		{"notification with an id", Client, `{"jsonrpc":"2.0","id":7,"method":"session/cancel","params":{"sessionId":"s"}}`, "has an id"},
		{"request without", Client, `{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`, "has no id"},
		{"unknown", Client, `{"jsonrpc":"2.0","id":8,"method":"session/nothing"}`, "unknown method"},
		{"error", Agent, `{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"no"}}`, ""},
		{"error without a code", Agent, `{"jsonrpc":"2.0","id":null,"error":{"message":"no"}}`, "code"},
		{"error to what was not read", Agent, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, ""},
		{"neither", Agent, `{"jsonrpc":"2.0","id":3}`, "either"},
		{"version", Agent, `{"id":3,"result":{}}`, "2.0"},
		{"allowed", Client, `{"jsonrpc":"2.0","id":9,"method":"session/set_model"}`, ""},
		{"its result", Agent, `{"jsonrpc":"2.0","id":9,"result":null}`, ""},
		{"allowed by prefix", Client, `{"jsonrpc":"2.0","method":"_x/y"}`, ""},
		{"not JSON", Agent, `hello`, "not a message"},
	} {
		err := v.Check(test.from, []byte(test.line))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want an error with %q", test.name, err, test.want)
		}
	}
	if open := v.Open(Client); len(open) != 1 || open[0] != "session/cancel" {
		t.Errorf("open requests: %v", open)
	}
}
