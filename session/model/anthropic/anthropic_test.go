package anthropic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/acp-agent/acp-agent/session/model"
)

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		events string
		parts  string
		usage  model.Usage
	}{
		"text.sse": {
			"text Hello; text , wörld", "text Hello, wörld\n",
			model.Usage{Input: 60, Output: 15, CacheRead: 30, CacheWrite: 20},
		},
		"thinking.sse": {
			"thought Let me ; thought look.; text I read ; text it.; calling toolu_1 read; calling toolu_1_2 list",
			"thought Let me look.\nthought \ntext I read it.\ncall toolu_1 read {\"path\": \"a.txt\"}\ncall toolu_1_2 list {}\n",
			model.Usage{Input: 12, Output: 40, Thought: 9},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := hear(t, t.Context(), serve(t, name), ask("x"))
			if h.err != nil {
				t.Fatal(h.err)
			}
			if got := strings.Join(h.events, "; "); got != tt.events {
				t.Errorf("events\n got %q\nwant %q", got, tt.events)
			}
			if got := parts(h.done.Message); got != tt.parts {
				t.Errorf("message\n got %q\nwant %q", got, tt.parts)
			}
			if h.done.Stop != model.StopEnd || h.done.Usage != tt.usage {
				t.Errorf("got %v, %+v; want %+v", h.done.Stop, h.done.Usage, tt.usage)
			}
		})
	}
}

func TestStops(t *testing.T) {
	whole := string(fixture(t, "text.sse"))
	tests := map[string]model.Stop{
		"end_turn": model.StopEnd, "tool_use": model.StopEnd, "stop_sequence": model.StopEnd, "pause_turn": model.StopEnd, "new_one": model.StopEnd,
		"max_tokens": model.StopLength, "model_context_window_exceeded": model.StopLength, "refusal": model.StopFilter,
	}
	for reason, want := range tests {
		body := strings.Replace(whole, "end_turn", reason, 1)
		h := hear(t, t.Context(), inMemoryClient("text/event-stream", func() io.Reader { return strings.NewReader(body) }), ask("x"))
		if h.err != nil || h.done.Stop != want {
			t.Errorf("%s: got %+v, %v; want %v", reason, h.done, h.err, want)
		}
	}
	body := strings.Replace(whole, `"end_turn"`, "null", 1)
	h := hear(t, t.Context(), inMemoryClient("text/event-stream", func() io.Reader { return strings.NewReader(body) }), ask("x"))
	if e := h.failure(t); !errors.Is(e, model.ErrCut) {
		t.Errorf("a stop without a reason: got %v, want a cut", e)
	}
}

func TestFailures(t *testing.T) {
	tests := map[string]struct {
		want  string
		retry bool
	}{
		"error.sse":       {"Overloaded", true},
		"error-final.sse": {"messages: bad", false},
		"error.json":      {"Internal server error", true},
		"whole.json":      {"base URL", false},
		"portal.html":     {"Sign in to continue", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := hear(t, t.Context(), serve(t, name), ask("x")).failure(t)
			if e.Retry != tt.retry || !strings.Contains(e.Message, tt.want) || e.Provider != "anthropic" || e.Model != "m" {
				t.Errorf("got %v, retry %v; want %q, retry %v", e, e.Retry, tt.want, tt.retry)
			}
		})
	}
}

// Only message_stop makes an answer, at whatever byte the stream is cut, and
// however the cut shows.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"text.sse", "thinking.sse"} {
		whole := fixture(t, name)
		for n := range len(whole) {
			for how, end := range map[string]io.Reader{"broken": iotest.ErrReader(io.ErrUnexpectedEOF), "ended": strings.NewReader("")} {
				h := hear(t, t.Context(), inMemoryClient("text/event-stream", func() io.Reader {
					return io.MultiReader(bytes.NewReader(whole[:n]), end)
				}), ask("x"))
				if e := h.failure(t); !e.Retry {
					t.Fatalf("%s %s after %d of %d bytes: got %v without a retry", name, how, n, len(whole), e)
				}
			}
		}
	}
}

