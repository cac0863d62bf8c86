//go:build unix

package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp"
)

// begin starts a shell script in a terminal.
func begin(t *testing.T, ts *Terminals, r acp.CreateTerminalRequest, script string) string {
	t.Helper()
	r.Command, r.Args = "/bin/sh", []string{"-c", script}
	resp, err := ts.CreateTerminal(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return resp.TerminalID
}

func terminals(t *testing.T) *Terminals {
	ts := NewTerminals()
	t.Cleanup(ts.Close)
	return ts
}

func TestTerminalRunsACommand(t *testing.T) {
	ts, dir := terminals(t), t.TempDir()
	id := begin(t, ts, acp.CreateTerminalRequest{Cwd: dir, Env: []acp.EnvVariable{{Name: "WORD", Value: "two words"}}},
		`echo "$WORD"; echo err >&2; pwd -P >/dev/null; exit 4`)
	exit, err := ts.WaitForTerminalExit(t.Context(), acp.WaitForTerminalExitRequest{TerminalID: id})
	if err != nil || exit.ExitCode == nil || *exit.ExitCode != 4 || exit.Signal != "" {
		t.Errorf("got %+v, %v", exit, err)
	}
	out, err := ts.TerminalOutput(t.Context(), acp.TerminalOutputRequest{TerminalID: id})
	if err != nil || out.Output != "two words\nerr\n" || out.Truncated || out.ExitStatus == nil || *out.ExitStatus.ExitCode != 4 {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err := ts.ReleaseTerminal(t.Context(), acp.ReleaseTerminalRequest{TerminalID: id}); err != nil {
		t.Error(err)
	}
	if _, err := ts.TerminalOutput(t.Context(), acp.TerminalOutputRequest{TerminalID: id}); err == nil {
		t.Error("a released terminal was found")
	}
}

func TestTerminalTakesArgumentsAsTheyAre(t *testing.T) {
	ts := terminals(t)
	resp, err := ts.CreateTerminal(t.Context(), acp.CreateTerminalRequest{Command: "printf", Args: []string{"%s", "$HOME 'x'"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ts.WaitForTerminalExit(t.Context(), acp.WaitForTerminalExitRequest{TerminalID: resp.TerminalID}); err != nil {
		t.Fatal(err)
	}
	out, err := ts.TerminalOutput(t.Context(), acp.TerminalOutputRequest{TerminalID: resp.TerminalID})
	if err != nil || out.Output != "$HOME 'x'" {
		t.Errorf("got %q, %v", out.Output, err)
	}
	if _, err := ts.CreateTerminal(t.Context(), acp.CreateTerminalRequest{Command: "no-such command"}); err == nil {
		t.Error("a line was taken for a command")
	}
}

func TestTerminalKeepsTheTail(t *testing.T) {
	ts := terminals(t)
	id := begin(t, ts, acp.CreateTerminalRequest{OutputByteLimit: new(uint64(9))}, `printf '0123456789'; printf 'ééééé'`)
	if _, err := ts.WaitForTerminalExit(t.Context(), acp.WaitForTerminalExitRequest{TerminalID: id}); err != nil {
		t.Fatal(err)
	}
	out, err := ts.TerminalOutput(t.Context(), acp.TerminalOutputRequest{TerminalID: id})
	if err != nil || out.Output != "éééé" || !out.Truncated {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestTerminalIsKilledWithItsGroup(t *testing.T) {
	ts := terminals(t)
	// The inner shell holds the output: only its end lets the terminal end at once.
	id := begin(t, ts, acp.CreateTerminalRequest{}, `sh -c 'while :; do sleep 60; done'; echo not reached`)
	if _, err := ts.KillTerminal(t.Context(), acp.KillTerminalRequest{TerminalID: id}); err != nil {
		t.Fatal(err)
	}
	exit, err := ts.WaitForTerminalExit(t.Context(), acp.WaitForTerminalExitRequest{TerminalID: id})
	if err != nil || exit.ExitCode != nil || exit.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v", exit, err)
	}
	out, err := ts.TerminalOutput(t.Context(), acp.TerminalOutputRequest{TerminalID: id})
	if err != nil || strings.Contains(out.Output, "not reached") {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestTerminalsClose(t *testing.T) {
	ts := terminals(t)
	id := begin(t, ts, acp.CreateTerminalRequest{}, `sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ts.WaitForTerminalExit(ctx, acp.WaitForTerminalExitRequest{TerminalID: id}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
	if ts.Open() != 1 {
		t.Errorf("%d are open", ts.Open())
	}
	ts.Close()
	if _, err := ts.CreateTerminal(t.Context(), acp.CreateTerminalRequest{Command: "true"}); err == nil || ts.Open() != 0 {
		t.Errorf("after Close: %v, %d open", err, ts.Open())
	}
}
