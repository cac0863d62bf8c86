package model

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const testKey = "sk-very-secret-0123456789"

func endpoint(base string) *Endpoint {
	c, err := NewHTTPClient(TransportOptions{})
	if err != nil {
		panic(err)
	}
	return &Endpoint{Provider: "prov", BaseURL: base, KeyEnv: "PROV_KEY", HTTP: c,
		Header: NewHeader(map[string]string{"Authorization": "Bearer " + testKey}, nil)}
}

// post sends a request and wants an *Error.
func post(t *testing.T, e *Endpoint) *Error {
	t.Helper()
	a, err := e.PostJSON(t.Context(), "mod", e.BaseURL+"/x", []byte(`{}`))
	if err == nil {
		a.Close()
		t.Fatal("got an answer, want an error")
	}
	var me *Error
	if !errors.As(err, &me) {
		t.Fatalf("got %T %v, want *Error", err, err)
	}
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the key is in %q", err)
	}
	return me
}

func TestStatus(t *testing.T) {
	tests := map[string]struct {
		status int
		header map[string]string
		body   string
		want   []string // in the text
		retry  bool
		after  time.Duration
	}{
		"401":                {401, nil, `{"error":{"message":"bad key"}}`, []string{"prov/mod answered 401: bad key", "set PROV_KEY", "`acp-agent login prov`"}, false, 0},
		"403":                {403, nil, `{"error":"no"}`, []string{"no; set PROV_KEY"}, false, 0},
		"404 names model":    {404, nil, `{"message":"gone"}`, []string{"gone", `"mod"`}, false, 0},
		"400":                {400, nil, `{"detail":"nope"}`, []string{"nope"}, false, 0},
		"422 with a list":    {422, nil, `{"detail":[{"msg":"field required"}]}`, []string{"field required"}, false, 0},
		"429 seconds":        {429, map[string]string{"Retry-After": "2"}, `{}`, []string{"429"}, true, 2 * time.Second},
		"429 zero":           {429, map[string]string{"Retry-After": "0"}, `{}`, nil, true, 0},
		"429 milliseconds":   {429, map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, `{}`, nil, true, 1500 * time.Millisecond},
		"429 nonsense":       {429, map[string]string{"Retry-After": "soon"}, `{}`, nil, true, 0},
		"429 huge":           {429, map[string]string{"Retry-After": "1e300"}, `{}`, nil, true, 1 << 62},
		"429 no credit":      {429, nil, `{"error":{"message":"m","code":"insufficient_quota"}}`, []string{"credit"}, false, 0},
		"500":                {500, nil, `{"error":{"message":"quota is gone"}}`, []string{"quota is gone"}, true, 0},
		"500 do not":         {500, map[string]string{"X-Should-Retry": "false"}, `{}`, nil, false, 0},
		"501":                {501, nil, ``, []string{"not implemented"}, false, 0},
		"529":                {529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, []string{"Overloaded"}, true, 0},
		"503 HTML":           {503, nil, `<html><head><title>Bad Gateway</title><body>x`, []string{`the page "Bad Gateway"`}, true, 0},
		"502 text":           {502, nil, "  upstream\n\x1b[31m gone ", []string{"upstream [31m gone"}, true, 0},
		"the key comes back": {401, nil, `{"error":{"message":"no key ` + testKey + ` here"}}`, []string{"no key [redacted] here"}, false, 0},
		"nested":             {400, nil, `{"error":{"error":{"message":"deep"}}}`, []string{"deep"}, false, 0},
		"only a code":        {400, nil, `{"error":{"code":"bad_thing"}}`, []string{"bad_thing"}, false, 0},
		"a list":             {400, nil, `[{"error":{"message":"in a list"}}]`, []string{"in a list"}, false, 0},
		"302 elsewhere":      {302, map[string]string{"Location": "https://login.example/?token=abc"}, ``, []string{"https://login.example/", "set it"}, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range tt.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer s.Close()
			e := post(t, endpoint(s.URL))
			if e.Status != tt.status || e.Retry != tt.retry || e.RetryAfter != tt.after {
				t.Errorf("got status %d, retry %v, after %v; want %d, %v, %v", e.Status, e.Retry, e.RetryAfter, tt.status, tt.retry, tt.after)
			}
			for _, w := range tt.want {
				if !strings.Contains(e.Error(), w) {
					t.Errorf("got %q, want %q in it", e, w)
				}
			}
		})
	}
}

func TestLongMessageIsClipped(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, strings.Repeat("ü", 100_000))
	}))
	defer s.Close()
	if e := post(t, endpoint(s.URL)); len([]rune(e.Message)) > maxMessageRunes+1 {
		t.Errorf("the message has %d runes", len([]rune(e.Message)))
	}
}

func TestContextLength(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
	} {
		e := endpoint("http://x.example")
		got := e.refused("m", &http.Response{StatusCode: 400, Header: http.Header{}}, []byte(body))
		if !errors.Is(got, ErrContextLength) || got.Retry {
			t.Errorf("%s: got %v, retry %v; want ErrContextLength", body, got.Err, got.Retry)
		}
	}
}

