package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-agent/acp-agent/tools/process"
)

// agentWord makes the test program an agent that runs daemons until it is killed.
const agentWord = "sandbox-agent"

// daemons are ways in which a program leaves who started it. Each is to hold the
// lock, say so, and live on.
var daemons = []string{
	`hold; sleep 1000`,
	`hold; exec sleep 1000`,
	`setsid bash -c 'hold; sleep 1000' & wait`,
	`(setsid bash -c 'hold; sleep 1000' &) ; sleep 1000`,
	`env -i setsid /bin/bash -c "$(declare -f hold)"'; trap "" HUP TERM INT QUIT; (hold; exec -a init /bin/sleep 1000) & disown; exit' & wait; sleep 1000`,
	`(trap "" HUP; hold; cd /; exec </dev/null; (exec setsid -f /usr/bin/env -i /bin/sleep 1000) )`,
	`nohup bash -c 'hold; while :; do sleep 1 & wait; done'`,
}

const holdText = `hold() { exec 9<lock && flock -s 9 && echo held; }; export -f hold; `

// beAgent confines the daemons at each level in a way, says when all of them run,
// and waits to be killed.
func beAgent(wayName, root string) {
	program, err := os.Executable()
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	fail(err)
	prober := &Prober{Helper: []string{program, helperWord}, Avoid: func(other string) bool { return other != wayName }}
	box := New(Options{Roots: []string{root}, Names: testNames, Prober: prober})
	var guard process.Guard
	var s process.Supervisor
	for _, level := range []Level{Unasked, Reads, Approved} {
		for _, text := range daemons {
			c, err := box.Confine(Command{Path: "/bin/bash", Args: []string{"--noprofile", "--norc", "-c", holdText + text}, Level: level})
			fail(err)
			_, err = s.Start(process.Command{Path: c.Path, Args: c.Args, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}, Output: os.Stdout, Linger: true})
			fail(err)
			fail(s.GuardBy(&guard, "/bin/bash"))
		}
	}
	_, _ = io.ReadAll(os.Stdin)
}

// All that a confined command has started ends when the agent is killed, and
// what stood in the place of absent files is removed by the next one.
func TestNothingOutlivesAnAgentThatIsKilled(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		miss(t, "flock is not installed")
	}
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		must(t, os.WriteFile(filepath.Join(p.root, "lock"), nil, 0o644))
		program, err := os.Executable()
		must(t, err)
		out := &counted{word: "held", want: 3 * len(daemons), done: make(chan struct{})}
		cmd := exec.Command(program, agentWord, w.String(), p.root)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		stdin, err := cmd.StdinPipe()
		must(t, err)
		defer stdin.Close()
		must(t, cmd.Start())
		ended := make(chan struct{})
		go func() { // ends with the agent and all that holds its output
			_ = cmd.Wait()
			close(ended)
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		select {
		case <-out.done:
		case <-ctx.Done():
			t.Error("not all of them run")
		case <-ended:
			t.Error("it ended")
		}
		_ = cmd.Process.Kill()
		lock, err := os.Open(filepath.Join(p.root, "lock"))
		must(t, err)
		defer lock.Close()
		free := make(chan error, 1)
		go func() { free <- unix.Flock(int(lock.Fd()), unix.LOCK_EX) }() // ends when nobody holds it
		select {
		case err := <-free:
			must(t, err)
		case <-ctx.Done():
			t.Fatalf("something lives on; they said:\n%s", out.buf.String())
		}
		p.run(Unasked, false, "true")
		p.run(Unasked, true, "true")
		p.wantGone(t, ".vscode", ".acp-agent", ".husky", ".git/config.worktree", ".git/commondir")
	})
}

// counted waits for a word to come a number of times.
type counted struct {
	word string
	want int
	done chan struct{}
	buf  bytes.Buffer
	full bool
}

// Write is called by one goroutine at a time.
func (c *counted) Write(p []byte) (int, error) {
	c.buf.Write(p)
	if !c.full && bytes.Count(c.buf.Bytes(), []byte(c.word)) >= c.want {
		c.full = true
		close(c.done)
	}
	return len(p), nil
}
