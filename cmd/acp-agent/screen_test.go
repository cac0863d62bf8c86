package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
)

func updates(s *screen, all ...acp.SessionUpdate) {
	for _, u := range all {
		s.update(context.Background(), acp.SessionNotification{Update: u})
	}
	s.end()
}

func text(s string) acp.TextContent { return acp.TextContent{Text: s} }

func message(s string) acp.AgentMessageChunk {
	return acp.AgentMessageChunk{ContentChunk: acp.ContentChunk{Content: text(s)}}
}

func thought(s string) acp.AgentThoughtChunk {
	return acp.AgentThoughtChunk{ContentChunk: acp.ContentChunk{Content: text(s)}}
}

func shownText(s string) []acp.ToolCallContent {
	return []acp.ToolCallContent{acp.Content{Content: text(s)}}
}

// TestPiecesOfThoughts: pieces of one thought stand in one line, and a message
// begins a new one.
func TestPiecesOfThoughts(t *testing.T) {
	var out strings.Builder
	updates(newScreen(&out, &out, false),
		thought("Let me thi"), thought("nk."),
		message("Hel"), message("lo."),
		acp.Plan{Entries: []acp.PlanEntry{{Content: "look", Status: acp.PlanCompleted}, {Content: "do", Status: acp.PlanPending}}})
	if want := "Let me think.\nHello.\n    [x] look\n    [ ] do\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestShownOnce: neither the title nor the changes that a question showed, nor
// the text of a call that a direct command answers with, are shown again.
func TestShownOnce(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, &out, false)
	old := "one\n"
	diff := acp.Diff{Path: "/ws/a", OldText: &old, NewText: "two\n"}
	updates(s, acp.ToolCall{ToolCallID: "1", Title: "Edit a", Kind: acp.ToolKindEdit, Status: acp.ToolCallPending},
		acp.ToolCall{ToolCallID: "2", Title: "ls", Kind: acp.ToolKindExecute, Status: acp.ToolCallPending})
	ask := func(id, title string, content []acp.ToolCallContent) {
		r := acp.RequestPermissionRequest{Options: []acp.PermissionOption{{OptionID: "no", Name: "Reject", Kind: acp.PermissionRejectOnce}}}
		r.ToolCall.ToolCallID, r.ToolCall.Title, r.ToolCall.Content = id, title, content
		if _, err := s.permission(context.Background(), r); err != nil {
			t.Error(err)
		}
	}
	ask("1", "Edit a", []acp.ToolCallContent{diff})
	ask("2", "ls", shownText("```sh\nls\n```"))
	done := func(id string, content ...acp.ToolCallContent) acp.SessionToolCallUpdate {
		return acp.SessionToolCallUpdate{ToolCallUpdate: acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallCompleted, Content: content}}
	}
	updates(s, done("1", diff), done("2", shownText("```\nnames\n```")...), message("```\nnames\n```"))
	for part, want := range map[string]int{"+two": 1, "names": 1, "```": 0, "    ls\n": 0} {
		if n := strings.Count(out.String(), part); n != want {
			t.Errorf("%q stands there %d times, want %d:\n%s", part, n, want, out.String())
		}
	}
}

// TestCancelEndsTheQuestion: a cancel is not held up by an answer that nobody
// types.
func TestCancelEndsTheQuestion(t *testing.T) {
	in, typed := io.Pipe()
	defer func() { _ = typed.Close() }()
	s := newScreen(io.Discard, io.Discard, false)
	s.answers = newAnswers(in)
	s.answers.cancel()
	r, err := s.permission(context.Background(), acp.RequestPermissionRequest{
		Options: []acp.PermissionOption{{OptionID: "yes", Name: "Allow once", Kind: acp.PermissionAllowOnce}}})
	if _, ok := r.Outcome.(acp.CancelledPermissionOutcome); !ok || err != nil {
		t.Errorf("got %v, %v", r.Outcome, err)
	}
}

func TestAnswers(t *testing.T) {
	options := []acp.PermissionOption{{OptionID: "yes", Kind: acp.PermissionAllowOnce}, {OptionID: "no", Kind: acp.PermissionRejectOnce}}
	for typed, want := range map[string]string{
		"1\n": "yes", "2\n": "no", "1": "yes", "x\n3\n\n 1 \n": "yes", "c\n": "", "C\n": "", "": "no", "y": "no",
	} {
		s := newScreen(io.Discard, io.Discard, false)
		s.answers = newAnswers(strings.NewReader(typed))
		got := ""
		if o := s.choice(context.Background(), options); o != nil {
			got = o.OptionID
		}
		if got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestUnfence(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "```\na\n```": "a", "```sh\na\n```\n\nbehind": "a\n\nbehind",
		"````\na\n```\nb\n````": "a\n```\nb", "``` `x` ```": "``` `x` ```", "": "", "`go test`": "`go test`",
	} {
		if got := unfence(in); got != want {
			t.Errorf("unfence(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDenied(t *testing.T) {
	for in, want := range map[string]bool{
		`{"type":"error","metadata":{"denied":true}}`: true, `{"type":"error","metadata":{"denied":"yes"}}`: false,
		`{"type":"error","metadata":{}}`: false, `null`: false, ``: false, `[`: false,
	} {
		if got := denied(json.RawMessage(in)); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}
