package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/acp-agent/acp-agent/tools/process"
)

// network is a network namespace that the commands of a session share: it has a
// loopback and nothing else, so they reach each other and nobody else. No process
// holds it but this one, by descriptors, so it is gone with this one, however that
// ends, and with the commands in it.
//
// It belongs to the user namespace that it was made in, or where this process may
// do without one, to this process's own. Commands are in neither with any
// capability that could change it: they run in user namespaces below, or without
// the capabilities.
type network struct {
	enter string   // the program that enters it
	net   *os.File // the namespace
	user  *os.File // the user namespace that it belongs to; nil: this process's
}

// enterPlaces are where the program is that enters namespaces, of util-linux.
var enterPlaces = []string{"/usr/bin/nsenter", "/bin/nsenter", "/usr/local/bin/nsenter", "/run/current-system/sw/bin/nsenter"}

// network makes one; nil where the system cannot, and each command has its own.
func (p *Prober) network() *network {
	can := p.probe()
	if can.way < namespaces {
		return nil
	}
	n, err := can.newNetwork()
	if err != nil {
		return nil
	}
	p.netOnce.Do(func() { p.joins = can.works(n) == nil })
	if !p.joins {
		n.close()
		return nil
	}
	return n
}

// newNetwork has a process make the namespaces, and takes hold of them while it
// waits.
func (a ability) newNetwork() (*network, error) {
	at := slices.IndexFunc(enterPlaces, exists)
	if at < 0 {
		return nil, errors.New("nsenter is not installed")
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	defer ours.Close() // ends the process
	var s process.Supervisor
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	said := &firstLine{done: cancel}
	args := slices.Clone(a.first)
	if a.way != bubblewrap {
		args = append(args, "--way", a.way.String())
	}
	args = append(args, "--ro-bind", "/", "/", "--unshare-net")
	if a.root {
		args = append(args, "--cap-drop", "ALL")
	}
	_, err = s.Start(process.Command{Path: a.program, Args: append(args, "--", "/bin/sh", "-c", "echo $$; read -r _"), Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Stdin: theirs, Output: said, Linger: true, Gone: cancel})
	if err != nil {
		return nil, err
	}
	<-ctx.Done()
	pid, err := strconv.Atoi(said.text())
	if err != nil {
		return nil, fmt.Errorf("the process that was to make a network said %q", said.text())
	}
	return hold(enterPlaces[at], pid)
}

// hold takes hold of the network namespace of a process, which must not be this
// one's.
func hold(enter string, pid int) (*network, error) {
	net, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	n := &network{enter: enter, net: net}
	if sameNamespace(net, "/proc/self/ns/net") {
		n.close()
		return nil, errors.New("it is the host's network")
	}
	owner, err := unix.IoctlRetInt(int(net.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		n.close()
		return nil, fmt.Errorf("asking whose the network is: %w", err)
	}
	unix.CloseOnExec(owner)
	n.user = os.NewFile(uintptr(owner), "user namespace")
	if sameNamespace(n.user, "/proc/self/ns/user") {
		n.user.Close()
		n.user = nil
	}
	return n, nil
}

// sameNamespace reports whether a namespace is the one at the path, or cannot be told from it.
func sameNamespace(f *os.File, path string) bool {
	one, err := f.Stat()
	if err != nil {
		return true
	}
	other, err := os.Stat(path)
	return err != nil || os.SameFile(one, other)
}

// within is what a program is started with so that it runs in the network, and
// the path that must be there for it.
func (n *network) within() (args []string, path string) {
	at := func(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }
	args = []string{n.enter, "--net=" + at(n.net)}
	if n.user != nil {
		args = append(args, "--user="+at(n.user), "--preserve-credentials")
	}
	return append(args, "--"), at(n.net)
}

// listening are the ports that TCP servers in the network listen at.
func (n *network) listening() map[int]bool {
	var s process.Supervisor
	defer s.Close()
	words, _ := n.within()
	out := process.NewTail(1 << 20)
	p, err := s.Start(process.Command{Path: words[0], Args: append(append(words[1:], "/bin/cat"), tcpTables...), Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Output: out})
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	if _, err := p.Wait(ctx); err != nil { // its code is 1 where there is no IPv6
		return nil
	}
	return listenedAt(string(out.Bytes()))
}

// listening are those of this process's network.
func listening() map[int]bool {
	text := ""
	for _, path := range tcpTables {
		data, _ := os.ReadFile(path)
		text += string(data)
	}
	return listenedAt(text)
}

// tcpTables are proc_net_tcp(5): a line each socket, with its address and state.
var tcpTables = []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}

// listenedAt are the ports that such tables say somebody listens at.
func listenedAt(text string) map[int]bool {
	const listens = "0A"
	ports := map[int]bool{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listens {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
			ports[int(port)] = true
		}
	}
	return ports
}

func (n *network) close() {
	if n == nil {
		return
	}
	n.net.Close()
	if n.user != nil {
		n.user.Close()
	}
}

// firstLine keeps what is written and calls done at the first line's end.
type firstLine struct {
	done func()
	mu   sync.Mutex
	buf  bytes.Buffer
}

// Write never fails.
func (l *firstLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p)
	if bytes.IndexByte(p, '\n') >= 0 {
		l.done()
	}
	return len(p), nil
}

func (l *firstLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.buf.String())
}
