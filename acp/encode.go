package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/permission"
)

// sink tells an editor the updates of one session, in the wire form of v1.
type sink struct {
	*server
	id string
}

// Update sends u; it returns when u is queued.
func (k sink) Update(ctx context.Context, u session.Update) error {
	update, err := k.encode(u)
	if err != nil {
		return err
	}
	return k.conn.Notify(ctx, MethodSessionUpdate, SessionNotification{SessionID: k.id, Update: update})
}

func (k sink) encode(u session.Update) (SessionUpdate, error) {
	switch u := u.(type) {
	case session.Chunk:
		return chunkOf(u), nil
	case session.Call:
		return k.callOf(u)
	case session.PlanChanged:
		return planOf(u), nil
	case session.CommandsChanged:
		return commandsOf(u.Commands), nil
	case session.ModeChanged:
		return CurrentModeUpdate{CurrentModeID: string(u.Mode)}, nil
	case session.SettingsChanged:
		return ConfigOptionUpdate{ConfigOptions: optionsOf(u.Settings)}, nil
	case session.InfoChanged:
		return SessionInfoUpdate{Title: u.Title, UpdatedAt: wireTime(u.Updated)}, nil
	case session.UsageChanged:
		return UsageUpdate{Used: uint64(max(u.Used, 0)), Size: uint64(max(u.Size, 0))}, nil
	case session.Notice:
		return k.noticeOf(u), nil
	}
	return nil, fmt.Errorf("acp: no wire form of %T", u)
}

func chunkOf(u session.Chunk) SessionUpdate {
	c := ContentChunk{Content: blockOf(u.Content), MessageID: u.MessageID}
	switch u.Speaker {
	case session.SpeakerThought:
		return AgentThoughtChunk{ContentChunk: c}
	case session.SpeakerUser:
		return UserMessageChunk{ContentChunk: c}
	}
	return AgentMessageChunk{ContentChunk: c}
}

func blockOf(c session.Content) ContentBlock {
	switch c.Type {
	case session.ContentLink:
		return ResourceLink{URI: c.URI, Name: c.Name, MimeType: c.MIME}
	case session.ContentResource:
		if c.Text == "" && len(c.Data) > 0 {
			return EmbeddedResource{Resource: BlobResourceContents{URI: c.URI, Blob: base64.StdEncoding.EncodeToString(c.Data), MimeType: c.MIME}}
		}
		return EmbeddedResource{Resource: TextResourceContents{URI: c.URI, Text: c.Text, MimeType: c.MIME}}
	case session.ContentMedia:
		return mediaBlock(c.MIME, c.Data, c.URI)
	}
	return TextContent{Text: c.Text}
}

// mediaBlock is a sound or an image.
func mediaBlock(mime string, data []byte, uri string) ContentBlock {
	encoded := base64.StdEncoding.EncodeToString(data)
	if strings.HasPrefix(mime, "audio/") {
		return AudioContent{Data: encoded, MimeType: mime}
	}
	return ImageContent{Data: encoded, MimeType: mime, URI: uri}
}

// noticeOf is a notice where the editor knows them, else a line of thought.
func (k sink) noticeOf(n session.Notice) SessionUpdate {
	if can := k.client.Load().can.Session; can != nil && can.Notices != nil {
		return Notice{Severity: NoticeWarning, Title: n.Text}
	}
	return AgentThoughtChunk{ContentChunk: ContentChunk{Content: TextContent{Text: n.Text + "\n"}}}
}

// callOf is a call's announcement, or what changed of it; the status is always
// there.
func (k sink) callOf(u session.Call) (SessionUpdate, error) {
	t := ToolCallUpdate{ToolCallID: u.ID, Status: ToolCallStatus(u.Status), RawInput: u.Input}
	if u.Card != nil {
		t.Title, t.Kind, t.Locations = u.Card.Title, ToolKind(u.Card.Kind), k.locationsOf(u.Card.Locations)
	}
	if u.Content != nil {
		t.Content = contentOf(u.Content)
	}
	if u.Output != nil {
		raw, err := json.Marshal(u.Output.Wire())
		if err != nil {
			return nil, err
		}
		t.RawOutput = raw
	}
	t.Meta = displayOf(u)
	if !u.New && u.Display.Dir == "" {
		return SessionToolCallUpdate{ToolCallUpdate: t}, nil
	}
	return ToolCall{ToolCallID: u.ID, Name: u.Tool, Title: t.Title, Kind: t.Kind, Status: t.Status,
		Content: t.Content, Locations: t.Locations, RawInput: t.RawInput, RawOutput: t.RawOutput, Meta: t.Meta}, nil
}

