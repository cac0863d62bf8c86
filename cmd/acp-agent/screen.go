package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/term"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/tools"
)

// screen shows in a terminal what an agent tells an editor: messages on text,
// calls and questions on side.
type screen struct {
	text, side io.Writer
	color      bool
	together   bool     // text and side are seen in one place
	answers    *answers // where a person answers; nil: nobody is there
	yes        bool     // every question is answered with its first option

	mu     sync.Mutex
	open   io.Writer // where the last line is not ended yet; nil: it is
	aloud  bool      // what stands in that line is a message, not a thought
	calls  map[string]*shownCall
	denied bool   // something was not permitted: by an answer, by nobody's, or by a rule
	shown  string // the last text of a call, as it was shown
}

// shownCall is a call as far as it was shown.
type shownCall struct {
	title string
	kind  acp.ToolKind
	asked []acp.Diff // the changes that a question showed already
}

func newScreen(text, side io.Writer, color bool) *screen {
	return &screen{text: text, side: side, color: color, together: text == side, calls: map[string]*shownCall{}}
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
	s.endLine()
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
			s.stream(s.side, false, t.Text)
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
			s.line(dim, "    [%s] %s", cmp.Or(map[acp.PlanEntryStatus]string{acp.PlanCompleted: "x", acp.PlanInProgress: ">"}[e.Status], " "), kinds.Escape(e.Content))
		}
	}
}

func (s *screen) message(c acp.ContentBlock) {
	t, ok := c.(acp.TextContent)
	if !ok || s.together && s.shown != "" && unfence(t.Text) == s.shown { // a direct command answers with what its call showed
		return
	}
	s.stream(s.text, true, t.Text)
}

// stream writes a piece of a message, or of a thought, behind the one before.
func (s *screen) stream(out io.Writer, aloud bool, text string) {
	if text == "" {
		return
	}
	if s.aloud != aloud {
		s.endLine()
	}
	s.open, s.aloud = nil, aloud
	if !strings.HasSuffix(text, "\n") {
		s.open = out
	}
	text = kinds.Escape(text)
	if !aloud {
		text = s.paint(dim, text)
	}
	fmt.Fprint(out, text)
}

// end finishes the last line of the messages.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLine()
}

func (s *screen) endLine() {
	if s.open != nil {
		fmt.Fprintln(s.open)
		s.open = nil
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
		s.content(c, u.Content)
	case acp.ToolCallFailed:
		s.denied = s.denied || denied(u.RawOutput)
		s.line(red, "[%s] %s: failed", c.kind, c.title)
		s.content(c, u.Content)
	}
}

// denied reports whether a call failed since it was not permitted.
func denied(output []byte) bool {
	var e tools.Envelope
	return json.Unmarshal(output, &e) == nil && e.Metadata.Extra[session.MetadataDenied] == true
}

// shownLines bounds what is shown of one piece of a call's content.
const shownLines = 24

// content shows what a call's card holds, but for what stands right above it:
// the title again, and the changes that the user was asked about.
func (s *screen) content(call *shownCall, content []acp.ToolCallContent) {
	s.shown = ""
	for _, c := range content {
		switch c := c.(type) {
		case acp.Diff:
			if !slices.ContainsFunc(call.asked, func(d acp.Diff) bool { return sameChange(c, d) }) {
				s.diff(c)
			}
		case acp.Content:
			t, ok := c.Content.(acp.TextContent)
			if !ok {
				continue
			}
			s.shown = unfence(t.Text)
			if s.shown != call.title {
				s.indented(dim, kinds.Escape(s.shown))
			}
		}
	}
}

// unfence is Markdown without the lines that fence code in it: in a terminal
// everything is shown as it is.
func unfence(text string) string {
	var kept []string
	fence := ""
	for l := range strings.SplitSeq(text, "\n") {
		ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3 && !strings.Contains(l[len(ticks):], "`"):
			fence = ticks
		case fence != "" && l == fence:
			fence = ""
		default:
			kept = append(kept, l)
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
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

// sameChange reports whether two diffs show the same.
func sameChange(a, b acp.Diff) bool {
	return a.Path == b.Path && a.NewText == b.NewText && (a.OldText == nil) == (b.OldText == nil) && (a.OldText == nil || *a.OldText == *b.OldText)
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
