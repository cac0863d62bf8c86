package jsonrpc

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
)

// refusedParams name the request that was refused.
type refusedParams struct {
	RequestID json.RawMessage `json:"requestId"`
}

// job is a request of the peer that has been admitted and is not yet answered.
type job struct {
	name   string          // its id at the library
	id     json.RawMessage // its id as the peer wrote it
	key    string          // under which it is found
	method string
	ctx    context.Context
	cancel context.CancelFunc
}

// jobs are the requests in flight, and the goroutines that work on them.
type jobs struct {
	base    context.Context // of all works; set before the first message is read
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	stopped  bool
	inflight map[string]*job
}

// nullKey begins the keys of requests whose id is null. Any number of those may
// be in flight, since their answers cannot be told apart anyway.
const nullKey = "null "

// admit registers a request, so that from now on a cancel finds it. The caller
// must start a goroutine for it that calls done.
//
// An id that is still in flight is refused, and so is any request once the
// connection is ending. The refusal of an id in flight is answered with a null
// id: answered with its own, the peer would take it for the first one's answer.
func (s *jobs) admit(name, method string, id json.RawMessage) (*job, *Error) {
	key := idKey(id)
	if key == "null" {
		key = nullKey + name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endingLocked() {
		return nil, &Error{Code: CodeCancelled, Message: "the connection is ending"}
	}
	if _, ok := s.inflight[key]; ok {
		fault := invalid("a request with this id is still in flight, give each its own")
		fault.Data = refusedParams{id}
		return nil, fault
	}
	j := &job{name: name, id: id, key: key, method: method}
	j.ctx, j.cancel = context.WithCancel(s.base)
	s.inflight[key] = j
	s.running.Add(1)
	return j, nil
}

// begin registers a notification's work; false once the connection is ending.
func (s *jobs) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endingLocked() {
		return false
	}
	s.running.Add(1)
	return true
}

// endingLocked reports whether nothing more is admitted: what would be would
// find its context at an end.
func (s *jobs) endingLocked() bool { return s.stopped || s.base.Err() != nil }

// release takes a request out, before it is answered: the peer may use its id
// again as soon as it has the answer.
func (s *jobs) release(j *job) {
	s.mu.Lock()
	delete(s.inflight, j.key)
	s.mu.Unlock()
	j.cancel()
}

// done ends what admit or begin began.
func (s *jobs) done() { s.running.Done() }

// cancelRequest ends the context of the request with this id, if there is one.
func (s *jobs) cancelRequest(id json.RawMessage) {
	key := idKey(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == "null" {
		for k, j := range s.inflight {
			if strings.HasPrefix(k, nullKey) {
				j.cancel()
			}
		}
		return
	}
	if j := s.inflight[key]; j != nil {
		j.cancel()
	}
}

// stop admits nothing more and ends the context of everything in flight.
func (s *jobs) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.cancel()
}

// idle is closed when all goroutines have ended; call it after stop.
func (s *jobs) idle() <-chan struct{} {
	ended := make(chan struct{})
	go func() { // ends with the last work
		s.running.Wait()
		close(ended)
	}()
	return ended
}

// count is how many requests are in flight.
func (s *jobs) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inflight)
}
