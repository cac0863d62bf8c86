package corpus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/tools/web"
)

// netCase is what a case of the network has of its own.
type netCase struct {
	Op        string
	URL       string
	DNS       map[string][]string   // all names that there are
	Sequence  map[string][][]string `json:"dns_sequence"` // answers to look-ups one after the other
	Redirects [][]string            // pairs: from, to
	Dial      string                `json:"expect_dial"`
	Scope     string                `json:"config_scope"` // user or project
	Headers   map[string]*string    // of a request to a listener; null: absent
	Caps      struct {
		Hosts   []string `json:"allow_hosts"`
		Private []string `json:"allow_private"`
	}
}

func netOps() []string {
	return []string{"web_fetch", "render_markdown", "mcp_connect", "open_url", "inbound"}
}

// net judges a case of the network.
func (r *Runner) net(c *cases.Case) (Outcome, error) {
	n := &netCase{}
	if err := c.Decode(n); err != nil {
		return Outcome{}, err
	}
	if err := n.check(c); err != nil {
		return Outcome{}, err
	}
	s, err := r.commandScene(c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	private, err := kinds.NewPrivate(n.Caps.Private)
	if err != nil {
		return Outcome{}, err
	}
	s.policy.Private, s.policy.Hosts = private, n.Caps.Hosts
	v, dialled := n.judge(&s.policy)
	out := verdict(c, v.Action, v.Reason)
	if report, ok := out.Report.(Verdict); ok {
		report.Dial = dialled
		out.Report = report
	}
	if n.Dial != "" && dialled != n.Dial && out.Failure == "" {
		out.Failure = "dials " + dialled + " where " + n.Dial + " is wanted"
	}
	return out, nil
}

// check says what is wrong with what the case says of the network.
func (n *netCase) check(c *cases.Case) error {
	if !c.Has("url") {
		return errors.New(`it has no "url"`)
	}
	switch n.Scope {
	case "", "user", "project":
	default:
		return fmt.Errorf(`"config_scope" is %q: write user or project`, n.Scope)
	}
	for _, hop := range n.Redirects {
		if len(hop) != 2 {
			return fmt.Errorf(`a redirect is a pair, from and to, and not %q`, hop)
		}
	}
	answers := slices.Collect(maps.Values(n.DNS))
	for list := range maps.Values(n.Sequence) {
		answers = append(answers, list...)
	}
	for _, text := range slices.Concat(answers...) {
		if _, err := netip.ParseAddr(text); err != nil {
			return fmt.Errorf("%q is no address that a name can stand for", text)
		}
	}
	return nil
}

func (n *netCase) judge(p *permission.Policy) (v permission.Verdict, dialled string) {
	switch n.Op {
	case "render_markdown":
		if kinds.SafeMarkdown(n.URL) != n.URL {
			return refusal(errors.New("it is not passed on as it stands")), ""
		}
		return permission.Verdict{Action: permission.Allow}, ""
	case "mcp_connect":
		return n.server(p), ""
	case "open_url":
		return p.OpenURL(n.URL), ""
	case "inbound":
		if err := n.inbound(); err != nil {
			return refusal(err), ""
		}
		return permission.Verdict{Action: permission.Allow}, ""
	}
	return n.fetch(p)
}

func refusal(err error) permission.Verdict {
	return permission.Verdict{Action: permission.Deny, Reason: err.Error()}
}

func (n *netCase) server(p *permission.Policy) permission.Verdict {
	v := p.Server(n.URL, n.Scope == "project")
	if v.Action == permission.Deny {
		return v
	}
	u, err := kinds.ParseURL(n.URL)
	if err != nil {
		return refusal(err)
	}
	if addrs, err := n.names().lookup(context.Background(), u.Host); err == nil {
		if err := permission.ServerAddresses(u.Host, addrs); err != nil {
			return refusal(err)
		}
	}
	return v
}

func (n *netCase) inbound() error {
	headers := http.Header{}
	for name, value := range n.Headers {
		if value != nil {
			headers.Add(name, *value)
		}
	}
	u, err := kinds.ParseURL(n.URL)
	if err != nil {
		return err
	}
	return kinds.Inbound{Listen: u.HostPort(), Host: headers.Get("Host"), Origin: headers.Values("Origin")}.Check()
}

// fetch judges a fetch, and where that is allowed goes its way without a request.
func (n *netCase) fetch(p *permission.Policy) (v permission.Verdict, dialled string) {
	u, err := kinds.ParseURL(n.URL)
	if err != nil {
		return refusal(err), ""
	}
	v = p.Decide(kinds.Facts{Tool: "web_fetch", URL: u, ReadOnly: true})
	if v.Action != permission.Allow {
		return v, ""
	}
	permit := func(first, next *kinds.URL) error {
		switch v := p.Redirect(first, next); v.Action {
		case permission.Allow:
			return nil
		case permission.Deny:
			return errors.New(v.Reason)
		}
		return web.ErrAsks
	}
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		dialled, _, _ = net.SplitHostPort(address)
		near, far := net.Pipe()
		_ = far.Close()
		return near, nil
	}
	client := web.New(web.Options{Private: p.Private, Permit: permit, Lookup: n.names().lookup, Dial: dial})
	err = client.Rehearse(context.Background(), u, n.location)
	switch {
	case errors.Is(err, web.ErrAsks):
		return permission.Verdict{Action: permission.Ask, Reason: err.Error()}, dialled
	case err != nil:
		return refusal(err), dialled
	}
	return v, dialled
}

// location is where a page redirects to; empty: it does not.
func (n *netCase) location(at *kinds.URL) string {
	for _, hop := range n.Redirects {
		if from, err := kinds.ParseURL(hop[0]); err == nil && from.String() == at.String() {
			return hop[1]
		}
	}
	return ""
}

// names is a case's name server.
type names struct {
	*netCase
	asked map[string]int
}

func (n *netCase) names() *names { return &names{n, map[string]int{}} }

func (n *names) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	list := n.DNS[host]
	if answers := n.Sequence[host]; len(answers) > 0 {
		list = answers[min(n.asked[host], len(answers)-1)]
	}
	n.asked[host]++
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	addrs := make([]netip.Addr, 0, len(list))
	for _, text := range list {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, a)
	}
	return addrs, nil
}
