package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
)

// How long one address of several is tried, and a name is looked up that a
// proxy will look up again.
const (
	attemptTimeout = 8 * time.Second
	lookupTimeout  = 5 * time.Second
)

// transport makes the way to one target, which is used once. Through a proxy
// the proxy is dialled, and the target is judged before.
func (c *Client) transport(ctx context.Context, req *http.Request, target *kinds.URL) (*http.Transport, error) {
	t := &http.Transport{
		DisableKeepAlives:      true,
		DisableCompression:     true, // what is unpacked is counted
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		MaxResponseHeaderBytes: maxHeaders,
	}
	if c.o.TLS != nil {
		t.TLSClientConfig = c.o.TLS.Clone()
	}
	if c.o.Proxy != nil {
		proxy, err := c.o.Proxy(req)
		if err != nil { // whose text may hold a password
			return nil, errors.New("the proxy of the environment is no URL; the user must check HTTPS_PROXY and HTTP_PROXY")
		}
		if proxy != nil {
			t.Proxy = http.ProxyURL(proxy)
			t.DialContext = (&net.Dialer{Timeout: attemptTimeout}).DialContext
			t.OnProxyConnectResponse = throughProxy
			return t, c.judge(ctx, target)
		}
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != target.HostPort() {
			return nil, fmt.Errorf("%s is not what was judged", address)
		}
		return c.dial(ctx, network, target)
	}
	return t, nil
}

// throughProxy says what a proxy answered that did not connect.
func throughProxy(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusProxyAuthRequired:
		return errors.New("the proxy wants a login (407); the user must check the proxy that is configured")
	}
	return fmt.Errorf("the proxy did not connect to it (%d)", resp.StatusCode)
}

// judge looks a target up that is not dialled here: a proxy will, or nobody. A
// name that only the proxy can look up is the proxy's to judge.
func (c *Client) judge(ctx context.Context, target *kinds.URL) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := c.lookup(ctx, target)
	if err != nil {
		return nil
	}
	return c.permit(target, addrs)
}

// permit refuses a target of which any address may not be dialled.
func (c *Client) permit(target *kinds.URL, addrs []netip.Addr) error {
	for _, a := range addrs {
		if err := c.o.Private.Permit(target, a); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) lookup(ctx context.Context, target *kinds.URL) ([]netip.Addr, error) {
	if target.Addr.IsValid() {
		return []netip.Addr{target.Addr}, nil
	}
	lookup := c.o.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			if !target.Local() {
				host += "." // never completed by the system's search list
			}
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := lookup(ctx, target.Host)
	if err != nil {
		if missing, ok := errors.AsType[*net.DNSError](err); ok && missing.IsNotFound {
			return nil, fmt.Errorf("there is no host %s; check the name", target.Host)
		}
		return nil, fmt.Errorf("looking up %s: %w", target.Host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("the host %s has no address", target.Host)
	}
	return addrs, nil
}

// dial looks the target up once, judges all its addresses, and dials those in
// turn. Where it is the system that dials, it judges once more what it dials.
func (c *Client) dial(ctx context.Context, network string, target *kinds.URL) (net.Conn, error) {
	addrs, err := c.lookup(ctx, target)
	if err != nil {
		return nil, err
	}
	if err := c.permit(target, addrs); err != nil {
		return nil, err
	}
	dial := c.o.Dial
	if dial == nil {
		dial = (&net.Dialer{Control: c.control(target)}).DialContext
	}
	var failures []error
	for _, a := range addrs {
		a = a.Unmap()
		attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
		conn, err := dial(attempt, network, net.JoinHostPort(a.String(), strconv.Itoa(target.Port)))
		cancel()
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

// control judges the address of each connection at the moment that it is made.
func (c *Client) control(target *kinds.URL) func(network, address string, _ syscall.RawConn) error {
	return func(network, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") {
			return fmt.Errorf("%s %s is not to be dialled", network, address)
		}
		return c.o.Private.Permit(target, a.Addr())
	}
}
