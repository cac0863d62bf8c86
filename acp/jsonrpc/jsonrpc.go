// Package jsonrpc is a JSON-RPC 2.0 connection, the wire of the Agent Client
// Protocol (newline-delimited JSON, "The wire" in the protocol's page) and of the
// Language Server Protocol (headers, its "base protocol"). It accepts messages in
// the order in which they arrive and works on them out of
// order, so that a cancel always finds what it cancels; and nothing that a peer
// sends, or fails to read, ends the connection or stops its read loop.
//
// The connection itself is sourcegraph/jsonrpc2: it reads, tells requests from
// answers, pairs answers with calls and orders what is written. This package
// gives it the stream below (framing, faults, one bounded queue for everything
// written) and the handler above (admission in order, cancellation, panics).
// Parameters and results travel beside the library's envelopes, not in them:
// the library would decode, sort and escape them, and here they arrive byte for
// byte, without HTML escaping and without a copy.
//
// It leaves out what the methods mean and how their parameters are decoded
// (package acp), and batches, which the protocol does not use: a batch is
// refused as an invalid request.
package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"
)

// ErrClosed is returned by Call and Notify where the connection has ended, or
// where the peer has gone and can no longer answer.
var ErrClosed = errors.New("jsonrpc: the connection is closed")

// Request is one message of the peer that wants work done: a request, which is
// answered, or a notification, which is not.
type Request struct {
	Method string
	// Params are the exact bytes of the parameters, nil where there are none or
	// where they are null. They are the receiver's to keep.
	Params       json.RawMessage
	Notification bool

	after []func()
}

// AfterAnswer has f called once the request's answer is queued behind all that
// was sent before, or cannot be sent any more. It is for the handler and the
// work of the request, while they run; a notification has no answer, and f is
// never called. Run waits for f, so it must not block for long.
func (r *Request) AfterAnswer(f func()) { r.after = append(r.after, f) }

// Work is the slow part of a request. It runs on a goroutine of its own, owned
// and awaited by the connection, under the request's context, which ends on
// a cancel notification, on the end of input and with Run's context. Its result is
// encoded as the answer. Of a notification the result is dropped and the error
// logged.
type Work func(ctx context.Context) (result any, err error)

// Handler admits a message. It runs on the read loop, in the order of arrival:
// it must not block and must not call the peer. What takes time it returns as
// Work. Nil Work with a nil error answers null; an error is answered in its
// place, written by another goroutine. Notifications that belong to the
// connection (see Framing) never arrive here.
type Handler func(ctx context.Context, r *Request) (Work, error)

// Direction says which way a line went.
type Direction int

// The two directions.
const (
	In  Direction = iota // from the peer
	Out                  // to the peer
)

// Options are the limits of a connection. The zero value is good for use.
type Options struct {
	Framing Framing
	// MaxMessage is the longest line accepted, in bytes without its end; 0 is
	// DefaultMaxMessage. A longer one is skipped and answered with an error.
	MaxMessage int
	// Grace is how long Run waits for works and unwritten answers once the
	// input or its context has ended; 0 is DefaultGrace.
	Grace time.Duration
	// Logger gets what cannot be told to the peer; nil logs nothing.
	Logger *slog.Logger
	// Observe, where set, is shown every message in and out, without its end. A
	// line that goes out is shown just before it is written, so that a record
	// never has an answer before its question. It may be called from two
	// goroutines at once and must not keep the slice.
	Observe func(dir Direction, line []byte)
}

// What Options' zero fields mean.
const (
	DefaultMaxMessage = 64 << 20
	DefaultGrace      = time.Second
)

// queueLimit is how many bytes may wait to be written before senders wait. Each
// sender that passed in time may exceed it by the message in its hand.
const queueLimit = 8 << 20

// withDefaults is o with its zero fields filled in.
func (o Options) withDefaults() Options {
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
