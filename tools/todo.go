package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

type todoInput struct {
	Todos []PlanEntry `json:"todos"`
}

// Todo is the tool that keeps the list of things to do, which the editor shows
// as the plan. Each call gives the whole list; an empty one clears it.
func Todo() Tool {
	return Func(Spec{
		ID:      "todo",
		Title:   "Update plan",
		Aliases: []string{"TodoWrite"},
		Description: "Keeps the list of things to do that the user sees as your plan. Send the whole list each time; an empty list clears it. " +
			"Use it for work of several steps: keep exactly one entry in_progress while you work, and mark entries completed as soon as they are.",
		SearchHint: "plan task list progress",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"todos": {
					"type": "array",
					"description": "All entries, in order",
					"items": {
						"type": "object",
						"properties": {
							"content": {"type": "string", "minLength": 1, "description": "What is to be done"},
							"status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
							"priority": {"type": "string", "enum": ["high", "medium", "low"], "description": "Default medium"}
						},
						"required": ["content", "status"]
					}
				}
			},
			"required": ["todos"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindThink,
		ReadOnly: true,
	}, prepareTodo)
}

func prepareTodo(_ context.Context, _ *Workspace, in todoInput) (*Action, error) {
	entries := make([]PlanEntry, len(in.Todos)) // never nil: empty clears the plan
	done := 0
	for i, e := range in.Todos {
		if e.Priority == "" {
			e.Priority = "medium"
		}
		if e.Status == "completed" {
			done++
		}
		entries[i] = e
	}
	title := "Clear plan"
	if len(entries) > 0 {
		title = fmt.Sprintf("Update plan (%d of %d done)", done, len(entries))
	}
	return &Action{
		Card:  kinds.Think(title),
		Facts: kinds.Facts{ReadOnly: true, Harmless: true},
		Run: func(context.Context, func(Output)) (Result, error) {
			return Result{Text: todoList(entries), Plan: &Plan{entries}}, nil
		},
	}, nil
}

// todoList is the list as the model reads it.
func todoList(entries []PlanEntry) string {
	if len(entries) == 0 {
		return "The plan is empty."
	}
	var b strings.Builder
	b.WriteString("The plan is now:")
	for _, e := range entries {
		fmt.Fprintf(&b, "\n- [%s] %s", e.Status, e.Content)
		if e.Priority != "medium" {
			b.WriteString(" (" + e.Priority + " priority)")
		}
	}
	return b.String()
}
