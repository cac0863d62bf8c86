package model

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewHTTPClientRefuses(t *testing.T) {
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noPEM, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		opt  TransportOptions
		want string
	}{
		"a scheme":         {TransportOptions{Proxy: "ftp://user:hunter2@p:1"}, "scheme"},
		"no host":          {TransportOptions{Proxy: "http://"}, "no host"},
		"no URL":           {TransportOptions{Proxy: "http://user:hunter2@p:x y"}, "not a URL"},
		"a network":        {TransportOptions{NoProxy: []string{"10.0.0.0/99"}}, "network"},
		"a star inside":    {TransportOptions{NoProxy: []string{"a.*.b"}}, "noProxy"},
		"no such file":     {TransportOptions{CAFile: "/does/not/exist"}, "caFile"},
		"no certificates":  {TransportOptions{CAFile: noPEM}, "no certificate"},
		"nothing but a ..": {TransportOptions{NoProxy: []string{"*."}}, "noProxy"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewHTTPClient(tt.opt)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want an error on %q without the password", err, tt.want)
			}
		})
	}
}

func TestProxyChoice(t *testing.T) {
	c, err := NewHTTPClient(TransportOptions{
		Proxy:   "proxy.example:3128",
		NoProxy: []string{"corp.example", "*.star.example", ".dot.example", "10.0.0.0/8", "192.0.2.7", "ported.example:8443", "2001:db8::/32", "a.example, b.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{ // URL → through the proxy
		"https://api.example/v1":          true,
		"http://corp.example":             false,
		"https://x.corp.example":          false,
		"https://notcorp.example":         true,
		"https://CORP.example.":           false,
		"https://x.star.example":          false,
		"https://x.dot.example":           false,
		"http://10.1.2.3:80":              false,
		"http://11.1.2.3:80":              true,
		"http://192.0.2.7":                false,
		"http://192.0.2.70":               true,
		"https://ported.example:8443":     false,
		"https://ported.example":          true,
		"http://[2001:db8::1]:8":          false,
		"https://a.example":               false,
		"https://b.example":               false,
		"http://localhost:1":              false,
		"http://127.0.0.1:1":              false,
		"http://[::1]:1":                  false,
		"http://[::ffff:10.0.0.1]:80/foo": false,
	}
	for raw, want := range tests {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		via, err := c.Transport.(*http.Transport).Proxy(&http.Request{URL: u})
		if err != nil || (via != nil) != want {
			t.Errorf("%s: got %v, %v; want through the proxy: %v", raw, via, err, want)
		}
		if via != nil && via.String() != "http://proxy.example:3128" {
			t.Errorf("%s: got the proxy %s", raw, via)
		}
	}
	all, err := NewHTTPClient(TransportOptions{Proxy: "http://p:1", NoProxy: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	if via, _ := all.Transport.(*http.Transport).Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "x.example"}}); via != nil {
		t.Errorf("noProxy *: got %v, want none", via)
	}
}

func TestProxyIsUsed(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "through for "+r.Host)
	}))
	defer proxy.Close()
	c, err := NewHTTPClient(TransportOptions{Proxy: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, c, "http://model.invalid/"); got != "through for model.invalid" {
		t.Errorf("got %q", got)
	}
}

func fetch(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestCAFile(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hi") }))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := NewHTTPClient(TransportOptions{CAFile: file})
	if err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, c, s.URL); got != "hi" {
		t.Errorf("got %q", got)
	}
}

// A key must not follow a redirect to another host: Go drops Authorization on
// the way, but no header that it does not know as one of credentials.
func TestRedirectStaysWithTheHost(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the stranger was asked")
	}))
	defer stranger.Close()
	var home *httptest.Server
	home = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away/models":
			http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
		case "/here/models":
			http.Redirect(w, r, home.URL+"/there", http.StatusTemporaryRedirect)
		case "/round/models":
			http.Redirect(w, r, "/round/models", http.StatusTemporaryRedirect)
		default:
			_, _ = io.WriteString(w, `{"ok": true}`)
		}
	}))
	defer home.Close()
	c, err := NewHTTPClient(TransportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := Endpoint{Provider: "p", BaseURL: home.URL, HTTP: c, Header: NewHeader(map[string]string{"X-Api-Key": "secret-key"}, nil)}
	var doc struct{ OK bool }
	if err := e.GetJSON(t.Context(), home.URL+"/here/models", &doc); err != nil || !doc.OK {
		t.Errorf("a redirect on the host: got %v, %+v", err, doc)
	}
	err = e.GetJSON(t.Context(), home.URL+"/away/models", &doc)
	if err == nil || !strings.Contains(err.Error(), stranger.URL) || !strings.Contains(err.Error(), "307") {
		t.Errorf("a redirect away: got %v, want an error that names where to", err)
	}
	if err := e.GetJSON(t.Context(), home.URL+"/round/models", &doc); err == nil {
		t.Error("a redirect in a circle: got no error")
	}
}
