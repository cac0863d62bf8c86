package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/acptest"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// asAgent makes the test binary an agent, which behaves as the value says.
const asAgent = "ACP_CLIENT_TEST_AGENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(asAgent); how != "" {
		os.Exit(agentMain(how))
	}
	os.Exit(m.Run())
}

// agentMain answers initialize, and ends with the input unless it is told to hang.
func agentMain(how string) int {
	fmt.Fprintln(os.Stderr, "agent:", how)
	if how == "crash" {
		return 3
	}
	conn := jsonrpc.New(os.Stdin, os.Stdout, func(_ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		return func(context.Context) (any, error) {
			return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersion}, nil
		}, nil
	}, jsonrpc.Options{})
	if err := conn.Run(context.Background()); err != nil {
		return 1
	}
	if how == "hang" {
		select {}
	}
	return 7
}

func launch(t *testing.T, how string, grace time.Duration) *Process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := Command{Path: exe, Env: append(os.Environ(), asAgent+"="+how), Dir: t.TempDir(), Grace: grace}
	cmd.Options.Observe = validator(t).Observe(acptest.Client, func(err error) { t.Error(err) })
	p, err := cmd.Start(t.Context(), Handler{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProcessEndsWithItsInput(t *testing.T) {
	p := launch(t, "well", time.Minute)
	if _, err := p.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Error(err)
	}
	state, err := p.Close()
	if err != nil || state.ExitCode() != 7 {
		t.Errorf("got %v, %v", state, err)
	}
	if got := p.Stderr(); got != "agent: well\n" {
		t.Errorf("stderr is %q", got)
	}
	if state, err := p.Close(); err != nil || state.ExitCode() != 7 {
		t.Errorf("closed again: %v, %v", state, err)
	}
	if _, err := p.Initialize(t.Context(), acp.InitializeRequest{}); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("called after the end: %v", err)
	}
}

func TestProcessThatHangsIsKilled(t *testing.T) {
	p := launch(t, "hang", 50*time.Millisecond)
	if _, err := p.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Error(err)
	}
	state, err := p.Close()
	if !errors.Is(err, ErrKilled) || state.Success() {
		t.Errorf("got %v, %v", state, err)
	}
}

func TestProcessThatCrashes(t *testing.T) {
	p := launch(t, "crash", time.Minute)
	if _, err := p.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: 1}); err == nil {
		t.Error("initialize succeeded")
	}
	<-p.Exited()
	state, err := p.Close()
	if err != nil || state.ExitCode() != 3 || !strings.Contains(p.Stderr(), "crash") {
		t.Errorf("got %v, %v, %q", state, err, p.Stderr())
	}
}

func TestProcessThatIsNotThere(t *testing.T) {
	_, err := Start(t.Context(), "./no-such-agent", nil, nil, t.TempDir(), Handler{})
	if err == nil || !strings.Contains(err.Error(), "no-such-agent") {
		t.Errorf("got %v", err)
	}
}

func TestProcessEndsWithItsContext(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, exe, nil, append(os.Environ(), asAgent+"=hang"), "", Handler{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.Exited()
	if state, err := p.Close(); err != nil || state.Success() {
		t.Errorf("got %v, %v", state, err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	tail := newTail(10)
	for _, s := range []string{"0123456789", "ab", "…", strings.Repeat("x", 3)} {
		if _, err := tail.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if got, cut := tail.text(); got != "89ab…xxx" || !cut {
		t.Errorf("got %q, %v", got, cut)
	}
	if _, err := tail.Write([]byte("yyyyy")); err != nil {
		t.Fatal(err)
	}
	if got, _ := tail.text(); got != "xxxyyyyy" { // the last byte of … is left out
		t.Errorf("got %q", got)
	}
	if _, err := tail.Write([]byte(strings.Repeat("z", 25))); err != nil {
		t.Fatal(err)
	}
	if got, _ := tail.text(); got != strings.Repeat("z", 10) {
		t.Errorf("got %q", got)
	}
}
