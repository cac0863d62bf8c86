package acp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// mockPart is a piece of a scripted reply. The words are those of the black-box
// harness, so that a script can move between the two.
type mockPart struct {
	Text      *string           `json:"text"`
	Reasoning string            `json:"reasoning"`
	Repeat    int               `json:"repeat"` // of Text, a delta each
	Tool      string            `json:"tool"`
	Args      json.RawMessage   `json:"args"`
	RawArgs   *string           `json:"raw_args"` // arguments that are no JSON
	HTTP      int               `json:"http"`     // this status instead of a reply
	Headers   map[string]string `json:"headers"`
	Body      json.RawMessage   `json:"body"`
	Hang      bool              `json:"hang"` // nothing more until the agent hangs up
	Gate      string            `json:"gate"` // nothing more until the test opens the gate of this name
	Drop      bool              `json:"drop"` // the connection breaks
	Finish    string            `json:"finish"`
	Usage     json.RawMessage   `json:"usage"`
}

// mockModel is a server that speaks Chat Completions and gives scripted
// replies, each once, in order.
type mockModel struct {
	t      testing.TB
	server *httptest.Server
	pages  map[string]string // what else it serves, below /page/
	models []string          // what it lists; nil: it cannot
	always []mockPart        // given once the script is at its end; nil: that is a failure

	mu       sync.Mutex
	replies  [][]mockPart
	others   map[string][][]mockPart // to conversations that begin with a word of the user's
	requests []string                // the bodies, as they came
	arrived  chan struct{}           // closed and renewed with each
	gates    map[string]chan struct{}
	open     int // requests that have no whole reply yet
	peak     int // the most of them at once
	calls    int
}

func startMockModel(t testing.TB, replies ...[]mockPart) *mockModel {
	m := &mockModel{t: t, replies: replies, pages: map[string]string{}, arrived: make(chan struct{}), gates: map[string]chan struct{}{}}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
	})
	return m
}

// parseReplies reads a script: one reply a line, a reply being a list of parts.
func parseReplies(t testing.TB, script string) [][]mockPart {
	t.Helper()
	var replies [][]mockPart
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var parts []mockPart
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&parts); err != nil {
			t.Fatalf("model: %v, in %s", err, line)
		}
		replies = append(replies, parts)
	}
	return replies
}

// URL is the base URL for a provider.
func (m *mockModel) URL() string { return m.server.URL + "/v1" }

// Requests are the bodies of the requests so far.
func (m *mockModel) Requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.requests...)
}

// wait returns when the n-th request has come.
func (m *mockModel) wait(n int) {
	m.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		m.mu.Lock()
		came, arrived := len(m.requests) >= n, m.arrived
		m.mu.Unlock()
		if came {
			return
		}
		select {
		case <-arrived:
		case <-timer.C:
			m.t.Fatalf("the model was not asked %d times in %v", n, patience)
		}
	}
}

// begin counts a request that begins or, by -1, ends.
func (m *mockModel) begin(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open += n
	m.peak = max(m.peak, m.open)
}

// Peak is how many requests there were at once, at most.
func (m *mockModel) Peak() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peak
}

// gate is that of the name; it is open once it is closed.
func (m *mockModel) gate(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gates[name] == nil {
		m.gates[name] = make(chan struct{})
	}
	return m.gates[name]
}

// Left is how many replies have not been asked for.
func (m *mockModel) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.replies)
}

