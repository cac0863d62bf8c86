package store

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestLease(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	must(t, s.Create(ctx, Session{ID: "a"}))
	must(t, s.Create(ctx, Session{ID: "b"}))
	release, err := s.Lease(ctx, "a")
	must(t, err)
	other := openAt(t, s.Path())
	for name, st := range map[string]*Store{"same store": s, "another store": other} {
		_, err := st.Lease(ctx, "a")
		leased, ok := errors.AsType[*LeasedError](err)
		if !ok || !errors.Is(err, ErrLeased) || leased.PID != os.Getpid() || !leased.Here {
			t.Errorf("%s: %v", name, err)
		}
	}
	releaseB, err := other.Lease(ctx, "b")
	must(t, err)
	release()
	release()
	second, err := other.Lease(ctx, "a")
	must(t, err)
	release() // must not end the lease of the other
	if _, err := s.Lease(ctx, "a"); !errors.Is(err, ErrLeased) {
		t.Errorf("after a second release: %v", err)
	}
	must(t, other.Close()) // ends what it holds
	for _, id := range []string{"a", "b"} {
		if _, err := s.Lease(ctx, id); err != nil {
			t.Errorf("after Close: %v", err)
		}
	}
	second()
	releaseB()
}

// plant writes a lease as another process would.
func plant(t *testing.T, s *Store, id, space string, p process, taken time.Time) {
	t.Helper()
	_, err := s.conn.ExecContext(t.Context(), `INSERT OR REPLACE INTO chat_leases VALUES (?, 'lea_x', ?, ?, ?, ?)`,
		id, space, p.pid, p.started, taken.UnixNano())
	must(t, err)
}

func TestLeaseOfOthers(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	now := time.Now()
	long := now.Add(-time.Hour)
	parent := os.Getppid()
	started, ok := startOf(parent)
	if !ok {
		t.Fatal("the parent process does not run")
	}
	here := s.ownSpace()
	for _, c := range []struct {
		name    string
		space   string
		process process
		taken   time.Time
		message bool // came just now
		held    bool
	}{
		{"one that runs", here, process{parent, started}, long, false, true},
		{"its start not known", here, process{parent, ""}, long, false, true},
		{"an earlier one of that id", here, process{parent, "an earlier start"}, now, false, started == ""},
		{"one that ended", here, process{1 << 30, "5"}, now, false, false},
		{"elsewhere, just taken", "elsewhere", process{1 << 30, "5"}, now, false, true},
		{"elsewhere, at work", "elsewhere", process{1 << 30, "5"}, long, true, true},
		{"elsewhere, idle for long", "elsewhere", process{1 << 30, "5"}, long, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, s.Create(ctx, Session{ID: c.name, Created: long}))
			if c.message {
				must(t, s.Append(ctx, Message{ID: "m", SessionID: c.name}))
			}
			plant(t, s, c.name, c.space, c.process, c.taken)
			release, err := s.Lease(ctx, c.name)
			if errors.Is(err, ErrLeased) != c.held {
				t.Fatalf("Lease: %v, held %v", err, c.held)
			}
			if err == nil {
				release()
			}
		})
	}
}

func TestOwnProcess(t *testing.T) {
	me := ownProcess()
	if !me.running() {
		t.Error("this process does not run")
	}
	if (process{me.pid, me.started + "x"}).running() && me.started != "" {
		t.Error("a process with another start passes for this one")
	}
	if me.started == "" {
		t.Log("this system does not tell when a process started")
	}
}

func TestLeasedErrorSaysWhatToDo(t *testing.T) {
	err := fmt.Errorf("x: %w", &LeasedError{SessionID: "s", PID: 7})
	if want := "x: session s is in use by another acp-agent (process 7): close it there, or begin a new session"; err.Error() != want {
		t.Error(err)
	}
}
