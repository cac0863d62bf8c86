// Package client is the editor's side of the Agent Client Protocol: it launches
// an agent or takes any connection to one, calls its methods by their types, and
// serves what the agent calls back. The subcommands that drive an agent use it,
// and all tests that see the program as an editor does. Disk and Terminals are
// callbacks that are ready to use.
//
// It leaves out showing anything to a user, and unlike the agent it is strict in
// what it sends: a request goes out as the caller made it.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// Handler is what the editor does when the agent calls. A request whose function
// is nil is answered with "method not found"; a notification whose function is
// nil is dropped. An error is answered as it is where it is a *jsonrpc.Error,
// else as an internal error with its text.
//
// Update and CompleteElicitation are called one at a time, in the order of the
// wire, on a goroutine of the client's own. A request of the agent is handled
// after all updates that came before it, each on its own goroutine. So Update may
// take its time, but must not call Prompt, LoadSession or wait for such a request.
type Handler struct {
	Update              func(context.Context, acp.SessionNotification)
	CompleteElicitation func(context.Context, acp.CompleteElicitationNotification)

	RequestPermission   func(context.Context, acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error)
	ReadTextFile        func(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error)
	WriteTextFile       func(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error)
	CreateTerminal      func(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error)
	TerminalOutput      func(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error)
	WaitForTerminalExit func(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error)
	KillTerminal        func(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error)
	ReleaseTerminal     func(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error)
	CreateElicitation   func(context.Context, acp.CreateElicitationRequest) (acp.CreateElicitationResponse, error)

	// Other, where set, gets every request and notification that is none of the
	// above: extensions, and methods that are not stable yet. The result of a
	// notification is dropped.
	Other func(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Client is a connection to an agent. Its methods may be used by any number of
// goroutines once Run runs, and wait for it before.
type Client struct {
	conn    *jsonrpc.Conn
	methods map[string]method
	other   func(ctx context.Context, method string, params json.RawMessage) (any, error)
	updates *updates
}

// method decodes the params of a request and handles it.
type method func(ctx context.Context, params json.RawMessage) (any, error)

// New makes a client that reads the agent's messages from in and writes its own
// to out. Nothing is read before Run.
func New(in io.Reader, out io.Writer, h Handler, o jsonrpc.Options) *Client {
	c := &Client{methods: h.methods(), other: h.Other, updates: newUpdates()}
	c.conn = jsonrpc.New(in, out, c.handle(h), o)
	return c
}

// Run carries the connection until the agent closes its output (nil), ctx is
// done, or reading or writing fails. It returns when the updates that had arrived
// are delivered; the context of a callback ends with ctx.
func (c *Client) Run(ctx context.Context) error {
	finished := make(chan struct{})
	go func() { // ends before Run does
		defer close(finished)
		c.updates.deliver(ctx)
	}()
	err := c.conn.Run(ctx)
	c.updates.close()
	<-finished
	return err
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

func (h Handler) methods() map[string]method {
	m := map[string]method{}
	serve(m, h.RequestPermission, acp.MethodSessionRequestPermission)
	serve(m, h.ReadTextFile, acp.MethodReadTextFile)
	serve(m, h.WriteTextFile, acp.MethodWriteTextFile)
	serve(m, h.CreateTerminal, acp.MethodTerminalCreate)
	serve(m, h.TerminalOutput, acp.MethodTerminalOutput)
	serve(m, h.WaitForTerminalExit, acp.MethodTerminalWaitForExit)
	serve(m, h.KillTerminal, acp.MethodTerminalKill)
	serve(m, h.ReleaseTerminal, acp.MethodTerminalRelease)
	serve(m, h.CreateElicitation, acp.MethodElicitationCreate)
	return m
}

// serve enters a callback into the table, unless it is nil.
func serve[Req, Resp any](m map[string]method, f func(context.Context, Req) (Resp, error), name string) {
	if f == nil {
		return
	}
	m[name] = func(ctx context.Context, params json.RawMessage) (any, error) {
		req, err := acp.Decode[Req](params)
		if err != nil {
			return nil, err
		}
		return f(ctx, req)
	}
}

// handle admits a message on the read loop: it queues updates, and has a request
// wait for those before it.
func (c *Client) handle(h Handler) jsonrpc.Handler {
	return func(_ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		switch r.Method {
		case acp.MethodSessionUpdate:
			return nil, notify(c.updates, h.Update, r.Params)
		case acp.MethodElicitationComplete:
			return nil, notify(c.updates, h.CompleteElicitation, r.Params)
		}
		m := c.methods[r.Method]
		if m == nil && c.other != nil {
			m = func(ctx context.Context, params json.RawMessage) (any, error) {
				return c.other(ctx, r.Method, params)
			}
		}
		if m == nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + r.Method}
		}
		seen := c.updates.queued()
		return func(ctx context.Context) (any, error) {
			if err := c.updates.wait(ctx, seen); err != nil {
				return nil, err
			}
			return m(ctx, r.Params)
		}, nil
	}
}

// notify queues the delivery of a notification.
func notify[N any](u *updates, f func(context.Context, N), params json.RawMessage) error {
	n, err := acp.Decode[N](params)
	if err != nil || f == nil {
		return err
	}
	u.put(func(ctx context.Context) { f(ctx, n) })
	return nil
}

// Call sends any request, for methods that have no function here, and decodes
// the answer into result, which may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.conn.Call(ctx, method, params, result)
}

// Notify sends any notification.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// call sends a request and decodes its answer. An error answer is a
// *jsonrpc.Error in the chain of the error.
func call[Resp any](ctx context.Context, c *Client, req interface{ Method() string }) (Resp, error) {
	var resp Resp
	var raw json.RawMessage
	if err := c.conn.Call(ctx, req.Method(), req, &raw); err != nil {
		return resp, fmt.Errorf("%s: %w", req.Method(), err)
	}
	resp, err := acp.DecodeResult[Resp](raw)
	if err != nil {
		return resp, fmt.Errorf("the agent's answer to %s: %w", req.Method(), err)
	}
	return resp, nil
}
