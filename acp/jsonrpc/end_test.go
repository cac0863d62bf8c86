package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEOFAnswersWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conn *Conn
		handler := func(context.Context, *Request) (Work, error) {
			return func(ctx context.Context) (any, error) {
				<-ctx.Done()
				time.Sleep(300 * time.Millisecond) // tidying up
				conn.Notify(ctx, "last", nil)
				return "cancelled", nil
			}, nil
		}
		p := loopback(t, t.Context(), handler, Options{})
		conn = p.conn
		p.send(`{"id":1,"method":"prompt"}`)
		p.send(`{"method":"background"}`)
		synctest.Wait()
		start := time.Now()
		if err := p.end(); err != nil || time.Since(start) != 300*time.Millisecond {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
		got := map[string]int{}
		for line := range p.lines {
			got[line]++
		}
		if got[`{"jsonrpc":"2.0","method":"last"}`] != 2 || got[result("1", `"cancelled"`)] != 1 || len(got) != 2 {
			t.Errorf("got %v", got)
		}
		<-conn.Done()
	})
}

func TestEOFDoesNotWaitLongerThanTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &testLog{}
		hang := make(chan struct{})
		p := loopback(t, t.Context(), func(_ context.Context, r *Request) (Work, error) {
			return func(context.Context) (any, error) {
				if r.Method == "hang" {
					<-hang
				}
				return "x", nil
			}, nil
		}, Options{Logger: log.logger()})
		p.send(`{"id":1,"method":"hang"}`)
		p.send(`{"id":2,"method":"quick"}`)
		start := time.Now()
		if err := p.end(); err != nil || time.Since(start) != DefaultGrace {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
		p.expect(result("2", `"x"`))
		close(hang)
		synctest.Wait()
		if line, ok := <-p.lines; ok {
			t.Errorf("written after Run: %s", line)
		}
		if !strings.Contains(log.String(), "works did not end in time") || !strings.Contains(log.String(), "answer not sent") {
			t.Errorf("log:\n%s", log.String())
		}
	})
}

// After its context's end the connection refuses new requests but still gets
// answers, so that works can release what they hold at the peer.
func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var conn *Conn
		var admitted atomic.Int32
		p := loopback(t, ctx, func(context.Context, *Request) (Work, error) {
			admitted.Add(1)
			return func(ctx context.Context) (any, error) {
				<-ctx.Done()
				return "released", conn.Call(context.WithoutCancel(ctx), "release", nil, nil)
			}, nil
		}, Options{})
		conn = p.conn
		p.send(`{"id":1,"method":"prompt"}`)
		synctest.Wait()
		cancel()
		p.expect(`{"jsonrpc":"2.0","id":"call-1","method":"release"}`)
		p.send(`{"id":2,"method":"prompt"}`)
		p.expect(fault("2", CodeCancelled, "the connection is ending"))
		p.send(`{"method":"prompt"}`)
		p.send(`{"id":"call-1","result":null}`)
		p.expect(result("1", `"released"`))
		if err := <-p.run; !errors.Is(err, context.Canceled) || admitted.Load() != 1 {
			t.Errorf("Run: %v, %d admitted", err, admitted.Load())
		}
		synctest.Wait()
		if _, err := io.WriteString(p.in, after); err == nil {
			t.Error("the input was not closed under the reader that is blocked on it")
		}
	})
}

// gate is a writer that blocks while it is shut.
type gate struct {
	open  chan struct{}
	got   strings.Builder
	close func() error
}

func (g *gate) Write(p []byte) (int, error) {
	if _, ok := <-g.open; ok {
		return 0, io.ErrClosedPipe
	}
	return g.got.Write(p)
}

func (g *gate) Close() error { return g.close() }

func TestSlowReaderStopsNothingButSenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		text := strings.Repeat("x", size)
		in, peer := io.Pipe()
		out := &gate{open: make(chan struct{}), close: func() error { return nil }}
		var admitted atomic.Int32
		conn := New(in, out, func(_ context.Context, r *Request) (Work, error) {
			if admitted.Add(1); r.Method == "long" {
				return func(context.Context) (any, error) { return text, nil }, nil
			}
			return nil, nil
		}, Options{})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(t.Context()) }()

		sent := 0
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := conn.Notify(ctx, "update", []any{sent, text})
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			sent++
		}
		if sent*size < queueLimit-size || sent*size > queueLimit+size {
			t.Errorf("%d MiB were queued", sent)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := conn.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v", err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := conn.Notify(ended, "update", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Notify: %v", err)
		}
		// The read loop goes on, with good messages and bad ones.
		for i := range 1000 {
			fmt.Fprintf(peer, `{"id":%d,"method":"x"}`+"\nnonsense\n"+`{"id":"bad","method":5}`+"\n", i)
		}
		for i := range 10 {
			fmt.Fprintf(peer, `{"id":"long %d","method":"long"}`+"\n", i)
		}
		synctest.Wait()
		if admitted.Load() != 1010 {
			t.Errorf("%d messages were admitted", admitted.Load())
		}
		conn.queue.mu.Lock()
		if conn.queue.size > queueLimit+2*size {
			t.Errorf("%d bytes wait", conn.queue.size)
		}
		conn.queue.mu.Unlock()

		close(out.open)
		peer.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		lines := strings.Split(out.got.String(), "\n")
		for i := range sent {
			if !strings.HasPrefix(lines[i], fmt.Sprintf(`{"jsonrpc":"2.0","method":"update","params":[%d,"xxx`, i)) {
				t.Fatalf("line %d: %.80s", i, lines[i])
			}
		}
		if n := strings.Count(out.got.String(), `"result":null`); n != 1000 {
			t.Errorf("%d requests were answered", n)
		}
		if n := strings.Count(out.got.String(), `"result":"xxx`); n != 10 {
			t.Errorf("%d requests were answered at length", n)
		}
		if n := strings.Count(out.got.String(), badMethod); n != 1000 {
			t.Errorf("%d faults with an id were answered", n)
		}
	})
}

func TestPeerThatNeverReadsDoesNotHoldTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, peer := io.Pipe()
		out := &gate{open: make(chan struct{})}
		out.close = func() error { out.open <- struct{}{}; return nil }
		conn := New(in, out, echo, Options{Grace: time.Second})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(t.Context()) }()
		io.WriteString(peer, after+"\n")
		peer.Close()
		start := time.Now()
		if err := <-ran; err != nil || time.Since(start) != time.Second {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
	})
}

func TestWritingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, _ := io.Pipe()
		outR, outW := io.Pipe()
		outR.CloseWithError(errors.New("broken pipe"))
		conn := New(in, outW, echo, Options{})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(t.Context()) }()
		if err := conn.Notify(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
		if err := <-ran; err == nil || err.Error() != "writing to the peer: broken pipe" {
			t.Errorf("Run: %v", err)
		}
		if err := conn.Notify(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Notify: %v", err)
		}
	})
}

func TestReadingFails(t *testing.T) {
	conn := New(io.MultiReader(strings.NewReader(after+"\n{"), failing{}), io.Discard, echo, Options{})
	if err := conn.Run(t.Context()); err == nil || err.Error() != "reading from the peer: input/output error" {
		t.Errorf("Run: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestInputIsClosed: nobody who still writes waits for a reader that has given up.
func TestInputIsClosed(t *testing.T) {
	for name, tt := range map[string]struct {
		ended bool
		err   error
		want  bool
	}{
		"still reading": {want: true},
		"given up":      {ended: true, err: ErrClosed, want: true},
		"failed":        {ended: true, err: errors.New("input/output error"), want: true},
		"at its end":    {ended: true, err: io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			in := &closing{Reader: strings.NewReader("")}
			c := New(in, io.Discard, nil, Options{})
			if c.readErr = tt.err; tt.ended {
				close(c.stream.ended)
			}
			if c.closeInput(); in.closed != tt.want {
				t.Errorf("closed: %v, want %v", in.closed, tt.want)
			}
		})
	}
}
