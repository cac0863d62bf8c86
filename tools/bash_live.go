package tools

import (
	"fmt"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// liveOutput is a command's output on its way to the model and, while the
// command runs, to the user: as the end of its text, or, where the editor shows
// a terminal, as what goes on there.
type liveOutput struct {
	*capture
	screen *screen // nil: as text
}

// Write takes in output; it never fails.
func (o liveOutput) Write(p []byte) (int, error) {
	if o.screen != nil {
		o.screen.Write(p)
	}
	return o.capture.Write(p)
}

// showEvery shows the output as it grows, at that pace, until the function that
// it returns is called with the command's end. That waits for the last showing.
func (o liveOutput) showEvery(pace time.Duration, show func(Output)) (stop func(Exit, error)) {
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		last := ""
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			last = o.show(last, show)
		}
	})
	return func(exit Exit, err error) {
		close(done)
		wg.Wait()
		if o.screen != nil {
			o.screen.end(exit, err, show)
		}
	}
}

// show shows what there is, unless that was the last that was shown, and returns
// what it showed.
func (o liveOutput) show(last string, show func(Output)) string {
	if o.screen != nil {
		if text := o.screen.Take(); text != "" {
			show(Output{Display: text})
		}
		return ""
	}
	text := o.capture.Recent()
	if text != last {
		show(Output{Text: fenced(text)})
	}
	return text
}

// Limits of what a terminal of the editor is sent at once, in bytes: of more, the
// head and the tail are shown.
const (
	screenHead = 4 << 10
	screenTail = 12 << 10
)

// screen gathers what a terminal of the editor is to show next: text with line
// ends, tabs, carriage returns and backspaces, and no other control characters.
// It is safe for concurrent use.
type screen struct {
	mu    sync.Mutex
	clean plainText
	first []byte        // at most screenHead
	rest  *process.Tail // what comes behind it
}

func newScreen() *screen {
	s := &screen{rest: process.NewTail(screenTail)}
	s.clean = plainText{emit: s.add, screen: true}
	return s
}

// Write takes in output.
func (s *screen) Write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.clean.Write(p) // never fails
}

func (s *screen) add(p []byte) {
	k := min(screenHead-len(s.first), len(p))
	s.first = append(s.first, p[:k]...)
	_, _ = s.rest.Write(p[k:])
}

// Take is what came since it was last called.
func (s *screen) Take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := string(s.first)
	kept, total := s.rest.Snapshot()
	last := string(kept)
	s.first = s.first[:0]
	if total > 0 {
		s.rest = process.NewTail(screenTail)
	}
	if int(total) <= len(last) {
		return first + last
	}
	all := int(total) + len(first)
	first, last = shorter(first, last)
	return fmt.Sprintf("%s\n[%d bytes are not shown here]\n%s", first, all-len(first)-len(last), last)
}

// end shows what is left, and how the command ended.
func (s *screen) end(exit Exit, err error, show func(Output)) {
	s.mu.Lock()
	s.clean.Flush()
	s.mu.Unlock()
	if err != nil { // it was killed
		exit = Exit{Code: 137, Signal: "SIGKILL"}
	}
	if text := s.Take(); text != "" {
		show(Output{Display: text})
	}
	show(Output{Exit: &exit})
}
