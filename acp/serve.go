package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/editors"
	"github.com/acp-agent/acp-agent/session"
)

// Options is what a connection to an editor is served with.
type Options struct {
	Sessions *session.Sessions
	Version  string // of the agent
	Log      *slog.Logger
	Observe  func(dir jsonrpc.Direction, line []byte) // nil: nobody
}

// server is one connection to one editor.
type server struct {
	sessions *session.Sessions
	version  string
	log      *slog.Logger
	conn     *jsonrpc.Conn
	client   atomic.Pointer[client] // nil before initialize

	mu    sync.Mutex
	ended bool
	soon  sync.WaitGroup // what is told a moment after an answer; begun only under mu, before ended
}

// client is what is known of the editor, decided once, when it introduces
// itself.
type client struct {
	name   string
	can    ClientCapabilities
	quirks editors.Quirks
}

// Serve speaks the protocol on in and out until in ends or ctx is done. Then
// all turns are cancelled and answered, and the sessions closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{sessions: o.Sessions, version: o.Version, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.conn = jsonrpc.New(in, out, s.admit, jsonrpc.Options{Grace: answerTime, Logger: s.log, Observe: o.Observe})
	err := s.conn.Run(ctx)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.soon.Wait()
	s.sessions.Shutdown(end)
	return err
}

// The times for the end, within a second together: that in which turns end and
// the editor reads their answers, and that in which the sessions are closed.
const (
	answerTime   = 500 * time.Millisecond
	shutdownTime = 350 * time.Millisecond
)

// admit finds the method and has it admit the message.
func (s *server) admit(ctx context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
	m, ok := methods[r.Method]
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + r.Method}
	}
	if s.client.Load() == nil && r.Method != MethodInitialize {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: r.Method + " before initialize: call initialize first"}
	}
	return m(s, ctx, r)
}

// failure is the one way from an error of the engine to its code.
func failure(err error) error {
	var invalid *session.InvalidError
	var auth *session.AuthError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrNotFound):
		return &jsonrpc.Error{Code: jsonrpc.CodeNotFound, Message: "no such session; list the sessions, or begin a new one"}
	case errors.As(err, &invalid):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: invalid.Error()}
	case errors.As(err, &auth):
		return &jsonrpc.Error{Code: jsonrpc.CodeAuthRequired, Message: auth.Reason}
	}
	return err // package jsonrpc knows the rest
}
