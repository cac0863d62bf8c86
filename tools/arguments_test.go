package tools

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

type numbersInput struct {
	N    int    `json:"n"`
	M    *int64 `json:"m"`
	Text string `json:"text"`
}

// TestIntegersAsSchemaHasThem: what JSON Schema takes as an integer is taken,
// however it is written and however large it is.
func TestIntegersAsSchemaHasThem(t *testing.T) {
	for input, want := range map[string]int{
		`{"n": 2}`: 2, `{"n": 2.0}`: 2, `{"n": 1e3}`: 1000, `{"n": 12.5e1}`: 125, `{"n": -0.0}`: 0,
		`{"n": 9.223372036854775807e18}`: math.MaxInt64,
	} {
		got, err := decoded(input)
		if err != nil || got.N != want {
			t.Errorf("%s: %d, %v, want %d", input, got.N, err, want)
		}
	}
	for _, input := range []string{`{"n": 1.5}`, `{"n": "2"}`, `{"n": true}`, `{"n": 1e-3}`} {
		if _, err := decoded(input); err == nil {
			t.Errorf("%s: no error", input)
		}
	}
	for _, number := range []string{"99999999999999999999999", "-1e400", "1e999999999"} {
		_, err := decoded(`{"n": ` + number + `}`)
		wants(t, err, "x: ", "n")
		if err != nil && strings.Contains(err.Error(), "Go") {
			t.Error(err)
		}
	}
	_, err := decoded(`{"n": ` + strings.Repeat("1", 4<<20) + `}`) // which takes minutes to be worked out
	wants(t, err, "a number of 4194304 digits")
}

// TestArgumentsThatAreNoText: half a surrogate pair and broken UTF-8 would be
// written to a file as another character.
func TestArgumentsThatAreNoText(t *testing.T) {
	for input, want := range map[string]string{
		`{"text": "\ud83d\ude00 \\ud83d \u00e9"}`:   "😀 \\ud83d é",
		`{"text": "\ufffd \uFFFD` + "\ufffd" + `"}`: "\ufffd \ufffd\ufffd",
	} {
		if got, err := decoded(input); err != nil || got.Text != want {
			t.Errorf("%s: %q, %v", input, got.Text, err)
		}
	}
	for _, input := range []string{`{"text": "a\ud83d"}`, `{"text": "\ude00\ud83d"}`, `{"text": "\ud83dx\ude00"}`, `{"text": "\uD83D\\ude00"}`, "{\"text\": \"\ufffd\xff\"}"} {
		if _, err := decoded(input); err == nil {
			t.Errorf("%s: no error", input)
		} else {
			wants(t, err, "no whole character", "at byte")
		}
	}
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n"})
	for _, tool := range []Tool{Write(), Edit()} {
		input := json.RawMessage(`{"path": "a.txt", "content": "\ud800"}`)
		if tool.Spec().ID == "edit" {
			input = json.RawMessage(`{"path": "a.txt", "old_string": "a", "new_string": "\ud800"}`)
		}
		_, err := tool.Prepare(t.Context(), ws, input)
		wants(t, err, `"\\ud800"`)
	}
}

func decoded(input string) (in numbersInput, err error) {
	schema := json.RawMessage(`{"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}, "text": {"type": "string"}}}`)
	_, err = Func(Spec{ID: "x", Parameters: schema}, func(_ context.Context, _ *Workspace, got numbersInput) (*Action, error) {
		in = got
		return &Action{}, nil
	}).Prepare(context.Background(), nil, json.RawMessage(input))
	return in, err
}

// FuzzArguments: what is decoded is what was sent.
func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"text": "a\ud83d\ude00"}`))
	f.Add([]byte(`{"text": "\`))
	f.Add([]byte(`{"n": 1e400, "m": 2.50e1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var in numbersInput
		if err := decodeArguments(raw, &in); err != nil {
			return
		}
		back, err := json.Marshal(in.Text)
		if err != nil {
			t.Fatal(err)
		}
		var again string
		if json.Unmarshal(back, &again) != nil || again != in.Text {
			t.Fatalf("%q became %q", in.Text, again)
		}
	})
}
