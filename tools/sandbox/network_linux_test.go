package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// awaited is output that a test waits for.
type awaited struct {
	word string
	done chan struct{}
	mu   sync.Mutex
	buf  bytes.Buffer
	once sync.Once
}

func (a *awaited) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.buf.Write(p)
	if bytes.Contains(a.buf.Bytes(), []byte(a.word)) {
		a.once.Do(func() { close(a.done) })
	}
	return len(p), nil
}

// background starts a command confined and waits for a word of its output.
func (p *project) background(level Level, text, word string) Confined {
	p.t.Helper()
	c, err := p.box.Confine(Command{Path: "/bin/bash", Args: []string{"--noprofile", "--norc", "-c", text}, Level: level})
	must(p.t, err)
	out := &awaited{word: word, done: make(chan struct{})}
	child, err := p.processes.Start(process.Command{Path: c.Path, Args: c.Args, Dir: p.root, Env: p.env, Output: out, Linger: true, Gone: c.Done})
	must(p.t, err)
	ctx, cancel := context.WithTimeout(p.t.Context(), 60*time.Second)
	defer cancel()
	ended := make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		_, _ = child.Wait(ctx)
	}()
	select {
	case <-out.done:
	case <-ended:
		out.mu.Lock()
		defer out.mu.Unlock()
		p.t.Fatalf("it ended: %s", out.buf.String())
	}
	return c
}

// withAttacker gives the project's commands the test program as $A.
func (p *project) withAttacker() {
	program, err := os.Executable()
	must(p.t, err)
	attacker := filepath.Join(p.home, "attacker")
	must(p.t, copyFile(program, attacker))
	p.env = append(p.env, "A="+attacker+" "+attackWord, "R="+p.root, "O="+p.outside, "H="+p.home, "D="+p.own, "P="+strconv.Itoa(os.Getpid()))
}

// freePort is a port that nobody listens at on the host, as far as that can be
// said.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	return port
}

// Commands that ran unasked reach each other's servers, and neither the host's nor
// those of another session.
func TestCommandsOfASessionShareANetwork(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		if w == files {
			t.Skip("Landlock alone refuses sockets, since it knows ports and not hosts")
		}
		p, other := newProject(t, w, nil), newProject(t, w, nil)
		p.withAttacker()
		other.env = append(other.env, p.env[len(p.env)-6:]...)
		port := freePort(t)
		held := p.background(Unasked, "exec $A serve "+port, "listening")
		if !strings.Contains(held.Listens, "without an outside") {
			t.Errorf("it says %q", held.Listens)
		}
		dial := "$A dial tcp 127.0.0.1:" + port
		for _, level := range []Level{Unasked, Reads} {
			if out, _ := p.run(level, false, dial); !strings.Contains(out, "ESCAPED") {
				t.Errorf("level %d: it is not reached: %s", level, out)
			}
		}
		if out, _ := p.run(Unasked, false, "exec 3<>/dev/tcp/localhost/"+port+"; head -c 2 <&3"); out != "in" {
			t.Errorf("by bash: %q", out)
		}
		for name, run := range map[string]func() (string, int){
			"approved": func() (string, int) { return p.run(Approved, false, dial) },
			"another session": func() (string, int) {
				must(t, copyFile(filepath.Join(p.home, "attacker"), filepath.Join(other.home, "attacker")))
				return other.run(Unasked, false, strings.ReplaceAll(dial, "$A", filepath.Join(other.home, "attacker")+" "+attackWord))
			},
		} {
			if out, _ := run(); strings.Contains(out, "ESCAPED") {
				t.Errorf("%s reaches it", name)
			}
		}
		if c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
			c.Close()
			t.Error("it is reached on the host")
		}
	})
}

// The network that commands share gives nobody power over it.
func TestNobodyChangesTheSharedNetwork(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		if w == files {
			t.Skip("there is no network")
		}
		p := newProject(t, w, nil)
		p.withAttacker()
		p.env = append(p.env, listeners(t, p)...)
		for _, level := range []Level{Unasked, Reads} {
			for name, text := range map[string]string{
				"interfaces": `$A linkdown; unshare -Ur $A linkdown; unshare -Urn true; unshare -Ur sh -c "$A linkdown"`,
				"raw":        `$A rawsocket; unshare -Ur $A rawsocket`,
				"host":       `$A dial tcp $TCP; unshare -Ur $A dial tcp $TCP; $A dial unix @$ABSTRACT`,
				"namespaces": `$A setnsnet $P; $A setnsnet 1; unshare -Ur $A setnsnet $P; for f in /proc/$P/fd/*; do $A setnsfile $f; nsenter --net=$f $A dial tcp $TCP; done`,
				"inherited":  `$A descriptors`,
			} {
				out, _ := p.run(level, false, text)
				if strings.Contains(out, "ESCAPED") {
					t.Errorf("level %d, %s:\n%s", level, name, out)
				}
			}
			out, _ := p.run(level, false, `cat /proc/self/net/dev; cat /proc/self/net/route /proc/self/net/ipv6_route`)
			for line := range strings.Lines(out) {
				if name, _, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "lo" && strings.Contains(line, ": ") {
					t.Errorf("level %d: there is an interface %s", level, line)
				}
			}
		}
	})
}

