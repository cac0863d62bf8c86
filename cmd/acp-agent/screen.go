package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/term"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/kinds"
)

// screen shows in a terminal what an agent tells an editor: messages on text,
// calls and questions on side.
type screen struct {
	text, side io.Writer
	color      bool
	answers    *bufio.Reader // where a person answers; nil: nobody is there
	yes        bool          // every question is answered with its first option

	mu      sync.Mutex
	midLine bool // text stands in the last line
	calls   map[string]*shownCall
	denied  bool   // a question was answered with no, or by nobody
	shown   string // the last text of a call
}

// shownCall is a call as far as it was shown.
type shownCall struct {
	title string
	kind  acp.ToolKind
}

func newScreen(text, side io.Writer, color bool) *screen {
	return &screen{text: text, side: side, color: color, calls: map[string]*shownCall{}}
}

// colored reports whether a file is a terminal that wants colours.
func colored(f *os.File, getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// The colours, as SGR parameters.
const (
	dim   = "2"
	red   = "31"
	green = "32"
	blue  = "36"
	bold  = "1"
)

func (s *screen) paint(color, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// line writes whole lines beside the messages.
func (s *screen) line(color, format string, args ...any) {
	if s.midLine {
		fmt.Fprintln(s.text)
		s.midLine = false
	}
	for l := range strings.Lines(fmt.Sprintf(format, args...) + "\n") {
		fmt.Fprintln(s.side, s.paint(color, strings.TrimSuffix(l, "\n")))
	}
}

// say writes a line of the command's own.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(bold, format, args...)
}

// update shows one update.
func (s *screen) update(_ context.Context, n acp.SessionNotification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch u := n.Update.(type) {
	case acp.AgentMessageChunk:
		s.message(u.Content)
	case acp.UserMessageChunk:
		if t, ok := u.Content.(acp.TextContent); ok {
			s.line(blue, "> %s", kinds.Escape(t.Text))
		}
	case acp.AgentThoughtChunk:
		if t, ok := u.Content.(acp.TextContent); ok {
			s.line(dim, "%s", kinds.Escape(strings.TrimRight(t.Text, "\n")))
		}
	case acp.ToolCall:
		s.calls[u.ToolCallID] = &shownCall{title: u.Title, kind: u.Kind}
		if u.Status == acp.ToolCallPending || u.Status == "" {
			return // it is shown when something comes of it
		}
		s.outcome(u.ToolCallID, acp.ToolCallUpdate{Status: u.Status, Content: u.Content})
	case acp.SessionToolCallUpdate:
		s.outcome(u.ToolCallID, u.ToolCallUpdate)
	case acp.Plan:
		for _, e := range u.Entries {
			s.line(dim, "  %s %s", map[acp.PlanEntryStatus]string{acp.PlanCompleted: "[x]", acp.PlanInProgress: "[>]"}[e.Status], kinds.Escape(e.Content))
		}
	}
}

func (s *screen) message(c acp.ContentBlock) {
	t, ok := c.(acp.TextContent)
	if !ok || t.Text == "" || t.Text == s.shown { // a direct command answers with what its call showed
		return
	}
	fmt.Fprint(s.text, kinds.Escape(t.Text))
	s.midLine = !strings.HasSuffix(t.Text, "\n")
}

// end finishes the last line of the messages.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.midLine {
		fmt.Fprintln(s.text)
		s.midLine = false
	}
}

// outcome shows what became of a call: what it is when it begins, and how it
// ended.
func (s *screen) outcome(id string, u acp.ToolCallUpdate) {
	c := s.calls[id]
	if c == nil {
		return
	}
	if u.Title != "" {
		c.title = u.Title
	}
	if u.Kind != "" {
		c.kind = u.Kind
	}
	switch u.Status {
	case acp.ToolCallCompleted:
		s.line(green, "[%s] %s", c.kind, c.title)
		s.content(u.Content)
	case acp.ToolCallFailed:
		s.line(red, "[%s] %s: failed", c.kind, c.title)
		s.content(u.Content)
	}
}

// shownLines bounds what is shown of one piece of a call's content.
const shownLines = 24

func (s *screen) content(content []acp.ToolCallContent) {
	for _, c := range content {
		switch c := c.(type) {
		case acp.Diff:
			s.diff(c)
		case acp.Content:
			if t, ok := c.Content.(acp.TextContent); ok {
				s.shown = t.Text
				s.indented(dim, kinds.Escape(t.Text))
			}
		}
	}
}

func (s *screen) indented(color, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if i == shownLines && len(lines) > shownLines+1 {
			s.line(color, "    … %d more lines", len(lines)-i)
			return
		}
		s.line(color, "    %s", l)
	}
}

// diff shows the change as a unified diff.
func (s *screen) diff(d acp.Diff) {
	old, from := "", "/dev/null"
	if d.OldText != nil {
		old, from = *d.OldText, d.Path
	}
	for l := range strings.Lines(udiff.Unified(from, d.Path, old, d.NewText)) {
		color := dim
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"):
			color = green
		case strings.HasPrefix(l, "-"):
			color = red
		}
		s.line(color, "    %s", kinds.Escape(strings.TrimSuffix(l, "\n")))
	}
}

// permission asks the person at the terminal; where nobody is there the answer
// is no.
func (s *screen) permission(ctx context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(bold, "May this be done?  [%s] %s", r.ToolCall.Kind, r.ToolCall.Title)
	s.content(r.ToolCall.Content)
	for i, o := range r.Options {
		s.line(blue, "  %d) %s", i+1, o.Name)
	}
	choice := s.choice(ctx, r.Options)
	if choice == nil {
		s.denied = true
		return acp.RequestPermissionResponse{Outcome: acp.CancelledPermissionOutcome{}}, nil
	}
	s.line(dim, "  → %s", choice.Name)
	if choice.Kind == acp.PermissionRejectOnce || choice.Kind == acp.PermissionRejectAlways {
		s.denied = true
	}
	return acp.RequestPermissionResponse{Outcome: acp.SelectedPermissionOutcome{OptionID: choice.OptionID}}, nil
}

// choice is the option that is chosen; nil: the turn is to end.
func (s *screen) choice(ctx context.Context, options []acp.PermissionOption) *acp.PermissionOption {
	if s.yes && len(options) > 0 {
		return &options[0]
	}
	for s.answers != nil && ctx.Err() == nil {
		fmt.Fprintf(s.side, "  1-%d, or c to cancel: ", len(options))
		line, err := s.answers.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "c" {
			return nil
		}
		for i := range options {
			if answer == fmt.Sprint(i+1) {
				return &options[i]
			}
		}
		if err != nil {
			break
		}
	}
	for i := range options {
		if options[i].Kind == acp.PermissionRejectOnce {
			return &options[i]
		}
	}
	return nil
}
