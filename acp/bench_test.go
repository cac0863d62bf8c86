package acp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
)

// reader is an editor that only counts: what it costs must not be measured.
type reader struct {
	b     *testing.B
	in    *io.PipeWriter
	lines *bufio.Scanner
	end   func()
	ids   int
}

func (p *place) serveReader(b *testing.B) *reader {
	b.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	served := make(chan struct{})
	sessions := p.sessions(b)
	go func() { // ends with the connection
		defer close(served)
		if err := acp.Serve(context.Background(), inRead, outWrite, acp.Options{Sessions: sessions}); err != nil {
			b.Errorf("Serve: %v", err)
		}
		_ = outWrite.Close()
	}()
	r := &reader{b: b, in: inWrite, lines: bufio.NewScanner(outRead)}
	r.lines.Buffer(nil, 64<<20)
	r.end = func() {
		_ = inWrite.Close()
		for r.lines.Scan() {
		}
		<-served
	}
	r.call(acp.MethodInitialize, map[string]any{"protocolVersion": 1})
	return r
}

// call sends a request and reads up to its answer; it returns that and the
// number of lines before it.
func (r *reader) call(method string, params any) (answer string, before int) {
	r.b.Helper()
	r.ids++
	head := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,`, r.ids)
	if _, err := r.in.Write([]byte(string(head) + `"method":"` + method + `","params":` + mustJSON(r.b, params) + "}\n")); err != nil {
		r.b.Fatal(err)
	}
	for r.lines.Scan() {
		if bytes.HasPrefix(r.lines.Bytes(), head) {
			if bytes.Contains(r.lines.Bytes(), []byte(`"error":`)) {
				r.b.Fatalf("%s: %s", method, r.lines.Bytes())
			}
			return r.lines.Text(), before
		}
		before++
	}
	r.b.Fatalf("%s was not answered: %v", method, r.lines.Err())
	return "", 0
}

func (r *reader) newSession(dir string) string {
	r.b.Helper()
	answer, _ := r.call(acp.MethodSessionNew, map[string]any{"cwd": dir, "mcpServers": []any{}})
	_, id, _ := strings.Cut(answer, `"sessionId":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// script sets what the model says next.
func (m *mockModel) script(replies ...[]mockPart) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies = replies
}

// BenchmarkDeltas is a whole turn in which the model sends 2,000 pieces of text,
// from the prompt to its answer: HTTP, decoding, the store and the wire. The
// scripted model's own work is in it.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 2000
	m := startMockModel(b)
	p := newPlace(b)
	p.useModel(m)
	r := p.serveReader(b)
	text := "some words "
	for b.Loop() {
		b.StopTimer()
		session := r.newSession(p.Dir)
		m.script([]mockPart{{Text: &text, Repeat: deltas}})
		b.StartTimer()
		if _, n := r.call(acp.MethodSessionPrompt, prompt(session, "go")); n < deltas {
			b.Fatalf("%d updates came, of %d", n, deltas)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*deltas), "µs/delta")
	r.end()
}

// BenchmarkToolCalls is a turn of 50 calls, one after the other: each is a
// request to the model, a file that is read, four updates and three records.
func BenchmarkToolCalls(b *testing.B) {
	const calls = 50
	m := startMockModel(b)
	p := newPlace(b)
	p.useModel(m)
	p.write(b, p.Dir+"/a.txt", strings.Repeat("a line of text\n", 50))
	r := p.serveReader(b)
	done := "Done."
	replies := make([][]mockPart, calls+1)
	for i := range calls {
		replies[i] = []mockPart{{Tool: "read", Args: []byte(`{"path":"a.txt"}`)}}
	}
	replies[calls] = []mockPart{{Text: &done}}
	for b.Loop() {
		b.StopTimer()
		session := r.newSession(p.Dir)
		m.script(replies...)
		b.StartTimer()
		r.call(acp.MethodSessionPrompt, prompt(session, "go"))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*calls), "µs/call")
	r.end()
}

// BenchmarkLoad is a session of 1,000 parts that a new process loads, from the
// request to the answer behind the replay.
func BenchmarkLoad(b *testing.B) {
	const replies, calls = 100, 9 // and a text each
	m := startMockModel(b)
	p := newPlace(b)
	p.useModel(m)
	p.write(b, p.Dir+"/a.txt", strings.Repeat("a line of text\n", 50))
	r := p.serveReader(b)
	session := r.newSession(p.Dir)
	word := "I read on."
	var script [][]mockPart
	for range replies {
		parts := []mockPart{{Text: &word}}
		for range calls {
			parts = append(parts, mockPart{Tool: "read", Args: []byte(`{"path":"a.txt"}`)})
		}
		script = append(script, parts)
	}
	m.script(append(script, []mockPart{{Text: &word}})...)
	r.call(acp.MethodSessionPrompt, prompt(session, "go"))
	r.end()
	for b.Loop() {
		b.StopTimer()
		r := p.serveReader(b)
		b.StartTimer()
		_, n := r.call(acp.MethodSessionLoad, map[string]any{"sessionId": session, "cwd": p.Dir, "mcpServers": []any{}})
		b.StopTimer()
		if n < replies*(calls+1) {
			b.Fatalf("%d updates came, of %d", n, replies*(calls+1))
		}
		r.end()
		b.StartTimer()
	}
}
