package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

// agentFunc is a sub-agent that is a function; as Agents it has one type.
type agentFunc func(ctx context.Context, prompt string, step func(AgentStep)) (string, error)

func (f agentFunc) Agent(typ string, background bool) (Agent, error) {
	if typ != "general" {
		return nil, fmt.Errorf("there is no sub-agent type %q: there are general", typ)
	}
	return f, nil
}
func (f agentFunc) ID() string { return "sess_child" }
func (f agentFunc) Run(ctx context.Context, prompt string, step func(AgentStep)) (string, error) {
	return f(ctx, prompt, step)
}

func TestTaskInput(t *testing.T) {
	ws := &Workspace{Agents: agentFunc(nil)}
	for _, c := range []struct{ in, want string }{
		{`{}`, "subagent_type"},
		{`{"subagent_type":"general"}`, "prompt"},
		{`{"subagent_type":"general","prompt":""}`, "prompt"},
		{`{"subagent_type":"general","prompt":" \n"}`, "the prompt is empty"},
		{`{"subagent_type":7,"prompt":"x"}`, "subagent_type"},
		{`{"subagent_type":"general","prompt":"x","background":"yes"}`, "background"},
		{`{"subagent_type":"general","prompt":"x","metadata":[1]}`, "metadata"},
		{`{"subagent_type":"general","prompt":"x","model":"m"}`, "model"},
		{`{"subagent_type":"generall","prompt":"x"}`, `task: there is no sub-agent type "generall": there are general`},
	} {
		if _, err := Task().Prepare(t.Context(), ws, json.RawMessage(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", c.in, err, c.want)
		}
	}
}

// The card shows the steps as they are, the last twenty of them, and in the end the
// report below; the metadata is kept as it came.
func TestTaskShowsStepsAndKeepsMetadata(t *testing.T) {
	ws := &Workspace{Agents: agentFunc(func(_ context.Context, prompt string, step func(AgentStep)) (string, error) {
		for i := range 22 {
			s := AgentStep{ID: fmt.Sprint(i), Title: fmt.Sprintf("step %d", i)}
			step(s)
			s.Ended, s.Fails = i != 21, i == 20
			step(s)
		}
		return "report on " + prompt, nil
	})}
	a, err := prepared(t, ws, Task(), args{"subagent_type": "general", "prompt": "a `tick`", "metadata": args{"n": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Title != "general: a `tick`" || a.Kind != kinds.KindThink || !a.ReadOnly || !a.Harmless || !a.Concurrent {
		t.Errorf("%+v %+v", a.Card, a.Facts)
	}
	var shown []string
	r, err := a.Run(t.Context(), func(o Output) { shown = append(shown, o.Text) })
	if err != nil {
		t.Fatal(err)
	}
	if len(shown) != 44 || shown[0] != "```\n… step 0\n```" || !strings.Contains(shown[43], "[2 earlier steps]\n✓ step 2\n") || !strings.Contains(shown[43], "✗ step 20\n… step 21\n") {
		t.Errorf("%d times shown, at last %q", len(shown), shown[len(shown)-1])
	}
	if r.Text != "report on a `tick`" || !strings.HasSuffix(r.Shown, "```\n\nreport on a `tick`") {
		t.Errorf("%q, shown %q", r.Text, r.Shown)
	}
	if kept, _ := json.Marshal(r.Metadata); string(kept) != `{"metadata":{"n":1},"session":"sess_child","steps":22}` {
		t.Errorf("metadata %s", kept)
	}
}

// A sub-agent that fails has said something all the same.
func TestTaskFails(t *testing.T) {
	ws := &Workspace{Agents: agentFunc(func(context.Context, string, func(AgentStep)) (string, error) { return "so far", errors.New("no more") })}
	a, err := prepared(t, ws, Task(), args{"subagent_type": "general", "prompt": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := a.Run(t.Context(), func(Output) {}); err == nil || err.Error() != "no more" || r.Text != "so far" || r.Shown != "so far" {
		t.Errorf("%+v, %v", r, err)
	}
}

// In the background it is a job: each step that ended is a line of its output, and
// what breaks it is how the job fails.
func TestTaskInTheBackground(t *testing.T) {
	jobs := NewJobs()
	defer jobs.Close()
	ws := &Workspace{Jobs: jobs, Agents: agentFunc(func(_ context.Context, prompt string, step func(AgentStep)) (string, error) {
		step(AgentStep{ID: "1", Title: "look"})
		step(AgentStep{ID: "1", Title: "look", Ended: true})
		if prompt == "break" {
			panic("broken")
		}
		return "found", nil
	})}
	for _, c := range []struct{ prompt, want string }{{"work", "✓ look\n(done)\nfound"}, {"break", "✓ look\n(failed: it broke: broken)"}} {
		r := must(t, ws, Task(), args{"subagent_type": "general", "prompt": c.prompt, "background": true, "metadata": args{"n": 1}})
		job, err := jobs.Find(fmt.Sprint(r.Metadata["job"]))
		if err != nil || r.Metadata["session"] != "sess_child" || !strings.Contains(r.Text, job.ID+" was started") {
			t.Fatalf("%+v, %v", r, err)
		}
		<-job.Done()
		if got := job.Report().Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.prompt, got, c.want)
		}
	}
}

// The end of a job is told to the one who started it, and to the one above where it
// has left.
func TestEndOfAJobIsToldToItsStarter(t *testing.T) {
	jobs := NewJobs()
	defer jobs.Close()
	part := jobs.Part()
	below := part.Part()
	start := func(j *Jobs) *Job {
		job, err := j.Start("x", "", func(context.Context, io.Writer) (string, error) { return "", nil })
		if err != nil {
			t.Fatal(err)
		}
		<-job.Done()
		return job
	}
	own, of, under := start(jobs), start(part), start(below)
	for _, c := range []struct {
		who  *Jobs
		want *Job
	}{{jobs, own}, {part, of}} {
		if got := c.who.Ended(); len(got) != 1 || got[0] != c.want {
			t.Errorf("told %v, want %s", got, c.want.ID)
		}
	}
	below.Leave()
	part.Leave()
	if got := part.Ended(); got != nil {
		t.Errorf("one who left is told %v", got)
	}
	if got := jobs.Ended(); len(got) != 1 || got[0] != under {
		t.Errorf("above is told %v, want %s", got, under.ID)
	}
}
