package jsonrpc

import (
	"context"
	"io"
	"strings"
	"testing"
)

// delta is a typical session update, of about 270 bytes on the wire.
type delta struct {
	SessionID string `json:"sessionId"`
	Update    struct {
		SessionUpdate string `json:"sessionUpdate"`
		MessageID     string `json:"messageId"`
		Content       struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"update"`
}

func newDelta() *delta {
	d := &delta{SessionID: "0191f4c2-6d0e-7b3a-9d43-2f1b8c7a5e60"}
	d.Update.SessionUpdate = "agent_message_chunk"
	d.Update.MessageID = "msg_0191f4c2"
	d.Update.Content.Type = "text"
	d.Update.Content.Text = "for i := range n { if a[i] < b[i] && ok { out <- a[i] } }"
	return d
}

// BenchmarkNotify is the cost of an update to the goroutine that sends it.
func BenchmarkNotify(b *testing.B) {
	in, peer := io.Pipe()
	conn := New(in, io.Discard, echo, Options{})
	ran := make(chan error, 1)
	go func() { ran <- conn.Run(b.Context()) }()
	d := newDelta()
	line, err := new(encoders).get().request(nil, "session/update", d)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if err := conn.Notify(b.Context(), "session/update", d); err != nil {
			b.Fatal(err)
		}
	}
	peer.Close()
	<-ran
}

// BenchmarkReceive is the cost of receiving an update: framing, the library, and
// the handler's call.
func BenchmarkReceive(b *testing.B) {
	line, err := new(encoders).get().request(nil, "session/update", newDelta())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	got := 0
	handler := func(context.Context, *Request) (Work, error) {
		got++
		return nil, nil
	}
	input := strings.NewReader(strings.Repeat(string(line), b.N))
	b.ResetTimer()
	if err := New(input, io.Discard, handler, Options{}).Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	if got != b.N {
		b.Fatalf("%d of %d arrived", got, b.N)
	}
}

// BenchmarkCall is a request to the peer and its answer, over pipes.
func BenchmarkCall(b *testing.B) {
	aR, aW := io.Pipe()
	bR, bW := io.Pipe()
	caller, callee := New(aR, bW, echo, Options{}), New(bR, aW, echo, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 2)
	go func() { ran <- caller.Run(ctx) }()
	go func() { ran <- callee.Run(ctx) }()
	b.ReportAllocs()
	for b.Loop() {
		if err := caller.Call(ctx, "echo", []int{1}, nil); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	<-ran
	<-ran
}
