package web

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// netCase is a line of net_cases.jsonl; policy section 0 says what its fields
// mean.
type netCase struct {
	ID, Op, URL, Want, Kind, Why string
	Mode                         permission.Mode
	Rules                        []struct{ Permission, Pattern, Action, Scope string }
	DNS                          map[string][]string
	Redirects                    [][2]string
	Sequence                     map[string][][]string `json:"dns_sequence"`
	Dial                         string                `json:"expect_dial"`
	Headless                     bool
	Caps                         struct {
		Hosts   []string `json:"allow_hosts"`
		Private []string `json:"allow_private"`
	}
}

// TestCorpus runs the cases of web_fetch through the engine and the client, with
// a server that answers for every host. What is not about web_fetch is tested
// where it is built.
func TestCorpus(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "security", "net_cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c netCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Op != "web_fetch" {
			continue
		}
		ran++
		got, why, dialled := c.run(t)
		if got != c.Want {
			t.Errorf("%s (%s) %q: got %s, want %s (%s): %s", c.ID, c.Kind, c.URL, got, c.Want, c.Why, why)
		}
		if c.Dial != "" && (len(dialled) != 1 || dialled[0] != c.Dial) {
			t.Errorf("%s: dialled %v, want %s", c.ID, dialled, c.Dial)
		}
		for _, d := range dialled {
			if a := netip.MustParseAddr(d); kinds.ReachOf(a) != kinds.ReachPublic && len(c.Caps.Private) == 0 {
				t.Errorf("%s: dialled %s", c.ID, d)
			}
		}
	}
	if ran < 100 {
		t.Errorf("only %d cases ran", ran)
	}
}

// run gives the verdict on a case: that of the rules, or where those allow, of
// the fetch itself.
func (c *netCase) run(t *testing.T) (verdict, why string, dialled []string) {
	u, err := kinds.ParseURL(c.URL)
	if err != nil {
		return "deny", err.Error(), nil
	}
	private, err := kinds.NewPrivate(c.Caps.Private)
	if err != nil {
		t.Fatal(err)
	}
	p := permission.Policy{Mode: c.Mode, Headless: c.Headless, Trusted: true, Private: private, Hosts: c.Caps.Hosts}
	for _, r := range c.Rules {
		var a permission.Action
		if err := a.UnmarshalText([]byte(r.Action)); err != nil {
			t.Fatal(err)
		}
		scope := map[string]permission.Scope{"project": permission.Project, "session": permission.Session, "manifest": permission.Manifest}[r.Scope]
		p.Rules = append(p.Rules, permission.Rule{Permission: r.Permission, Pattern: r.Pattern, Action: a, Scope: scope})
	}
	decide := func(u *kinds.URL) permission.Verdict {
		return p.Decide(kinds.Facts{Tool: "web_fetch", URL: u, ReadOnly: true})
	}
	switch v := decide(u); v.Action {
	case permission.Deny:
		return "deny", v.Reason, nil
	case permission.Ask, permission.ForcedAsk:
		return "ask", v.Reason, nil
	}
	w := newWorld(t, c)
	client := New(Options{Private: private, Lookup: w.lookup, Dial: w.dial, TLS: w.trust, Permit: func(_, next *kinds.URL) error {
		switch v := decide(next); v.Action {
		case permission.Allow:
			return nil
		case permission.Deny:
			return errors.New(v.Reason)
		}
		return ErrAsks
	}})
	_, err = client.Fetch(context.Background(), tools.WebRequest{URL: u, Format: tools.WebMarkdown})
	switch {
	case errors.Is(err, ErrAsks):
		return "ask", err.Error(), w.dialled
	case err != nil:
		return "deny", err.Error(), w.dialled
	}
	return "allow", "", w.dialled
}

// world is a case's internet: its names, and one server for all of them.
type world struct {
	t      *testing.T
	c      *netCase
	server *httptest.Server // of https
	plain  *httptest.Server
	trust  *tls.Config

	mu      sync.Mutex
	dialled []string
	asked   map[string]int
}

func newWorld(t *testing.T, c *netCase) *world {
	w := &world{t: t, c: c, asked: map[string]int{}}
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		at := "https://" + r.Host + r.URL.RequestURI()
		for _, hop := range c.Redirects {
			if hop[0] == at || hop[0] == at+"/" {
				rw.Header()["Location"] = []string{hop[1]}
				rw.WriteHeader(http.StatusFound)
				return
			}
		}
		_, _ = rw.Write([]byte("<p>hello"))
	})
	w.server, w.plain = httptest.NewTLSServer(handler), httptest.NewServer(handler)
	t.Cleanup(w.server.Close)
	t.Cleanup(w.plain.Close)
	w.trust = trusting(w.server)
	return w
}

func (w *world) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.c.DNS[host]
	if s := w.c.Sequence[host]; len(s) > 0 {
		list = s[min(w.asked[host], len(s)-1)]
	}
	w.asked[host]++
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	addrs := make([]netip.Addr, len(list))
	for i, a := range list {
		addrs[i] = netip.MustParseAddr(a)
	}
	return addrs, nil
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, _ := net.SplitHostPort(address)
	w.mu.Lock()
	w.dialled = append(w.dialled, host)
	w.mu.Unlock()
	to := w.server
	if port != "443" {
		to = w.plain
	}
	return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(strings.TrimPrefix(to.URL, "https://"), "http://"))
}

// trusting takes a test server's certificate for any host.
func trusting(s *httptest.Server) *tls.Config {
	leaf := s.Certificate()
	return &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		if !state.PeerCertificates[0].Equal(leaf) {
			return errors.New("not the test server")
		}
		return nil
	}}
}
