package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
)

func said(s string) model.Part { return model.Part{Type: model.PartText, Text: s} }

// conversation is a request with all that one can hold.
func conversation(t *testing.T) *model.Request {
	t.Helper()
	thought, err := keep("claude-opus-5-5", thinkingBlock{"thinking", "Let me <look>.", "c2ln"})
	if err != nil {
		t.Fatal(err)
	}
	redacted, err := keep("claude-opus-5-5", redactedBlock{"redacted_thinking", "b3A="})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := keep("claude-sonnet-5-5", thinkingBlock{"thinking", "of another model", "x"})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Request{
		Model: "claude-opus-5-5", System: "be brief", Thinking: "high",
		Tools: []model.Tool{
			{Name: "write", Description: "writes", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "list"},
		},
		Messages: []model.Message{
			{Role: model.RoleUser, Parts: []model.Part{said("first"), said(" \n")}},
			{Role: model.RoleUser, Parts: []model.Part{said("more")}},
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Type: model.PartThought, Text: "Let me <look>.", Provider: thought},
				{Type: model.PartThought, Provider: redacted},
				{Type: model.PartThought, Text: "of another model", Provider: foreign},
				{Type: model.PartThought, Text: "of another provider", Provider: json.RawMessage(`{"api":"openai-compatible"}`)},
				said(""), said("I look & read"),
				{Type: model.PartCall, CallID: "a", Name: "list", Args: `{"path": "a<b"}`},
				{Type: model.PartCall, CallID: "a", Name: "list", Args: `{"path":`},
				{Type: model.PartCall, CallID: "bad.id", Name: "list"},
			}},
			{Role: model.RoleTool, Parts: []model.Part{
				{Type: model.PartResult, CallID: "a", Name: "list", Text: "one"},
				{Type: model.PartMedia, MIME: "image/png", Data: []byte("png")},
			}},
			{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, CallID: "a", Name: "list", Text: "bad arguments", IsError: true}}},
			{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, CallID: "bad.id", Name: "list"}}},
			{Role: model.RoleAssistant, Parts: []model.Part{said(" ")}},
			{Role: model.RoleUser, Parts: []model.Part{said("and now?"), {Type: model.PartMedia, MIME: "audio/wav", Data: []byte("wav")}}},
		},
	}
}

func TestRequest(t *testing.T) {
	body, given, err := New(Options{Images: true}).encode(conversation(t), true)
	if err != nil || given != 2 {
		t.Fatalf("got %d thoughts, %v", given, err)
	}
	golden(t, "request.json", body)
	if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 {
		t.Errorf("%d cache markers, the API takes 4", n)
	}
	again, _, err := New(Options{Images: true}).encode(conversation(t), true)
	if err != nil || !bytes.Equal(body, again) {
		t.Error("the same request has other bytes")
	}
}

// golden compares JSON with a file. With UPDATE_GOLDEN set it writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("%s: got\n%s", file, out.Bytes())
	}
}

// What came is given back byte for byte as JSON, and before the calls.
func TestThoughtsComeBack(t *testing.T) {
	h := hear(t, t.Context(), serve(t, "thinking.sse"), ask("x"))
	if h.err != nil {
		t.Fatal(h.err)
	}
	stored, err := json.Marshal(h.done.Message)
	if err != nil {
		t.Fatal(err)
	}
	var loaded model.Message
	if err := json.Unmarshal(stored, &loaded); err != nil {
		t.Fatal(err)
	}
	req := ask("x")
	req.Messages = append(req.Messages, loaded)
	body, given, err := New(Options{}).encode(req, true)
	if err != nil || given != 2 {
		t.Fatalf("got %d thoughts, %v", given, err)
	}
	want := `{"role":"assistant","content":[{"type":"thinking","thinking":"Let me look.","signature":"c2lnbmF0dXJl"},` +
		`{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"text","text":"I read it."},` +
		`{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.txt"}},{"type":"tool_use","id":"toolu_1_2","name":"list","input":{}}]}`
	if !strings.Contains(string(body), want) {
		t.Errorf("got %s\nwant in it %s", body, want)
	}
}

