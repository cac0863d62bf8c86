package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHeaderReader(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // "" is a message that is too long
	}{
		{"plain", "Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\nnull", []string{"{}", "null"}},
		{"other headers, any case, no return", "content-type: x\ncontent-length:2\n\n{}", []string{"{}"}},
		{"junk before and between", "loading…\n\nContent-Length: x\r\n\r\nContent-Length: 2\r\n\r\n{}warning: y\r\n\r\nContent-Length: 2\r\n\r\n[]", []string{"{}", "[]"}},
		{"the last length counts", "Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}", []string{"{}"}},
		{"a negative one does not", "Content-Length: -1\r\n\r\nContent-Length: 2\r\n\r\n{}", []string{"{}"}},
		{"empty", "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", []string{"{}"}},
		{"too long", "Content-Length: 11\r\n\r\n12345678901Content-Length: 2\r\n\r\n{}", []string{"", "{}"}},
		{"cut off", "Content-Length: 5\r\n\r\n{}", nil},
		{"a length that is none", "Content-Length: 99999999999\r\n\r\nContent-Length: 99999999999999999999999\r\n\r\nContent-Length: 2\r\n\r\n{}", []string{"{}"}},
		{"behind a text without a newline", "starting: content-length … Content-Length : 2\r\n\r\n{}", []string{"{}"}},
		{"behind more than the length said", "Content-Length: 2\r\n\r\n{}}}Content-Length: 2\r\n\r\n[]", []string{"{}", "[]"}},
		{"junk between headers", "Content-Length: 2\r\nloading: 50 %\r\n\r\n{}", []string{"{}"}},
		{"not UTF-8", "Content-Length: 3\r\n\r\n\"\xe9\"", []string{"\"\ufffd\""}},
		{"a line of a megabyte", strings.Repeat("x", 1<<20) + "\nContent-Length: 2\r\n\r\n{}", []string{"{}"}},
	} {
		for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
			r := newHeaderReader(in, 10)
			var got []string
			for {
				body, err := r.next()
				if errors.Is(err, errTooLong) {
					got = append(got, "")
					continue
				}
				if err != nil {
					break
				}
				got = append(got, string(body))
			}
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
	}
}

// TestHeadersConn: two connections with headers understand each other: calls,
// notifications of the protocol's own kind, a cancel, with numbers as ids.
func TestHeadersConn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fromA, toB := io.Pipe()
	fromB, toA := io.Pipe()
	progress := make(chan string, 1)
	cancelled := make(chan struct{})
	started := make(chan struct{})
	b := New(fromA, toA, func(_ context.Context, r *Request) (Work, error) {
		switch r.Method {
		case "$/progress":
			progress <- string(r.Params)
			return nil, nil
		case "slow":
			return func(ctx context.Context) (any, error) {
				close(started)
				<-ctx.Done()
				close(cancelled)
				return nil, ctx.Err()
			}, nil
		}
		return func(context.Context) (any, error) { return r.Params, nil }, nil
	}, Options{Framing: Headers})
	var wire bytes.Buffer
	a := New(fromB, io.MultiWriter(&wire, toB), func(context.Context, *Request) (Work, error) { return nil, nil }, Options{Framing: Headers})
	done := make(chan struct{}, 2)
	for _, c := range []*Conn{a, b} {
		go func() { _ = c.Run(ctx); done <- struct{}{} }()
	}
	var got json.RawMessage
	if err := a.Call(ctx, "echo", map[string]string{"x": "é\n"}, &got); err != nil || string(got) != `{"x":"é\n"}` {
		t.Errorf("%s, %v", got, err)
	}
	if err := a.Notify(ctx, "$/progress", map[string]int{"token": 1}); err != nil {
		t.Error(err)
	}
	if p := <-progress; p != `{"token":1}` {
		t.Errorf("progress %s", p)
	}
	one, stop := context.WithCancel(ctx)
	go func() { <-started; stop() }()
	if err := a.Call(one, "slow", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-cancelled
	cancel()
	<-done
	<-done
	for _, want := range []string{"Content-Length: 62\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"é\n"}}`, `"method":"$/cancelRequest","params":{"id":2}`} {
		if !strings.Contains(wire.String(), want) {
			t.Errorf("%q does not stand in %q", want, wire.String())
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("x\n\nContent-Length: 99\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newHeaderReader(bytes.NewReader(data), 1<<10)
		for range len(data) + 1 {
			body, err := r.next()
			switch {
			case err == nil && len(body) > 1<<10:
				t.Fatalf("a message of %d bytes", len(body))
			case err != nil && !errors.Is(err, errTooLong):
				return
			}
		}
		t.Fatal("it does not end")
	})
}
