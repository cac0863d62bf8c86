package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
)

// chatRequest is the body of a request. The order of its fields and of the
// tools is fixed: caches of prompts go by bytes.
type chatRequest struct {
	Model               string        `json:"model"`
	Tools               []tool        `json:"tools,omitzero"`
	Messages            []message     `json:"messages"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	MaxTokens           int           `json:"max_tokens,omitzero"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitzero"`
	ReasoningEffort     string        `json:"reasoning_effort,omitzero"`
	PromptCacheKey      string        `json:"prompt_cache_key,omitzero"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters"`
}

// message is one message of any role. Content is a string, a list of parts or
// null.
type message struct {
	Role             string `json:"role"`
	Content          any    `json:"content"`
	ReasoningContent string `json:"reasoning_content,omitzero"`
	ToolCalls        []call `json:"tool_calls,omitzero"`
	ToolCallID       string `json:"tool_call_id,omitzero"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type contentPart struct {
	Type       string      `json:"type"`
	Text       string      `json:"text,omitzero"`
	ImageURL   *imageURL   `json:"image_url,omitzero"`
	InputAudio *inputAudio `json:"input_audio,omitzero"`
}

type imageURL struct {
	URL string `json:"url"`
}

type inputAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

// maxCallID is the longest call id that OpenAI takes.
const maxCallID = 40

// encode makes the body of a request.
func (c *Client) encode(req *model.Request) ([]byte, error) {
	out := chatRequest{
		Model: req.Model, Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
		ReasoningEffort: req.Thinking, Messages: c.messages(req),
	}
	if c.openAI {
		out.MaxCompletionTokens, out.PromptCacheKey = req.MaxOutput, req.Session
	} else {
		out.MaxTokens = req.MaxOutput
	}
	for _, t := range req.Tools {
		params := t.Parameters
		if len(params) == 0 {
			params = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: params}})
	}
	body, err := model.EncodeJSON(out)
	if err != nil {
		return nil, fmt.Errorf("encoding the request to %s: %w", c.end.Provider, err)
	}
	return body, nil
}

func (c *Client) messages(req *model.Request) []message {
	ids := model.NewCallIDs(func(id string) bool { return len(id) <= maxCallID })
	out := make([]message, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, message{Role: "system", Content: req.System})
	}
	var media []contentPart // of results: they follow once all results have been given
	for i, m := range req.Messages {
		if m.Role != model.RoleTool && len(media) > 0 {
			out, media = append(out, message{Role: "user", Content: media}), nil
		}
		switch m.Role {
		case model.RoleAssistant:
			ids.Begin()
			if msg, ok := c.assistant(req, m, ids, sameTurn(req.Messages[i:])); ok {
				out = append(out, msg)
			}
		case model.RoleTool:
			var results []message
			results, media = c.results(m, ids, media)
			out = append(out, results...)
		default:
			if content := c.content(m.Parts); content != nil {
				out = append(out, message{Role: "user", Content: content})
			}
		}
	}
	if len(media) > 0 {
		out = append(out, message{Role: "user", Content: media})
	}
	return out
}

// sameTurn tells whether no user message follows, so that the turn of the
// first of these messages still goes on.
func sameTurn(rest []model.Message) bool {
	for _, m := range rest {
		if m.Role == model.RoleUser {
			return false
		}
	}
	return true
}

func (c *Client) assistant(req *model.Request, m model.Message, ids *model.CallIDs, thoughts bool) (message, bool) {
	out := message{Role: "assistant"}
	var text, reasoning strings.Builder
	for _, p := range m.Parts {
		switch p.Type {
		case model.PartText:
			text.WriteString(p.Text)
		case model.PartThought:
			if thoughts && c.wantsBack(req.Model, p.Provider) {
				reasoning.WriteString(p.Text)
			}
		case model.PartCall:
			out.ToolCalls = append(out.ToolCalls, call{ID: ids.Call(p.CallID), Type: "function",
				Function: callFunction{Name: p.Name, Arguments: string(model.ArgsObject(p.Args))}})
		}
	}
	if text.Len() > 0 {
		out.Content = text.String()
	}
	if len(out.ToolCalls) > 0 {
		out.ReasoningContent = reasoning.String()
	}
	return out, text.Len() > 0 || len(out.ToolCalls) > 0
}

// wantsBack tells whether a thought goes back to where it came from. Only
// servers that send reasoning_content are known to want it.
func (c *Client) wantsBack(modelID string, provider json.RawMessage) bool {
	var m mark
	return json.Unmarshal(provider, &m) == nil && m.API == string(model.APIChat) &&
		m.Field == "reasoning_content" && m.From == c.end.Provider+"/"+modelID
}

// results makes one message a result, and adds their media to those that are
// waiting: a tool message holds text only. Media belong to the result before
// them; where the model does not take them, that result says so.
func (c *Client) results(m model.Message, ids *model.CallIDs, media []contentPart) ([]message, []contentPart) {
	var out []message
	text, id := "", ""
	for _, p := range m.Parts {
		switch p.Type {
		case model.PartResult:
			text, id = p.Text, ids.Result(p.CallID)
			out = append(out, message{Role: "tool", ToolCallID: id, Content: text})
		case model.PartMedia:
			part := c.media(p)
			switch {
			case part.Type != "text":
				media = append(media, contentPart{Type: "text", Text: "[of the result of " + id + "]"}, part)
			case len(out) > 0:
				text += "\n" + part.Text
				out[len(out)-1].Content = text
			}
		}
	}
	return out, media
}

// content is the content of a user message: a string where there is only text,
// nil where there is nothing.
func (c *Client) content(parts []model.Part) any {
	var out []contentPart
	plain := true
	for _, p := range parts {
		switch p.Type {
		case model.PartText:
			if p.Text != "" {
				out = append(out, contentPart{Type: "text", Text: p.Text})
			}
		case model.PartMedia:
			out = append(out, c.media(p))
			plain = false
		}
	}
	if len(out) == 0 {
		return nil
	}
	if !plain {
		return out
	}
	texts := make([]string, len(out))
	for i, p := range out {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

// media is an image or audio as the API takes it, or a line that tells of what
// the model cannot take.
func (c *Client) media(p model.Part) contentPart {
	switch format := audioFormat(p.MIME); {
	case imageType(p.MIME) && c.images:
		return contentPart{Type: "image_url", ImageURL: &imageURL{URL: "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Data)}}
	case format != "" && c.audio:
		return contentPart{Type: "input_audio", InputAudio: &inputAudio{Data: base64.StdEncoding.EncodeToString(p.Data), Format: format}}
	}
	return contentPart{Type: "text", Text: model.Unshown(p)}
}

// imageType tells whether the API takes images of the type. One that it refuses
// it would refuse in all later requests too.
func imageType(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

func audioFormat(mime string) string {
	switch mime {
	case "audio/wav", "audio/x-wav", "audio/wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	return ""
}
