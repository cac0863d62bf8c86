package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
)

// Agents starts sub-agents; the session does.
type Agents interface {
	// Agent is a new sub-agent of the type, in the background or not. An error
	// says why there can be none, and which types there are.
	Agent(typ string, background bool) (Agent, error)
}

// Agent is one sub-agent, to be run once.
type Agent interface {
	// ID is its session's id.
	ID() string
	// Run works on the prompt until it is done and returns its last message.
	// step is told how far each of its calls is, from any goroutine, until Run
	// returns.
	Run(ctx context.Context, prompt string, step func(AgentStep)) (string, error)
}

// AgentStep is one call of a sub-agent.
type AgentStep struct {
	ID    string
	Title string
	Ended bool
	Fails bool // it ended, and not well
}

func (s AgentStep) String() string {
	mark := "… "
	switch {
	case s.Fails:
		mark = "✗ "
	case s.Ended:
		mark = "✓ "
	}
	return mark + s.Title
}

// Task is the tool that has a sub-agent do a part of the work (spec/tools.md,
// "task").
func Task() Tool {
	return Func(Spec{
		ID:      "task",
		Title:   "{subagent_type}: {prompt}",
		Aliases: []string{"Task", "Agent", "Delegate"},
		Description: `Has a sub-agent do a part of the work, with a conversation of its own, and returns its last message. It sees nothing of this conversation: put all it has to know, and what it is to report, into the prompt.

- subagent_type: general (has all tools), explore (only reads and searches), or one of the further types that are listed at the end of your instructions, if there are any.
- Several calls in one reply run side by side: use that for independent questions.
- With background the call returns at once with an id for task_output and task_stop.
- The user does not see the sub-agent's message: tell what matters of it.`,
		SearchHint: "sub-agent delegate parallel explore research background worker",
		Parameters: json.RawMessage(`{
	"type": "object",
	"properties": {
		"subagent_type": {"type": "string", "description": "general, explore or another type"},
		"prompt": {"type": "string", "minLength": 1, "description": "what it is to do and to report"},
		"background": {"type": "boolean", "description": "return at once and let it work on"},
		"metadata": {"type": "object", "description": "kept with the result as it is"}
	},
	"required": ["subagent_type", "prompt"],
	"additionalProperties": false
}`),
		Kind:     kinds.KindThink,
		ReadOnly: true, // what it does is judged call by call, in the same mode
	}, prepareTask)
}

type taskInput struct {
	Type       string         `json:"subagent_type"`
	Prompt     string         `json:"prompt"`
	Background bool           `json:"background"`
	Metadata   map[string]any `json:"metadata"`
}

func prepareTask(_ context.Context, ws *Workspace, in taskInput) (*Action, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("task: the prompt is empty: say what the sub-agent is to do")
	}
	agent, err := ws.Agents.Agent(in.Type, in.Background)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	card := kinds.Think(in.Type + ": " + in.Prompt)
	card.Text = kinds.Fence("", kinds.Escape(in.Prompt))
	return &Action{
		Card:  card,
		Facts: kinds.Facts{ReadOnly: true, Harmless: true, Concurrent: true},
		Run: func(ctx context.Context, show func(Output)) (Result, error) {
			if in.Background {
				return in.begin(ws, agent, card.Title)
			}
			return in.run(ctx, agent, show)
		},
	}, nil
}

// run waits for the sub-agent, with its steps in the card.
func (in taskInput) run(ctx context.Context, agent Agent, show func(Output)) (Result, error) {
	steps := &stepList{}
	message, err := agent.Run(ctx, in.Prompt, func(s AgentStep) {
		steps.take(s, func(text string) { show(Output{Text: fenced(text)}) })
	})
	r := Result{Text: message, Metadata: in.metadata(agent)}
	shown := steps.text()
	if shown != "" {
		r.Shown = fenced(shown)
	}
	if message != "" {
		r.Shown = strings.TrimPrefix(r.Shown+"\n\n"+message, "\n\n")
	}
	r.Metadata["steps"] = len(steps.list)
	return r, err
}

func (in taskInput) metadata(agent Agent) map[string]any {
	m := map[string]any{"session": agent.ID()}
	if in.Metadata != nil {
		m["metadata"] = in.Metadata
	}
	return m
}

// begin lets the sub-agent work as a background job, whose output is a line for
// each step that ended.
func (in taskInput) begin(ws *Workspace, agent Agent, title string) (Result, error) {
	job, err := ws.Jobs.Start("task", title, func(ctx context.Context, out io.Writer) (string, error) {
		return agent.Run(ctx, in.Prompt, func(s AgentStep) {
			if s.Ended {
				fmt.Fprintln(out, s)
			}
		})
	})
	if err != nil {
		return Result{}, fmt.Errorf("task: %w", err)
	}
	r := Result{Text: fmt.Sprintf("%s was started in the background; task_output shows its steps and its last message, task_stop ends it. You are told when it ends.", job.ID), Metadata: in.metadata(agent)}
	r.Metadata["job"] = job.ID
	r.Shown = fmt.Sprintf("Started in the background as `%s`.", job.ID)
	return r, nil
}

// shownSteps is how many of a sub-agent's steps its card shows.
const shownSteps = 20

// stepList is the steps of a sub-agent, in the order in which they began. It is
// safe for concurrent use.
type stepList struct {
	mu   sync.Mutex
	list []AgentStep
}

// take puts the step in, and shows the list while nothing can change it.
func (l *stepList) take(s AgentStep, show func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for i := len(l.list) - 1; i >= 0 && !found; i-- {
		if found = l.list[i].ID == s.ID; found {
			l.list[i] = s
		}
	}
	if !found {
		l.list = append(l.list, s)
	}
	show(l.textLocked())
}

func (l *stepList) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.textLocked()
}

func (l *stepList) textLocked() string {
	var b strings.Builder
	from := max(0, len(l.list)-shownSteps)
	if from > 0 {
		fmt.Fprintf(&b, "[%d earlier steps]\n", from)
	}
	for i, s := range l.list[from:] {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s.String())
	}
	return b.String()
}
