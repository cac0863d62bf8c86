package openai

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/session/model"
)

// chunk is an event of a stream, or a whole answer: both have the same fields,
// but for delta and message.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// reset makes a chunk ready to be decoded into again. What decoding leaves in
// the old elements must not be seen once more.
func (c *chunk) reset() {
	choices := c.Choices[:cap(c.Choices)]
	for i := range choices {
		calls := choices[i].Delta.ToolCalls[:cap(choices[i].Delta.ToolCalls)]
		clear(calls)
		choices[i] = choice{Delta: delta{ToolCalls: calls[:0]}}
	}
	*c = chunk{Choices: choices[:0]}
}

// failed tells whether the event reports an error. Some servers send the field
// as null all along.
func (c *chunk) failed() bool {
	return len(c.Error) > 0 && !bytes.Equal(c.Error, []byte("null"))
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason text   `json:"finish_reason"`
	Usage        *usage `json:"usage"` // where some servers put it
}

type delta struct {
	Content          text        `json:"content"`
	ReasoningContent text        `json:"reasoning_content"`
	Reasoning        text        `json:"reasoning"`
	Refusal          text        `json:"refusal"`
	ToolCalls        []callDelta `json:"tool_calls"`
	FunctionCall     *funcDelta  `json:"function_call"` // the form before tool_calls
}

type callDelta struct {
	Index    *int      `json:"index"`
	ID       text      `json:"id"`
	Function funcDelta `json:"function"`
}

type funcDelta struct {
	Name      text `json:"name"`
	Arguments text `json:"arguments"`
}

// text is a string that servers also send as null, as a list of parts with
// text, or, for arguments, as an object.
type text string

// UnmarshalJSON implements json.Unmarshaler. A string without escapes, as
// nearly all deltas are, is taken as it stands.
func (t *text) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == 'n':
		*t = ""
		return nil
	case b[0] == '"':
		if in := b[1 : len(b)-1]; bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
			*t = text(in)
			return nil
		}
		return json.Unmarshal(b, (*string)(t))
	case b[0] == '[':
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		all := ""
		for _, p := range parts {
			all += p.Text
		}
		*t = text(all)
		return nil
	}
	*t = text(b)
	return nil
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHitTokens int `json:"prompt_cache_hit_tokens"` // DeepSeek's name
}

func (u usage) tokens() model.Usage {
	return model.Usage{
		Input: u.PromptTokens, Output: u.CompletionTokens,
		CacheRead:  max(u.PromptDetails.CachedTokens, u.CacheHitTokens),
		CacheWrite: u.PromptDetails.CacheWriteTokens,
		Thought:    u.CompletionDetails.ReasoningTokens,
	}
}
