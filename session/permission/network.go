package permission

import (
	"net/netip"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// Server judges connecting to an MCP server (policy section 11): over https, or
// over http to this machine, and never to a link-local or reserved address. The
// user's own configuration is silent; what a project configures is confirmed once,
// and only where the project is trusted.
func (p *Policy) Server(address string, fromProject bool) Verdict {
	j := newJudge(p, "mcp")
	j.destination(address, "the server")
	switch {
	case !fromProject:
	case !p.Trusted:
		j.deny("a project's servers are used only once its folder is trusted")
	default:
		j.floor("the project's configuration names this server")
	}
	return j.verdict(kinds.Facts{Tool: j.id})
}

// OpenURL judges opening a URL in the user's browser, as a login or a server's
// question wants it (policy section 11): never without the user's word, whatever
// the mode.
func (p *Policy) OpenURL(address string) Verdict {
	j := newJudge(p, "open_url")
	j.destination(address, "the page")
	if strings.ContainsAny(address, "|^{}") || strings.Contains(address, "$(") {
		j.deny("the page's address holds signs that a shell on the way to the browser would follow: they must be percent-encoded")
	}
	j.floor("it opens a page in your browser")
	return j.verdict(kinds.Facts{Tool: j.id})
}

// destination refuses what is neither https nor this machine.
func (j *judge) destination(address, what string) {
	u, err := kinds.ParseURL(address)
	switch {
	case err != nil:
		j.deny(err.Error())
	case u.Addr.IsValid() && kinds.Never(u.Addr):
		j.deny(u.Host + " is " + kinds.ReachOf(u.Addr).String() + ", which is never reached")
	case u.Scheme == "http" && !u.Loopback():
		j.deny(what + " is to be reached by https; only this machine may be by http")
	}
}

// ServerAddresses judges what a server's name stands for when it is dialled: none
// of the addresses may be one that is never reached.
func ServerAddresses(host string, addrs []netip.Addr) error {
	for _, a := range addrs {
		if kinds.Never(a) {
			return &addressError{host, a}
		}
	}
	return nil
}

type addressError struct {
	host string
	addr netip.Addr
}

func (e *addressError) Error() string {
	return e.host + " is at " + e.addr.String() + ", which is " + kinds.ReachOf(e.addr).String() + "; it is never reached"
}

// Redirect judges following a redirect of a fetch that began with first. It is a
// new fetch, but nobody is asked in the middle of one. Where first was asked about,
// that was about its origin, so that a redirect within it goes on.
func (p *Policy) Redirect(first, next *kinds.URL) Verdict {
	v := p.Decide(kinds.Facts{Tool: permFetch, URL: next, ReadOnly: true})
	if v.Action != Ask || p.Private.Secure(first).Origin() != next.Origin() {
		return v
	}
	if asked := p.Decide(kinds.Facts{Tool: permFetch, URL: first, ReadOnly: true}); asked.Action == Ask {
		return Verdict{Action: Allow}
	}
	return v
}
