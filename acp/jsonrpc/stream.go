package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
)

// stream is the library's object stream: it hands up bare envelopes of what the
// peer sent, and writes the lines that envelopes from above stand for.
type stream struct {
	lines chan *message // from the reader, closed at the end of the input
	calls *calls
	queue *queue
	frame Framing
	log   *slog.Logger

	ended   chan struct{} // closed when the input has ended and all is handed up
	release chan struct{} // closed by Close
	close   sync.Once

	// Of the read loop alone.
	current *message // the one being handled
	over    bool     // lines is closed
	seq     uint64
	buf     []byte

	mu      sync.Mutex
	parcels map[string][]byte // id at the library → the line to write
}

// newStream is a stream that writes to queue and resolves calls.
func newStream(queue *queue, calls *calls, f Framing, log *slog.Logger) *stream {
	return &stream{
		lines: make(chan *message), calls: calls, queue: queue, frame: f, log: log,
		ended: make(chan struct{}), release: make(chan struct{}),
		parcels: map[string][]byte{},
	}
}

// ReadObject hands up the envelope of the next request, notification or answer.
// Faulty messages are answered here. It reports the end of the input only after
// Close, since the library would at once drop what is still being answered.
func (s *stream) ReadObject(v any) error {
	to, ok := v.(json.Unmarshaler)
	if !ok {
		return fmt.Errorf("reading into a %T", v)
	}
	for {
		envelope, err := s.next()
		if err != nil {
			return err
		}
		if envelope == nil {
			continue
		}
		err = to.UnmarshalJSON(envelope)
		if err == nil {
			return nil
		}
		s.log.Error("envelope refused", "error", err)
		if s.current != nil {
			s.refuse(s.current.id, invalid("%v", err))
		}
	}
}

// next waits for something to hand up; nil if there is nothing to it.
func (s *stream) next() ([]byte, error) {
	s.current = nil
	if id, ok := s.calls.drop(); ok {
		return s.answerEnvelope(id), nil
	}
	lines := s.lines
	if s.over {
		lines = nil
	}
	select {
	case m, ok := <-lines:
		if !ok {
			s.over = true
			s.calls.close()
			close(s.ended)
			return nil, nil
		}
		return s.envelope(m), nil
	case <-s.calls.signal:
		return nil, nil
	case <-s.release:
		return nil, io.EOF
	}
}

// envelope is what the library gets to see of a message. It never sees the
// peer's id, which may be of a kind that it cannot hold.
func (s *stream) envelope(m *message) []byte {
	switch {
	case m.fault != nil:
		s.refuse(m.id, m.fault)
		return nil
	case m.answer:
		return s.answered(m)
	}
	s.current = m
	s.buf = append(append(s.buf[:0], `{"method":`...), m.method...)
	if m.id != nil {
		s.seq++
		s.buf = append(s.buf, `,"id":"`...)
		s.buf = strconv.AppendUint(s.buf, s.seq, 10)
		s.buf = append(s.buf, '"')
	}
	s.buf = append(s.buf, '}')
	return s.buf
}

// answered notes an answer to a call. Answers that nobody waits for (an unknown
// id, a null one, a late one) are dropped.
func (s *stream) answered(m *message) []byte {
	id, ok := s.frame.callID(m.id)
	if !ok {
		s.log.Debug("answer to nothing dropped", "id", clip(m.id))
		return nil
	}
	var err error
	if failure := orNil(m.failure); failure != nil {
		err = peerError(failure)
	}
	if !s.calls.resolve(id, m.result, err) {
		s.log.Debug("late answer dropped", "id", id)
		return nil
	}
	return s.answerEnvelope(id)
}

// answerEnvelope makes the library wake the caller of a call and forget it.
func (s *stream) answerEnvelope(id string) []byte {
	s.buf = append(append(append(s.buf[:0], `{"id":"`...), id...), `","result":null}`...)
	return s.buf
}

// refuse answers a faulty message. A fault with an id is written in any case; of
// those without one, which no peer waits for, the ones are dropped that find the
// queue full.
func (s *stream) refuse(id json.RawMessage, fault *Error) {
	s.log.Debug("message refused", "error", fault)
	if orNil(id) != nil {
		if err := s.queue.push(errorLine(id, fault)); err != nil {
			s.log.Warn("refusal not sent", "error", err)
		}
		return
	}
	if !s.queue.offer(errorLine(nullID, fault)) {
		s.log.Warn("refusal dropped: the peer does not read", "error", fault)
	}
}

// stash keeps the line that an envelope will stand for.
func (s *stream) stash(id string, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parcels[id] = line
}

// unstash takes the line of an envelope; nil if there is none.
func (s *stream) unstash(id string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.parcels[id]
	delete(s.parcels, id)
	return line
}

// WriteObject queues the line that an envelope of the library stands for. It
// does not wait for room: the library holds its lock meanwhile, so its callers
// have waited before.
func (s *stream) WriteObject(v any) error {
	from, ok := v.(json.Marshaler)
	if !ok {
		return fmt.Errorf("writing a %T", v)
	}
	raw, err := from.MarshalJSON()
	if err != nil {
		return err
	}
	var envelope struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return err
	}
	line := s.unstash(envelope.ID)
	if line == nil {
		return errors.New("nothing is stashed for " + envelope.ID)
	}
	return s.queue.push(line)
}

// Close lets ReadObject report the end.
func (s *stream) Close() error {
	s.close.Do(func() { close(s.release) })
	return nil
}
