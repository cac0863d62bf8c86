package tools

import (
	"fmt"
	"io"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/process"
)

// Limits of bash in bytes (spec/tools.md, "The envelope"). The head and the tail
// of a long output leave room for what stands between and after them.
const (
	bashOutput = 200 << 10
	bashTail   = 20 << 10
	bashHead   = bashOutput - bashTail - 1<<10
	bashShown  = 8 << 10 // of it in a card
)

// capture keeps a command's output as plain text in bounded memory: its head
// and its tail, and all of it in a spool file as soon as there is more. It is
// safe for concurrent use.
type capture struct {
	spool Spool // nil: the middle of a long output is lost

	mu      sync.Mutex
	clean   plainText
	head    []byte        // at most bashHead
	tail    *process.Tail // what comes behind the head
	total   int64         // bytes of text
	spilled bool          // there is more than head and tail hold
	file    io.WriteCloser
	path    string // of the spool file
	err     error  // why there is none
}

func newCapture(spool Spool) *capture {
	c := &capture{spool: spool, tail: process.NewTail(bashTail)}
	c.clean.emit = c.keep
	return c
}

// Write takes in output; it never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clean.Write(p)
}

// keep puts text away that is final.
func (c *capture) keep(p []byte) {
	c.total += int64(len(p))
	if !c.spilled && c.total > bashHead+bashTail {
		c.spilled = true
		c.spill()
	}
	c.store(p)
	k := min(bashHead-len(c.head), len(p))
	c.head = append(c.head, p[:k]...)
	_, _ = c.tail.Write(p[k:])
}

// spill begins the spool file with what came so far.
func (c *capture) spill() {
	if c.spool == nil {
		return
	}
	if c.file, c.path, c.err = c.spool.Create(); c.err != nil {
		c.file = nil
		return
	}
	c.store(c.head)
	c.store(c.tail.Bytes())
}

// store appends to the spool file. One that cannot be written to any more stays
// as it is.
func (c *capture) store(p []byte) {
	if c.file == nil || c.err != nil {
		return
	}
	_, c.err = c.file.Write(p)
}

// Close ends the output.
func (c *capture) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clean.Flush()
	if c.file == nil {
		return
	}
	if err := c.file.Close(); c.err == nil {
		c.err = err
	}
	c.file = nil
}

// Text is the output for the model, and whether something is left out of it.
func (c *capture) Text() (text string, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.spilled {
		return string(c.head) + string(c.tail.Bytes()), false
	}
	first, last := shorter(string(c.head), string(c.tail.Bytes()))
	return first + c.gap(c.total-int64(len(first)+len(last))) + last, true
}

// gap is the line that stands for what is left out.
func (c *capture) gap(n int64) string {
	where := ""
	switch {
	case c.err != nil:
		where = fmt.Sprintf("; it could not be kept: %v", c.err)
	case c.total > SpoolLimit:
		where = fmt.Sprintf("; the first %d bytes of all are in %s: read or grep there", SpoolLimit, c.path)
	case c.path != "":
		where = fmt.Sprintf("; all of it is in %s: read or grep there", c.path)
	}
	return fmt.Sprintf("\n[%d bytes of output are cut out here%s]\n", n, where)
}

// Path is the spool file that holds all, or more, of the output; empty: none.
func (c *capture) Path() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path
}

// Recent is the end of the output, for a card, with the line under way.
func (c *capture) Recent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := string(c.tail.Bytes())
	if len(s) < bashShown {
		s = string(c.head[max(0, len(c.head)-bashShown):]) + s
	}
	return tail(s+string(c.clean.Pending()), bashShown)
}

// shorter cuts what touches a gap: the head to whole lines, and so the tail;
// to whole characters where that would lose much.
func shorter(first, last string) (string, string) {
	return head(first, len(first)-1), tail(last, len(last)-1)
}

// fenced is output as a card shows it.
func fenced(text string) string { return kinds.Fence("", kinds.Escape(text)) }

// excerpt is the head and, since errors stand at the end, the tail of a text, in
// about bashShown bytes.
func excerpt(text string) string {
	if len(text) <= bashShown {
		return text
	}
	first, last := head(text, bashShown/4), tail(text, bashShown*3/4-100)
	return fmt.Sprintf("%s\n[%d bytes are not shown here]\n%s", first, len(text)-len(first)-len(last), last)
}