func TestDroppedConnection(t *testing.T) {
	whole := fixture(t, "thinking.sse")
	for _, n := range []int{0, 100, 900, len(whole) - 3} {
		c := serveFunc(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(whole[:n])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		if e := hear(t, t.Context(), c, ask("x")).failure(t); !e.Retry {
			t.Errorf("dropped after %d bytes: got %v without a retry", n, e)
		}
	}
}

func TestLeavingAndSilence(t *testing.T) {
	gone := make(chan struct{}, 2)
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(fixture(t, "text.sse")[:700])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	})
	for range c.Stream(t.Context(), ask("x")) {
		break
	}
	<-gone
	c.end.Idle = 30 * time.Millisecond
	e := hear(t, t.Context(), c, ask("x")).failure(t)
	<-gone
	if !e.Retry || !strings.Contains(e.Message, "silent for 30ms") {
		t.Errorf("got %v, retry %v", e, e.Retry)
	}
}

func TestCancelling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	if h := hear(t, ctx, c, ask("x")); h.err != context.Canceled {
		t.Errorf("got %v, want the context's error as it is", h.err)
	}
}

func TestCredentials(t *testing.T) {
	tests := map[string]struct {
		opt  Options
		want map[string]string
	}{
		"key":    {Options{APIKey: "k"}, map[string]string{"X-Api-Key": "k", "Authorization": ""}},
		"token":  {Options{AuthToken: "t"}, map[string]string{"X-Api-Key": "", "Authorization": "Bearer t"}},
		"header": {Options{APIKey: "k", Headers: map[string]string{"x-api-key": "other"}}, map[string]string{"X-Api-Key": "other"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.opt.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				for k, v := range tt.want {
					if r.Header.Get(k) != v {
						t.Errorf("%s is %q, want %q", k, r.Header.Get(k), v)
					}
				}
				if r.Header.Get("Anthropic-Version") == "" || r.URL.String() != DefaultBaseURL+"/v1/messages" {
					t.Errorf("got %s with %v", r.URL, r.Header)
				}
				return nil, errors.New("enough")
			})}
			hear(t, t.Context(), New(tt.opt), ask("x")).failure(t)
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestBaseURL(t *testing.T) {
	for _, in := range []string{"http://x.example", "http://x.example/", "http://x.example/v1", "http://x.example/v1/"} {
		if got := New(Options{BaseURL: in}).base; got != "http://x.example/v1" {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

func TestModels(t *testing.T) {
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("X-Api-Key") == "" {
			t.Errorf("got %s", r.URL)
		}
		_, _ = io.WriteString(w, `{"data":[{"type":"model","id":"claude-b"},{"id":"claude-a"}],"has_more":false}`)
	})
	got, err := c.Models(t.Context())
	if err != nil || strings.Join(got, " ") != "claude-b claude-a" {
		t.Errorf("got %v, %v", got, err)
	}
}

// FuzzStream holds the client to its contract for any bytes: no panic, one end.
func FuzzStream(f *testing.F) {
	for _, name := range []string{"text.sse", "thinking.sse", "error.sse", "error.json", "whole.json", "portal.html"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := inMemoryClient("text/event-stream", func() io.Reader { return bytes.NewReader(body) })
		h := hear(t, t.Context(), c, ask("x"))
		if h.done == nil {
			return
		}
		seen := map[string]bool{}
		for _, p := range h.done.Message.Parts {
			if p.Type == model.PartCall && (p.CallID == "" || seen[p.CallID]) {
				t.Fatalf("the id %q is empty or used twice", p.CallID)
			}
			seen[p.CallID] = true
		}
		// Whatever came can be given back.
		req := ask("x")
		req.Messages = append(req.Messages, h.done.Message)
		if _, _, err := c.encode(req, true); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkDeltas(b *testing.B) {
	var body bytes.Buffer
	body.WriteString("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	for range 2000 {
		body.WriteString("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"w12 \"}}\n\n")
	}
	body.WriteString("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	c := inMemoryClient("text/event-stream", func() io.Reader { return bytes.NewReader(body.Bytes()) })
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range c.Stream(b.Context(), ask("x")) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
