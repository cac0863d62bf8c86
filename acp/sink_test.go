package acp

import (
	"context"
	"io"
	"testing"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/session"
)

// BenchmarkUpdate is what an update costs the turn that tells it: encoding and
// the queue. The editor reads at once.
func BenchmarkUpdate(b *testing.B) {
	in, hold := io.Pipe()
	s := &server{}
	s.client.Store(&client{})
	s.conn = jsonrpc.New(in, io.Discard, s.admit, jsonrpc.Options{})
	ran := make(chan error, 1)
	go func() { ran <- s.conn.Run(context.Background()) }() // ends when hold is closed
	k := sink{s, "sess_01a21ffd-7b82-75a6-8f4c-470083c40a0a"}
	chunk := session.Chunk{MessageID: "part_01a21ffd-7b82-75a6-8f4c-470083c40a0b", Content: session.Text("some words ")}
	b.ReportAllocs()
	for b.Loop() {
		if err := k.Update(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	_ = hold.Close()
	if err := <-ran; err != nil {
		b.Fatal(err)
	}
}