func (m *mockModel) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" && m.models != nil {
		var list []map[string]string
		for _, id := range m.models {
			list = append(list, map[string]string{"id": id, "object": "model"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
		return
	}
	if page, ok := m.pages[strings.TrimPrefix(r.URL.Path, "/page/")]; ok {
		if to, ok := strings.CutPrefix(page, "-> "); ok {
			w.Header().Set("Location", strings.TrimSpace(to))
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, page)
		return
	}
	if r.URL.Path != "/v1/chat/completions" {
		http.Error(w, `{"error":{"message":"nothing here"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent hung up
	}
	m.begin(1)
	defer m.begin(-1)
	parts := m.next(string(body))
	for _, p := range parts {
		if p.HTTP != 0 {
			p.fail(w)
			return
		}
	}
	m.stream(w, r, parts)
}

// next is the reply to a request.
func (m *mockModel) next(body string) []mockPart {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, body)
	close(m.arrived)
	m.arrived = make(chan struct{})
	for _, fault := range faultsOf(body) {
		m.t.Errorf("model request %d, which a provider would refuse: %s", len(m.requests), fault)
	}
	for word, replies := range m.others {
		if strings.Contains(body, `"role":"user","content":"`+word) && len(replies) > 0 {
			m.others[word] = replies[1:]
			return replies[0]
		}
	}
	if len(m.replies) > 0 {
		parts := m.replies[0]
		m.replies = m.replies[1:]
		return parts
	}
	if m.always == nil {
		m.t.Errorf("model request %d is one more than scripted: %s", len(m.requests), withoutTools(body))
	}
	return m.always
}

// withoutTools is a request short enough for a message of a test.
func withoutTools(body string) string {
	_, messages, _ := strings.Cut(body, `"messages":`)
	return messages
}

// fail answers with an HTTP error.
func (p mockPart) fail(w http.ResponseWriter) {
	for name, value := range p.Headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.HTTP)
	if p.Body == nil {
		p.Body = fmt.Appendf(nil, `{"error":{"message":"scripted %d","type":"scripted"}}`, p.HTTP)
	}
	_, _ = w.Write(p.Body)
}

// stream sends a reply in deltas.
func (m *mockModel) stream(w http.ResponseWriter, r *http.Request, parts []mockPart) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	emit := func(delta any, finish any) {
		choice := map[string]any{"index": 0, "delta": delta, "finish_reason": finish}
		data, _ := json.Marshal(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	finish, usage, index := "stop", json.RawMessage(`{"prompt_tokens":100,"completion_tokens":10}`), 0
	for _, p := range parts {
		if p.Tool != "" && finish == "stop" {
			finish = "tool_calls"
		}
		if p.Finish != "" {
			finish = p.Finish
		}
		if p.Usage != nil {
			usage = p.Usage
		}
	}
	for _, p := range parts {
		switch {
		case p.Hang:
			_ = control.Flush()
			<-r.Context().Done()
			return
		case p.Gate != "":
			_ = control.Flush()
			select {
			case <-m.gate(p.Gate):
			case <-r.Context().Done():
				return
			}
		case p.Drop:
			_ = control.Flush()
			panic(http.ErrAbortHandler)
		case p.Reasoning != "":
			emit(map[string]any{"reasoning_content": p.Reasoning}, nil)
		case p.Text != nil:
			for range max(p.Repeat, 1) {
				emit(map[string]any{"content": *p.Text}, nil)
			}
		case p.Tool != "":
			emit(map[string]any{"tool_calls": []any{m.call(index, p)}}, nil)
			index++
		}
	}
	emit(map[string]any{}, finish)
	fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":%s}\n\ndata: [DONE]\n\n", usage)
}

func (m *mockModel) call(index int, p mockPart) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	args := "{}"
	if p.Args != nil {
		args = string(p.Args)
	}
	if p.RawArgs != nil {
		args = *p.RawArgs
	}
	return map[string]any{"index": index, "id": fmt.Sprintf("call_%d", m.calls), "type": "function",
		"function": map[string]any{"name": p.Tool, "arguments": args}}
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// faultsOf lists what a provider would refuse in a request: names of tools, and
// calls that have not exactly one result each, right behind them.
func faultsOf(body string) (faults []string) {
	var r struct {
		Messages []struct {
			Role      string `json:"role"`
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return []string{err.Error()}
	}
	names := map[string]bool{}
	for _, t := range r.Tools {
		if n := t.Function.Name; !toolName.MatchString(n) || names[n] {
			faults = append(faults, fmt.Sprintf("the tool name %q is wrong or there twice", n))
		}
		names[t.Function.Name] = true
	}
	used, open := map[string]bool{}, map[string]bool{}
	for _, msg := range r.Messages {
		if msg.Role == "tool" {
			if !open[msg.CallID] {
				faults = append(faults, fmt.Sprintf("a result for the call %q, which is not open", msg.CallID))
			}
			delete(open, msg.CallID)
			continue
		}
		for id := range open {
			faults = append(faults, fmt.Sprintf("the call %q has no result beside it", id))
		}
		clear(open)
		for _, c := range msg.ToolCalls {
			if used[c.ID] {
				faults = append(faults, fmt.Sprintf("the call id %q is used twice", c.ID))
			}
			used[c.ID], open[c.ID] = true, true
		}
	}
	for id := range open {
		faults = append(faults, fmt.Sprintf("the call %q has no result", id))
	}
	return faults
}
