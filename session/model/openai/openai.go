// Package openai speaks the Chat Completions API, which OpenAI began and most
// servers of models speak: OpenRouter, vLLM, llama.cpp, LM Studio, Ollama,
// Groq, DeepSeek and others. It is the type openai-compatible of the
// configuration.
//
// It leaves out the Responses API, retries, and what is done with a call.
package openai

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/session/model"
)

// Options are those of one provider. Only BaseURL is needed.
type Options struct {
	Provider    string            // as in provider/model; empty: openai-compatible
	BaseURL     string            // up to and without /chat/completions
	APIKey      string            // empty: none is sent
	KeyEnv      string            // the variable of the key, named in errors; empty: the one in the table
	Headers     map[string]string // sent with each request, over our own
	HTTP        *http.Client      // nil: one of model.NewHTTPClient
	IdleTimeout time.Duration     // 0: model.DefaultIdle
	Images      bool              // whether the model takes images; else it is told of them
	Audio       bool              // the same for audio (WAV, MP3)
}

// Client is a provider that speaks Chat Completions. It is safe for concurrent
// use.
type Client struct {
	end    model.Endpoint
	base   string
	images bool
	audio  bool
	openAI bool // OpenAI itself, which has fields that others refuse
}

var _ model.Model = (*Client)(nil)

// New makes a client. It touches no network.
func New(o Options) *Client {
	if o.Provider == "" {
		o.Provider = "openai-compatible"
	}
	if o.KeyEnv == "" {
		if p, ok := model.FindProvider(o.Provider); ok && len(p.KeyEnv) > 0 {
			o.KeyEnv = p.KeyEnv[0]
		}
	}
	if o.HTTP == nil {
		o.HTTP, _ = model.NewHTTPClient(model.TransportOptions{}) // no error without options
	}
	own := map[string]string{}
	if o.APIKey != "" {
		own["Authorization"] = "Bearer " + o.APIKey
	}
	base := strings.TrimRight(o.BaseURL, "/")
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Hostname()
	}
	return &Client{
		end: model.Endpoint{
			Provider: o.Provider, BaseURL: base, KeyEnv: o.KeyEnv, HTTP: o.HTTP,
			Header: model.NewHeader(own, maps.Clone(o.Headers)), Idle: o.IdleTimeout,
		},
		base: base, images: o.Images, audio: o.Audio, openAI: host == "api.openai.com",
	}
}

// Stream implements model.Model.
func (c *Client) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return model.Events(func(emit func(model.Event) error) (model.Done, error) {
		body, err := c.encode(req)
		if err != nil {
			return model.Done{}, err
		}
		a, err := c.end.PostJSON(ctx, req.Model, c.base+"/chat/completions", body)
		if err != nil {
			return model.Done{}, err
		}
		defer a.Close()
		r := &reply{client: c, model: req.Model, emit: emit, ids: model.UsedCallIDs(req.Messages)}
		return r.read(ctx, a)
	})
}

// Models asks the server for the ids of its models, in the server's order.
// Errors are those of model.Endpoint.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := c.end.GetJSON(ctx, c.base+"/models", &list); err != nil {
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

// mark is what a thought keeps of where it came from, in Part.Provider: some
// servers want reasoning back while the turn that it belongs to goes on.
type mark struct {
	API   string `json:"api"`
	From  string `json:"from"`  // provider/model
	Field string `json:"field"` // the field it came in
}

func (c *Client) mark(modelID, field string) json.RawMessage {
	raw, err := json.Marshal(mark{API: string(model.APIChat), From: c.end.Provider + "/" + modelID, Field: field})
	if err != nil {
		return nil // strings only: it does not happen
	}
	return raw
}
