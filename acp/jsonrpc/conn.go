package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Conn is a connection to one peer. Its methods may be used by any number of
// goroutines.
type Conn struct {
	in      io.Reader
	out     io.Writer
	handler Handler
	opts    Options

	queue    *queue
	calls    *calls
	stream   *stream
	jobs     jobs
	encoders encoders

	started atomic.Bool
	ready   chan struct{}  // closed when rpc is set
	rpc     *jsonrpc2.Conn // carries everything but notifications out
	done    chan struct{}

	readErr error // why reading ended; set before stream.ended is closed
}

// minFlush is the least time that is left for writing once the works have used
// up the grace.
const minFlush = 50 * time.Millisecond

// New prepares a connection that reads from in, writes to out and has h admit
// the peer's messages. Nothing is read before Run.
//
// The connection closes neither in nor out, with two exceptions, where they are an
// io.Closer: in where it ends before its input does, so that nobody waits on either
// side of it, and out where a Write is blocked.
func New(in io.Reader, out io.Writer, h Handler, o Options) *Conn {
	o = o.withDefaults()
	c := &Conn{
		in: in, out: out, handler: h, opts: o,
		queue: newQueue(queueLimit, o.Framing), calls: newCalls(),
		ready: make(chan struct{}), done: make(chan struct{}),
	}
	c.stream = newStream(c.queue, c.calls, o.Framing, o.Logger)
	c.jobs.inflight = map[string]*job{}
	return c
}

// Done is closed when Run has returned or is about to: nothing more is read or
// written.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Run carries the connection until the input ends, writing fails, or ctx is
// done. Then it cancels the contexts of all requests, waits for their work and
// for the writing of their answers, at most about Options.Grace, and returns: nil after
// the end of the input, else what ended it. While it waits after ctx's end,
// answers of the peer still arrive, so that works can tidy up; new requests are
// refused. It may be called once.
func (c *Conn) Run(ctx context.Context) error {
	if !c.started.CompareAndSwap(false, true) {
		return errors.New("jsonrpc: Run was called before")
	}
	defer close(c.done)
	c.jobs.base, c.jobs.cancel = context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() { written <- c.queue.drain(c.out, c.observeOut) }() // ends in finish
	// The library must outlive ctx for the grace.
	c.rpc = jsonrpc2.NewConn(context.WithoutCancel(ctx), c.stream, dispatcher{c}, jsonrpc2.SetLogger(libraryLog{c.opts.Logger}))
	close(c.ready)
	go c.read() // ends with the input, or in finish

	var err error
	select {
	case <-c.stream.ended:
		if c.readErr != io.EOF {
			err = fmt.Errorf("reading from the peer: %w", c.readErr)
		}
	case werr := <-written:
		err = fmt.Errorf("writing to the peer: %w", werr)
		written <- werr
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.finish(written)
	return err
}

// finish ends everything that Run began.
func (c *Conn) finish(written <-chan error) {
	deadline := time.Now().Add(c.opts.Grace)
	c.jobs.stop()
	if !within(time.Until(deadline), c.jobs.idle()) {
		c.opts.Logger.Warn("works did not end in time", "grace", c.opts.Grace, "requests", c.jobs.count())
	}
	c.queue.close()
	if !within(max(time.Until(deadline), minFlush), written) {
		c.opts.Logger.Warn("the peer does not read: messages not written")
		closeIfCloser(c.out)
	}
	if err := c.rpc.Close(); err != nil {
		c.opts.Logger.Debug("closing", "error", err)
	}
	c.calls.close()
	c.closeInput()
}

// closeInput closes the input unless it has ended by itself: else a reader stays
// blocked on it, or who writes to it waits for one that has given up.
func (c *Conn) closeInput() {
	select {
	case <-c.stream.ended:
		if c.readErr == io.EOF {
			return
		}
	default:
	}
	closeIfCloser(c.in)
}

// within waits for done, at most for d, and reports whether it was in time.
func within[T any](d time.Duration, done <-chan T) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// closeIfCloser closes a reader or writer that can be.
func closeIfCloser(v any) {
	if closer, ok := v.(io.Closer); ok {
		_ = closer.Close() // it is only closed to end what is blocked on it
	}
}

// read cuts the input into messages and passes them to the stream. It is the
// only goroutine that may block on the input.
func (c *Conn) read() {
	defer close(c.stream.lines)
	lines := c.opts.Framing.reader(c.in, c.opts.MaxMessage)
	for {
		line, err := lines.next()
		var m *message
		switch {
		case err == nil:
			if c.opts.Observe != nil {
				c.opts.Observe(In, line)
			}
			m = parse(line, c.opts.Framing)
		case errors.Is(err, errTooLong):
			m = &message{fault: invalid("the message is longer than %d bytes and was skipped, send less at once", c.opts.MaxMessage)}
		default:
			c.readErr = err
			return
		}
		select {
		case c.stream.lines <- m:
		case <-c.stream.release:
			c.readErr = ErrClosed
			return
		}
	}
}

// observeOut shows the lines of a chunk; with headers, the chunk as it is.
func (c *Conn) observeOut(chunk []byte) {
	if c.opts.Observe == nil {
		return
	}
	if c.opts.Framing == Headers {
		c.opts.Observe(Out, chunk)
		return
	}
	for line := range bytes.Lines(chunk) {
		c.opts.Observe(Out, bytes.TrimSuffix(line, []byte("\n")))
	}
}

// Notify sends a notification. It returns when the message is queued, behind all
// that the caller sent before; where the peer does not read and the queue is
// full, it waits until there is room, ctx is done or the connection ends
// (ErrClosed). While there is room the message is sent even if ctx has ended:
// what must be told after a cancel is told.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	e := c.encoders.get()
	line, err := e.request(nil, method, params)
	if err != nil {
		return err
	}
	kept, err := c.queue.put(ctx, line)
	if !kept {
		c.encoders.put(e)
	}
	return err
}

// libraryLog is the library's logger.
type libraryLog struct{ *slog.Logger }

// Printf logs what the library has to say, which never concerns the user.
func (l libraryLog) Printf(format string, v ...any) {
	l.Debug("jsonrpc2", "text", fmt.Sprintf(format, v...))
}
