package tools

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestTodo(t *testing.T) {
	a, err := prepared(t, nil, Todo(), args{"todos": []args{
		{"content": "first", "status": "completed"},
		{"content": "second", "status": "in_progress", "priority": "high", "activeForm": "doing it"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Title != "Update plan (1 of 2 done)" || a.Kind != kinds.KindThink || !a.Facts.ReadOnly || !a.Harmless || a.Concurrent || len(a.Paths) != 0 {
		t.Errorf("%+v %+v", a.Card, a.Facts)
	}
	r, err := a.Run(t.Context(), nil)
	if err != nil || r.Plan == nil || len(r.Plan.Entries) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Plan.Entries[0] != (PlanEntry{"first", "completed", "medium"}) || r.Plan.Entries[1] != (PlanEntry{"second", "in_progress", "high"}) {
		t.Errorf("%+v", r.Plan)
	}
	if !strings.Contains(r.Text, "[in_progress] second (high priority)") {
		t.Error(r.Text)
	}
}

func TestTodoEmpty(t *testing.T) {
	r := must(t, nil, Todo(), args{"todos": []args{}})
	if r.Plan == nil || r.Plan.Entries == nil || len(r.Plan.Entries) != 0 || r.Text == "" {
		t.Errorf("%+v", r)
	}
}

func TestTodoRefuses(t *testing.T) {
	for want, todos := range map[string]any{
		"todos[0].status":           []args{{"content": "a", "status": "done"}},
		"todos[0].priority":         []args{{"content": "a", "status": "pending", "priority": "urgent"}},
		"todos[0].content":          []args{{"content": "", "status": "pending"}},
		"missing property 'status'": []args{{"content": "a"}},
		"todos: got null":           nil,
	} {
		_, err := call(t, nil, Todo(), args{"todos": todos})
		wants(t, err, want)
	}
}
