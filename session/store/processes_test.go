package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// childEnv makes the test binary do one of children instead of testing.
const childEnv = "STORE_TEST_CHILD"

// children are what a second process does with the database at path. They
// print a line for each thing that is done.
var children = map[string]func(path string) error{
	"append": func(path string) error { return appendMany(path, 1<<30) },
	"some":   func(path string) error { return appendMany(path, 100) },
	"lease":  leaseUntilEOF,
	"open": func(path string) error {
		s, err := Open(context.Background(), path)
		if err != nil {
			return err
		}
		fmt.Printf("recovered %q\n", s.Recovered())
		return errors.Join(s.Create(context.Background(), Session{ID: NewID("ses_")}), s.Close())
	},
}

func TestMain(m *testing.M) {
	if name, path, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		if err := children[name](path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func appendMany(path string, n int) error {
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range n {
		m := Message{ID: fmt.Sprintf("%d-%d", os.Getpid(), i), SessionID: "a", Role: "user", Parts: []Part{part("1", "x"), part("2", "y")}}
		if err := s.Append(context.Background(), m); err != nil {
			return err
		}
		put := part("3", strings.Repeat("z", i%5000))
		put.MessageID = m.ID
		if err := s.PutPart(context.Background(), "a", put); err != nil {
			return err
		}
		fmt.Println(m.ID)
	}
	return nil
}

func leaseUntilEOF(path string) error {
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	if _, err := s.Lease(context.Background(), "a"); err != nil {
		return err
	}
	fmt.Println("leased")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// child is a second process at work.
type child struct {
	*exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
	errs  strings.Builder
}

func startChild(t *testing.T, name, path string) *child {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := &child{Cmd: exec.Command(exe)}
	c.Env = append(os.Environ(), childEnv+"="+name+" "+path)
	c.Stderr = &c.errs
	out, err := c.StdoutPipe()
	must(t, err)
	c.lines = bufio.NewScanner(out)
	c.stdin, err = c.StdinPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return c
}

// TestKilledWhileAppending: what was acknowledged is there after a kill, and
// each message is whole or absent.
func TestKilledWhileAppending(t *testing.T) {
	for round := range 5 {
		path := filepath.Join(t.TempDir(), "sessions.db")
		s, err := Open(t.Context(), path)
		must(t, err)
		must(t, s.Create(t.Context(), Session{ID: "a"}))
		must(t, s.Close())
		c := startChild(t, "append", path)
		var acknowledged []string
		for len(acknowledged) < 50+37*round && c.lines.Scan() {
			acknowledged = append(acknowledged, c.lines.Text())
		}
		must(t, c.Process.Kill())
		for c.lines.Scan() { // what was still in the pipe
			if strings.HasPrefix(c.lines.Text(), fmt.Sprint(c.Process.Pid)) {
				acknowledged = append(acknowledged, c.lines.Text())
			}
		}
		_ = c.Wait()
		if c.errs.Len() > 0 {
			t.Fatal(c.errs.String())
		}

		s = openAt(t, path)
		if s.Recovered() != "" {
			t.Fatal("the database was damaged")
		}
		got, err := s.Messages(t.Context(), "a")
		must(t, err)
		if len(got) < len(acknowledged) || len(got) > len(acknowledged)+1 {
			t.Fatalf("%d messages, %d acknowledged", len(got), len(acknowledged))
		}
		for i, m := range got {
			last := i >= len(acknowledged)
			if !last && (m.ID != acknowledged[i] || len(m.Parts) != 3) || last && len(m.Parts) < 2 {
				t.Fatalf("message %d: %s with %d parts", i, m.ID, len(m.Parts))
			}
		}
		must(t, s.Append(t.Context(), Message{ID: "after", SessionID: "a"}))
	}
}

func TestTwoProcessesWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := openAt(t, path)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	one, two := startChild(t, "some", path), startChild(t, "some", path)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 25 {
				if err := s.Append(t.Context(), Message{ID: fmt.Sprint("here", g, "-", i), SessionID: "a"}); err != nil {
					t.Error(err)
				}
				if _, err := s.Messages(t.Context(), "a"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, c := range []*child{one, two} {
		for c.lines.Scan() {
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, c.errs.String())
		}
	}
	got, err := s.Messages(t.Context(), "a")
	if err != nil || len(got) != 300 {
		t.Errorf("%d messages, %v", len(got), err)
	}
}

func TestLeaseEndsWithItsProcess(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	must(t, s.Create(ctx, Session{ID: "a"}))
	c := startChild(t, "lease", s.Path())
	if !c.lines.Scan() || c.lines.Text() != "leased" {
		t.Fatalf("%q %s", c.lines.Text(), c.errs.String())
	}
	_, err := s.Lease(ctx, "a")
	leased, ok := errors.AsType[*LeasedError](err)
	if !ok || leased.PID != c.Process.Pid || leased.Here {
		t.Fatalf("Lease: %v, the other is %d", err, c.Process.Pid)
	}
	must(t, c.Process.Kill())
	_ = c.Wait()
	release, err := s.Lease(ctx, "a")
	must(t, err)
	release()
}

// TestOpenedByManyAtOnce: of processes that find no database, or a damaged one,
// one makes it and all use it.
func TestOpenedByManyAtOnce(t *testing.T) {
	for _, content := range []string{"", "this is no database\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "sessions.db")
		if content != "" {
			must(t, os.WriteFile(path, []byte(content), 0o600))
		}
		var all []*child
		for range 4 {
			all = append(all, startChild(t, "open", path))
		}
		recovered := 0
		for _, c := range all {
			for c.lines.Scan() {
				if strings.HasPrefix(c.lines.Text(), "recovered ") && !strings.HasSuffix(c.lines.Text(), `""`) {
					recovered++
				}
			}
			if err := c.Wait(); err != nil {
				t.Errorf("%v: %s", err, c.errs.String())
			}
		}
		aside, err := filepath.Glob(path + ".damaged-*")
		must(t, err)
		want := min(len(content), 1)
		if len(aside) != want || recovered != want {
			t.Errorf("%d put aside (%v), %d told, want %d", len(aside), aside, recovered, want)
		}
		if ids, _ := list(t, openAt(t, path), Filter{}); len(ids) != 4 {
			t.Errorf("%d sessions", len(ids))
		}
	}
}
