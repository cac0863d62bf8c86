package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// Catalog is the tools that a session keeps back until they are looked for
// (spec/tools.md, "The registry").
type Catalog interface {
	// Deferred is those the model may have and was not given yet, by their ids.
	Deferred() []*Spec
	// Bring adds tools to those that the model is given.
	Bring(ids ...string)
}

// ToolSearch is the tool that finds tools which were kept back, and brings them.
func ToolSearch() Tool {
	return Func(Spec{
		ID:      "tool_search",
		Title:   `Search tools for "{query}"`,
		Aliases: []string{"ToolSearch"},
		Description: `Finds tools by what they do or are called, among those whose names alone you were told. The ones found can be called from the next step on.

- Search with a few words of what you want to do, or with a part of a name.`,
		SearchHint: "find discover tools",
		Parameters: json.RawMessage(`{
	"type": "object",
	"properties": {
		"query": {"type": "string", "minLength": 1, "description": "a few words, or a name"},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 10, "description": "how many to bring at most; 10 if not given"}
	},
	"required": ["query"],
	"additionalProperties": false
}`),
		Kind:     kinds.KindSearch,
		ReadOnly: true,
	}, prepareToolSearch)
}

// maxMatches is how many tools one search brings.
const maxMatches = 10

type toolSearchInput struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results"`
}

func prepareToolSearch(_ context.Context, ws *Workspace, in toolSearchInput) (*Action, error) {
	if strings.TrimSpace(in.Query) == "" {
		return nil, errors.New("tool_search: the query is empty: say in a few words what the tool is to do")
	}
	limit := maxMatches
	if in.MaxResults > 0 {
		limit = min(in.MaxResults, maxMatches)
	}
	card := kinds.Think("Search tools for " + kinds.Quote(in.Query))
	card.Kind = kinds.KindSearch
	return &Action{
		Card:  card,
		Facts: kinds.Facts{ReadOnly: true, Harmless: true},
		Run: func(context.Context, func(Output)) (Result, error) {
			return bringTools(ws.Catalog, in.Query, limit), nil
		},
	}, nil
}

func bringTools(c Catalog, query string, limit int) Result {
	specs := c.Deferred()
	found := rankTools(query, specs)
	if len(found) == 0 {
		return Result{Text: fmt.Sprintf("None of the %d tools that are kept back matches %s. Try other words, or one word.", len(specs), kinds.Quote(query)),
			Metadata: map[string]any{"matches": []any{}}}
	}
	found = found[:min(limit, len(found))]
	var b strings.Builder
	ids, matches := []string{}, []map[string]string{}
	b.WriteString("These can be called now:\n")
	for _, s := range found {
		line := strings.Join(strings.Fields(s.Description), " ")
		if len(line) > 200 {
			line = head(line, 200) + "…"
		}
		fmt.Fprintf(&b, "- %s: %s\n", s.ID, line)
		ids = append(ids, s.ID)
		matches = append(matches, map[string]string{"id": s.ID, "description": line})
	}
	c.Bring(ids...)
	return Result{Text: b.String(), Shown: fenced(b.String()), Metadata: map[string]any{"matches": matches}}
}
