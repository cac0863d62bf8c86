package lsp

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// crasher is a server whose runs end as the test says, without a process.
type crasher struct {
	*server
	t *testing.T
}

func newCrasher(t *testing.T) *crasher {
	program := filepath.Join(t.TempDir(), "fake")
	c := &crasher{&server{owner: New(Options{}), startOptions: startOptions{spec: &Spec{Name: "fake"}, command: []string{program}}}, t}
	c.install("1")
	return c
}

// install puts a program in the place of the one before.
func (c *crasher) install(text string) {
	c.t.Helper()
	_ = os.Remove(c.command[0])
	if err := os.WriteFile(c.command[0], []byte(text), 0o755); err != nil {
		c.t.Fatal(err)
	}
}

// starts has a run begin.
func (c *crasher) starts() *run {
	c.run = &run{server: c.server, started: time.Now(), ready: make(chan struct{}), ended: make(chan struct{}), cancel: func(error) {}}
	return c.run
}

// crash has runs end by themselves, each after a while.
func (c *crasher) crash(times int, after time.Duration) {
	for range times {
		r := c.starts()
		time.Sleep(after)
		c.ended(r, errors.New("crashed"))
	}
}

// state is what the next call finds.
func (c *crasher) state() State {
	c.crashes.forgive(c.command[0])
	return c.status().State
}

// TestCrashes: which crashes count, for how long, and what ends their counting.
func TestCrashes(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(c *crasher)
		want    State
	}{
		"one":                        {func(c *crasher) { c.crash(1, time.Second) }, Idle},
		"the second is waited for":   {func(c *crasher) { c.crash(2, time.Second) }, Waiting},
		"the wait ends":              {func(c *crasher) { c.crash(3, time.Second); time.Sleep(4 * time.Second) }, Idle},
		"four":                       {func(c *crasher) { c.crash(4, time.Second) }, Broken},
		"four, and long nothing":     {func(c *crasher) { c.crash(4, time.Second); time.Sleep(forgotten - time.Second) }, Broken},
		"four, and nothing for ages": {func(c *crasher) { c.crash(4, time.Second); time.Sleep(forgotten) }, Idle},
		"one an hour, for a week":    {func(c *crasher) { c.crash(7*24, time.Hour) }, Idle},
		"one an hour, soon after each start": {func(c *crasher) {
			for range 24 {
				c.crash(1, time.Second)
				time.Sleep(time.Hour)
				c.state()
			}
		}, Idle},
		"behind a steady run that was stopped": {func(c *crasher) {
			c.crash(3, time.Second)
			close(c.starts().ended)
			time.Sleep(2 * steady)
			c.stopIdle()
			c.crash(1, time.Second)
		}, Idle},
		"behind a short run that was stopped": {func(c *crasher) {
			c.crash(3, time.Second)
			close(c.starts().ended)
			time.Sleep(time.Minute)
			c.stopIdle()
			c.crash(1, time.Second)
		}, Broken},
		"its program was mended":        {func(c *crasher) { c.crash(4, time.Second); c.install("mended") }, Idle},
		"its program is gone":           {func(c *crasher) { _ = os.Remove(c.command[0]); c.crash(4, 0) }, Broken},
		"its program is gone, and back": {func(c *crasher) { _ = os.Remove(c.command[0]); c.crash(4, 0); c.install("1") }, Idle},
		"the user has it start anew":    {func(c *crasher) { c.crash(4, time.Second); c.restart() }, Idle},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrasher(t)
			synctest.Test(t, func(t *testing.T) {
				tt.happens(c)
				if got := c.state(); got != tt.want {
					t.Errorf("it is %q, want %q", got, tt.want)
				}
			})
		})
	}
}
