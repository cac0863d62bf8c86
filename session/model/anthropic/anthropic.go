// Package anthropic speaks the Messages API: streaming, prompt caching and
// thinking.
//
// It leaves out the tools that run on the provider's side, retries, and what
// is done with a call.
package anthropic

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/session/model"
)

// DefaultBaseURL is where the provider itself serves the API.
const DefaultBaseURL = "https://api.anthropic.com"

// apiVersion is the version of the API that this package is written to.
const apiVersion = "2023-06-01"

// Options are those of one provider.
type Options struct {
	Provider    string            // as in provider/model; empty: anthropic
	BaseURL     string            // with or without /v1; empty: DefaultBaseURL
	APIKey      string            // sent as x-api-key
	AuthToken   string            // sent as a bearer token; both may be set
	KeyEnv      string            // the variable of the key, named in errors; empty: the one in the table
	Headers     map[string]string // sent with each request, over our own
	HTTP        *http.Client      // nil: one of model.NewHTTPClient
	IdleTimeout time.Duration     // 0: model.DefaultIdle
	Images      bool              // whether the model takes images; else it is told of them
	MaxOutput   int               // tokens, where a request names none; 0: by the table
}

// Client is a provider that speaks the Messages API. It is safe for concurrent
// use.
type Client struct {
	end       model.Endpoint
	base      string
	images    bool
	maxOutput int
	catalog   *model.Catalog
}

var _ model.Model = (*Client)(nil)

// New makes a client. It touches no network.
func New(o Options) *Client {
	if o.Provider == "" {
		o.Provider = "anthropic"
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	if o.KeyEnv == "" {
		if p, ok := model.FindProvider(o.Provider); ok && len(p.KeyEnv) > 0 {
			o.KeyEnv = p.KeyEnv[0]
		}
	}
	if o.HTTP == nil {
		o.HTTP, _ = model.NewHTTPClient(model.TransportOptions{}) // no error without options
	}
	own := map[string]string{"Anthropic-Version": apiVersion}
	if o.APIKey != "" {
		own["X-Api-Key"] = o.APIKey
	}
	if o.AuthToken != "" {
		own["Authorization"] = "Bearer " + o.AuthToken
	}
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	return &Client{
		end: model.Endpoint{
			Provider: o.Provider, BaseURL: base, KeyEnv: o.KeyEnv, HTTP: o.HTTP,
			Header: model.NewHeader(own, maps.Clone(o.Headers)), Idle: o.IdleTimeout,
		},
		base: base + "/v1", images: o.Images, maxOutput: o.MaxOutput, catalog: model.NewCatalog(nil),
	}
}

// Stream implements model.Model.
func (c *Client) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return model.Events(func(emit func(model.Event) error) (model.Done, error) {
		a, err := c.open(ctx, req)
		if err != nil {
			return model.Done{}, err
		}
		defer a.Close()
		r := &reply{client: c, model: req.Model, emit: emit, ids: model.UsedCallIDs(req.Messages)}
		return r.read(ctx, a)
	})
}

// open sends the request. Thinking given back is bound to the model, the
// account and all that stood before it. Where any of that has changed (older
// messages were summarised, another key is used) it is refused, and the request
// is sent once more without it: the conversation counts for more.
func (c *Client) open(ctx context.Context, req *model.Request) (*model.Answer, error) {
	body, thoughts, err := c.encode(req, true)
	if err != nil {
		return nil, err
	}
	a, err := c.end.PostJSON(ctx, req.Model, c.base+"/messages", body)
	if thoughts == 0 || !refusesThoughts(err) {
		return a, err
	}
	body, _, err = c.encode(req, false)
	if err != nil {
		return nil, err
	}
	return c.end.PostJSON(ctx, req.Model, c.base+"/messages", body)
}

// Models asks the server for the ids of its models, in the server's order.
// Errors are those of model.Endpoint.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := c.end.GetJSON(ctx, c.base+"/models?limit=1000", &list); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		if m.ID != "" && !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
