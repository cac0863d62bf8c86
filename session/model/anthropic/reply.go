package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
)

// event is an event of a stream: the fields of all kinds in one.
type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      *startMessage   `json:"message"`
	ContentBlock *contentBlock   `json:"content_block"`
	Delta        eventDelta      `json:"delta"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

type startMessage struct {
	Usage *usage `json:"usage"`
}

type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type eventDelta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

// usage counts tokens. A later event replaces what it names.
type usage struct {
	Input         *int `json:"input_tokens"`
	Output        *int `json:"output_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens"`
	CacheWrite    *int `json:"cache_creation_input_tokens"`
	OutputDetails *struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// pending is a block whose pieces arrive.
type pending struct {
	kind      string
	index     int
	text      strings.Builder // text, thinking, arguments
	signature string
	data      string
	id, name  string
	input     json.RawMessage // of a call that came whole
}

// reply puts one answer together.
type reply struct {
	client *Client
	model  string
	emit   func(model.Event) error
	ids    *model.CallIDs

	blocks     []*pending
	stopReason string
	input      int // without what came from, or went into, the cache
	usage      model.Usage
}

// read reads a stream. It is complete with message_stop; anything less is a
// cut.
func (r *reply) read(ctx context.Context, a *model.Answer) (model.Done, error) {
	end := &r.client.end
	shape, err := a.Shape()
	switch {
	case err != nil:
		return model.Done{}, end.Broken(ctx, r.model, err)
	case shape == model.ShapeEmpty:
		return model.Done{}, end.Cut(r.model)
	case shape == model.ShapeJSON:
		return model.Done{}, r.noStream(ctx, a)
	case shape != model.ShapeEvents:
		return model.Done{}, end.Unexpected(r.model, a, nil)
	}
	events := model.NewEventReader(a, 0)
	var ev event
	for {
		raw, err := events.Next()
		if err != nil {
			return model.Done{}, end.Broken(ctx, r.model, err)
		}
		if len(bytes.TrimSpace(raw.Data)) == 0 {
			continue
		}
		ev = event{}
		if err := json.Unmarshal(raw.Data, &ev); err != nil {
			return model.Done{}, end.Malformed(r.model, raw.Data, err)
		}
		if ev.Type == "error" || string(raw.Name) == "error" {
			return model.Done{}, end.Reported(r.model, raw.Data)
		}
		if ev.Type == "message_stop" {
			if r.stopReason == "" {
				return model.Done{}, end.Cut(r.model)
			}
			a.Settle()
			return r.done()
		}
		if err := r.add(&ev); err != nil {
			return model.Done{}, err
		}
	}
}

// noStream is the error of an answer that came at once: the server's own, or
// that it is none.
func (r *reply) noStream(ctx context.Context, a *model.Answer) error {
	raw, err := a.All()
	if err != nil {
		return r.client.end.Broken(ctx, r.model, err)
	}
	var ev event
	if json.Unmarshal(raw, &ev) == nil && len(ev.Error) > 0 {
		return r.client.end.Reported(r.model, raw)
	}
	return r.client.end.Unexpected(r.model, a, raw)
}

// add takes an event in and passes on what it brings. Kinds that are not known
// are skipped, as the API asks of its clients.
func (r *reply) add(ev *event) error {
	switch ev.Type {
	case "message_start":
		if ev.Message != nil {
			r.count(ev.Message.Usage)
		}
	case "content_block_start":
		if ev.ContentBlock != nil {
			return r.begin(ev.Index, ev.ContentBlock)
		}
	case "content_block_delta":
		return r.addDelta(ev.Index, &ev.Delta)
	case "message_delta":
		if ev.Delta.StopReason != "" {
			r.stopReason = ev.Delta.StopReason
		}
		r.count(ev.Usage)
	}
	return nil
}

func (r *reply) begin(index int, b *contentBlock) error {
	p := &pending{kind: b.Type, index: index, signature: b.Signature, data: b.Data, name: b.Name, input: b.Input}
	r.blocks = append(r.blocks, p)
	switch b.Type {
	case "text":
		return r.say(p, b.Text)
	case "thinking":
		return r.muse(p, b.Thinking)
	case "tool_use":
		p.id = r.ids.Call(b.ID)
		return r.emit(model.Calling{ID: p.id, Name: p.name})
	}
	return nil
}

func (r *reply) addDelta(index int, d *eventDelta) error {
	p := r.block(index)
	if p == nil {
		return nil
	}
	switch {
	case d.Type == "text_delta" && p.kind == "text":
		return r.say(p, d.Text)
	case d.Type == "thinking_delta" && p.kind == "thinking":
		return r.muse(p, d.Thinking)
	case d.Type == "signature_delta":
		p.signature += d.Signature
	case d.Type == "input_json_delta":
		p.text.WriteString(d.PartialJSON)
	}
	return nil
}

// block is the block of that index, the last one begun first.
func (r *reply) block(index int) *pending {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if r.blocks[i].index == index {
			return r.blocks[i]
		}
	}
	return nil
}

func (r *reply) say(p *pending, s string) error {
	if s == "" {
		return nil
	}
	p.text.WriteString(s)
	return r.emit(model.Text{Text: s})
}

func (r *reply) muse(p *pending, s string) error {
	if s == "" {
		return nil
	}
	p.text.WriteString(s)
	return r.emit(model.Thought{Text: s})
}

// count takes usage in. The figures of later events are totals, not additions.
func (r *reply) count(u *usage) {
	if u == nil {
		return
	}
	set := func(to *int, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&r.input, u.Input)
	set(&r.usage.Output, u.Output)
	set(&r.usage.CacheRead, u.CacheRead)
	set(&r.usage.CacheWrite, u.CacheWrite)
	if u.OutputDetails != nil {
		r.usage.Thought = u.OutputDetails.Thinking
	}
}

// done is the end of a complete answer.
func (r *reply) done() (model.Done, error) {
	msg := model.Message{Role: model.RoleAssistant}
	for _, b := range r.blocks {
		part, ok, err := r.part(b)
		if err != nil {
			return model.Done{}, err
		}
		if ok {
			msg.Parts = append(msg.Parts, part)
		}
	}
	r.usage.Input = r.input + r.usage.CacheRead + r.usage.CacheWrite
	return model.Done{Message: msg, Stop: r.stop(), Usage: r.usage}, nil
}

// thinkingBlock and redactedBlock are thoughts as the API wants them back.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type redactedBlock struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

// part makes a part of a block, and says whether there is anything in it.
func (r *reply) part(b *pending) (model.Part, bool, error) {
	switch b.kind {
	case "text":
		return model.Part{Type: model.PartText, Text: b.text.String()}, b.text.Len() > 0, nil
	case "thinking":
		p := model.Part{Type: model.PartThought, Text: b.text.String()}
		if b.signature == "" { // it cannot be given back
			return p, p.Text != "", nil
		}
		var err error
		p.Provider, err = keep(r.model, thinkingBlock{"thinking", p.Text, b.signature})
		return p, true, err
	case "redacted_thinking":
		raw, err := keep(r.model, redactedBlock{"redacted_thinking", b.data})
		return model.Part{Type: model.PartThought, Provider: raw}, b.data != "", err
	case "tool_use":
		args := b.text.String()
		if args == "" {
			args = string(model.ArgsObject(string(b.input)))
		}
		return model.Part{Type: model.PartCall, CallID: b.id, Name: b.name, Args: args}, true, nil
	}
	return model.Part{}, false, nil
}

func (r *reply) stop() model.Stop {
	switch r.stopReason {
	case "max_tokens", "model_context_window_exceeded":
		return model.StopLength
	case "refusal":
		return model.StopFilter
	}
	return model.StopEnd
}
