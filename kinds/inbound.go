package kinds

import (
	"errors"
	"net/netip"
	"strings"
)

// Inbound is a request that came to a listener of ours on loopback, as far as it
// says who sent it (policy section 11).
type Inbound struct {
	Listen string   // where we listen, as host:port
	Host   string   // the request's Host header
	Origin []string // its Origin headers: none where no web page sent it
}

// Check refuses a request that another web page sent, or that came by a name which
// is not this machine's: such a name may be made to point here (DNS rebinding). It
// does not look at the token, which every request must have besides.
func (in Inbound) Check() error {
	listen, err := ParseURL("http://" + in.Listen)
	if err != nil || !listen.Loopback() {
		return errors.New("the listener is not on loopback")
	}
	host, err := parseHere(in.Host, listen)
	if err != nil {
		return err
	}
	if len(in.Origin) > 1 {
		return errors.New("the request names several origins")
	}
	for _, origin := range in.Origin {
		rest, ok := strings.CutPrefix(origin, "http://")
		from, err := parseHere(rest, listen)
		if !ok || err != nil || from.Host != host.Host {
			return errors.New("the request comes from a page of another origin")
		}
	}
	return nil
}

// parseHere reads host:port, which must name this machine and the listener's port.
func parseHere(hostPort string, listen *URL) (*URL, error) {
	u, err := ParseURL("http://" + hostPort)
	if err != nil || strings.ContainsAny(hostPort, "/?#") || !u.Loopback() || u.Port != listen.Port {
		return nil, errors.New("the request's Host is not the listener's own")
	}
	return u, nil
}

// Loopback reports whether the host is this machine by its address, or by the one
// name that every system reserves for it.
func (u *URL) Loopback() bool {
	if u.Addr.IsValid() {
		return ReachOf(u.Addr) == ReachLoopback
	}
	return u.Host == "localhost"
}

// Never reports whether an address is never to be dialled, whoever asks: it is
// link-local, a cloud's metadata or reserved.
func Never(a netip.Addr) bool {
	r := ReachOf(a)
	return r == ReachNever || r == ReachLinkLocal
}
