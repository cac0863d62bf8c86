package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/tools"
)

func searches(t *testing.T, provider, server string) *Searches {
	t.Helper()
	e, err := NewEngine(provider, server, "", func(string) string { return "key-1" })
	if err != nil {
		t.Fatal(err)
	}
	return NewSearches("sess_1", []Engine{e}, http.DefaultClient)
}

func TestSearXNG(t *testing.T) {
	var got *http.Request
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, `{"query": "x", "results": [
			{"title": "One &amp; <b>two</b>", "url": "https://a.example/x?y=1", "content": "  many\n words "},
			{"title": "bad", "url": "javascript:x()", "content": ""},
			{"title": "", "url": "http://b.example/", "content": null},
			{"title": "three", "url": "https://c.example/"}]}`)
	})
	for _, at := range []string{"", "/", "/search", "/searx/"} {
		results, err := searches(t, "searxng", server+at).Search(t.Context(), "go & rust", 2)
		want := []tools.SearchResult{{Title: "One & two", URL: "https://a.example/x?y=1", Snippet: "many words"}, {URL: "http://b.example/"}}
		if err != nil || fmt.Sprint(results) != fmt.Sprint(want) {
			t.Errorf("%q: %q, %v", at, results, err)
		}
		if q := got.URL.Query(); q.Get("q") != "go & rust" || q.Get("format") != "json" || !strings.HasSuffix(got.URL.Path, "/search") {
			t.Errorf("%q: asked %s", at, got.URL)
		}
	}
}

func TestBrave(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") != "key-1" || r.URL.Query().Get("q") != "x" || r.URL.Query().Get("count") != "5" {
			t.Errorf("asked %s with %v", r.URL, r.Header)
		}
		_, _ = io.WriteString(w, `{"web": {"results": [{"title": "T", "url": "https://a.example/", "description": "a <strong>b</strong>"}]}}`)
	})
	results, err := searches(t, "brave", server+"/res/v1/web/search").Search(t.Context(), "x", 5)
	if err != nil || fmt.Sprint(results) != "[{T https://a.example/ a b}]" {
		t.Errorf("%v, %v", results, err)
	}
}

// TestKeyedEngines holds that the others of the table are asked as their makers say.
func TestKeyedEngines(t *testing.T) {
	for provider, c := range map[string]struct{ header, value, body, answer string }{
		"tavily": {"Authorization", "Bearer key-1", `{"max_results":5,"query":"x \u0026 y"}`, `{"query": "x", "answer": null, "results": [{"title": "T", "url": "https://a.example/", "content": "a b", "score": 0.9}]}`},
		"exa": {"X-Api-Key", "key-1", `{"contents":{"text":{"maxCharacters":300}},"numResults":5,"query":"x \u0026 y"}`,
			`{"requestId": "r", "results": [{"id": "i", "title": "T", "url": "https://a.example/", "publishedDate": null, "text": "a b"}]}`},
	} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get(c.header) != c.value || string(body) != c.body {
				t.Errorf("%s: %s %v %s", provider, r.Method, r.Header, body)
			}
			_, _ = io.WriteString(w, c.answer)
		})
		results, err := searches(t, provider, server).Search(t.Context(), "x & y", 5)
		if err != nil || fmt.Sprint(results) != "[{T https://a.example/ a b}]" {
			t.Errorf("%s: %v, %v", provider, results, err)
		}
		for _, broken := range []string{"", "null", "[]", `{"results": "x"}`, `{"results": [{"title": {}}]}`, "<html>", `{"results": null}`} {
			at := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, broken) })
			if results, err := searches(t, provider, at).Search(t.Context(), "x", 5); len(results) > 0 || err != nil && !strings.Contains(err.Error(), "no list of results") {
				t.Errorf("%s %q: %v, %v", provider, broken, results, err)
			}
		}
	}
}

// TestSearchTellsNoSecret holds that neither the key nor what a server says about
// a failure reaches the model, and that no redirect is given the key.
func TestSearchTellsNoSecret(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	for _, provider := range []string{"brave", "tavily", "exa"} {
		for path, want := range map[string]string{"/say": "it answered 599", "/away": "it answered 307", "/key": "refused", "/huge": "longer than", "/quota": "too many"} {
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", other)
				w.WriteHeader(map[string]int{"/say": 599, "/away": 307, "/key": 403, "/huge": 200, "/quota": 402}[r.URL.Path])
				if r.URL.Path == "/huge" {
					_, _ = io.WriteString(w, strings.Repeat(" ", maxAnswer+1))
				}
				_, _ = fmt.Fprintf(w, "your key key-1 is %v", r.Header)
			})
			client, err := model.NewHTTPClient(model.TransportOptions{})
			if err != nil {
				t.Fatal(err)
			}
			e, err := NewEngine(provider, server+path, "", func(string) string { return " key-1\n" })
			if err != nil || e.Key != "key-1" {
				t.Fatal(e, err)
			}
			_, err = NewSearches("s", []Engine{e}, client).Search(t.Context(), "x", 3)
			if err == nil || strings.Contains(err.Error(), "key-1") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s%s: %v; want %q", provider, path, err, want)
			}
		}
	}
}

func TestSearchFailures(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{200, "<html>", "format=json"},
		{200, "", "format=json"},
		{403, "", "settings.yml"},
		{429, "", "wait"},
		{500, "", "500"},
		{302, "", "302"},
	} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		if _, err := searches(t, "searxng", server).Search(t.Context(), "x", 5); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d %q: %v", c.status, c.body, err)
		}
	}
	if _, err := searches(t, "searxng", "http://127.0.0.1:1").Search(t.Context(), "secret words", 5); err == nil || strings.Contains(err.Error(), "secret words") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestSearchLimit(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"results": []}`) })
	s := searches(t, "searxng", server)
	for i := range maxSearches {
		if _, err := s.Search(t.Context(), "x", 5); err != nil {
			t.Fatalf("search %d: %v", i, err)
		}
	}
	if _, err := s.Search(t.Context(), "x", 5); err == nil || !strings.Contains(err.Error(), "25 searches") {
		t.Errorf("one more: %v", err)
	}
}

func TestNewEngine(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct{ provider, url, want string }{
		{"bing", "", "brave, exa, searxng, tavily"},
		{"searxng", "", "needs the url"},
		{"searxng", "search.example", "needs the url"},
		{"searxng", "file:///x", "needs the url"},
		{"brave", "", "BRAVE_API_KEY"},
	} {
		if _, err := NewEngine(c.provider, c.url, "", none); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.provider, c.url, err)
		}
	}
	// A session stays with its engine; several sessions use them all.
	engines := []Engine{{Provider: "a"}, {Provider: "b"}, {Provider: "c"}}
	used := map[string]bool{}
	for i := range 50 {
		id := fmt.Sprint("sess_", i)
		one := NewSearches(id, engines, nil).engine.Provider
		used[one] = true
		if NewSearches(id, engines, nil).engine.Provider != one {
			t.Errorf("%s changes its engine", id)
		}
	}
	if len(used) != 3 {
		t.Errorf("only %v are used", used)
	}
}
