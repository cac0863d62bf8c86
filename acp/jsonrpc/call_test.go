package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pending is how many calls wait in both lists, ours and the library's.
func pending(c *Conn) (ours, library int) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	return len(c.calls.waiting), reflect.ValueOf(c.rpc).Elem().FieldByName("pending").Len()
}

func TestCallDecodesAnswers(t *testing.T) {
	type answer struct{ Text string }
	tests := []struct {
		name, answer string
		want         answer // untouched: "before"
		wantErr      string
	}{
		{"result", `"result":{"text":"a<b"}`, answer{"a<b"}, ""},
		{"null", `"result":null`, answer{"before"}, ""},
		{"neither result nor error", `"jsonrpc":"2.0"`, answer{"before"}, ""},
		{"result and a null error", `"result":{"text":"x"},"error":null`, answer{"x"}, ""},
		{"error", `"error":{"code":-32002,"message":"not found"}`, answer{"before"}, "not found (code -32002)"},
		{"error and a null result", `"error":{"code":1,"message":"no"},"result":null`, answer{"before"}, "no (code 1)"},
		{"error and a result", `"error":{"code":1,"message":"no"},"result":{"text":"x"}`, answer{"before"}, "no (code 1)"},
		{"error without a message", `"error":{"code":7}`, answer{"before"}, "error 7"},
		{"error is a text", `"error":"no such file"`, answer{"before"}, "no such file (code -32603)"},
		{"error is a list", `"error":[1]`, answer{"before"}, "the peer answered an error that cannot be read: [1] (code -32603)"},
		{"error code is a text", `"error":{"code":"-32800","message":"m"}`, answer{"before"}, "m (code -32800)"},
		{"error code is broken", `"error":{"code":1.5,"message":"m"}`, answer{"before"}, "m (code -32603)"},
		{"result of another type", `"result":"x"`, answer{"before"}, "the answer to ask cannot be read: it is a JSON string, which does not belong there"},
		{"result with a member of another type", `"result":{"text":5}`, answer{"before"}, "the answer to ask cannot be read: its Text is a JSON number, which does not belong there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := loopback(t, t.Context(), echo, Options{})
				got, err := answer{"before"}, error(nil)
				called := make(chan struct{})
				go func() {
					err = p.conn.Call(t.Context(), "ask", map[string]string{"q": "<&>"}, &got)
					close(called)
				}()
				p.expect(`{"jsonrpc":"2.0","id":"call-1","method":"ask","params":{"q":"<&>"}}`)
				p.send(`{"id":"call-1",` + tt.answer + `}`)
				<-called
				if text := fmt.Sprint(err); got != tt.want || (err == nil) != (tt.wantErr == "") || (err != nil && text != tt.wantErr) {
					t.Errorf("got %+v, %v", got, err)
				}
				if err := p.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestCallErrorKeepsItsData(t *testing.T) {
	err := peerError(json.RawMessage(`{"code":-32000,"message":"m","data":{"a":1}}`))
	if raw, ok := err.Data.(json.RawMessage); !ok || string(raw) != `{"a":1}` {
		t.Errorf("data %v", err.Data)
	}
	if string(errorLine(nullID, err)) != `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m","data":{"a":1}}}`+"\n" {
		t.Errorf("line %s", errorLine(nullID, err))
	}
}

func TestCallWhoseContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loopback(t, t.Context(), echo, Options{})
		for i := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			start := time.Now()
			if err := p.conn.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
				t.Fatalf("%v after %v", err, time.Since(start))
			}
			cancel()
			id := fmt.Sprintf(`"call-%d"`, i+1)
			p.expect(`{"jsonrpc":"2.0","id":` + id + `,"method":"ask"}`)
			p.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`)
			switch i % 4 {
			case 0:
				p.send(`{"id":` + id + `,"error":{"code":-32800,"message":"late"}}`)
			case 1:
				p.send(`{"id":` + id + `,"result":{}}`)
			case 2:
				p.send(`{"id":` + id + `}`)
			}
		}
		synctest.Wait()
		if ours, library := pending(p.conn); ours != 0 || library != 0 {
			t.Errorf("%d calls wait here, %d in the library", ours, library)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.conn.Call(ctx, "ask", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that ended before: %v", err)
		}
		p.send(after)
		p.expect(afterLine)
		if err := p.end(); err != nil {
			t.Error(err)
		}
	})
}

// A call inside a work is answered while the work's request is in flight, also
// while others call in the other direction.
func TestCallsNestAndRunAtOnce(t *testing.T) {
	var editor, agent *Conn
	agent, editor = pair(t, func(_ context.Context, r *Request) (Work, error) {
		return func(ctx context.Context) (any, error) {
			var got string
			err := agent.Call(ctx, "permission", r.Params, &got)
			return got, err
		}, nil
	}, func(_ context.Context, r *Request) (Work, error) {
		return func(context.Context) (any, error) { return "ok " + string(r.Params), nil }, nil
	})
	var calling sync.WaitGroup
	for i := range 200 {
		calling.Go(func() {
			var got string
			err := editor.Call(t.Context(), "prompt", i, &got)
			if want := fmt.Sprint("ok ", i); err != nil || got != want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	calling.Wait()
}

func TestCallFailsWhenThePeerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loopback(t, t.Context(), func(context.Context, *Request) (Work, error) {
			return func(ctx context.Context) (any, error) { // keeps the connection for the grace
				time.Sleep(time.Hour)
				return nil, nil
			}, nil
		}, Options{Grace: time.Minute})
		start := time.Now()
		var calling sync.WaitGroup
		for range 10 {
			calling.Go(func() {
				if err := p.conn.Call(t.Context(), "ask", nil, nil); !errors.Is(err, ErrClosed) {
					t.Errorf("call: %v", err)
				}
			})
		}
		synctest.Wait()
		p.send(`{"id":1,"method":"x"}`)
		p.in.Close()
		calling.Wait()
		if err := p.conn.Call(t.Context(), "ask", nil, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("call after the end of input: %v", err)
		}
		if time.Since(start) != 0 {
			t.Errorf("calls failed after %v only", time.Since(start))
		}
		if err := <-p.run; err != nil || time.Since(start) != time.Minute {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
		if err := p.conn.Call(t.Context(), "ask", nil, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("call after the end: %v", err)
		}
		if err := p.conn.Notify(t.Context(), "tell", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("notification after the end: %v", err)
		}
		time.Sleep(2 * time.Hour) // the work that hangs ends, too
	})
}

// A call that is resolved before the library knows of it is resolved again when
// it does: else it would wait until its context ends.
func TestCallResolvedBeforeItIsSent(t *testing.T) {
	c := newCalls()
	id, out, err := c.begin()
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	if got, ok := c.drop(); !ok || got != id || out.err != ErrClosed {
		t.Errorf("dropped %q, %v", got, out.err)
	}
	c.sent(id)
	if got, ok := c.drop(); !ok || got != id {
		t.Errorf("not dropped again: %q", got)
	}
	if _, ok := c.drop(); ok {
		t.Error("dropped a third time")
	}
}

func TestCallWaitsForRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, peer := io.Pipe()
		out, outW := io.Pipe()
		conn := New(in, outW, echo, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := conn.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without Run: %v", err)
		}
		called := make(chan error, 1)
		go func() { called <- conn.Call(t.Context(), "ask", nil, nil) }()
		synctest.Wait()
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(t.Context()) }()
		buf := make([]byte, 1000)
		if n, _ := out.Read(buf); !strings.Contains(string(buf[:n]), `"id":"call-1"`) {
			t.Errorf("sent %s", buf[:n])
		}
		io.WriteString(peer, `{"id":"call-1","result":{}}`+"\n")
		if err := <-called; err != nil {
			t.Error(err)
		}
		peer.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := conn.Run(t.Context()); err == nil {
			t.Error("Run ran twice")
		}
	})
}

func TestCallParamsThatCannotBeEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loopback(t, t.Context(), echo, Options{})
		if err := p.conn.Call(t.Context(), "ask", func() {}, nil); err == nil || !strings.HasPrefix(err.Error(), "encoding the parameters of ask: ") {
			t.Errorf("Call: %v", err)
		}
		if err := p.conn.Notify(t.Context(), "tell", func() {}); err == nil || !strings.HasPrefix(err.Error(), "encoding the parameters of tell: ") {
			t.Errorf("Notify: %v", err)
		}
		synctest.Wait() // the library tidies its list after the call has failed
		if ours, _ := pending(p.conn); ours != 0 {
			t.Errorf("%d calls wait", ours)
		}
		p.conn.Notify(t.Context(), "tell <", json.RawMessage("{\n \"a\": \"<\xff\"\n}"))
		p.expect(`{"jsonrpc":"2.0","method":"tell <","params":{"a":"<` + "\ufffd" + `"}}`)
		if err := p.end(); err != nil {
			t.Error(err)
		}
	})
}
