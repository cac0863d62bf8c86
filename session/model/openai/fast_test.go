package openai

import (
	"encoding/json"
	"testing"
)

func TestPlainText(t *testing.T) {
	taken := map[string]string{
		`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`:                                                               "a",
		` { "id" : "x" , "created" : 1 , "choices" : [ { "delta" : { "role" : "assistant" , "content" : "ü" } } ] , "usage" : null } `:         "ü",
		`{"choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"logprobs":null,"finish_reason":null}],"error":null}`:          "",
		`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":null,"choices":[{"delta":{"content":"b"}}]}`: "b",
	}
	for in, want := range taken {
		if got, ok := plainText([]byte(in)); !ok || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", in, got, ok, want)
		}
	}
	left := []string{
		``, `{}`, `{"choices":[]}`, `{"choices":[{}]}`, `{"choices":[{"delta":{}}]}`, `null`, `[DONE]`,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"content":"a\n"}}]}`,
		`{"choices":[{"delta":{"content":null}}]}`,
		`{"choices":[{"delta":{"content":"a","tool_calls":[]}}]}`,
		`{"choices":[{"index":1,"delta":{"content":"a"}}]}`,
		`{"choices":[{"index":01,"delta":{"content":"a"}}]}`,
		`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`,
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[{"delta":{"content":"a"}}],"error":{"message":"x"}}`,
		`{"choices":[{"delta":{"content":"a"}}],"ERROR":"x"}`,
		`{"choices":[{"delta":{"content":"a"}}]`,
		`{"choices":[{"delta":{"content":"a"}}]}}`,
		`{"choices":[{"delta":{"content":"a`,
		"{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}",
	}
	for _, in := range left {
		if got, ok := plainText([]byte(in)); ok {
			t.Errorf("%s: got %q, want it left to encoding/json", in, got)
		}
	}
}

// FuzzPlainText compares the short way with encoding/json.
func FuzzPlainText(f *testing.F) {
	f.Add([]byte(`{"id":"c1","created":1,"choices":[{"index":0,"delta":{"role":"a","content":"w1 "},"finish_reason":null}],"usage":null}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a"}}],"error":null}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a"}}],"choices":[{"delta":{"content":"b"}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, ok := plainText(in)
		if !ok {
			return
		}
		var c chunk
		if err := json.Unmarshal(in, &c); err != nil {
			t.Fatalf("%q was taken, encoding/json says %v", in, err)
		}
		if len(c.Choices) != 1 || c.Usage != nil || c.failed() || c.Choices[0].FinishReason != "" || c.Choices[0].Index != 0 ||
			string(c.Choices[0].Delta.Content) != string(got) || len(c.Choices[0].Delta.ToolCalls) > 0 || c.Choices[0].Delta.Reasoning != "" {
			t.Fatalf("%q: got %q, encoding/json has %+v", in, got, c)
		}
	})
}
