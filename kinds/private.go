package kinds

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Private is what of private networks may be reached (the key
// web.allowPrivate). The zero value is nothing.
type Private struct {
	All   bool     // loopback and private addresses, whatever their name
	Hosts []string // hosts and host:port, as NewPrivate leaves them
}

// NewPrivate makes a list of hosts, with or without a port, ready to be
// compared.
func NewPrivate(entries []string) (Private, error) {
	p := Private{}
	for _, entry := range entries {
		host, port := entry, ""
		if a, err := netip.ParseAddr(entry); err == nil && a.Is6() {
			host = "[" + entry + "]"
		} else if i := strings.LastIndexByte(entry, ':'); i >= 0 && !strings.HasSuffix(entry, "]") {
			host, port = entry[:i], entry[i:]
			if n, err := strconv.ParseUint(port[1:], 10, 16); err != nil || n == 0 {
				return Private{}, fmt.Errorf("%q has no port from 1 to 65535", entry)
			}
		}
		name, _, err := ParseHost(host)
		if err != nil {
			return Private{}, fmt.Errorf("%q is neither HOST nor HOST:PORT", entry)
		}
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		p.Hosts = append(p.Hosts, name+port)
	}
	return p, nil
}

// lists reports whether the URL's host, or its host with its port, is named.
func (p Private) lists(u *URL) bool {
	return slices.Contains(p.Hosts, u.bracketed()) || slices.Contains(p.Hosts, u.HostPort())
}

// Check refuses a URL that names a place which is not public, unless it may be
// reached. It asks no name server: see Permit.
func (p Private) Check(u *URL) error {
	switch {
	case u.Addr.IsValid():
		return p.Permit(u, u.Addr)
	case u.Local() && !p.All && !p.lists(u):
		return fmt.Errorf("%s is a name of a local or private network, which is not allowed; the user can list it in web.allowPrivate", u.Host)
	}
	return nil
}

// Permit refuses an address that the URL's host stands for and that may not be
// dialled. Link-local ones must be named by their address; nothing permits what
// is reserved or holds a cloud's metadata.
func (p Private) Permit(u *URL, a netip.Addr) error {
	reach := ReachOf(a)
	allowed := reach == ReachPublic
	switch reach {
	case ReachPrivate, ReachLoopback:
		allowed = p.All || p.lists(u)
	case ReachLinkLocal:
		allowed = u.Addr.IsValid() && p.lists(u)
	}
	if allowed {
		return nil
	}
	what := a.String() + " is " + reach.String()
	if !u.Addr.IsValid() {
		what = u.Host + " is at " + a.String() + ", which is " + reach.String()
	}
	if reach == ReachNever {
		return fmt.Errorf("%s; it is not allowed", what)
	}
	return fmt.Errorf("%s; it is not allowed, but the user can list %s in web.allowPrivate", what, u.HostPort())
}

// Secure is the URL as it is fetched: https where http was written, but for
// private places that may be reached, which are fetched as written.
func (p Private) Secure(u *URL) *URL {
	if u.Scheme != "http" || p.lists(u) || p.All && (u.Local() || u.Addr.IsValid() && ReachOf(u.Addr) != ReachPublic) {
		return u
	}
	secure := *u
	secure.Scheme = "https"
	if secure.Port == portHTTP {
		secure.Port = portHTTPS
	}
	return &secure
}