// An approved command that only talks to this host goes where its server is.
func TestApprovedCommandsFindServersOfTheSession(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		if w == files {
			t.Skip("there is no network of the session")
		}
		p := newProject(t, w, nil)
		p.withAttacker()
		at := freePort(t)
		port, err := strconv.Atoi(at)
		must(t, err)
		confine := func(ports ...int) Confined {
			c, err := p.box.Confine(Command{Path: "/bin/true", Level: Approved, Ports: ports})
			must(t, err)
			c.Done()
			return c
		}
		const inside = "a network without an outside"
		if c := confine(port); strings.Contains(c.Note, inside) {
			t.Errorf("nobody listens: %q", c.Note)
		}
		p.background(Unasked, "exec $A serve "+at, "listening")
		for _, ports := range [][]int{{port}, {port, port}} {
			if c := confine(ports...); !strings.Contains(c.Note, inside) {
				t.Errorf("%v: %q", ports, c.Note)
			}
		}
		p.ports = []int{port}
		if out, _ := p.run(Approved, false, "$A dial tcp 127.0.0.1:"+at+"; cat .env"); !strings.Contains(out, "ESCAPED") || !strings.Contains(out, p.secret) {
			t.Errorf("it says %s", out)
		}
		for _, ports := range [][]int{nil, {1}, {port, 1}} {
			if c := confine(ports...); strings.Contains(c.Note, inside) || !strings.Contains(c.Note, "not that of the sandbox") {
				t.Errorf("%v: %q", ports, c.Note)
			}
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+at)
		must(t, err)
		defer l.Close()
		if c := confine(port); strings.Contains(c.Note, inside) {
			t.Errorf("the host has one too: %q", c.Note)
		}
	})
}

// Commands of a session do not get at each other but by the network and files.
func TestCommandsDoNotGetAtEachOther(t *testing.T) {
	t.Setenv("SANDBOX_TEST_MARK", "1")
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		p.withAttacker()
		p.env = append(p.env, "SANDBOX_TEST_MARK=1")
		p.background(Unasked, `echo $$ > pid; ulimit -c 0; exec $A park`, "parked")
		pid, err := os.ReadFile(filepath.Join(p.root, "pid"))
		must(t, err)
		name := "acp-agent-test-" + strconv.Itoa(os.Getpid())
		for _, level := range []Level{Unasked, Reads} {
			out, _ := p.run(level, false, "N="+strings.TrimSpace(string(pid))+`; $A memory $N; $A environ $N; $A ptrace $N; echo x > /dev/shm/`+name)
			// Where there are no namespaces of processes, numbers of its own mean itself.
			if strings.Contains(out, "ESCAPED") && w != bubblewrap {
				t.Errorf("level %d: %s", level, out)
			}
		}
		if path := filepath.Join("/dev/shm", name); w != files && exists(path) {
			os.Remove(path)
			t.Error("they share memory with the host")
		}
	})
}

// A session whose network cannot be shared has commands with one each.
func TestWithoutASharedNetwork(t *testing.T) {
	old := enterPlaces
	enterPlaces = nil
	defer func() { enterPlaces = old }()
	p := newProject(t, bubblewrap, nil)
	c, err := p.box.Confine(Command{Path: "/bin/true"})
	must(t, err)
	defer c.Done()
	if !strings.Contains(c.Note, "start it in the command that uses it") || !strings.Contains(c.Listens, "of its own") {
		t.Errorf("it says %q, %q", c.Note, c.Listens)
	}
	if out, code := p.run(Unasked, false, "true"); code != 0 {
		t.Error(out)
	}
}

func BenchmarkNetwork(b *testing.B) {
	for _, w := range ways[:2] {
		b.Run(w.String(), func(b *testing.B) {
			prober := only(b, w)
			prober.network().close()
			for b.Loop() {
				n := prober.network()
				if n == nil {
					b.Fatal(fmt.Errorf("there is none"))
				}
				n.close()
			}
		})
	}
}
