package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"

// agent is the program as an editor has it.
type agent struct {
	*exec.Cmd
	stdin io.WriteCloser
	out   io.Closer
	lines *bufio.Scanner
	errs  strings.Builder
}

func launch(tb testing.TB, exe, home string, env ...string) *agent {
	tb.Helper()
	a := &agent{Cmd: exec.Command(exe)}
	a.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot")}
	a.Env = append(a.Env, env...)
	a.Stderr = &a.errs
	var err error
	if a.stdin, err = a.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := a.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	a.out, a.lines = out, bufio.NewScanner(out)
	a.lines.Buffer(nil, 64<<20)
	if err := a.Start(); err != nil {
		tb.Fatal(err)
	}
	return a
}

// greet introduces an editor and waits for the answer.
func (a *agent) greet(tb testing.TB) {
	tb.Helper()
	if _, err := io.WriteString(a.stdin, initialize); err != nil {
		tb.Fatal(err)
	}
	if !a.lines.Scan() || !strings.Contains(a.lines.Text(), `"id":1,"result"`) {
		tb.Fatalf("the answer is %q; stderr: %s", a.lines.Text(), a.errs.String())
	}
}

// TestSignalEnds: an editor that ends the agent by a signal, with stdin open,
// sees it end by itself and without a word.
func TestSignalEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals on windows")
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		a := launch(t, "acp-agent", t.TempDir()) // this test's binary, which testscript put into PATH
		a.greet(t)
		if err := a.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if a.lines.Scan() {
			t.Errorf("%v: another line: %s", signal, a.lines.Text())
		}
		if err := a.Wait(); err != nil || a.errs.Len() > 0 {
			t.Errorf("%v: %v, stderr: %s", signal, err, a.errs.String())
		}
	}
}

// TestEditorGone: an editor that reads no more ends the agent, which has the
// time to end what it runs: no signal kills it.
func TestEditorGone(t *testing.T) {
	a := launch(t, "acp-agent", t.TempDir())
	a.greet(t)
	if err := a.out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(a.stdin, initialize); err != nil {
		t.Fatal(err)
	}
	_ = a.Wait() // its error is the status
	if code := a.ProcessState.ExitCode(); code != statusFailed || !strings.Contains(a.errs.String(), "writing to the peer") {
		t.Errorf("ended as %v, stderr: %s", a.ProcessState, a.errs.String())
	}
}

func TestStartAgent(t *testing.T) {
	for line, want := range map[string]bool{"": true, "acp": true, "serve": true, "acp --model x": false, "run": false, "--help": false, "acp acp": false} {
		if startAgent(strings.Fields(line)) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

// BenchmarkInitialize is the time from the start of the program to its first
// answer.
func BenchmarkInitialize(b *testing.B) {
	exe := filepath.Join(b.TempDir(), "acp-agent")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	home := b.TempDir()
	for b.Loop() {
		a := launch(b, exe, home)
		a.greet(b)
		b.StopTimer()
		if err := a.stdin.Close(); err != nil {
			b.Fatal(err)
		}
		if err := a.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
