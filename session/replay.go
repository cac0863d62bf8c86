package session

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/store"
)

// recorded is a stored message with its parts decoded.
type recorded struct {
	id    string
	role  model.Role
	parts []recordedPart
}

// recordedPart is one part: of the pointers, the one of its type is set. None is
// where the type is not known to this version.
type recordedPart struct {
	id      string
	content *Content
	text    *textRecord
	thought *textRecord
	call    *callRecord
}

// readRecords decodes what is stored. Calls without an end are those that a
// crash left open, unless the session is live: then they may still run.
func readRecords(stored []store.Message, live bool) ([]recorded, error) {
	out := make([]recorded, len(stored))
	for i, m := range stored {
		out[i] = recorded{id: m.ID, role: model.Role(m.Role), parts: make([]recordedPart, len(m.Parts))}
		for j, p := range m.Parts {
			part, err := readPart(p)
			if err != nil {
				return nil, fmt.Errorf("message %s: %w", m.ID, err)
			}
			if part.call != nil && !live {
				part.call.settle()
			}
			out[i].parts[j] = part
		}
	}
	return out, nil
}

func readPart(p store.Part) (recordedPart, error) {
	out := recordedPart{id: p.ID}
	var err error
	switch p.Type {
	case recordContent:
		out.content, err = decode[Content](p)
	case recordText:
		out.text, err = decode[textRecord](p)
	case recordThought:
		out.thought, err = decode[textRecord](p)
	case recordCall:
		out.call, err = decode[callRecord](p)
	}
	return out, err
}

func decode[T any](p store.Part) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(p.Data, v); err != nil {
		return nil, fmt.Errorf("part %s of type %s: %w", p.ID, p.Type, err)
	}
	return v, nil
}

// history makes the model's messages of the records: of the assistant's, the
// results of its calls are a message of their own.
func history(records []recorded) []model.Message {
	var out []model.Message
	for _, m := range records {
		msg := model.Message{Role: m.role}
		results := model.Message{Role: model.RoleTool}
		for _, p := range m.parts {
			switch {
			case p.content != nil:
				msg.Parts = append(msg.Parts, p.content.parts()...)
			case p.text != nil && p.text.For != readerEditor:
				msg.Parts = append(msg.Parts, p.text.part(model.PartText))
			case p.thought != nil && p.thought.For != readerEditor:
				msg.Parts = append(msg.Parts, p.thought.part(model.PartThought))
			case p.call != nil && p.call.For != readerEditor:
				msg.Parts = append(msg.Parts, p.call.asCall())
				results.Parts = append(results.Parts, p.call.asResult()...)
			}
		}
		for _, m := range []model.Message{msg, results} {
			if len(m.Parts) > 0 {
				out = append(out, m)
			}
		}
	}
	return out
}

func (t *textRecord) part(typ model.PartType) model.Part {
	return model.Part{Type: typ, Text: t.Text, Provider: t.Provider}
}

func (c *callRecord) asCall() model.Part {
	return model.Part{Type: model.PartCall, CallID: c.ID, Name: c.Name, Args: c.Args, Provider: c.Provider}
}

// asResult is what the call came to, and the media that belong to it.
func (c *callRecord) asResult() []model.Part {
	parts := []model.Part{{Type: model.PartResult, CallID: c.ID, Name: c.Name, Text: c.Result, IsError: c.Failed}}
	for _, m := range c.Media {
		parts = append(parts, model.Part{Type: model.PartMedia, MIME: m.MIME, Data: m.Data})
	}
	return parts
}

// replay tells the sink all that was recorded, in order.
func replay(ctx context.Context, records []recorded, sink Sink) error {
	var at passage // the text that may go on
	for _, m := range records {
		for i, p := range m.parts {
			if p.text != nil && !p.text.Continues {
				at = passage{message: p.id}
			}
			last := i+1 == len(m.parts) || m.parts[i+1].text == nil || !m.parts[i+1].text.Continues
			if err := replayPart(ctx, m.id, &at, last, p, sink); err != nil {
				return err
			}
		}
	}
	return nil
}

// replayPart tells a part; of a text that goes on in the next one, what is known
// to be safe without it.
func replayPart(ctx context.Context, message string, at *passage, last bool, p recordedPart, sink Sink) error {
	switch {
	case p.content != nil:
		return sink.Update(ctx, Chunk{Speaker: SpeakerUser, MessageID: message, Content: *p.content})
	case p.text != nil && p.text.For != readerModel && p.text.Text != "":
		text := at.safe.Add(p.text.Text)
		if last {
			text += at.safe.End()
		}
		if text == "" {
			return nil
		}
		return sink.Update(ctx, Chunk{Speaker: SpeakerAgent, MessageID: at.message, Content: Text(text)})
	case p.thought != nil && p.thought.For != readerModel && p.thought.Text != "":
		return sink.Update(ctx, Chunk{Speaker: SpeakerThought, MessageID: p.id, Content: Text(kinds.SafeMarkdown(p.thought.Text))})
	case p.call != nil:
		return p.call.replay(ctx, sink)
	}
	return nil
}

// replay tells a call in its final state, and the plan it made. Terminals of
// an editor are gone: their output stands in the call's text.
func (c *callRecord) replay(ctx context.Context, sink Sink) error {
	shown := make([]Shown, 0, len(c.Content))
	for _, s := range c.Content {
		if s.TerminalID == "" {
			shown = append(shown, s)
		}
	}
	shown = append(shown, shownMedia(c.Media)...)
	call := Call{ID: c.ID, New: true, Status: c.Status, Tool: c.Tool, Input: rawInput(c.input()), Card: &c.Card, Content: shown, Output: c.Output}
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
