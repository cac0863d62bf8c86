package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/acp-agent/acp-agent/tools"
)

// provider is how one kind of search engine is asked. More of them are more
// rows of the table: ask makes the request, with the key where the engine wants
// it, and read takes the answer apart, of which nothing is to be trusted.
type provider struct {
	url    string // its own server; empty: the user names one
	keyEnv string // where the key is looked for by default; empty: it needs none
	ask    func(e Engine, query string, most int) (*http.Request, error)
	read   func(answer []byte) ([]tools.SearchResult, error)
}

func providers() map[string]provider {
	return map[string]provider{
		"searxng": {ask: askSearXNG, read: readSearXNG},
		"brave":   {url: "https://api.search.brave.com/res/v1/web/search", keyEnv: "BRAVE_API_KEY", ask: askBrave, read: readBrave},
		"tavily":  {url: "https://api.tavily.com/search", keyEnv: "TAVILY_API_KEY", ask: askTavily, read: readTavily},
		"exa":     {url: "https://api.exa.ai/search", keyEnv: "EXA_API_KEY", ask: askExa, read: readExa},
	}
}

var errAnswer = errors.New("its answer is no list of results in JSON")

func askSearXNG(e Engine, query string, _ int) (*http.Request, error) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, "/search") {
		u = u.JoinPath("search")
	}
	u.RawQuery = url.Values{"q": {query}, "format": {"json"}}.Encode()
	return http.NewRequest(http.MethodGet, u.String(), nil)
}

func readSearXNG(answer []byte) ([]tools.SearchResult, error) {
	var a struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, errors.New("its answer is no list of results in JSON; the user must check that the server allows format=json (search.formats in its settings.yml)")
	}
	out := make([]tools.SearchResult, 0, len(a.Results))
	for _, r := range a.Results {
		out = append(out, tools.SearchResult{Title: r.Title, URL: r.URL, Snippet: r.Content})
	}
	return out, nil
}

func askBrave(e Engine, query string, most int) (*http.Request, error) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, err
	}
	u.RawQuery = url.Values{"q": {query}, "count": {fmt.Sprint(min(most, 20))}}.Encode()
	req, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err == nil {
		req.Header.Set("X-Subscription-Token", e.Key)
	}
	return req, err
}

func readBrave(answer []byte) ([]tools.SearchResult, error) {
	var a struct {
		Web struct {
			Results []struct{ Title, URL, Description string } `json:"results"`
		} `json:"web"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, errAnswer
	}
	out := make([]tools.SearchResult, 0, len(a.Web.Results))
	for _, r := range a.Web.Results {
		out = append(out, tools.SearchResult{Title: r.Title, URL: r.URL, Snippet: r.Description})
	}
	return out, nil
}

func askTavily(e Engine, query string, most int) (*http.Request, error) {
	req, err := postJSON(e.URL, map[string]any{"query": query, "max_results": most})
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	return req, err
}

func readTavily(answer []byte) ([]tools.SearchResult, error) {
	var a struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, errAnswer
	}
	out := make([]tools.SearchResult, 0, len(a.Results))
	for _, r := range a.Results {
		out = append(out, tools.SearchResult{Title: r.Title, URL: r.URL, Snippet: r.Content})
	}
	return out, nil
}

func askExa(e Engine, query string, most int) (*http.Request, error) {
	req, err := postJSON(e.URL, map[string]any{"query": query, "numResults": most, "contents": map[string]any{"text": map[string]any{"maxCharacters": 300}}})
	if err == nil {
		req.Header.Set("X-Api-Key", e.Key)
	}
	return req, err
}

func readExa(answer []byte) ([]tools.SearchResult, error) {
	var a struct {
		Results []struct{ Title, URL, Text string } `json:"results"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, errAnswer
	}
	out := make([]tools.SearchResult, 0, len(a.Results))
	for _, r := range a.Results {
		out = append(out, tools.SearchResult{Title: r.Title, URL: r.URL, Snippet: r.Text})
	}
	return out, nil
}

func postJSON(to string, body any) (*http.Request, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(data))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}
