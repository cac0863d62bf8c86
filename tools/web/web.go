// Package web is the boundary to the network for the web tools: it fetches pages
// and asks search engines. A page is fetched from the URL that was judged, over
// an address that is judged when it is dialled, and every redirect is judged
// anew (policy section 11); what comes is bounded, decoded and made readable.
//
// It leaves out what may be fetched without asking (package
// session/permission), what is told the model (package tools), and the
// providers of models (packages below session/model).
package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// Options is how a Client reaches the web. The zero value reaches what is
// public, directly, and follows no redirect.
type Options struct {
	Private kinds.Private // what of private networks may be reached
	Timeout time.Duration // of a whole fetch; 0: DefaultTimeout
	// Permit decides whether a fetch may go on to where a redirect leads. Its
	// error is for the model, and is ErrAsks where a person would decide. Nil: it
	// may not.
	Permit func(first, next *kinds.URL) error
	// Proxy says through which proxy a request goes; nil: through none.
	Proxy func(*http.Request) (*url.URL, error)
	TLS   *tls.Config // nil: the system's authorities
	// Lookup replaces the system's name server, and Dial its network; for tests.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// Limits of a fetch.
const (
	DefaultTimeout = 30 * time.Second
	maxRedirects   = 5
	maxBody        = 4 << 20  // bytes, as they come and once they are unpacked
	maxHeaders     = 64 << 10 // bytes
	tlsTimeout     = 15 * time.Second
)

const userAgent = "Mozilla/5.0 (compatible; acp-agent)"

// Client fetches pages. It is safe for concurrent use, keeps no connection and
// no cookie, and implements tools.Web.
type Client struct{ o Options }

// New makes a client. It touches no network.
func New(o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &Client{o}
}

// ErrAsks says that a redirect leads where the user would have to be asked about.
var ErrAsks = errors.New("that has to be asked about on its own; call web_fetch with it if it is what you want")

var errTimeout = errors.New("time is over")

// Fetch implements tools.Web. Its errors are for the model.
func (c *Client) Fetch(ctx context.Context, r tools.WebRequest) (tools.WebPage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, errTimeout)
	defer cancel()
	page, err := c.follow(ctx, r, c.hop)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return page, fmt.Errorf("%s did not answer in full within %v; try another source", r.URL, c.o.Timeout)
	}
	return page, err
}

// Rehearse goes the way of a fetch without a request: names are looked up and
// addresses dialled, and closed again, as Options say, and location, which may be
// empty, answers in place of each server where it redirects to.
func (c *Client) Rehearse(ctx context.Context, u *kinds.URL, location func(at *kinds.URL) string) error {
	_, err := c.follow(ctx, tools.WebRequest{URL: u}, func(ctx context.Context, at *kinds.URL, _ string) (tools.WebPage, *kinds.URL, error) {
		conn, err := c.dial(ctx, "tcp", at)
		if err != nil {
			return tools.WebPage{}, nil, err
		}
		_ = conn.Close()
		to := location(at)
		if to == "" {
			return tools.WebPage{URL: at}, nil, nil
		}
		next, err := c.target(at, to)
		return tools.WebPage{}, next, err
	})
	return err
}

// hopper makes one request. It returns the page, or where a redirect leads.
type hopper func(ctx context.Context, at *kinds.URL, format string) (tools.WebPage, *kinds.URL, error)

// follow fetches what the URL, or the redirects that it answers, lead to.
func (c *Client) follow(ctx context.Context, r tools.WebRequest, hop hopper) (tools.WebPage, error) {
	at := c.o.Private.Secure(r.URL)
	if err := c.o.Private.Check(at); err != nil {
		return tools.WebPage{}, err
	}
	seen := map[string]bool{}
	for hops := 0; ; hops++ {
		seen[at.String()] = true
		page, next, err := hop(ctx, at, r.Format)
		if err != nil && hops == 0 && at.Scheme != r.URL.Scheme {
			err = fmt.Errorf("%w (http was changed to https)", err)
		}
		if err != nil || next == nil {
			return page, err
		}
		switch {
		case seen[next.String()]:
			return page, fmt.Errorf("%s redirects in a circle", r.URL)
		case hops == maxRedirects:
			return page, fmt.Errorf("%s redirects more than %d times; the last target was %s", r.URL, maxRedirects, next)
		}
		if c.o.Permit == nil {
			return page, fmt.Errorf("%s redirects to %s, which is not followed", at, next)
		}
		if err := c.o.Permit(r.URL, next); err != nil {
			if errors.Is(err, ErrAsks) {
				if refused := c.judge(ctx, next); refused != nil { // then nobody need be asked
					err = refused
				}
			}
			return page, fmt.Errorf("%s redirects to %s: %w", at, next, err)
		}
		at = next
	}
}

// hop makes one request. It returns the page, or where a redirect leads.
func (c *Client) hop(ctx context.Context, at *kinds.URL, format string) (tools.WebPage, *kinds.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return tools.WebPage{}, nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.5")
	req.Header.Set("Accept-Encoding", "gzip")
	transport, err := c.transport(ctx, req, at)
	if err != nil {
		return tools.WebPage{}, nil, err
	}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return tools.WebPage{}, nil, fmt.Errorf("fetching %s: %w", at, plain(err))
	}
	defer resp.Body.Close()
	if location := resp.Header.Get("Location"); isRedirect(resp.StatusCode) && location != "" {
		next, err := c.target(at, location)
		return tools.WebPage{}, next, err
	}
	page, err := read(ctx, resp, at, format)
	return page, nil, err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// target is where a redirect leads, refused where it is malformed or private.
func (c *Client) target(at *kinds.URL, location string) (*kinds.URL, error) {
	next, err := at.Resolve(location)
	if err != nil {
		return nil, fmt.Errorf("%s redirects to what is refused: %w", at, err) // without its words: the model reads this
	}
	next = c.o.Private.Secure(next)
	if err := c.o.Private.Check(next); err != nil {
		return nil, fmt.Errorf("%s redirects to %s, which is refused: %w", at, next, err)
	}
	return next, nil
}

func shorten(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// plain takes off what the standard library says of the request beside what is
// wrong with it.
func plain(err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fmt.Errorf("the server's certificate does not hold: %w", certificate.Err)
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" && dial.Err != nil {
		return dial.Err
	}
	return err
}
