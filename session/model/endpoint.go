package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// DefaultIdle is how long a server may be silent, before its headers and
// between bytes, until the request counts as failed (spec: sessions-models, The
// loop).
const DefaultIdle = 120 * time.Second

// maxReplyBytes bounds an answer that is not a stream.
const maxReplyBytes = 64 << 20

// maxStreamBytes bounds a stream, of which a byte of the reply may take a few
// hundred.
const maxStreamBytes = 256 << 20

// ErrAnswerTooLarge is returned for a stream that has no end.
var ErrAnswerTooLarge = errors.New("the answer is too large")

// settleTime is how long the end of a body is waited for once the answer is
// complete. The connection can serve the next request if it comes.
const settleTime = 20 * time.Millisecond

// Endpoint is a provider's server: where requests go and how their failures
// are told.
type Endpoint struct {
	Provider string // as in provider/model
	BaseURL  string // named in errors
	KeyEnv   string // the variable that holds the key, named where a key is refused
	HTTP     *http.Client
	Header   http.Header   // sent with each request; its values are kept out of errors
	Idle     time.Duration // 0: DefaultIdle
}

// NewHeader makes the headers of an endpoint: those given, and over them the
// extra ones of a configuration.
func NewHeader(base, extra map[string]string) http.Header {
	h := http.Header{}
	h.Set("User-Agent", "acp-agent")
	for _, m := range []map[string]string{base, extra} {
		for k, v := range m {
			h.Set(k, v)
		}
	}
	return h
}

// Answer is the body of a successful answer. Reading it ends with an error when
// the server is silent for too long. It is closed once and for all by Close.
type Answer struct {
	*bufio.Reader
	ct     string
	src    *watchedBody
	conn   *politeConn // that serves nothing else; nil: not known
	cancel context.CancelCauseFunc
}

// errSilent is the cause of a request that was given up for silence.
var errSilent = errors.New("no bytes came")

// PostJSON sends a body and returns the answer where the status is 200. Errors
// are *Error, or the context's own once it is done.
func (e *Endpoint) PostJSON(ctx context.Context, model, url string, body []byte) (*Answer, error) {
	return e.do(ctx, model, http.MethodPost, url, body)
}

// GetJSON fetches a document into v. Errors are as for PostJSON.
func (e *Endpoint) GetJSON(ctx context.Context, url string, v any) error {
	a, err := e.do(ctx, "", http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	raw, err := a.All()
	if err != nil {
		return e.Broken(ctx, "", err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return e.Unexpected("", a, raw)
	}
	return nil
}

func (e *Endpoint) do(ctx context.Context, model, method, url string, body []byte) (*Answer, error) {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	var conn *politeConn
	req, err := http.NewRequestWithContext(traced(ctx, func(c *politeConn) { conn = c }), method, url, bytes.NewReader(body))
	if err != nil {
		cancel(nil)
		return nil, e.fail(model, fmt.Sprintf("the base URL %s is not usable: check it", displayURL(e.BaseURL)), err)
	}
	req.Header = e.Header.Clone()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	watch := time.AfterFunc(e.idle(), func() { cancel(errSilent) })
	resp, err := e.HTTP.Do(req)
	watch.Stop()
	if err != nil {
		err = silence(ctx, err)
		cancel(nil)
		return nil, e.Broken(outer, model, err)
	}
	src := &watchedBody{ctx: ctx, body: resp.Body, watch: watch, idle: e.idle()}
	a := &Answer{Reader: bufio.NewReader(src), ct: resp.Header.Get("Content-Type"), src: src, cancel: cancel}
	if resp.ProtoMajor < 2 { // later ones share connections
		a.conn = conn
	}
	if ctx.Err() != nil { // the server answered our leaving
		a.Close()
		return nil, e.Broken(outer, model, silence(ctx, ctx.Err()))
	}
	if resp.StatusCode != http.StatusOK {
		defer a.Close()
		text, _ := io.ReadAll(io.LimitReader(a, maxErrorBytes))
		if outer.Err() != nil {
			return nil, outer.Err()
		}
		return nil, e.refused(model, resp, text)
	}
	return a, nil
}

func (e *Endpoint) idle() time.Duration {
	if e.Idle > 0 {
		return e.Idle
	}
	return DefaultIdle
}

// silence puts our own reason in the place of a cancelled read's error.
func silence(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// watchedBody gives a silent server up. The watch runs only while a read
// waits: a reader that takes its time is not the server's fault.
type watchedBody struct {
	ctx   context.Context
	body  io.ReadCloser
	watch *time.Timer
	idle  time.Duration
	read  int  // bytes so far
	ended bool // the body came to its end
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.read > maxStreamBytes {
		return 0, fmt.Errorf("%w (more than %d bytes)", ErrAnswerTooLarge, maxStreamBytes)
	}
	b.watch.Reset(b.idle)
	n, err := b.body.Read(p)
	b.watch.Stop()
	b.read += n
	if err != nil {
		err = silence(b.ctx, err) // also an end, which may be the server's answer to our leaving
	}
	b.ended = b.ended || err == io.EOF
	return n, err
}

// Shape is what the body of an answer is, as its first bytes tell.
type Shape int

// The shapes of a body.
const (
	ShapeOther  Shape = iota
	ShapeEvents       // server-sent events
	ShapeJSON         // a JSON object
	ShapeEmpty        // an orderly end and nothing before it
)

// Shape looks at the first bytes, which tell more than the content type:
// servers and proxies mislabel both ways. It waits for the first byte.
func (a *Answer) Shape() (Shape, error) {
	for n := 1; ; n++ {
		head, err := a.Peek(n)
		if err != nil {
			if err == io.EOF {
				return ShapeEmpty, nil
			}
			return ShapeOther, err
		}
		switch c := head[n-1]; c {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf: // blanks, a byte order mark
			if n == 64 {
				return ShapeOther, nil
			}
		case '{':
			return ShapeJSON, nil
		case ':':
			return ShapeEvents, nil
		case 'd', 'e', 'i', 'r': // data, event, id, retry
			if strings.HasPrefix(a.ct, "text/event-stream") {
				return ShapeEvents, nil
			}
			return a.field(n - 1)
		default:
			return ShapeOther, nil
		}
	}
}

// field tells whether a field of an event stands at the offset.
func (a *Answer) field(at int) (Shape, error) {
	const longest = len("event:")
	head, err := a.Peek(at + longest)
	if err != nil && err != io.EOF {
		return ShapeOther, err
	}
	for _, f := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(head[at:], []byte(f)) {
			return ShapeEvents, nil
		}
	}
	return ShapeOther, nil
}

// All reads the rest of the body.
func (a *Answer) All() ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(a, maxReplyBytes+1))
	if err == nil && len(raw) > maxReplyBytes {
		err = fmt.Errorf("the answer is larger than %d bytes", maxReplyBytes)
	}
	return raw, err
}

// Settle reads to the end of a body whose answer is complete, if that comes at
// once, so that the connection serves again.
func (a *Answer) Settle() {
	t := time.AfterFunc(settleTime, func() { a.cancel(nil) })
	defer t.Stop()
	_, _ = io.CopyN(io.Discard, a, 4<<10)
}

// Close ends the request. Where the body has not come to its end, the
// connection is closed with it, and Close returns when it is.
func (a *Answer) Close() {
	a.cancel(nil)
	_ = a.src.body.Close()
	if a.conn != nil && !a.src.ended {
		_ = a.conn.Close() // the transport is about to do the same
		<-a.conn.gone
	}
}
