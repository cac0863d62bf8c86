package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/acp-agent/acp-agent/session/model"
)

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		events string
		parts  string
		stop   model.Stop
		usage  model.Usage
	}{
		"text.sse": {
			"text Hello; text , \"wörld\"\n", "text Hello, \"wörld\"\n", model.StopEnd,
			model.Usage{Input: 100, Output: 20, CacheRead: 60, Thought: 5},
		},
		"calls.sse": {
			"calling call_a read; calling call_b glob",
			"call call_a read {\"path\":\"a.txt\"}\ncall call_b glob {\"pattern\":\"*\"}\n", model.StopEnd,
			model.Usage{Input: 7, Output: 3},
		},
		"calls-odd.sse": {
			"calling call_2 read; calling call_3 read; calling late glob; calling same one; calling same_2 two; calling call_4 three; calling call_5 three; calling other four",
			"call call_2 read {\"path\":\"a.txt\"}\ncall call_3 read {\"path\":\"b.txt\"}\ncall late glob {}\ncall same one {}\n" +
				"call same_2 two {}\ncall call_4 three {}\ncall call_5 three {}\ncall other four {}\n", model.StopEnd, model.Usage{},
		},
		"reasoning.sse": {
			"thought Let me ; thought think.; text 42", "thought Let me think.\ntext 42\n", model.StopEnd,
			model.Usage{Input: 9, Output: 8, CacheRead: 4},
		},
		"reasoning-short.sse": {"thought Hm.; text 42", "thought Hm.\ntext 42\n", model.StopLength, model.Usage{}},
		"filter.sse":          {"text no", "text no\n", model.StopFilter, model.Usage{}},
		"refusal.sse":         {"text I cannot", "text I cannot\n", model.StopFilter, model.Usage{}},
		"legacy.sse":          {"calling call_2 read", "call call_2 read {}\n", model.StopEnd, model.Usage{}},
		"oddities.sse":        {"text ab; text c", "text abc\n", model.StopEnd, model.Usage{Input: 3, Output: 2}},
		"no-done.sse":         {"text whole", "text whole\n", model.StopEnd, model.Usage{}},
		"whole.json": {
			"thought hm; text hi; calling call_1 read; calling call_2 read",
			"thought hm\ntext hi\ncall call_1 read {\"path\":\"a\"}\ncall call_2 read {\"path\":\"b\"}\n", model.StopEnd,
			model.Usage{Input: 5, Output: 6},
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
			if h.done.Stop != tt.stop || h.done.Usage != tt.usage || h.done.Message.Role != model.RoleAssistant {
				t.Errorf("got %v, %+v; want %v, %+v", h.done.Stop, h.done.Usage, tt.stop, tt.usage)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	tests := map[string]struct {
		want  string
		retry bool
	}{
		"error.sse":       {"overloaded", true},
		"error-final.sse": {"the image is broken", false},
		"no-finish.sse":   {"cut", true},
		"junk.sse":        {"junk", true},
		"error.json":      {"model is loading", true},
		"portal.html":     {"Sign in to continue", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := hear(t, t.Context(), serve(t, name), ask("x")).failure(t)
			if e.Retry != tt.retry || !strings.Contains(e.Message, tt.want) || e.Provider != "prov" || e.Model != "m" {
				t.Errorf("got %v, retry %v; want %q, retry %v", e, e.Retry, tt.want, tt.retry)
			}
		})
	}
}

// A page must be told from an answer whatever it calls itself, and so must an
// answer.
func TestMislabelled(t *testing.T) {
	tests := map[string]struct {
		ct, body string
		ok       bool
	}{
		"a page as events":     {"text/event-stream", "<html><title>x</title>", false},
		"events as JSON":       {"application/json", string(fixture(t, "no-done.sse")), true},
		"events as text":       {"text/plain", "\r\n: hello\n" + string(fixture(t, "no-done.sse")), true},
		"events without a tag": {"", "\xef\xbb\xbf" + string(fixture(t, "no-done.sse")), true},
		"JSON as events":       {"text/event-stream", string(fixture(t, "whole.json")), true},
		"words":                {"text/plain", "error: no such route", false},
		"nothing":              {"text/event-stream", "", false},
		"blanks":               {"text/event-stream", strings.Repeat(" ", 100), false},
		"JSON of another kind": {"application/json", `{"status":"ok"}`, false},
		"half a JSON":          {"application/json", `{"choices":[`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := hear(t, t.Context(), inMemoryClient(tt.ct, func() io.Reader { return strings.NewReader(tt.body) }), ask("x"))
			if (h.err == nil) != tt.ok {
				t.Errorf("got %v, %+v; want an answer: %v", h.err, h.done, tt.ok)
			}
		})
	}
}

