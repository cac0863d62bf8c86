package openai

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
)

func said(s string) model.Part { return model.Part{Type: model.PartText, Text: s} }

// conversation is a request with all that one can hold.
func conversation(c *Client) *model.Request {
	png := model.Part{Type: model.PartMedia, MIME: "image/png", Data: []byte("png")}
	return &model.Request{
		Model: "m", System: "be brief", Thinking: "low", MaxOutput: 500, Session: "s1",
		Tools: []model.Tool{
			{Name: "write", Description: "writes <b>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "list"},
		},
		Messages: []model.Message{
			{Role: model.RoleUser, Parts: []model.Part{said("look"), png, {Type: model.PartMedia, MIME: "audio/mpeg", Data: []byte("mp3")}}},
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Type: model.PartThought, Text: "an earlier turn's", Provider: c.mark("m", "reasoning_content")},
				{Type: model.PartCall, CallID: "a", Name: "list", Args: `{"path": "x"}`},
			}},
			{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, CallID: "a", Text: "zero"}}},
			{Role: model.RoleUser, Parts: []model.Part{said("first"), said("second")}},
			{Role: model.RoleUser},
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Type: model.PartThought, Text: "hm", Provider: c.mark("m", "reasoning_content")},
				{Type: model.PartThought, Text: "of another model", Provider: c.mark("n", "reasoning_content")},
				{Type: model.PartThought, Text: "of another field", Provider: c.mark("m", "reasoning")},
				said("I look"),
				{Type: model.PartCall, CallID: "a", Name: "list", Args: `{"path":`},
				{Type: model.PartCall, CallID: "a", Name: "list", Args: ""},
				{Type: model.PartCall, CallID: strings.Repeat("x", 50), Name: "list", Args: "{}"},
			}},
			{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, CallID: "a", Text: "one", IsError: true}, png}},
			{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, CallID: "a", Text: "two"}}},
			{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, CallID: strings.Repeat("x", 50), Text: "three"}}},
			{Role: model.RoleAssistant},
		},
	}
}

func TestRequest(t *testing.T) {
	tests := map[string]Options{
		"request.json":        {BaseURL: "http://m.invalid/v1"},
		"request-media.json":  {BaseURL: "http://m.invalid/v1", Images: true, Audio: true},
		"request-openai.json": {BaseURL: "https://api.openai.com/v1/"},
	}
	for name, opt := range tests {
		t.Run(name, func(t *testing.T) {
			c := New(opt)
			body, err := c.encode(conversation(c))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, body)
			again, err := c.encode(conversation(c))
			if err != nil || !bytes.Equal(body, again) {
				t.Error("the same request has other bytes")
			}
			paired(t, body)
		})
	}
}

// paired checks what providers demand: each call id once, one result beside
// each call.
func paired(t *testing.T, body []byte) {
	t.Helper()
	var req struct {
		Messages []struct {
			Role       string
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	used, open := map[string]bool{}, map[string]bool{}
	for _, m := range req.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				t.Errorf("a result for %s, which is not open", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("calls %v have no result beside them", open)
		}
		for _, c := range m.ToolCalls {
			if used[c.ID] {
				t.Errorf("the id %s is used twice", c.ID)
			}
			used[c.ID], open[c.ID] = true, true
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %v have no result", open)
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
