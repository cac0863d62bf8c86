package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/sourcegraph/jsonrpc2"
)

// dispatcher is the library's handler. It runs on the read loop.
type dispatcher struct{ *Conn }

// Handle admits one message of the peer, whose body the stream holds.
func (d dispatcher) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	c, m := d.Conn, d.stream.current
	r := &Request{Method: req.Method, Params: m.params, Notification: req.Notif}
	if r.Method == c.opts.Framing.cancelMethod() {
		c.cancelled(r.Params)
	}
	if r.Notification {
		c.notified(r)
		return
	}
	j, fault := c.jobs.admit(req.ID.Str, r.Method, m.id)
	if fault != nil {
		id := m.id
		if fault.Code == CodeInvalidRequest {
			id = nil
		}
		c.stream.refuse(id, fault)
		return
	}
	var work Work
	var err error
	if r.Method != c.opts.Framing.cancelMethod() {
		work, err = c.admit(j.ctx, r)
	}
	go c.perform(j, r, work, err) // awaited by Run
}

// notified handles a notification. Those of the protocol itself are optional and
// dropped where unknown; all are, once the connection is ending.
func (c *Conn) notified(r *Request) {
	if c.opts.Framing.optional(r.Method) || !c.jobs.begin() {
		return
	}
	work, err := c.admit(c.jobs.base, r)
	if work == nil || err != nil {
		c.dropped(r.Method, err)
		c.jobs.done()
		return
	}
	go func() { // awaited by Run
		defer c.jobs.done()
		_, err := c.work(c.jobs.base, r.Method, work)
		c.dropped(r.Method, err)
	}()
}

// dropped logs an error that nobody can be told of.
func (c *Conn) dropped(method string, err error) {
	if err != nil {
		c.opts.Logger.Debug("notification not handled", "method", method, "error", err)
	}
}

// cancelled cancels the request that a cancel names. Where it names none, or one
// that is answered already, there is nothing to do.
func (c *Conn) cancelled(params json.RawMessage) {
	if params == nil || params[0] != '{' {
		return
	}
	for name, value := range members(params) {
		if name == c.opts.Framing.cancelMember() {
			c.jobs.cancelRequest(value)
		}
	}
}

// admit asks the handler; a panic in it is an error.
func (c *Conn) admit(ctx context.Context, r *Request) (work Work, err error) {
	defer c.recovered(r.Method, &err)
	return c.handler(ctx, r)
}

// work does the slow part; a panic in it is an error.
func (c *Conn) work(ctx context.Context, method string, work Work) (result any, err error) {
	defer c.recovered(method, &err)
	return work(ctx)
}

// recovered turns a panic into an internal error. The stack goes to the log.
func (c *Conn) recovered(method string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	c.opts.Logger.Error("panic", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	*err = fmt.Errorf("internal error in %s: %v", method, p)
}

// perform does the work of a request and answers it.
func (c *Conn) perform(j *job, r *Request, work Work, err error) {
	defer c.jobs.done()
	defer c.answered(r)
	var result any
	if work != nil && err == nil {
		result, err = c.work(j.ctx, j.method, work)
	}
	line := c.answerLine(j, result, err)
	c.jobs.release(j)
	c.answer(j, line)
}

// answered calls what waits for the request's answer; a panic in it is logged.
func (c *Conn) answered(r *Request) {
	for _, f := range r.after {
		func() {
			var err error // the answer is out: the log is all that can be told
			defer c.recovered(r.Method, &err)
			f()
		}()
	}
}

// answerLine encodes an answer. A result that cannot be encoded is an error.
func (c *Conn) answerLine(j *job, result any, err error) (line []byte) {
	if err == nil {
		func() {
			defer c.recovered(j.method, &err) // a marshaller of the result may panic
			line, err = resultLine(j.id, result)
		}()
	}
	if err != nil {
		line = errorLine(j.id, ErrorOf(err))
	}
	return line
}

// answer sends an answer by way of the library, once there is room. The
// request's context does not matter here: what was cancelled is answered too.
func (c *Conn) answer(j *job, line []byte) {
	err := c.queue.wait(context.Background()) // ends with the connection
	if err == nil {
		c.stream.stash(j.name, line)
		err = c.rpc.SendResponse(context.Background(), &jsonrpc2.Response{
			ID:     jsonrpc2.ID{Str: j.name, IsString: true},
			Result: &nullID, // stands for the line above
		})
	}
	if err != nil {
		c.stream.unstash(j.name)
		c.opts.Logger.Warn("answer not sent", "method", j.method, "error", err)
	}
}
