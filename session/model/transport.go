package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

// TransportOptions say how servers are reached. The zero value is the
// environment's way (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) and the system's
// authorities.
type TransportOptions struct {
	// Proxy is the URL of a proxy for all requests: http, https, socks5 or
	// socks5h. Empty: the environment's.
	Proxy string
	// NoProxy are hosts that are reached directly: a name (with all below it),
	// an address, a network as in 10.0.0.0/8, each with or without a port, or *.
	// Loopback is always reached directly.
	NoProxy []string
	// CAFile is a file of authorities (PEM) trusted beside the system's.
	CAFile string
}

// Limits of what leads up to an answer. The answer itself may take its time;
// Endpoint.Idle watches over that.
const (
	dialTimeout = 30 * time.Second
	tlsTimeout  = 20 * time.Second
	idleConn    = 90 * time.Second
)

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// NewHTTPClient makes a client for model servers. It touches no network, and
// no file but CAFile. Its requests do not follow a redirect to another host,
// since they carry keys in headers that are of no use to a stranger.
func NewHTTPClient(o TransportOptions) (*http.Client, error) {
	proxy, err := o.ProxyFunc()
	if err != nil {
		return nil, err
	}
	secure, err := o.TLS()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		TLSClientConfig:       secure,
		Proxy:                 proxy,
		DialContext:           polite((&net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}).DialContext),
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   tlsTimeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       idleConn,
		MaxIdleConnsPerHost:   8,    // a session and its sub-agents
		DisableCompression:    true, // a compressor between us and the model holds deltas back
	}
	return &http.Client{Transport: t, CheckRedirect: sameHost}, nil
}

// sameHost follows redirects that stay with the host, do not give up TLS and
// keep the method. Any other is handed back as it came, and is an error above.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	same := strings.EqualFold(req.URL.Host, first.URL.Host) && req.Method == first.Method &&
		(req.URL.Scheme == first.URL.Scheme || req.URL.Scheme == "https")
	if !same || len(via) >= maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// authorities are the system's and those of a file.
func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading caFile: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without any: the file's alone
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("caFile %s holds no certificate in PEM form", file)
	}
	return pool, nil
}

// TLS is the configuration that trusts CAFile; nil without one.
func (o TransportOptions) TLS() (*tls.Config, error) {
	if o.CAFile == "" {
		return nil, nil
	}
	pool, err := authorities(o.CAFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// ProxyFunc says for each request which proxy it goes through; a nil URL means
// none.
func (o TransportOptions) ProxyFunc() (func(*http.Request) (*url.URL, error), error) {
	through := http.ProxyFromEnvironment
	if o.Proxy != "" {
		u, err := parseProxy(o.Proxy)
		if err != nil {
			return nil, err
		}
		through = http.ProxyURL(u)
	}
	direct, err := parseNoProxy(o.NoProxy)
	if err != nil {
		return nil, err
	}
	return func(req *http.Request) (*url.URL, error) {
		if direct.match(req.URL) {
			return nil, nil
		}
		return through(req)
	}, nil
}

// parseProxy reads a proxy's URL. Its errors do not repeat it: it may hold a
// password.
func parseProxy(s string) (*url.URL, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("proxy is not a URL: write it as http://HOST:PORT")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("proxy has the scheme %q: use http, https, socks5 or socks5h", u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, errors.New("proxy names no host: write it as http://HOST:PORT")
	}
	return u, nil
}

// directHosts are the hosts reached without the proxy.
type directHosts []directHost

type directHost struct {
	name string       // a host name; empty: network counts
	net  netip.Prefix // an address or a network
	port string       // empty: any
	all  bool
}

func parseNoProxy(list []string) (directHosts, error) {
	var hosts directHosts
	for _, entry := range list {
		for item := range strings.FieldsFuncSeq(entry, func(r rune) bool { return r == ',' || r == ' ' }) {
			h, err := parseDirectHost(strings.ToLower(item))
			if err != nil {
				return nil, err
			}
			hosts = append(hosts, h)
		}
	}
	return hosts, nil
}

func parseDirectHost(s string) (directHost, error) {
	if s == "*" {
		return directHost{all: true}, nil
	}
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return directHost{}, fmt.Errorf("noProxy entry %q is not a network: write it as 10.0.0.0/8", s)
		}
		return directHost{net: p.Masked()}, nil
	}
	host, port := s, ""
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return directHost{net: netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), port: port}, nil
	}
	host = strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	if host == "" || strings.Contains(host, "*") {
		return directHost{}, fmt.Errorf("noProxy entry %q is not a host: write a name, an address, a network or *", s)
	}
	return directHost{name: host, port: port}, nil
}

// match tells whether a URL is reached directly.
func (d directHosts) match(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	addr, err := netip.ParseAddr(host)
	addr = addr.Unmap()
	if host == "localhost" || err == nil && addr.IsLoopback() {
		return true
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, h := range d {
		switch {
		case h.all:
			return true
		case h.port != "" && h.port != port:
		case h.name != "":
			if host == h.name || strings.HasSuffix(host, "."+h.name) {
				return true
			}
		case err == nil && h.net.Contains(addr):
			return true
		}
	}
	return false
}
