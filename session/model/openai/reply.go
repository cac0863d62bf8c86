package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
)

// reply puts one answer together.
type reply struct {
	client *Client
	model  string
	emit   func(model.Event) error
	ids    *model.CallIDs

	text, thought strings.Builder
	thoughtField  string
	calls         []*pendingCall
	finish        string
	finished      bool // a finish_reason was seen
	refused       bool
	usage         model.Usage
}

// pendingCall is a call whose pieces arrive.
type pendingCall struct {
	index     int // the model's; -1: it gave none
	wireID    string
	id        string // ours, given when the call is announced
	name      string
	args      strings.Builder
	announced bool
}

// read reads an answer in whichever form it comes.
func (r *reply) read(ctx context.Context, a *model.Answer) (model.Done, error) {
	end := &r.client.end
	shape, err := a.Shape()
	if err != nil {
		return model.Done{}, end.Broken(ctx, r.model, err)
	}
	switch shape {
	case model.ShapeEvents:
		return r.readEvents(ctx, a)
	case model.ShapeJSON:
		return r.readWhole(ctx, a)
	case model.ShapeEmpty:
		return model.Done{}, end.Cut(r.model)
	}
	return model.Done{}, end.Unexpected(r.model, a, nil)
}

// readEvents reads a stream. It is complete with a finish_reason and after it
// [DONE] or the orderly end of the body; anything less is a cut.
func (r *reply) readEvents(ctx context.Context, a *model.Answer) (model.Done, error) {
	events := model.NewEventReader(a, 0)
	var c chunk
	for {
		ev, err := events.Next()
		if err == io.EOF && r.finished {
			return r.done()
		}
		if err != nil {
			return model.Done{}, r.client.end.Broken(ctx, r.model, err)
		}
		if bytes.Equal(ev.Data, []byte("[DONE]")) {
			if !r.finished {
				return model.Done{}, r.client.end.Cut(r.model)
			}
			a.Settle()
			return r.done()
		}
		if len(bytes.TrimSpace(ev.Data)) == 0 {
			continue // a sign of life
		}
		if content, ok := plainText(ev.Data); ok && string(ev.Name) != "error" {
			if err := r.say(string(content)); err != nil {
				return model.Done{}, err
			}
			continue
		}
		c.reset()
		if err := r.decode(ev.Data, &c); err != nil {
			return model.Done{}, err
		}
		if string(ev.Name) == "error" || c.failed() {
			return model.Done{}, r.client.end.Reported(r.model, ev.Data)
		}
		if err := r.add(&c); err != nil {
			return model.Done{}, err
		}
	}
}

// readWhole reads an answer that came at once, though a stream was asked for.
func (r *reply) readWhole(ctx context.Context, a *model.Answer) (model.Done, error) {
	raw, err := a.All()
	if err != nil {
		return model.Done{}, r.client.end.Broken(ctx, r.model, err)
	}
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return model.Done{}, r.client.end.Unexpected(r.model, a, raw)
	}
	if c.failed() {
		return model.Done{}, r.client.end.Reported(r.model, raw)
	}
	if len(c.Choices) == 0 || c.Choices[0].Message == nil {
		return model.Done{}, r.client.end.Unexpected(r.model, a, raw)
	}
	c.Choices[0].Delta = *c.Choices[0].Message
	if err := r.add(&c); err != nil {
		return model.Done{}, err
	}
	return r.done()
}

// decode reads an event. A field of another type than known is not worth a
// failure, as long as the JSON is whole.
func (r *reply) decode(data []byte, c *chunk) error {
	err := json.Unmarshal(data, c)
	var kind *json.UnmarshalTypeError
	if err == nil || errors.As(err, &kind) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil
	}
	return r.client.end.Malformed(r.model, data, err)
}

// add takes an event in and passes on what it brings.
func (r *reply) add(c *chunk) error {
	if c.Usage != nil {
		r.usage = c.Usage.tokens()
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue // one answer was asked for
		}
		if ch.Usage != nil {
			r.usage = ch.Usage.tokens()
		}
		if err := r.addDelta(&ch.Delta); err != nil {
			return err
		}
		if ch.FinishReason != "" {
			r.finish, r.finished = string(ch.FinishReason), true
		}
	}
	return nil
}