// displayOf tells a terminal that the editor shows and does not run, by its
// extension of the protocol (spec/clients.md, rule 24). It must be told of in a
// tool_call, which for a call that was announced before replaces what that said.
func displayOf(u session.Call) Meta {
	meta := Meta{}
	if u.Display.Dir != "" {
		meta["terminal_info"] = map[string]any{"terminal_id": u.ID, "cwd": u.Display.Dir}
	}
	if u.Display.Text != "" {
		meta["terminal_output"] = map[string]any{"terminal_id": u.ID, "data": u.Display.Text}
	}
	if exit := u.Display.Exit; exit != nil {
		end := map[string]any{"terminal_id": u.ID, "exit_code": nil, "signal": nil}
		if exit.Code >= 0 {
			end["exit_code"] = exit.Code
		}
		if exit.Signal != "" {
			end["signal"] = exit.Signal
		}
		meta["terminal_exit"] = end
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}

// locationsOf counts lines from 1, and for editors that read them so from 0.
func (k sink) locationsOf(locations []kinds.Location) []ToolCallLocation {
	out := make([]ToolCallLocation, 0, len(locations))
	for _, l := range locations {
		w := ToolCallLocation{Path: l.Path}
		if l.Line > 0 {
			line := uint32(l.Line)
			if k.client.Load().quirks.LineBase0 {
				line--
			}
			w.Line = &line
		}
		out = append(out, w)
	}
	return out
}

func contentOf(shown []session.Shown) []ToolCallContent {
	out := make([]ToolCallContent, 0, len(shown))
	for _, s := range shown {
		switch {
		case s.Change != nil:
			out = append(out, Diff{Path: s.Change.Path, OldText: s.Change.Old, NewText: s.Change.New})
		case s.TerminalID != "":
			out = append(out, Terminal{TerminalID: s.TerminalID})
		case s.Media != nil:
			out = append(out, Content{Content: mediaBlock(s.Media.MIME, s.Media.Data, "")})
		default:
			out = append(out, Content{Content: TextContent{Text: s.Text}})
		}
	}
	return out
}

func planOf(u session.PlanChanged) Plan {
	p := Plan{}
	for _, e := range u.Plan.Entries {
		p.Entries = append(p.Entries, PlanEntry{Content: e.Content, Status: PlanEntryStatus(e.Status), Priority: PlanEntryPriority(e.Priority)})
	}
	return p
}

func commandsOf(commands []session.Command) AvailableCommandsUpdate {
	u := AvailableCommandsUpdate{}
	for _, c := range commands {
		w := AvailableCommand{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			w.Input = &AvailableCommandInput{Hint: c.Hint}
		}
		u.AvailableCommands = append(u.AvailableCommands, w)
	}
	return u
}

func modesOf(sess *session.Session) *SessionModeState {
	state := &SessionModeState{CurrentModeID: string(sess.Mode())}
	for _, m := range permission.Modes() {
		state.AvailableModes = append(state.AvailableModes, SessionMode{ID: string(m.ID), Name: m.Name, Description: m.Description})
	}
	return state
}

func optionsOf(settings []session.Setting) []SessionConfigOption {
	out := make([]SessionConfigOption, 0, len(settings))
	for _, s := range settings {
		options := SelectOptions{}
		for _, c := range s.Choices {
			options = append(options, SessionConfigSelectOption{Value: c.Value, Name: c.Name, Description: c.Description})
		}
		out = append(out, SessionConfigSelect{ID: s.ID, Name: s.Name, Description: s.Description,
			Category: SessionConfigOptionCategory(s.Category), CurrentValue: s.Value, Options: options})
	}
	return out
}
