package session

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/store"
)

// history makes the model's messages of the stored ones.
func history(stored []store.Message) ([]model.Message, error) {
	var out []model.Message
	for _, m := range stored {
		msgs, err := messageOf(m)
		if err != nil {
			return nil, err
		}
		out = append(out, msgs...)
	}
	return out, nil
}

// messageOf is a stored message as the model reads it: of the assistant's, the
// results of its calls are a message of their own.
func messageOf(m store.Message) ([]model.Message, error) {
	msg := model.Message{Role: model.Role(m.Role)}
	var results []model.Part
	for _, p := range m.Parts {
		parts, result, err := modelParts(p)
		if err != nil {
			return nil, fmt.Errorf("message %s: %w", m.ID, err)
		}
		msg.Parts = append(msg.Parts, parts...)
		results = append(results, result...)
	}
	var out []model.Message
	if len(msg.Parts) > 0 {
		out = append(out, msg)
	}
	if len(results) > 0 {
		out = append(out, model.Message{Role: model.RoleTool, Parts: results})
	}
	return out, nil
}

func modelParts(p store.Part) (parts, results []model.Part, err error) {
	switch p.Type {
	case recordContent:
		c, err := decode[Content](p)
		return c.parts(), nil, err
	case recordText, recordThought:
		t, err := decode[textRecord](p)
		if err != nil || t.For == readerEditor {
			return nil, nil, err
		}
		return []model.Part{{Type: model.PartType(p.Type), Text: t.Text, Provider: t.Provider}}, nil, nil
	case recordCall:
		c, err := decode[callRecord](p)
		if err != nil || c.For == readerEditor {
			return nil, nil, err
		}
		c.settle()
		return []model.Part{c.asCall()}, []model.Part{c.asResult()}, nil
	}
	return nil, nil, nil // of a newer version: nothing that a model could use
}

func (c *callRecord) asCall() model.Part {
	return model.Part{Type: model.PartCall, CallID: c.ID, Name: c.Name, Args: c.Args, Provider: c.Provider}
}

func (c *callRecord) asResult() model.Part {
	return model.Part{Type: model.PartResult, CallID: c.ID, Name: c.Name, Text: c.Result, IsError: c.Failed}
}

func decode[T any](p store.Part) (T, error) {
	var v T
	if err := json.Unmarshal(p.Data, &v); err != nil {
		return v, fmt.Errorf("part %s of type %s: %w", p.ID, p.Type, err)
	}
	return v, nil
}

// replay tells the sink all that was stored, in order.
func replay(ctx context.Context, stored []store.Message, sink Sink) error {
	for _, m := range stored {
		for _, p := range m.Parts {
			if err := replayPart(ctx, m, p, sink); err != nil {
				return err
			}
		}
	}
	return nil
}

func replayPart(ctx context.Context, m store.Message, p store.Part, sink Sink) error {
	switch p.Type {
	case recordContent:
		c, err := decode[Content](p)
		if err != nil {
			return err
		}
		return sink.Update(ctx, Chunk{Speaker: SpeakerUser, MessageID: m.ID, Content: c})
	case recordText, recordThought:
		t, err := decode[textRecord](p)
		if err != nil || t.For == readerModel || t.Text == "" {
			return err
		}
		speaker := SpeakerAgent
		if p.Type == recordThought {
			speaker = SpeakerThought
		}
		return sink.Update(ctx, Chunk{Speaker: speaker, MessageID: p.ID, Content: Text(t.Text)})
	case recordCall:
		c, err := decode[callRecord](p)
		if err != nil {
			return err
		}
		return c.replay(ctx, sink)
	}
	return nil
}

// replay tells a call in its final state, and the plan it made. Terminals of
// an editor are gone: their output stands in the call's text.
func (c *callRecord) replay(ctx context.Context, sink Sink) error {
	c.settle()
	shown := make([]Shown, 0, len(c.Content))
	for _, s := range c.Content {
		if s.TerminalID == "" {
			shown = append(shown, s)
		}
	}
	call := Call{ID: c.ID, New: true, Status: c.Status, Tool: c.Tool, Input: rawInput(c.Args), Card: &c.Card, Content: shown, Output: c.Output}
	if err := sink.Update(ctx, call); err != nil || c.Plan == nil {
		return err
	}
	return sink.Update(ctx, PlanChanged{*c.Plan})
}

// rawInput is the arguments as JSON: as the model wrote them, or as a string
// where that is no JSON.
func rawInput(args string) json.RawMessage {
	if args == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return mustJSON(args)
}
