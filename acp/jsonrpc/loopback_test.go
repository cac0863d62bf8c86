package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
)

// exchange gives a connection all of input and returns what it wrote until it
// ended, a line each, sorted: answers come in any order.
func exchange(t *testing.T, h Handler, o Options, input string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := New(strings.NewReader(input), &out, h, o).Run(t.Context()); err != nil {
		t.Fatalf("Run: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if out.Len() == 0 {
		lines = nil
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %q", line)
		}
	}
	slices.Sort(lines)
	return lines
}

// echo answers the parameters; it knows no method but "echo", and "ready" which
// it answers with null.
func echo(_ context.Context, r *Request) (Work, error) {
	switch r.Method {
	case "echo":
		return func(context.Context) (any, error) { return r.Params, nil }, nil
	case "ready":
		return nil, nil
	}
	return nil, &Error{Code: CodeMethodNotFound, Message: "method not found: " + r.Method}
}

// peer is the other end of a connection, which a test plays by hand.
type peer struct {
	t     *testing.T
	conn  *Conn
	in    *io.PipeWriter // to the connection
	lines chan string    // from the connection
	run   chan error     // what Run returned
}

// loopback runs a connection over pipes. Its end is the test's to bring about.
func loopback(t *testing.T, ctx context.Context, h Handler, o Options) *peer {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, conn: New(inR, outW, h, o), in: inW, lines: make(chan string, 1000), run: make(chan error, 1)}
	go func() {
		defer close(p.lines)
		scanner := bufio.NewScanner(outR)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
	}()
	go func() {
		p.run <- p.conn.Run(ctx)
		outW.Close()
	}()
	return p
}

// send writes a line to the connection.
func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Errorf("sending %s: %v", line, err)
	}
}

// expect reads the next line from the connection.
func (p *peer) expect(want string) {
	p.t.Helper()
	if got := <-p.lines; got != want {
		p.t.Errorf("line\n%s\nwanted\n%s", got, want)
	}
}

// end closes the input and returns Run's error.
func (p *peer) end() error {
	p.in.Close()
	return <-p.run
}

// pair connects two connections and runs both until the test ends.
func pair(t *testing.T, a, b Handler) (*Conn, *Conn) {
	aR, aW := io.Pipe()
	bR, bW := io.Pipe()
	left, right := New(aR, bW, a, Options{}), New(bR, aW, b, Options{})
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	running.Go(func() { left.Run(ctx) })
	running.Go(func() { right.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return left, right
}

// testLog logs to a buffer that can be read while it is written.
type testLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *testLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
