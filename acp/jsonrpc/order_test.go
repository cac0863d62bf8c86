package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A notification on the line after a request must find what the request's
// handler registered: 2 000 times, each answered with what the cancel did.
func TestNotificationFindsRegisteredWork(t *testing.T) {
	const runs = 2000
	var input strings.Builder
	for i := range runs {
		fmt.Fprintf(&input, `{"id":%d,"method":"prompt","params":{"s":%d}}`+"\n"+`{"method":"cancel","params":{"s":%d}}`+"\n", i, i, i)
	}
	turns := map[string]chan struct{}{} // of the read loop alone
	missed := 0
	handler := func(_ context.Context, r *Request) (Work, error) {
		key := string(r.Params)
		if r.Notification {
			if turns[key] == nil {
				missed++
				return nil, nil
			}
			close(turns[key])
			return nil, nil
		}
		turn := make(chan struct{})
		turns[key] = turn
		return func(context.Context) (any, error) {
			<-turn
			return "cancelled", nil
		}, nil
	}
	got := exchange(t, handler, Options{}, input.String())
	if missed > 0 || len(got) != runs {
		t.Errorf("%d cancels found nothing, %d answers", missed, len(got))
	}
}

// The same with the protocol's own cancel, which ends the request's context.
func TestCancelRequestEndsItsContextOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := func(_ context.Context, r *Request) (Work, error) {
			return func(ctx context.Context) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}, nil
		}
		p := loopback(t, t.Context(), handler, Options{})
		for _, id := range []string{`1`, `"1"`, `"a"`, `1.5`, `-1`, `99999999999999999999`, `null`} {
			p.send(`{"id":"other","method":"x"}`)
			p.send(`{"id":` + id + `,"method":"x"}`)
			p.send(`{"method":"$/cancel_request","params":{"requestId":"nobody"}}`)
			synctest.Wait()
			if n := p.conn.jobs.count(); n != 2 {
				t.Errorf("%d requests in flight", n)
			}
			named := id
			if id == `"a"` {
				named = `"\u0061"`
			}
			p.send(`{"method":"$/cancel_request","params":{"requestId":` + named + `}}`)
			p.expect(fault(id, CodeCancelled, "request cancelled"))
			p.send(`{"method":"$/cancel_request","params":{"requestId":"other"}}`)
			p.expect(fault(`"other"`, CodeCancelled, "request cancelled"))
		}
		// The id is free again as soon as the answer is out.
		if err := p.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestHandlerSeesMessagesInOrder(t *testing.T) {
	const n = 5000
	var input strings.Builder
	for i := range n {
		if i%2 == 0 {
			fmt.Fprintf(&input, `{"method":"x","params":%d}`+"\n", i)
		} else {
			fmt.Fprintf(&input, `{"id":%d,"method":"x","params":%d}`+"\n", i, i)
		}
	}
	next := 0
	handler := func(_ context.Context, r *Request) (Work, error) {
		if string(r.Params) != fmt.Sprint(next) || r.Notification != (next%2 == 0) {
			t.Errorf("message %d is %+v", next, r)
		}
		next++
		return nil, nil
	}
	if got := exchange(t, handler, Options{}, input.String()); next != n || len(got) != n/2 {
		t.Errorf("%d messages, %d answers", next, len(got))
	}
}

// What one goroutine sends keeps its order, and the answer comes after it.
func TestUpdatesComeBeforeTheAnswer(t *testing.T) {
	const turns, updates = 20, 300
	var conn *Conn
	handler := func(_ context.Context, r *Request) (Work, error) {
		return func(ctx context.Context) (any, error) {
			for i := range updates {
				// Long and short lines take different ways through the queue.
				text := strings.Repeat("x", i%50/48*chunkSize)
				if err := conn.Notify(context.WithoutCancel(ctx), "update", update{string(r.Params), i, text}); err != nil {
					return nil, err
				}
			}
			return "end", nil
		}, nil
	}
	var input strings.Builder
	for i := range turns {
		fmt.Fprintf(&input, `{"id":%d,"method":"prompt","params":%d}`+"\n", i, i)
	}
	seen, ended := map[string]int{}, 0
	out := lineFunc(func(line []byte) {
		var m struct {
			ID     *json.Number
			Result string
			Error  json.RawMessage
			Params update
		}
		if err := json.Unmarshal(line, &m); err != nil || m.Error != nil {
			t.Errorf("%.200s: %v", line, err)
		} else if m.ID == nil {
			if seen[m.Params.Turn] != m.Params.N {
				t.Errorf("turn %s: update %d after %d", m.Params.Turn, m.Params.N, seen[m.Params.Turn])
			}
			seen[m.Params.Turn]++
		} else if ended++; seen[m.ID.String()] != updates {
			t.Errorf("turn %s answered after %d updates", *m.ID, seen[m.ID.String()])
		}
	})
	conn = New(strings.NewReader(input.String()), out, handler, Options{Grace: 1 << 40})
	if err := conn.Run(t.Context()); err != nil || ended != turns {
		t.Errorf("%d turns ended; %v", ended, err)
	}
}

// What AfterAnswer calls may send what must come behind the answer.
func TestAfterAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conn *Conn
		p := loopback(t, t.Context(), func(ctx context.Context, r *Request) (Work, error) {
			r.AfterAnswer(func() { conn.Notify(ctx, "first", nil) })
			if r.Method == "refused" {
				return nil, &Error{Code: CodeNotFound, Message: "no"}
			}
			return func(context.Context) (any, error) {
				r.AfterAnswer(func() { panic("after the answer") })
				r.AfterAnswer(func() { conn.Notify(ctx, "second", nil) })
				return "x", nil
			}, nil
		}, Options{})
		conn = p.conn
		p.send(`{"id":1,"method":"x"}`)
		p.expect(result("1", `"x"`))
		p.expect(`{"jsonrpc":"2.0","method":"first"}`)
		p.expect(`{"jsonrpc":"2.0","method":"second"}`)
		p.send(`{"id":1,"method":"refused"}`)
		p.expect(fault("1", CodeNotFound, "no"))
		p.expect(`{"jsonrpc":"2.0","method":"first"}`)
		p.send(`{"method":"x"}`)
		if err := p.end(); err != nil {
			t.Error(err)
		}
		for line := range p.lines {
			t.Errorf("a notification has no answer: %s", line)
		}
	})
}

type update struct {
	Turn string
	N    int
	Text string
}

// lineFunc is a writer that gets whole lines.
type lineFunc func(line []byte)

func (f lineFunc) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		f([]byte(line))
	}
	return len(p), nil
}

func TestObserveSeesEveryLine(t *testing.T) {
	var mu sync.Mutex
	seen := map[Direction][]string{}
	observe := func(dir Direction, line []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen[dir] = append(seen[dir], string(line))
	}
	exchange(t, echo, Options{Observe: observe}, "nonsense\n\r\n"+after+"\r\n")
	if got := fmt.Sprintf("%q", seen[In]); got != fmt.Sprintf("%q", []string{"nonsense", after}) {
		t.Errorf("in: %s", got)
	}
	if got := fmt.Sprintf("%q", seen[Out]); got != fmt.Sprintf("%q", []string{fault("null", CodeParse, notJSON), afterLine}) {
		t.Errorf("out: %s", got)
	}
}
