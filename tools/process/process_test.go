package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// sh starts a bash command whose output goes to out.
func sh(t testing.TB, s *Supervisor, text string, out io.Writer) *Process {
	t.Helper()
	p, err := s.Start(Command{
		Path:   bash(t),
		Args:   []string{"--noprofile", "--norc", "-c", text},
		Dir:    t.TempDir(),
		Env:    []string{"PATH=/usr/bin:/bin"},
		Output: out,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bash(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	return path
}

// supervisor is closed with the test.
func supervisor(t testing.TB) *Supervisor {
	s := new(Supervisor)
	t.Cleanup(s.Close)
	return s
}

// lines is a writer that hands on what is written, a line each.
func lines(t testing.TB) (io.Writer, func() string) {
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	scanner := bufio.NewScanner(r)
	return w, func() string {
		t.Helper()
		if !scanner.Scan() {
			t.Fatalf("output ended early: %v", scanner.Err())
		}
		return scanner.Text()
	}
}

// What a child writes a moment after the command's own end belongs to it. A busy
// machine may let the moment pass, but not each time.
func TestOutputAfterExit(t *testing.T) {
	got := ""
	for range 10 {
		var out bytes.Buffer
		if _, err := sh(t, supervisor(t), "(sleep 0.02; echo late) & echo early", &out).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got = out.String(); got == "early\nlate\n" {
			return
		}
	}
	t.Errorf("got %q", got)
}

func TestWait(t *testing.T) {
	tests := []struct {
		name, text, out string
		exit            Exit
	}{
		{"both streams in order", "echo a; echo b >&2; echo c", "a\nb\nc\n", Exit{}},
		{"code", "exit 3", "", Exit{Code: 3}},
		{"signal", "kill -TERM $$", "", Exit{Code: 143, Signal: "SIGTERM"}},
		{"empty input", "cat; echo $?", "0\n", Exit{}},
		{"no terminal", "(: < /dev/tty) 2>/dev/null || echo none", "none\n", Exit{}},
		{"own group", `test "$(ps -o pgid= -p $$ | tr -d ' ')" = $$ && echo own`, "own\n", Exit{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			exit, err := sh(t, supervisor(t), tt.text, &out).Wait(t.Context())
			if err != nil || exit != tt.exit || out.String() != tt.out {
				t.Errorf("got %q, %+v, %v; want %q, %+v", out.String(), exit, err, tt.out, tt.exit)
			}
		})
	}
}

func TestSeparateStderr(t *testing.T) {
	var out bytes.Buffer
	kept := NewTail(5)
	p, err := supervisor(t).Start(Command{
		Path: bash(t), Args: []string{"-c", "echo out; echo 123456789 >&2"}, Dir: t.TempDir(), Output: &out, Stderr: kept,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(kept.Bytes()); out.String() != "out\n" || got != "6789\n" || kept.Total() != 10 {
		t.Errorf("output %q, kept %q of %d bytes", out.String(), got, kept.Total())
	}
}

func TestInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p, err := supervisor(t).Start(Command{Path: bash(t), Args: []string{"-c", "cat"}, Dir: t.TempDir(), Stdin: r, Output: &out})
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "hello")
	w.Close()
	if _, err := p.Wait(t.Context()); err != nil || out.String() != "hello" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestStartFails(t *testing.T) {
	s := supervisor(t)
	for _, c := range []Command{
		{Path: "/nonexistent/program", Dir: t.TempDir()},
		{Path: bash(t), Dir: "/nonexistent/folder"},
	} {
		if _, err := s.Start(c); err == nil || !strings.Contains(err.Error(), "nonexistent") {
			t.Errorf("starting %s in %s: %v", c.Path, c.Dir, err)
		}
	}
	s.Close()
	s.Close()
	if _, err := s.Start(Command{Path: bash(t)}); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

// A child in the background must not hold the call.
func TestBackground(t *testing.T) {
	for _, text := range []string{
		"sleep 100 >/dev/null 2>&1 & echo started",
		"sleep 100 & echo started",
		"(sleep 100 &); echo started",
		"echo started; yes & exit 0",
	} {
		out := NewTail(1 << 20)
		begin := time.Now()
		exit, err := sh(t, supervisor(t), text, out).Wait(t.Context())
		if took := time.Since(begin); err != nil || !exit.Success() || took > 2*time.Second {
			t.Errorf("%s: %+v, %v after %v", text, exit, err, took)
		}
		if !bytes.Contains(out.Bytes(), []byte("started\n")) && !strings.Contains(text, "yes") {
			t.Errorf("%s: output %q", text, out.Bytes())
		}
	}
}

// It must not be hurt either by what it writes when nobody listens any more.
func TestBackgroundWritesOn(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := NewTail(0)
	p, err := supervisor(t).Start(Command{
		Path:   bash(t),
		Args:   []string{"-c", "exec 4<&0; { sleep 0.3; head -c 300000 /dev/zero && echo alive >&4; } & exit 0"},
		Dir:    t.TempDir(),
		Stdin:  w, // descriptor 0 of the child, there to be written to
		Output: out,
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "alive\n" {
		t.Errorf("the background child said %q, %v", line, err)
	}
	if out.Total() != 0 {
		t.Errorf("%d bytes came after Wait had returned", out.Total())
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	cause := errors.New("the user said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	out, next := lines(t)
	p := sh(t, supervisor(t), "echo ready; sleep 100", out)
	next()
	cancel(cause)
	if _, err := p.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	p.Kill()
	if exit, err := p.Wait(t.Context()); err != nil || exit.Signal != "SIGKILL" {
		t.Errorf("after kill: %+v, %v", exit, err)
	}
	p.Close()
	p.Close()
	p.Kill()
}

func TestTail(t *testing.T) {
	for _, pieces := range [][]string{
		{}, {"ab"}, {"abcd"}, {"abcde"}, {"abc", "de", "f"}, {"a", "bcdefghijk"}, {"abcdef", "g", "hi", "", "jklmnop", "q"},
	} {
		tail := NewTail(4)
		for _, p := range pieces {
			if n, err := tail.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		all := strings.Join(pieces, "")
		want := all[max(0, len(all)-4):]
		if got := string(tail.Bytes()); got != want || tail.Total() != int64(len(all)) {
			t.Errorf("%q: got %q of %d, want %q", pieces, got, tail.Total(), want)
		}
	}
	none := NewTail(0)
	if n, _ := none.Write([]byte("abc")); n != 3 || len(none.Bytes()) != 0 || none.Total() != 3 {
		t.Error("a tail of nothing keeps something")
	}
}

func BenchmarkStart(b *testing.B) {
	s := supervisor(b)
	for b.Loop() {
		p := sh(b, s, ":", nil)
		if _, err := p.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOutput(b *testing.B) {
	const size = 200e6
	b.SetBytes(size)
	s := supervisor(b)
	for b.Loop() {
		tail := NewTail(1 << 10)
		p := sh(b, s, "yes abcdefghij | head -c 200000000", tail)
		if _, err := p.Wait(b.Context()); err != nil || tail.Total() != size {
			b.Fatal(err, tail.Total())
		}
	}
}

func TestSignalOf(t *testing.T) {
	for code, want := range map[int]string{0: "", 1: "", 127: "", 128: "", 129: "", 134: "SIGABRT", 137: "SIGKILL", 139: "SIGSEGV", 143: "SIGTERM", 192: "", 255: "", -1: ""} {
		if got := SignalOf(code); got != want && runtime.GOOS != "windows" {
			t.Errorf("%d: %q", code, got)
		}
	}
}