func (r *reply) addDelta(d *delta) error {
	thought, field := string(d.ReasoningContent), "reasoning_content"
	if thought == "" {
		thought, field = string(d.Reasoning), "reasoning"
	}
	if thought != "" {
		r.thoughtField = field
		r.thought.WriteString(thought)
		if err := r.emit(model.Thought{Text: thought}); err != nil {
			return err
		}
	}
	said := string(d.Content)
	if d.Refusal != "" {
		said, r.refused = said+string(d.Refusal), true
	}
	if err := r.say(said); err != nil {
		return err
	}
	for i := range d.ToolCalls {
		if err := r.addCall(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	if d.FunctionCall != nil {
		zero := 0
		return r.addCall(&callDelta{Index: &zero, Function: *d.FunctionCall})
	}
	return nil
}

// say passes on a piece of the answer.
func (r *reply) say(s string) error {
	if s == "" {
		return nil
	}
	r.text.WriteString(s)
	return r.emit(model.Text{Text: s})
}

// addCall takes a piece of a call in, and announces the call once its name is
// known.
func (r *reply) addCall(d *callDelta) error {
	c := r.callOf(d)
	if c.wireID == "" {
		c.wireID = string(d.ID)
	}
	if c.name == "" {
		c.name = string(d.Function.Name)
	}
	c.args.WriteString(string(d.Function.Arguments))
	if c.announced || c.name == "" {
		return nil
	}
	return r.announce(c)
}

func (r *reply) announce(c *pendingCall) error {
	c.announced = true
	c.id = r.ids.Call(c.wireID)
	return r.emit(model.Calling{ID: c.id, Name: c.name})
}

// callOf finds the call that a piece belongs to, or begins one. The index
// tells, but some servers number every call 0: then another id begins another
// call, and so does a name after complete arguments. Without an index the id
// tells, and without both the piece goes on with the last call.
func (r *reply) callOf(d *callDelta) *pendingCall {
	index := -1
	if d.Index != nil {
		index = *d.Index
	}
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := r.calls[i]
		sameID := d.ID == "" || c.wireID == "" || c.wireID == string(d.ID)
		sameName := d.Function.Name == "" || c.name == "" || c.name == string(d.Function.Name)
		switch {
		case index >= 0 && c.index == index && sameID:
			if d.Function.Name != "" && d.Function.Arguments != "" && c.name != "" && json.Valid([]byte(c.args.String())) {
				break // a whole call under the number of the one before
			}
			return c
		case index < 0 && d.ID != "" && c.wireID == string(d.ID) && sameName:
			return c
		case index < 0 && d.ID == "" && (d.Function.Name == "" || c.name == ""):
			return c
		}
	}
	c := &pendingCall{index: index}
	r.calls = append(r.calls, c)
	return c
}

// done is the end of a complete answer.
func (r *reply) done() (model.Done, error) {
	msg := model.Message{Role: model.RoleAssistant}
	if r.thought.Len() > 0 {
		msg.Parts = append(msg.Parts, model.Part{Type: model.PartThought, Text: r.thought.String(),
			Provider: r.client.mark(r.model, r.thoughtField)})
	}
	if r.text.Len() > 0 {
		msg.Parts = append(msg.Parts, model.Part{Type: model.PartText, Text: r.text.String()})
	}
	for _, c := range r.calls {
		if !c.announced { // it never got a name: the loop says so to the model
			if c.args.Len() == 0 && c.wireID == "" {
				continue
			}
			if err := r.announce(c); err != nil {
				return model.Done{}, err
			}
		}
		msg.Parts = append(msg.Parts, model.Part{Type: model.PartCall, CallID: c.id, Name: c.name, Args: c.args.String()})
	}
	return model.Done{Message: msg, Stop: r.stop(), Usage: r.usage}, nil
}

func (r *reply) stop() model.Stop {
	switch r.finish {
	case "length":
		return model.StopLength
	case "content_filter":
		return model.StopFilter
	}
	if r.refused {
		return model.StopFilter
	}
	return model.StopEnd
}
