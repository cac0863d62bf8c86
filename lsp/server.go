package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// State is what a server is doing.
type State string

// The states of a server.
const (
	Idle     State = "not running"
	Starting State = "starting"
	Running  State = "running"
	Waiting  State = "waiting to be started again"
	Broken   State = "broken"
)

// startOptions are how a server is started.
type startOptions struct {
	spec    *Spec
	root    string
	command []string
	env     []string
	bash    string // for the guard
	config  Config
}

// server is a language server for one root: the process that runs, if one does, and
// what became of those before it.
type server struct {
	owner *Servers
	startOptions

	mu      sync.Mutex
	run     *run // that starts, runs or ends; nil: none
	closed  error
	crashes crashes
	last    error    // why the last run ended; nil: it was stopped, or none ran
	former  []string // the documents that were open at one that crashed, and are not yet again
	idle    *time.Timer
	held    int            // requests under way
	configs map[string]sum // what files of settings had when it started, or was told of them last
}

// acquire is the server's process, ready to be asked, started if need be. It must
// be released. It waits for a server that is starting, and for one that crashed
// until it may be started again.
func (s *server) acquire(ctx context.Context) (*run, error) {
	for {
		r, wait, err := s.begin()
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			err := sleep(ctx, wait)
			if err != nil && wait == holdersLook {
				return nil, fmt.Errorf("%s is to be started again, since its projects' settings changed, and is still being asked; try again", s.spec.Name)
			}
			if err != nil {
				return nil, fmt.Errorf("%s crashed (%w) and is started again in %s; try again then", s.spec.Name, s.lastError(), time.Until(s.retryAt()).Round(time.Second))
			}
			continue
		}
		select {
		case <-r.ready:
			if r.err != nil {
				s.release()
				return nil, r.err
			}
			return r, nil
		case <-ctx.Done():
			s.release()
			return nil, fmt.Errorf("%s is not ready yet: it has been starting for %s", s.spec.Name, time.Since(r.started).Round(100*time.Millisecond))
		}
	}
}

// begin takes hold of the process, or says how long to wait before there may be
// one.
func (s *server) begin() (_ *run, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return nil, 0, s.closed
	}
	if s.replace() {
		return nil, holdersLook, nil
	}
	if s.run == nil {
		if s.crashes.forgive(s.command[0]) {
			s.last = nil
		}
		if s.crashes.enough() {
			return nil, 0, fmt.Errorf("%s has crashed %d times and is not started again before its program changes, an hour has passed, or the user enters /lsp restart %s; the last time: %w", s.spec.Name, s.crashes.count, s.spec.Name, s.last)
		}
		if wait := time.Until(s.crashes.retry); wait > 0 {
			return nil, wait, nil
		}
		s.noteConfigs()
		s.run = s.start()
	}
	s.held++
	if s.idle != nil {
		s.idle.Stop()
	}
	return s.run, 0, nil
}

// release ends what acquire began; a server that nobody uses is stopped in time.
func (s *server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	if s.held > 0 || s.run == nil || s.closed != nil {
		return
	}
	if s.idle == nil {
		s.idle = time.AfterFunc(s.config.IdleStop, s.stopIdle)
		return
	}
	s.idle.Reset(s.config.IdleStop)
}

// stopIdle ends the process of a server that nobody used.
func (s *server) stopIdle() {
	s.mu.Lock()
	r := s.run
	busy := s.held > 0 || r == nil || s.closed != nil
	if !busy {
		s.crashes.ran(time.Since(r.started))
		s.run, s.last = nil, nil
	}
	s.mu.Unlock()
	if busy || !s.owner.begin() {
		return
	}
	defer s.owner.tasks.Done()
	r.stop()
}

// begin counts a task in that Close waits for; false once closed.
func (s *Servers) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.tasks.Add(1)
	return true
}

// stop ends the server for good; err is what it is asked for then.
func (s *server) stop(err error) {
	s.mu.Lock()
	s.closed = err
	r := s.run
	if s.idle != nil {
		s.idle.Stop()
	}
	s.mu.Unlock()
	if r != nil {
		r.stop()
	}
}

// restart lets a server run anew, with its crashes forgotten.
func (s *server) restart() {
	s.mu.Lock()
	r := s.run
	s.run, s.crashes, s.last = nil, crashes{}, nil
	s.mu.Unlock()
	if r != nil {
		r.stop()
	}
}

// ended notes that a process has ended that nobody stopped: a crash, whatever its
// exit status.
func (s *server) ended(r *run, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != r {
		return // it was stopped
	}
	s.crashes.ran(time.Since(r.started))
	s.crashes.add(s.command[0], s.owner.backOff)
	s.run, s.last = nil, err
	if r.lastOpen != nil {
		s.former = r.lastOpen
	}
}

// reopen are those of the documents that were open at a process that crashed that are to
// be shown to the next one: an editor may have another text of them than the disk.
func (s *server) reopen(inside func(path string) bool) (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.former = slices.DeleteFunc(s.former, func(path string) bool {
		if inside(path) {
			paths = append(paths, path)
			return true
		}
		return false
	})
	return paths
}

func (s *server) lastError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return errors.New("for a reason unknown")
	}
	return s.last
}

func (s *server) retryAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crashes.retry
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
