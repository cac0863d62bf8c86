package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/acptest"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	acpschema "github.com/acp-agent/acp-agent/testdata/acp"
)

var schema = sync.OnceValues(func() (*acptest.Schema, error) { return acptest.Compile(acpschema.V1(), "_test/") })

func validator(t *testing.T) *acptest.Validator {
	t.Helper()
	s, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return s.Validator()
}

// connect runs a client against an agent made of a handler; what goes over the
// wire is checked by the schema.
func connect(t *testing.T, h Handler, agent func(*jsonrpc.Conn) jsonrpc.Handler) *Client {
	t.Helper()
	v := validator(t)
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	c := New(toClient, fromClient, h, jsonrpc.Options{Observe: v.Observe(acptest.Client, func(err error) { t.Error(err) })})
	var conn *jsonrpc.Conn
	conn = jsonrpc.New(toAgent, fromAgent, func(ctx context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		return agent(conn)(ctx, r)
	}, jsonrpc.Options{})
	var both sync.WaitGroup
	both.Go(func() { _ = conn.Run(t.Context()); fromAgent.Close() })
	both.Go(func() { _ = c.Run(t.Context()) })
	t.Cleanup(func() { fromClient.Close(); both.Wait() })
	return c
}

// chunk is an update of text.
func chunk(text string) acp.SessionNotification {
	return acp.SessionNotification{SessionID: "s", Update: acp.AgentMessageChunk{
		ContentChunk: acp.ContentChunk{Content: acp.TextContent{Text: text}},
	}}
}

// textOf is the text of an update made by chunk.
func textOf(n acp.SessionNotification) string {
	return n.Update.(acp.AgentMessageChunk).Content.(acp.TextContent).Text
}

func TestUpdatesComeInOrderAndBeforeTheAnswer(t *testing.T) {
	const count = 500
	var got []string // only the client's goroutine writes it, and only before Prompt returns
	c := connect(t, Handler{Update: func(_ context.Context, n acp.SessionNotification) { got = append(got, textOf(n)) }},
		func(conn *jsonrpc.Conn) jsonrpc.Handler {
			return func(context.Context, *jsonrpc.Request) (jsonrpc.Work, error) {
				return func(ctx context.Context) (any, error) {
					for i := range count {
						if err := conn.Notify(ctx, acp.MethodSessionUpdate, chunk(strconv.Itoa(i))); err != nil {
							return nil, err
						}
					}
					return acp.PromptResponse{StopReason: acp.StopEndTurn}, nil
				}, nil
			}
		})
	resp, err := c.Prompt(t.Context(), acp.PromptRequest{SessionID: "s"})
	if err != nil || resp.StopReason != acp.StopEndTurn {
		t.Fatalf("got %v, %v", resp, err)
	}
	var want []string
	for i := range count {
		want = append(want, strconv.Itoa(i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d updates: %v", len(got), got)
	}
}

func TestRequestIsHandledAfterTheUpdatesBeforeIt(t *testing.T) {
	var seen []string
	h := Handler{
		Update: func(_ context.Context, n acp.SessionNotification) { seen = append(seen, textOf(n)) },
		RequestPermission: func(context.Context, acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
			seen = append(seen, "asked")
			return acp.RequestPermissionResponse{Outcome: acp.SelectedPermissionOutcome{OptionID: "yes"}}, nil
		},
	}
	c := connect(t, h, func(conn *jsonrpc.Conn) jsonrpc.Handler {
		return func(context.Context, *jsonrpc.Request) (jsonrpc.Work, error) {
			return func(ctx context.Context) (any, error) {
				if err := conn.Notify(ctx, acp.MethodSessionUpdate, chunk("call")); err != nil {
					return nil, err
				}
				var raw json.RawMessage
				ask := acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "c"}}
				if err := conn.Call(ctx, ask.Method(), ask, &raw); err != nil {
					return nil, err
				}
				resp, err := acp.DecodeResult[acp.RequestPermissionResponse](raw)
				if err != nil {
					return nil, err
				}
				if o, ok := resp.Outcome.(acp.SelectedPermissionOutcome); !ok || o.OptionID != "yes" {
					return nil, errors.New("wrong outcome: " + string(raw))
				}
				return acp.PromptResponse{StopReason: acp.StopEndTurn}, nil
			}, nil
		}
	})
	if _, err := c.Prompt(t.Context(), acp.PromptRequest{SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"call", "asked"}; !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

func TestMissingCallbackIsMethodNotFound(t *testing.T) {
	c := connect(t, Handler{}, func(conn *jsonrpc.Conn) jsonrpc.Handler {
		return func(context.Context, *jsonrpc.Request) (jsonrpc.Work, error) {
			return func(ctx context.Context) (any, error) {
				read := acp.ReadTextFileRequest{SessionID: "s", Path: "/a"}
				err := conn.Call(ctx, read.Method(), read, nil)
				if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeMethodNotFound {
					return nil, errors.New("no such error")
				}
				return acp.PromptResponse{StopReason: acp.StopRefusal}, nil
			}, nil
		}
	})
	if _, err := c.Prompt(t.Context(), acp.PromptRequest{SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsOfTheAgent(t *testing.T) {
	c := connect(t, Handler{}, func(*jsonrpc.Conn) jsonrpc.Handler {
		return func(_ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
			if r.Method == "_test/other" {
				return func(context.Context) (any, error) { return map[string]int{"n": 3}, nil }, nil
			}
			_, err := acp.Decode[acp.NewSessionRequest](json.RawMessage(`{"cwd":7}`))
			return nil, err
		}
	})
	_, err := c.NewSession(t.Context(), acp.NewSessionRequest{Cwd: "/a"})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams || !strings.Contains(e.Message, "cwd") {
		t.Errorf("got %v", err)
	}
	var got struct{ N int }
	if err := c.Call(t.Context(), "_test/other", nil, &got); err != nil || got.N != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}

// A callback that never ends must not keep Run from ending.
func TestRunEndsWhileACallbackHangs(t *testing.T) {
	entered := make(chan struct{})
	c := connect(t, Handler{Update: func(ctx context.Context, _ acp.SessionNotification) { close(entered); <-ctx.Done() }},
		func(conn *jsonrpc.Conn) jsonrpc.Handler {
			return func(context.Context, *jsonrpc.Request) (jsonrpc.Work, error) {
				return func(ctx context.Context) (any, error) {
					return acp.PromptResponse{StopReason: acp.StopEndTurn}, conn.Notify(ctx, acp.MethodSessionUpdate, chunk("x"))
				}, nil
			}
		})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if _, err := c.Prompt(ctx, acp.PromptRequest{SessionID: "s"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
