package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"github.com/acp-agent/acp-agent/kinds"
)

// PlanExitID is the id of the tool that ends plan mode. It is offered only
// where there is that mode to end.
const PlanExitID = "plan_exit"

type planExitInput struct {
	Plan string `json:"plan"`
}

// PlanExit is the tool that shows the user a plan and asks how to go on: what it
// claims (kinds.Facts.LeavesPlan) has the session ask, and change the mode
// (spec/config-keys.md, "plan_exit").
func PlanExit() Tool {
	return Func(Spec{
		ID:      PlanExitID,
		Title:   "Carry out this plan",
		Aliases: []string{"ExitPlanMode", "exit_plan_mode"},
		Description: "Shows the user your finished plan and asks whether to carry it out. Call it once you know what you would change; the plan mode ends only if they agree. " +
			"Do not use it for a question, or where nothing is to be changed: then just answer.",
		SearchHint: "plan mode exit approve approval finish planning",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"plan": {"type": "string", "minLength": 1, "description": "The whole plan, as Markdown: the user decides by it alone"}
			},
			"required": ["plan"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindSwitchMode,
		ReadOnly: true,
	}, preparePlanExit)
}

// visible reports whether a person sees anything of a text.
func visible(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !kinds.Hidden(r) }) >= 0
}

func preparePlanExit(_ context.Context, ws *Workspace, in planExitInput) (*Action, error) {
	plan := strings.TrimSpace(in.Plan)
	if !visible(plan) {
		return nil, errors.New("the plan is empty: give the whole plan, the user sees nothing else")
	}
	card := kinds.SwitchMode("Carry out this plan", plan)
	return &Action{
		Card:  card,
		Facts: kinds.Facts{ReadOnly: true, LeavesPlan: true},
		Run: func(context.Context, func(Output)) (Result, error) {
			text := "The user agrees to the plan. Carry it out now."
			if ws.Mode != nil {
				text = "The user agrees to the plan, and the mode is now " + ws.Mode() + ". Carry it out now."
			}
			return Result{Text: text, Shown: card.Text}, nil
		},
	}, nil
}
