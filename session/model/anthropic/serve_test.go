package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
)

// fixture reads a recorded answer.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func contentType(name string) string {
	return map[string]string{".sse": "text/event-stream; charset=utf-8", ".json": "application/json", ".html": "text/html"}[filepath.Ext(name)]
}

// serve answers each request with a recorded answer over loopback.
func serve(t testing.TB, name string) *Client {
	t.Helper()
	body := fixture(t, name)
	return serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType(name))
		_, _ = w.Write(body)
	})
}

func serveFunc(t testing.TB, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return New(Options{BaseURL: s.URL, APIKey: "test-key-0123456789", Images: true})
}

// inMemory answers with a body without a network.
type inMemory struct {
	ct   string
	body func() io.Reader
}

func (m inMemory) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {m.ct}}, Body: io.NopCloser(m.body()), Request: req}, nil
}

func inMemoryClient(ct string, body func() io.Reader) *Client {
	return New(Options{BaseURL: "http://model.invalid", HTTP: &http.Client{Transport: inMemory{ct, body}}})
}

// heard is a stream as its reader sees it.
type heard struct {
	events []string // without Done
	text   string
	done   *model.Done
	err    error
}

// hear reads a stream to its end and holds it to the contract of model.Model.
func hear(t testing.TB, ctx context.Context, m model.Model, req *model.Request) heard {
	t.Helper()
	var h heard
	for ev, err := range m.Stream(ctx, req) {
		if h.done != nil || h.err != nil {
			t.Fatalf("after the end of the stream came %v, %v", ev, err)
		}
		if err != nil {
			h.err = err
			continue
		}
		switch ev := ev.(type) {
		case model.Text:
			h.text += ev.Text
			h.events = append(h.events, "text "+ev.Text)
		case model.Thought:
			h.events = append(h.events, "thought "+ev.Text)
		case model.Calling:
			h.events = append(h.events, "calling "+ev.ID+" "+ev.Name)
		case model.Done:
			h.done = &ev
		default:
			t.Fatalf("an event %T", ev)
		}
	}
	if h.done == nil && h.err == nil {
		t.Fatal("the stream has neither Done nor an error")
	}
	return h
}

func ask(text string) *model.Request {
	return &model.Request{Model: "m", Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{{Type: model.PartText, Text: text}}}}}
}

// failure is the stream's error as a *model.Error.
func (h heard) failure(t testing.TB) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(h.err, &e) {
		t.Fatalf("got %v and %+v, want a *model.Error", h.err, h.done)
	}
	return e
}

// parts shows a message, a line a part.
func parts(m model.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		fmt.Fprintf(&b, "%s %s\n", p.Type, strings.TrimSpace(p.CallID+" "+p.Name+" "+p.Args+p.Text))
	}
	return b.String()
}
