package lsp

import (
	"os"
	"time"
)

// maxCrashes is how many times a server is started again that ended by itself.
const maxCrashes = 3

// How long crashes count: not behind a run that was steady, however it ended, and
// not for ever.
const (
	steady    = 5 * time.Minute
	forgotten = time.Hour
)

// backOff is how long a server is left alone after so many crashes.
func backOff(crashes int) time.Duration {
	return []time.Duration{0, 0, time.Second, 4 * time.Second}[min(crashes, maxCrashes)]
}

// crashes are the ends of a server that nobody wanted. Its lock is the server's.
type crashes struct {
	count   int
	last    time.Time
	retry   time.Time   // before which the server is not started again
	program os.FileInfo // that crashed last; nil: it could not be looked at
}

// add counts a crash of the program at a path.
func (c *crashes) add(program string, backOff func(crashes int) time.Duration) {
	c.count++
	c.last = time.Now()
	c.retry = c.last.Add(backOff(c.count))
	c.program, _ = os.Stat(program) // nil where it is gone
}

// ran notes how long a process has run.
func (c *crashes) ran(time time.Duration) {
	if time > steady {
		*c = crashes{}
	}
}

// forgive forgets the crashes where they say nothing about the next start: they are
// long ago, or the program is another by now. It reports whether there were any.
func (c *crashes) forgive(program string) bool {
	if c.count == 0 || time.Since(c.last) < forgotten && c.same(program) {
		return false
	}
	*c = crashes{}
	return true
}

// same reports whether the program at a path is the one that crashed last.
func (c *crashes) same(program string) bool {
	now, err := os.Stat(program)
	if err != nil || c.program == nil {
		return err != nil && c.program == nil
	}
	return os.SameFile(now, c.program) && now.Size() == c.program.Size() && now.ModTime().Equal(c.program.ModTime())
}

// enough reports whether the server is given up.
func (c *crashes) enough() bool { return c.count > maxCrashes }