// A stream cut at any byte is never an answer, however the cut shows.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"text.sse", "calls.sse", "reasoning.sse", "whole.json"} {
		whole := fixture(t, name)
		complete := bytes.Index(whole, []byte(`data: [DONE]`)) + len("data: [DONE]\n\n")
		finish := bytes.Index(whole, []byte(`"finish_reason":"`))
		if strings.HasSuffix(name, ".json") {
			complete, finish = len(whole), len(bytes.TrimSpace(whole))
		} else {
			finish += bytes.Index(whole[finish:], []byte("\n\n")) + 2
		}
		for n := range len(whole) {
			broken := hear(t, t.Context(), inMemoryClient(contentType(name), func() io.Reader {
				return io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(io.ErrUnexpectedEOF))
			}), ask("x"))
			if n < complete {
				if e := broken.failure(t); !e.Retry {
					t.Fatalf("%s broken off after %d bytes: got %v without a retry", name, n, e)
				}
			}
			// An end that looks orderly, as a proxy makes it: nothing but a
			// finish_reason that came whole makes it an answer.
			ended := hear(t, t.Context(), inMemoryClient(contentType(name), func() io.Reader { return bytes.NewReader(whole[:n]) }), ask("x"))
			if got, want := ended.done != nil, n >= finish; got != want {
				t.Fatalf("%s ended after %d bytes: got an answer %v, want %v (%v)", name, n, got, want, ended.err)
			}
		}
	}
}

// The same over a socket, for the ways in which connections end.
func TestDroppedConnection(t *testing.T) {
	whole := fixture(t, "text.sse")
	for _, n := range []int{0, 1, 200, 700, len(whole) - len("data: [DONE]\n\n"), len(whole) - 3} {
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

func TestErrorStatus(t *testing.T) {
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer test-key-0123456789" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %s with %v", r.URL, r.Header)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down"}}`)
	})
	e := hear(t, t.Context(), c, ask("x")).failure(t)
	if !e.Retry || e.RetryAfter != 7*time.Second || e.Status != 429 || !strings.Contains(e.Error(), "slow down") {
		t.Errorf("got %+v", e)
	}
}

func TestKeyHint(t *testing.T) {
	c := serveFunc(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
	if e := hear(t, t.Context(), c, ask("x")).failure(t); !strings.Contains(e.Message, "set PROV_KEY") || !strings.Contains(e.Message, "login prov") {
		t.Errorf("got %v", e)
	}
	byTable := New(Options{BaseURL: "http://x.invalid"})
	if byTable.end.KeyEnv != "OPENAI_API_KEY" {
		t.Errorf("got the variable %q", byTable.end.KeyEnv)
	}
}

// Leaving the loop closes the connection: the model stops, and so does the bill.
func TestLeaving(t *testing.T) {
	gone := make(chan struct{})
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	for range c.Stream(t.Context(), ask("x")) {
		break
	}
	<-gone
}

func TestCancelling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan struct{})
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	var last error
	for _, err := range c.Stream(ctx, ask("x")) {
		last = err
		cancel()
	}
	<-gone
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v, want the context's error", last)
	}
}

// silent is a body that sends something and then nothing until its request ends.
type silent struct {
	first string
	every time.Duration // between two signs of life; 0: none
}

func (s silent) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.first == "" {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	r, w := io.Pipe()
	context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
	go func() { // ends with the pipe, which ends with the request
		_, err := io.WriteString(w, s.first)
		for err == nil && s.every > 0 {
			<-time.After(s.every)
			_, err = io.WriteString(w, ": still here\n\n")
		}
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, Request: req}, nil
}

