package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/acp-agent/acp-agent/acp"
)

// answers are the lines that a person types.
type answers struct {
	in       io.Reader
	lines    chan string   // nil until the first question
	canceled chan struct{} // closed: no question is waited for any more
}

func newAnswers(in io.Reader) *answers {
	return &answers{in: in, canceled: make(chan struct{})}
}

// next is the next line; not ok, where none will come or it is waited for no
// longer. One question is asked at a time.
func (a *answers) next(ctx context.Context) (line string, ok bool) {
	if a.lines == nil {
		a.lines = make(chan string)
		go a.read() // ends with the program: nothing interrupts a read of a terminal
	}
	select {
	case line, ok = <-a.lines:
		return line, ok
	case <-a.canceled:
	case <-ctx.Done():
	}
	return "", false
}

func (a *answers) read() {
	defer close(a.lines)
	for in := bufio.NewScanner(a.in); in.Scan(); {
		a.lines <- in.Text()
	}
}

// cancel ends the waiting for answers, as the protocol asks of a client that
// cancels a turn. It is called once.
func (a *answers) cancel() {
	if a != nil {
		close(a.canceled)
	}
}

// isCanceled reports whether cancel was called.
func (a *answers) isCanceled() bool {
	select {
	case <-a.canceled:
		return true
	default:
		return false
	}
}

// permission asks the person at the terminal; where nobody is there the answer
// is no.
func (s *screen) permission(ctx context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(bold, "May this be done?  [%s] %s", r.ToolCall.Kind, r.ToolCall.Title)
	call := s.calls[r.ToolCall.ToolCallID]
	if call == nil {
		call = &shownCall{}
	}
	call.title = r.ToolCall.Title
	s.content(call, r.ToolCall.Content)
	for _, c := range r.ToolCall.Content {
		if d, ok := c.(acp.Diff); ok {
			call.asked = append(call.asked, d)
		}
	}
	for i, o := range r.Options {
		s.line(blue, "  %d) %s", i+1, o.Name)
	}
	choice := s.choice(ctx, r.Options)
	if choice == nil {
		s.denied = true
		s.line(dim, "  → Cancel")
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
	for i := range options {
		if s.yes && options[i].Kind == acp.PermissionAllowOnce { // nothing for good, such as trust
			return &options[i]
		}
	}
	for !s.yes && s.answers != nil {
		fmt.Fprintf(s.side, "  1-%d, or c to cancel: ", len(options))
		line, ok := s.answers.next(ctx)
		if !ok {
			fmt.Fprintln(s.side)
			if ctx.Err() != nil || s.answers.isCanceled() {
				return nil
			}
			break
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "c" {
			return nil
		}
		for i := range options {
			if answer == fmt.Sprint(i+1) {
				return &options[i]
			}
		}
	}
	for i := range options {
		if options[i].Kind == acp.PermissionRejectOnce {
			return &options[i]
		}
	}
	return nil
}
