package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/web"
)

// lazyWeb is a way to the web that is made when it is first gone: until then a
// session reads no file for it.
type lazyWeb func() (*web.Client, error)

func (l lazyWeb) Fetch(ctx context.Context, r tools.WebRequest) (tools.WebPage, error) {
	c, err := l()
	if err != nil {
		return tools.WebPage{}, err
	}
	return c.Fetch(ctx, r)
}

// newWeb is the session's way to the web, as its configuration says.
func (s *Session) newWeb() tools.Web {
	return lazyWeb(sync.OnceValues(func() (*web.Client, error) {
		o := s.cfg().Transport()
		proxy, err := o.ProxyFunc()
		if err != nil {
			return nil, err
		}
		secure, err := o.TLS()
		if err != nil {
			return nil, err
		}
		return web.New(web.Options{Private: s.cfg().Web.Private, Timeout: s.cfg().Web.Timeout, Permit: s.permitRedirect, Proxy: proxy, TLS: secure}), nil
	}))
}

// permitRedirect decides on a redirect as on a new call, but nobody is asked in
// the middle of one: what would be asked about ends it.
func (s *Session) permitRedirect(first, next *kinds.URL) error {
	p := s.policy()
	switch v := s.narrow(p, kinds.Facts{Tool: "web_fetch", URL: next, ReadOnly: true}, p.Redirect(first, next)); v.Action {
	case permission.Allow:
		return nil
	case permission.Deny:
		return &deniedError{v.Reason}
	}
	return web.ErrAsks
}

// newSearch is the session's search engine: always the same of those that are
// configured. It is nil where none is.
func (s *Session) newSearch() tools.Searcher {
	var engines []web.Engine
	for _, c := range s.cfg().Web.Search {
		e, err := web.NewEngine(c.Provider, c.URL, c.APIKeyEnv, s.sessions.getenv)
		if err != nil {
			s.notices = append(s.notices, fmt.Sprintf("Configuration: web.search: %v; it is left out.", err))
			continue
		}
		engines = append(engines, e)
	}
	if len(engines) == 0 {
		return nil
	}
	client, err := s.sessions.httpClient(s.cfg())
	if err != nil {
		s.notices = append(s.notices, fmt.Sprintf("Configuration: %v; there is no search of the web.", err))
		return nil
	}
	return web.NewSearches(s.id, engines, client)
}