func TestSilence(t *testing.T) {
	const delta = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	for name, s := range map[string]silent{"before headers": {}, "in the middle": {first: delta}, "before an event": {first: "\n"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{BaseURL: "http://m.invalid", HTTP: &http.Client{Transport: s}})
				begin := time.Now()
				e := hear(t, t.Context(), c, ask("x")).failure(t)
				if took := time.Since(begin); took != model.DefaultIdle || !e.Retry || !strings.Contains(e.Message, "silent") {
					t.Errorf("after %v: %v, retry %v; want silence found after %v", took, e, e.Retry, model.DefaultIdle)
				}
			})
		})
	}
}

// Signs of life count, and a reader that takes its time is not the server's
// silence.
func TestNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c := New(Options{BaseURL: "http://m.invalid", HTTP: &http.Client{Transport: silent{
			first: "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", every: model.DefaultIdle - time.Second,
		}}})
		var last error
		for _, err := range c.Stream(ctx, ask("x")) {
			last = err
			<-time.After(2 * model.DefaultIdle)
		}
		if !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the hour", last)
		}
	})
}

func TestModels(t *testing.T) {
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" {
			t.Errorf("got %s %s", r.Method, r.URL)
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"b"},{"id":""}]}`)
	})
	got, err := c.Models(t.Context())
	if err != nil || strings.Join(got, " ") != "b a" {
		t.Errorf("got %v, %v", got, err)
	}
}

// The connection of a complete answer serves the next request.
func TestConnectionIsKept(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]bool{}
	body := fixture(t, "text.sse")
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		conns[r.RemoteAddr] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	})
	for range 5 {
		if h := hear(t, t.Context(), c, ask("x")); h.err != nil {
			t.Fatal(h.err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(conns) != 1 {
		t.Errorf("five requests took %d connections", len(conns))
	}
}

func TestHeaders(t *testing.T) {
	var got http.Header
	c := New(Options{BaseURL: "http://m.invalid", Headers: map[string]string{"authorization": "Basic abc", "X-Title": "t"}, APIKey: "k", HTTP: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.Header
			return nil, errors.New("enough")
		}),
	}})
	hear(t, t.Context(), c, ask("x")).failure(t)
	if got.Get("Authorization") != "Basic abc" || got.Get("X-Title") != "t" || got.Get("User-Agent") != "acp-agent" {
		t.Errorf("got %v", got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// mayFinish matches what an answer needs to be complete: a finish_reason, or in
// a whole answer the message. A field's name is decoded in any case, and with
// escapes.
var mayFinish = regexp.MustCompile(`(?i)finish_reason|message|\\`)

// FuzzStream holds the client to its contract for any bytes: no panic, one end.
func FuzzStream(f *testing.F) {
	for _, name := range []string{"text.sse", "calls.sse", "calls-odd.sse", "reasoning.sse", "error.sse", "oddities.sse", "legacy.sse", "whole.json", "portal.html"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h := hear(t, t.Context(), inMemoryClient("text/event-stream", func() io.Reader { return bytes.NewReader(body) }), ask("x"))
		if h.done == nil {
			return
		}
		if !mayFinish.Match(body) {
			t.Fatalf("an answer without a finish_reason: %+v", h.done)
		}
		seen := map[string]bool{}
		for _, p := range h.done.Message.Parts {
			if p.Type == model.PartCall && (p.CallID == "" || seen[p.CallID]) {
				t.Fatalf("the id %q is empty or used twice", p.CallID)
			}
			seen[p.CallID] = true
		}
		if _, err := json.Marshal(h.done.Message); err != nil {
			t.Fatal(err)
		}
	})
}

// manyDeltas is a stream of n deltas, as fast as the reader takes them.
func manyDeltas(n int) []byte {
	var b bytes.Buffer
	for range n {
		b.WriteString(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{"index":0,"delta":{"content":"w12 "},"finish_reason":null}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

func BenchmarkDeltas(b *testing.B) {
	body := manyDeltas(2000)
	c := inMemoryClient("text/event-stream", func() io.Reader { return bytes.NewReader(body) })
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range c.Stream(b.Context(), ask("x")) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 2001 {
			b.Fatalf("%d events", n)
		}
	}
}

func BenchmarkDeltasLoopback(b *testing.B) {
	body := manyDeltas(2000)
	c := serveFunc(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	})
	for b.Loop() {
		for _, err := range c.Stream(b.Context(), ask("x")) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
