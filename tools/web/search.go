package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// Engine is one search engine of the user's configuration.
type Engine struct {
	Provider string // one of Providers
	URL      string // of the server; empty: the provider's own
	Key      string // where it needs one
	KeyEnv   string // the variable that the key comes from, for messages
}

// Limits of searches.
const (
	maxSearches   = 25 // a session
	searchTimeout = 15 * time.Second
	maxAnswer     = 2 << 20 // bytes
)

// NewEngine checks what the user configured. The key is looked up at once.
func NewEngine(name, server, keyEnv string, getenv func(string) string) (Engine, error) {
	p, ok := providers()[name]
	if !ok {
		known := slices.Sorted(func(yield func(string) bool) {
			for n := range providers() {
				if !yield(n) {
					return
				}
			}
		})
		return Engine{}, fmt.Errorf("there is no search provider %q; there are %s", name, strings.Join(known, ", "))
	}
	e := Engine{Provider: name, URL: cmp.Or(server, p.url), KeyEnv: cmp.Or(keyEnv, p.keyEnv)}
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Engine{}, fmt.Errorf("the search provider %s needs the url of its server, such as https://search.example", name)
	}
	if e.KeyEnv != "" {
		if e.Key = strings.TrimSpace(getenv(e.KeyEnv)); e.Key == "" {
			return Engine{}, fmt.Errorf("the search provider %s needs a key in the variable %s", name, e.KeyEnv)
		}
	}
	return e, nil
}

// Searches asks one engine for a session, a limited number of times. It
// implements tools.Searcher and is safe for concurrent use.
type Searches struct {
	engine Engine
	client *http.Client

	mu   sync.Mutex
	made int
}

// NewSearches picks one of the engines, the same for the same session.
func NewSearches(session string, engines []Engine, client *http.Client) *Searches {
	h := fnv.New32a()
	_, _ = io.WriteString(h, session)
	return &Searches{engine: engines[h.Sum32()%uint32(len(engines))], client: client}
}

// Search implements tools.Searcher. Its errors are for the model.
func (s *Searches) Search(ctx context.Context, query string, most int) ([]tools.SearchResult, error) {
	if !s.take() {
		return nil, fmt.Errorf("this session has made its %d searches; go on with what they found, or fetch pages that you know", maxSearches)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, searchTimeout, errTimeout)
	defer cancel()
	results, err := s.ask(ctx, query, most)
	if err != nil {
		if errors.Is(context.Cause(ctx), errTimeout) {
			return nil, fmt.Errorf("%s did not answer within %v; try again, or go on without", s.engine.Provider, searchTimeout)
		}
		return nil, fmt.Errorf("asking %s: %w", s.engine.Provider, err)
	}
	return clean(results, most), nil
}

func (s *Searches) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == maxSearches {
		return false
	}
	s.made++
	return true
}

func (s *Searches) ask(ctx context.Context, query string, most int) ([]tools.SearchResult, error) {
	p := providers()[s.engine.Provider]
	req, err := p.ask(s.engine, query, most)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req.WithContext(ctx))
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the query, which may be long
		}
		return nil, plain(err)
	}
	defer resp.Body.Close()
	status := strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode))) // not the server's words
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("it refused the request (%s); the user must check %s", status, s.engine.setting())
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return nil, fmt.Errorf("it answered %s: too many searches for now; wait before the next one", status)
	default:
		return nil, fmt.Errorf("it answered %s; try again later, or go on without", status)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("its answer is longer than %d MiB", maxAnswer>>20)
	}
	return p.read(answer)
}

// setting says what of the configuration decides whether the engine answers.
func (e Engine) setting() string {
	if e.KeyEnv != "" {
		return "the key in " + e.KeyEnv
	}
	return "that the server allows format=json (search.formats in its settings.yml)"
}

// clean makes results one line each, without marks and without what is no
// address of the web.
func clean(results []tools.SearchResult, most int) []tools.SearchResult {
	kept := make([]tools.SearchResult, 0, most)
	for _, r := range results {
		if len(kept) == most {
			break
		}
		if _, err := kinds.ParseURL(r.URL); err != nil || len(r.URL) > maxLink {
			continue // what web_fetch would refuse
		}
		title, _ := strip(r.Title)
		snippet, _ := strip(r.Snippet)
		kept = append(kept, tools.SearchResult{Title: oneLine(title), URL: r.URL, Snippet: oneLine(snippet)})
	}
	return kept
}
