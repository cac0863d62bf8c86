package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
)

// The ways in which models think, of which each takes one and refuses the
// others.
type style int

const (
	budget         style = iota // a budget in tokens; none without
	adaptive                    // by effort; none unless asked for
	adaptiveAlways              // by effort; also without being asked
)

// styleOf tells how a model thinks. Models of other makers behind this API
// know the older way; a name of the family that is not known is a newer one.
func styleOf(name string) style {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if !strings.HasPrefix(name, "claude-") {
		return budget
	}
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool {
			rest, ok := strings.CutPrefix(name, "claude-"+p)
			return ok && (rest == "" || rest[0] == '-' || rest[0] == '@')
		})
	}
	switch {
	case has("2", "3", "instant", "opus-4-0", "opus-4-1", "opus-4-5", "sonnet-4-0", "sonnet-4-5", "haiku-4-5",
		"opus-4-20250514", "sonnet-4-20250514", "2.0", "2.1"):
		return budget
	case has("opus-4-6", "sonnet-4-6", "opus-4-7", "opus-4-8"):
		return adaptive
	}
	return adaptiveAlways
}

// Budgets of the levels, in tokens. The API takes none below 1024.
const (
	minBudget    = 1024
	lowBudget    = 4096
	mediumBudget = 10_000
	highBudget   = 24_000
)

type thinkingParam struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitzero"`
	Display string `json:"display,omitzero"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

// think fills in what a request says of thinking.
func think(out *messagesRequest, level string) {
	off := level == "off" || level == "none"
	switch s := styleOf(out.Model); {
	case s == budget:
		if n := budgetOf(level, out.MaxTokens); n >= minBudget {
			out.Thinking = &thinkingParam{Type: "enabled", Budget: n}
		}
	case off && s == adaptive, level == "" && s == adaptive:
	default:
		// The summary is what a user sees; models leave it out unless asked.
		out.Thinking = &thinkingParam{Type: "adaptive", Display: "summarized"}
		if level != "" && !off {
			out.OutputConfig = &outputConfig{Effort: level}
		}
	}
}

// budgetOf is the budget of a level, less than the limit of the whole answer.
func budgetOf(level string, maxTokens int) int {
	n := map[string]int{"low": lowBudget, "medium": mediumBudget, "high": highBudget, "xhigh": highBudget, "max": highBudget}[level]
	return min(n, maxTokens-minBudget)
}

// kept is what a thought keeps in Part.Provider: the block as it came, and the
// model that it is bound to.
type kept struct {
	API   string          `json:"api"`
	Model string          `json:"model"`
	Block json.RawMessage `json:"block"`
}

func keep(modelID string, block any) (json.RawMessage, error) {
	raw, err := model.EncodeJSON(block)
	if err != nil {
		return nil, err
	}
	return model.EncodeJSON(kept{API: string(model.APIAnthropic), Model: modelID, Block: raw})
}

// keptBlock is the block of a thought of the model's own, nil of any other.
func keptBlock(modelID string, provider json.RawMessage) json.RawMessage {
	var k kept
	if json.Unmarshal(provider, &k) != nil || k.API != string(model.APIAnthropic) || k.Model != modelID {
		return nil
	}
	return k.Block
}

// refusesThoughts tells whether a request was refused for the thinking in it.
func refusesThoughts(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Status == http.StatusBadRequest && !errors.Is(err, model.ErrContextLength) &&
		strings.Contains(strings.ToLower(e.Message), "thinking")
}