func TestThinking(t *testing.T) {
	tests := []struct {
		model, level string
		max          int
		want         string // thinking and effort
	}{
		{"claude-haiku-4-5", "", 0, "- -"},
		{"claude-haiku-4-5-20251001", "low", 0, "enabled 4096  -"},
		{"claude-sonnet-4-5", "medium", 0, "enabled 10000  -"},
		{"claude-opus-4-1", "high", 0, "enabled 24000  -"},
		{"claude-opus-4-1", "high", 4000, "enabled 2976  -"},
		{"claude-opus-4-1", "high", 2000, "- -"},
		{"claude-3-7-sonnet-latest", "off", 0, "- -"},
		{"claude-opus-4-20250514", "low", 0, "enabled 4096  -"},
		{"claude-opus-4-6", "", 0, "- -"},
		{"claude-opus-4-7", "xhigh", 0, "adaptive 0 summarized xhigh"},
		{"claude-opus-4-8", "off", 0, "- -"},
		{"claude-opus-5", "", 0, "adaptive 0 summarized -"},
		{"claude-opus-5-5", "", 0, "adaptive 0 summarized -"},
		{"claude-opus-5-5", "low", 0, "adaptive 0 summarized low"},
		{"claude-opus-5-5", "off", 0, "adaptive 0 summarized -"},
		{"claude-next-9", "max", 0, "adaptive 0 summarized max"},
		{"glm-5", "low", 0, "enabled 4096  -"},
		{"glm-5", "", 0, "- -"},
		{"anthropic/claude-opus-5-5", "low", 0, "adaptive 0 summarized low"},
	}
	for _, tt := range tests {
		out := messagesRequest{Model: tt.model, MaxTokens: tt.max}
		if tt.max == 0 {
			out.MaxTokens = 64_000
		}
		think(&out, tt.level)
		got := "-"
		if p := out.Thinking; p != nil {
			got = fmt.Sprintf("%s %d %s", p.Type, p.Budget, p.Display)
		}
		if out.OutputConfig != nil {
			got += " " + out.OutputConfig.Effort
		} else {
			got += " -"
		}
		if got != tt.want {
			t.Errorf("%s at %q: got %q, want %q", tt.model, tt.level, got, tt.want)
		}
	}
}

func TestMaxTokens(t *testing.T) {
	tests := []struct {
		opt  Options
		req  model.Request
		want int
	}{
		{Options{}, model.Request{Model: "claude-opus-4-1"}, 32_000},
		{Options{}, model.Request{Model: "claude-opus-5-5"}, usualMaxOutput},
		{Options{}, model.Request{Model: "unknown"}, unknownMaxOutput},
		{Options{MaxOutput: 7}, model.Request{Model: "claude-opus-5-5"}, 7},
		{Options{MaxOutput: 7}, model.Request{Model: "claude-opus-5-5", MaxOutput: 3}, 3},
	}
	for _, tt := range tests {
		if got := New(tt.opt).maxTokens(&tt.req); got != tt.want {
			t.Errorf("%+v, %s: got %d, want %d", tt.opt, tt.req.Model, got, tt.want)
		}
	}
}

// Thinking that is refused, because what stood before it has changed, is left
// out, once.
func TestRefusedThoughts(t *testing.T) {
	var bodies []string
	refusals := 1
	c := New(Options{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, string(raw))
		resp := &http.Response{StatusCode: 400, Header: http.Header{}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block"}}`))}
		if len(bodies) > refusals {
			resp.StatusCode, resp.Body = 200, io.NopCloser(bytes.NewReader(fixture(t, "text.sse")))
		}
		return resp, nil
	})}})
	h := hear(t, t.Context(), c, conversation(t))
	if h.err != nil || len(bodies) != 2 {
		t.Fatalf("got %v after %d requests", h.err, len(bodies))
	}
	if !strings.Contains(bodies[0], "c2ln") || strings.Contains(bodies[1], "c2ln") || !strings.Contains(bodies[1], "I look & read") {
		t.Errorf("got %s\nthen %s", bodies[0], bodies[1])
	}
	bodies, refusals = nil, 9
	if e := hear(t, t.Context(), c, conversation(t)).failure(t); e.Retry || len(bodies) != 2 {
		t.Errorf("refused twice: got %v after %d requests", e, len(bodies))
	}
	bodies = nil
	if e := hear(t, t.Context(), c, ask("x")).failure(t); e.Retry || len(bodies) != 1 {
		t.Errorf("without thoughts: got %v after %d requests", e, len(bodies))
	}
}
