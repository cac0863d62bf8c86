package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// outcome is what came of a call. Only the read loop writes it, before the
// library wakes the caller.
type outcome struct {
	result json.RawMessage // nil: none
	err    error
}

// calls are the calls that wait for an answer. The library keeps its own list
// and does the waking; this one holds the answers' bodies and says which of the
// library's entries are to be dropped.
type calls struct {
	mu      sync.Mutex
	seq     uint64
	waiting map[string]*outcome
	closed  bool     // no answers will come
	dropped []string // ids that the library is still to forget

	signal chan struct{} // capacity 1: dropped is not empty
}

// newCalls is an empty list.
func newCalls() *calls {
	return &calls{waiting: map[string]*outcome{}, signal: make(chan struct{}, 1)}
}

// begin gives out the id of a new call.
func (c *calls) begin() (string, *outcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return "", nil, ErrClosed
	}
	c.seq++
	id := callPrefix + strconv.FormatUint(c.seq, 10)
	out := &outcome{}
	c.waiting[id] = out
	return id, out, nil
}

// resolve notes the answer to a call; it reports whether anyone waits for it.
func (c *calls) resolve(id string, result json.RawMessage, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.waiting[id]
	if out == nil {
		return false
	}
	delete(c.waiting, id)
	out.result, out.err = result, err
	return true
}

// forget gives a call up; it reports whether the answer was still to come.
func (c *calls) forget(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waiting := c.waiting[id]
	delete(c.waiting, id)
	c.dropLocked(id)
	return waiting
}

// sent is called once the library knows of the call: if it was resolved before
// that, the library must be told again.
func (c *calls) sent(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[id] == nil {
		c.dropLocked(id)
	}
}

// close fails all calls that wait, and those to come.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id, out := range c.waiting {
		out.err = ErrClosed
		delete(c.waiting, id)
		c.dropLocked(id)
	}
}

// dropLocked lets the read loop make the library forget a call.
func (c *calls) dropLocked(id string) {
	c.dropped = append(c.dropped, id)
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// drop is the next id that the library is to forget.
func (c *calls) drop() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.dropped) == 0 {
		c.dropped = nil
		return "", false
	}
	id := c.dropped[0]
	c.dropped = c.dropped[1:]
	return id, true
}

// Call sends a request to the peer and decodes its answer into result, which may
// be nil. A null answer, or one with neither result nor error, leaves result
// untouched. An error answer is returned as *Error.
//
// When ctx ends before the answer, Call returns ctx's error at once: it has sent
// the cancel notification and will ignore a late answer. Where the peer goes first,
// it returns ErrClosed. A call made before Run waits for it. It must not be used
// on the read loop, that is, in a Handler.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-c.ready:
	case <-c.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	id, out, err := c.calls.begin()
	if err != nil {
		return err
	}
	waiter, err := c.send(ctx, id, method, params)
	if err != nil {
		c.calls.forget(id)
		return err
	}
	c.calls.sent(id)
	err = waiter.Wait(ctx, nil)
	switch {
	case errors.Is(err, jsonrpc2.ErrClosed):
		return ErrClosed
	case err != nil && (c.abandon(id) || errors.Is(out.err, ErrClosed)):
		return err
	case out.err != nil:
		return out.err
	case result == nil || orNil(out.result) == nil:
		return nil
	}
	if err := json.Unmarshal(out.result, result); err != nil {
		return fmt.Errorf("the answer to %s cannot be read: %w", method, misfit(err))
	}
	return nil
}

// misfit words an error of decoding without the names of Go's types.
func misfit(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is a JSON %s, which does not belong there", wrong.Value)
	}
	return fmt.Errorf("its %s is a JSON %s, which does not belong there", wrong.Field, wrong.Value)
}

// send puts a request on the wire by way of the library.
func (c *Conn) send(ctx context.Context, id, method string, params any) (jsonrpc2.Waiter, error) {
	line, err := new(encoders).get().request(c.opts.Framing.wireID(id), method, params)
	if err != nil {
		return jsonrpc2.Waiter{}, err
	}
	if err := c.queue.wait(ctx); err != nil {
		return jsonrpc2.Waiter{}, err
	}
	c.stream.stash(id, line)
	waiter, err := c.rpc.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Str: id, IsString: true}))
	if err != nil {
		c.stream.unstash(id)
		return jsonrpc2.Waiter{}, ErrClosed // our stream fails for no other reason
	}
	return waiter, nil
}

// abandon gives up a call that was sent and tells the peer; it reports false where
// the call was answered meanwhile. The message is small and there is one a call, so
// it need not wait for room.
func (c *Conn) abandon(id string) bool {
	if !c.calls.forget(id) {
		return false
	}
	line, err := new(encoders).get().request(nil, c.opts.Framing.cancelMethod(), c.opts.Framing.cancelParams(id))
	if err == nil {
		err = c.queue.push(line)
	}
	if err != nil {
		c.opts.Logger.Debug("cancel request not sent", "id", id, "error", err)
	}
	return true
}
