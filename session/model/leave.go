package model

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// leaveTime bounds how long a server is given to notice that a connection is
// being closed.
const leaveTime = 10 * time.Millisecond

// politeConn is a connection whose Close takes leave: it ends our side, and
// waits a moment for the server to end its own. So a request that was dropped
// is dropped at the server too when the drop is reported, where that takes only
// a moment.
type politeConn struct {
	net.Conn
	once sync.Once
	err  error
	gone chan struct{} // closed when the connection is
}

// polite makes the connections of a dialer take leave.
func polite(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &politeConn{Conn: c, gone: make(chan struct{})}, nil
	}
}

// Close ends the connection; again, it only returns what the first did.
func (c *politeConn) Close() error {
	c.once.Do(func() {
		defer close(c.gone)
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil &&
			c.SetReadDeadline(time.Now().Add(leaveTime)) == nil {
			_, _ = io.Copy(io.Discard, c.Conn) // until the server ends, or time does
		}
		c.err = c.Conn.Close()
	})
	return c.err
}

// traced is ctx under which the connection that serves a request is told.
func traced(ctx context.Context, got func(*politeConn)) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		c := info.Conn
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn()
		}
		if p, ok := c.(*politeConn); ok {
			got(p)
		}
	}})
}