func TestRetryAfterDate(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := http.Header{"Retry-After": {now.Add(90 * time.Second).Format(http.TimeFormat)}}
	if got := retryAfter(h, now); got != 90*time.Second {
		t.Errorf("got %v, want 90s", got)
	}
	if got := retryAfter(h, now.Add(time.Hour)); got != 0 {
		t.Errorf("a date gone by: got %v, want 0", got)
	}
}

func TestReported(t *testing.T) {
	tests := map[string]bool{ // body → worth another try
		`{"error":{"message":"Overloaded","type":"overloaded_error"}}`:       true,
		`{"error":{"message":"x","code":429}}`:                               true,
		`{"error":{"message":"x","code":"502"}}`:                             true,
		`{"error":{"message":"Rate limit reached"}}`:                         true,
		`{"error":"Service temporarily unavailable"}`:                        true,
		`{"error":{"message":"invalid","type":"invalid_request_error"}}`:     false,
		`{"error":{"message":"m","code":"insufficient_quota"}}`:              false,
		`{"error":{"message":"prompt is too long, try again","code":"500"}}`: false,
		`{"error":{}}`: false,
	}
	for body, want := range tests {
		got := endpoint("http://x.example").Reported("m", []byte(body))
		if got.Retry != want || got.Message == "" {
			t.Errorf("%s: got retry %v and %q, want retry %v", body, got.Retry, got.Message, want)
		}
	}
}

func TestNothingListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	e := post(t, endpoint("http://"+addr))
	if !e.Retry || !strings.Contains(e.Message, "http://"+addr) {
		t.Errorf("got %v, retry %v; want a retry and the address", e, e.Retry)
	}
}

func TestUntrusted(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = quiet(t)
	s.StartTLS()
	defer s.Close()
	if e := post(t, endpoint(s.URL)); e.Retry || !strings.Contains(e.Message, "caFile") {
		t.Errorf("got %v, retry %v; want caFile named and no retry", e, e.Retry)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if e := post(t, endpoint("https"+strings.TrimPrefix(plain.URL, "http"))); e.Retry {
		t.Errorf("TLS to a server without: got %v with a retry", e)
	}
}

func TestReset(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}))
	defer s.Close()
	if e := post(t, endpoint(s.URL)); !e.Retry {
		t.Errorf("got %v without a retry", e)
	}
}

func TestBadBaseURL(t *testing.T) {
	if e := post(t, endpoint("http://user:"+testKey+"@bad host")); e.Retry || !strings.Contains(e.Message, "base URL") {
		t.Errorf("got %v, retry %v", e, e.Retry)
	}
	if e := post(t, endpoint("")); !strings.Contains(e.Error(), "prov/mod") {
		t.Errorf("got %v", e)
	}
}

func TestSilentBeforeHeaders(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	e := endpoint(s.URL)
	e.Idle = 30 * time.Millisecond
	if got := post(t, e); !got.Retry || !strings.Contains(got.Message, "silent for 30ms") {
		t.Errorf("got %v, retry %v", got, got.Retry)
	}
}

func TestAnswerWithoutEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, zeros{}) // until the client goes
	}))
	defer s.Close()
	e := endpoint(s.URL)
	a, err := e.PostJSON(t.Context(), "m", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	_, err = io.Copy(io.Discard, a)
	var failed *Error
	if !errors.As(e.Broken(t.Context(), "m", err), &failed) || failed.Retry || !strings.Contains(failed.Message, "too large") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	e := endpoint(s.URL)
	if _, err := e.PostJSON(ctx, "m", s.URL, nil); err != context.Canceled {
		t.Errorf("got %v, want the context's error as it is", err)
	}
}

func TestGetJSONOfAPage(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<!doctype html><title>Welcome to Wi-Fi</title>")
	}))
	defer s.Close()
	var v any
	err := endpoint(s.URL).GetJSON(t.Context(), s.URL, &v)
	if err == nil || !strings.Contains(err.Error(), "Welcome to Wi-Fi") || !strings.Contains(err.Error(), "base URL") {
		t.Errorf("got %v", err)
	}
}

func FuzzReport(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":1}}`, `[{"error":"x"}]`, `<title>a</title>`, `{"error":{"error":{"error":{"error":{}}}}}`} {
		f.Add([]byte(s))
	}
	e := endpoint("http://x.example")
	f.Fuzz(func(t *testing.T, body []byte) {
		got := e.refused("m", &http.Response{StatusCode: 418, Header: http.Header{}}, body)
		if got.Retry || got.Message == "" || len([]rune(got.Message)) > maxMessageRunes+40 {
			t.Errorf("got %+v", got)
		}
		_ = e.Reported("m", body)
	})
}

// quiet puts a server's log into the test's.
func quiet(t *testing.T) *log.Logger { return log.New(testLog{t}, "", 0) }

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}
