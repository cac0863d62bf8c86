package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
)

// messagesRequest is the body of a request. The order of its fields and of the
// tools is fixed: the cache of prompts goes by bytes.
type messagesRequest struct {
	Model        string         `json:"model"`
	MaxTokens    int            `json:"max_tokens"`
	Stream       bool           `json:"stream"`
	Thinking     *thinkingParam `json:"thinking,omitzero"`
	OutputConfig *outputConfig  `json:"output_config,omitzero"`
	Tools        []tool         `json:"tools,omitzero"`
	System       []*block       `json:"system,omitzero"`
	Messages     []message      `json:"messages"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitzero"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitzero"`
}

type message struct {
	Role    string   `json:"role"`
	Content []*block `json:"content"`
}

// block is one block of content. Raw stands for the whole block, given back as
// it came.
type block struct {
	Raw json.RawMessage `json:"-"`

	Type         string          `json:"type"`
	Text         string          `json:"text,omitzero"`
	Source       *source         `json:"source,omitzero"`
	ID           string          `json:"id,omitzero"`
	Name         string          `json:"name,omitzero"`
	Input        json.RawMessage `json:"input,omitzero"`
	ToolUseID    string          `json:"tool_use_id,omitzero"`
	Content      []*block        `json:"content,omitzero"`
	IsError      bool            `json:"is_error,omitzero"`
	CacheControl *cacheControl   `json:"cache_control,omitzero"`
}

// MarshalJSON implements json.Marshaler.
func (b *block) MarshalJSON() ([]byte, error) {
	if b.Raw != nil {
		return b.Raw, nil
	}
	type plain block
	return model.EncodeJSON((*plain)(b))
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// Limits of an answer where neither the request nor the options name one, in
// tokens. The first is what each model takes; the second keeps an answer that
// runs away from costing all that the model could write.
const (
	unknownMaxOutput = 8192
	usualMaxOutput   = 64_000
)

// encode makes the body of a request and counts the thoughts given back in it.
// Without thoughts none are.
func (c *Client) encode(req *model.Request, thoughts bool) (body []byte, given int, err error) {
	e := encoder{client: c, model: req.Model, thoughts: thoughts, ids: model.NewCallIDs(validID)}
	out := messagesRequest{Model: req.Model, MaxTokens: c.maxTokens(req), Stream: true, Messages: e.messages(req.Messages)}
	think(&out, req.Thinking)
	if out.Thinking != nil && out.Thinking.Type == "enabled" && !thoughts {
		out.Thinking = nil // a turn that thinks must begin with its thoughts
	}
	if strings.TrimSpace(req.System) != "" {
		out.System = []*block{{Type: "text", Text: req.System, CacheControl: ephemeral()}}
	}
	for _, t := range req.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].CacheControl = ephemeral()
	}
	markCache(out.Messages)
	body, err = model.EncodeJSON(out)
	if err != nil {
		return nil, 0, fmt.Errorf("encoding the request to %s: %w", c.end.Provider, err)
	}
	return body, e.given, nil
}

func (c *Client) maxTokens(req *model.Request) int {
	for _, n := range []int{req.MaxOutput, c.maxOutput} {
		if n > 0 {
			return n
		}
	}
	if known := c.catalog.Lookup(c.end.Provider, model.APIAnthropic, req.Model).MaxOutput; known > 0 {
		return min(known, usualMaxOutput)
	}
	return unknownMaxOutput
}

func ephemeral() *cacheControl { return &cacheControl{Type: "ephemeral"} }

// markCache marks the ends of the last two user messages: the one that this
// request ends with, to be found by the next, and the one before, which the
// last request wrote. With system and tools that makes the four markers that
// the API takes.
func markCache(messages []message) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if m := messages[i]; m.Role == "user" {
			m.Content[len(m.Content)-1].CacheControl = ephemeral()
			left--
		}
	}
}

// validID tells whether the API takes a call id.
func validID(id string) bool {
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// encoder makes the messages of one request.
type encoder struct {
	client   *Client
	model    string
	thoughts bool
	given    int // thoughts given back
	ids      *model.CallIDs
}

// messages makes the messages, of which user and assistant take turns: results
// of calls are the user's, and neighbours of one role become one message.
func (e *encoder) messages(in []model.Message) []message {
	out := make([]message, 0, len(in))
	for _, m := range in {
		role, content := "user", []*block(nil)
		switch m.Role {
		case model.RoleAssistant:
			role, content = "assistant", e.assistant(m.Parts)
		case model.RoleTool:
			content = e.results(m.Parts)
		default:
			content = e.user(m.Parts)
		}
		if len(content) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, content...)
			continue
		}
		out = append(out, message{Role: role, Content: content})
	}
	return out
}

func (e *encoder) assistant(parts []model.Part) []*block {
	e.ids.Begin()
	var out []*block
	for _, p := range parts {
		switch p.Type {
		case model.PartThought:
			if raw := keptBlock(e.model, p.Provider); raw != nil && e.thoughts {
				out = append(out, &block{Raw: raw})
				e.given++
			}
		case model.PartText:
			out = appendText(out, p.Text)
		case model.PartCall:
			out = append(out, &block{Type: "tool_use", ID: e.ids.Call(p.CallID), Name: p.Name, Input: model.ArgsObject(p.Args)})
		}
	}
	return out
}

func (e *encoder) user(parts []model.Part) []*block {
	var out []*block
	for _, p := range parts {
		switch p.Type {
		case model.PartText:
			out = appendText(out, p.Text)
		case model.PartMedia:
			out = append(out, e.media(p))
		}
	}
	return out
}

// results makes the results of calls. Media belong to the result before them.
func (e *encoder) results(parts []model.Part) []*block {
	var out []*block
	for _, p := range parts {
		switch p.Type {
		case model.PartResult:
			out = append(out, &block{Type: "tool_result", ToolUseID: e.ids.Result(p.CallID), IsError: p.IsError, Content: appendText(nil, p.Text)})
		case model.PartMedia:
			if n := len(out); n > 0 {
				out[n-1].Content = append(out[n-1].Content, e.media(p))
			}
		}
	}
	return out
}

// appendText adds a block of text. The API takes none that is blank.
func appendText(out []*block, s string) []*block {
	if strings.TrimSpace(s) == "" {
		return out
	}
	return append(out, &block{Type: "text", Text: s})
}

// media is an image or a document as the API takes it, or a line that tells of
// what the model cannot take.
func (e *encoder) media(p model.Part) *block {
	kind := ""
	switch p.MIME {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		kind = "image"
	case "application/pdf":
		kind = "document"
	}
	if kind == "" || !e.client.images {
		return &block{Type: "text", Text: model.Unshown(p)}
	}
	return &block{Type: kind, Source: &source{Type: "base64", MediaType: p.MIME, Data: base64.StdEncoding.EncodeToString(p.Data)}}
}
