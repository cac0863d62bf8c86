// Package sandbox confines the commands that the agent starts, so that what a
// rule or a mode let through unasked does no more than it should: the session's
// folders are writable, the rest of the system can only be read, and files that
// choose what other programs run stay as they are (security/policy.md, section
// 13, 10.4 and 10.5).
//
// How far a command is confined depends on who let it through:
//
//   - Reads: the built-in table of commands that only read. Nothing is writable
//     but a private temporary folder; secret files are masked; no network.
//   - Unasked: a mode or a rule. The session's folders, the folders of
//     sandbox.writable, a private temporary folder and the known caches of build
//     tools are writable; protected files in them are not, and one that the
//     command makes in a folder that was there is put aside when it has ended
//     (what it left running, or a background command, is only told of: the user
//     may have made it meanwhile); secret files are masked; no network unless
//     sandbox.network says so, but one without an outside, in which the session's
//     commands of these two levels reach each other; no sockets of the host, no
//     sight of other processes.
//   - Approved: the user said yes to this call, or a rule names a use of the
//     network as such (`git push *`). It has the network, the host's sockets (an
//     ssh agent) and the user's keys, and may also write where tools are
//     installed below the home folder; what is outside of that, the agent's own
//     folders and the protected files that are there stay as they are. A command
//     that is git's may change what git must.
//   - Free: what the user approved though it goes beyond all that by its own
//     words, such as a write outside of the project. It is not confined.
//
// What does the confining is bubblewrap where it is installed and works, else
// this program itself, run anew as a helper that uses the kernel's namespaces and
// Landlock; where there are no namespaces for this user, Landlock alone, which
// cannot protect single files in a writable folder. On other systems there is
// nothing, and Status says so. Mode On refuses commands where not all of it holds.
//
// It leaves out which commands may run at all (package session/permission): a
// confined command has passed the rules as any other.
package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Mode says whether commands are confined (spec/config-keys.md, sandbox.mode).
// The empty one is Auto.
type Mode string

// The modes.
const (
	Auto Mode = "auto" // where the system can
	On   Mode = "on"   // refused where it cannot
	Off  Mode = "off"
)

// Level is how far a command is confined. The package's comment says what each
// means.
type Level int

// The levels. The zero value is what an unknown command gets.
const (
	Unasked Level = iota
	Reads
	Approved
	Free
)

// Guard is how a name is protected against writes (security/policy.md, 10.5).
type Guard int

// The guards.
const (
	Open    Guard = iota
	Guarded       // unless git itself changes it
	Never         // whoever asks
)

// Names tells which names are protected and which are secret. The names of a path
// are those below a root, or all of an absolute one.
type Names struct {
	Guard  func(names []string) Guard
	Secret func(names []string) bool
}

// Options are what a session's commands are confined to. All paths are absolute.
type Options struct {
	Mode     Mode
	Network  bool     // commands that ran unasked have the network
	Roots    []string // the session's folders
	Writable []string // further folders
	Own      []string // the agent's own folders, which no command changes
	Secrets  []string // files of the agent that no command reads
	Home     string   // empty: not known
	Getenv   func(name string) string
	Names    Names
	Prober   *Prober // what the system can; shared by all sessions
}

// Box confines the commands of one session. A nil Box confines nothing. It is
// safe for concurrent use.
type Box struct {
	o     Options
	roots []string // links resolved, and none inside of another

	once sync.Once // fills temp
	temp string    // a private folder; empty: there is none

	netOnce sync.Once               // fills net
	net     atomic.Pointer[network] // of the commands that have no other; nil: there is none

	mu     sync.Mutex
	scans  map[string]*tree
	places places
	late   []string // what to tell with the next command

	asked atomic.Uint64 // how often the user approved something
}

// New makes a box; it looks at nothing yet.
func New(o Options) *Box {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Names.Guard == nil {
		o.Names.Guard = func([]string) Guard { return Open }
	}
	if o.Names.Secret == nil {
		o.Names.Secret = func([]string) bool { return false }
	}
	if o.Prober == nil {
		o.Prober = &Prober{}
	}
	return &Box{o: o, roots: outermost(resolveAll(o.Roots)), scans: map[string]*tree{}}
}

// Command is a program to be confined.
type Command struct {
	Path  string   // absolute; empty: whoever runs it adds it, and what follows it
	Args  []string // without the program's name
	Level Level
	Git   bool // it is git, and may change what git must
	// Ports are those of this host that it is to reach, and nothing else by the
	// network; empty: anything. An approved one is then where a server of the
	// session listens.
	Ports []int
	// Terminal: it runs in a terminal that somebody else has made, and is to be
	// away from its input.
	Terminal bool
}

// Confined is the program to run in place of a command.
type Confined struct {
	Path string
	Args []string
	// Note says how the command is confined, for what it may fail at; empty: it is
	// not.
	Note string
	// Listens says who reaches what it listens at; empty: whoever reaches the host.
	Listens string
	// Needs are files that confining needs, which another host may not have.
	Needs []string
	// After is called once the command itself has ended. It puts aside what the
	// command made though it must not, and says so for the model; empty: nothing.
	After func() string
	// Done frees what the confinement holds; it is called once, when the command
	// has ended with all it left running.
	Done func()
}

// ErrUnavailable is wrapped by the errors that mode On refuses with.
var ErrUnavailable = errors.New("the sandbox is set to \"on\" and cannot confine commands here")

// Confine is the command as it is to be run. An error says why it must not run.
func (b *Box) Confine(c Command) (Confined, error) {
	plain := Confined{Path: c.Path, Args: c.Args, After: func() string { return "" }, Done: func() {}}
	if c.Level == Approved || c.Level == Free {
		b.Granted()
	}
	if b == nil || b.o.Mode == Off || c.Level == Free {
		return plain, nil
	}
	can := b.o.Prober.probe()
	if b.o.Mode == On && !can.whole() {
		return plain, fmt.Errorf("%w: %s; %s, or set sandbox.mode to \"auto\"", ErrUnavailable, can.lacking(), can.advice())
	}
	if can.way == none {
		return plain, nil
	}
	w := b.watch(c, can.way)
	p, done := b.plan(can.way, c)
	var args []string
	if c.Terminal {
		args = append(args, "--new-session")
	}
	args = append(args, "--")
	if c.Path != "" {
		args = append(args, c.Path)
	}
	words := can.confine(p, append(args, c.Args...)...)
	got := Confined{Path: words[0], Args: words[1:], Note: p.note(), Listens: p.listens(), Needs: []string{words[0], can.program}, After: plain.After, Done: done}
	if p.join != nil {
		_, path := p.join.within()
		got.Needs = append(got.Needs, path)
	}
	if w != nil {
		got.After, got.Done = w.undo, both(done, w.noteLate)
	}
	return got, nil
}

// note says how the plan confines.
func (p *plan) note() string {
	where := "it could write to the project, a temporary folder ($TMPDIR) and the caches of build tools only"
	if p.level == Reads {
		where = "it could write to a temporary folder ($TMPDIR) only"
	}
	return "it ran in a sandbox: it " + p.reaches() + "; " + where + ", and not to files that choose what other programs run"
}

// reaches says whom the command reaches by the network.
func (p *plan) reaches() string {
	switch {
	case p.network && p.apart:
		return "had the host's network, and not that of the sandbox, where the servers are that commands started which ran unasked"
	case p.network:
		return "had the network"
	case p.join != nil:
		return "had a network without an outside: it reached servers of other commands that had it too, and none on the host, such as one that the user or a command that they approved has started"
	case p.way == files:
		return "had no network, not even for servers on this host"
	}
	return "had no network, and reached no server of another command, nor they its own: to use a server, start it in the command that uses it"
}

// listens says who reaches what the command listens at.
func (p *plan) listens() string {
	switch {
	case p.network:
		return ""
	case p.join != nil:
		return "it runs in a network without an outside: commands that run in the sandbox unasked reach what it listens at, and nobody else does, neither a browser nor a command that the user approves"
	case p.way == files:
		return "it runs without the network, and cannot listen"
	}
	return "it runs in a network of its own: no other command reaches what it listens at; to use a server, start it in the command that uses it"
}

// Says is what a request for permission tells of the sandbox for a command that
// would run at the level: a short line.
func (b *Box) Says(level Level) string {
	if b == nil || b.o.Mode == Off {
		return "sandbox: off"
	}
	can := b.o.Prober.probe()
	switch {
	case b.o.Mode == On && !can.whole():
		return "sandbox: it would be refused, since the sandbox is \"on\" and not whole here"
	case can.way == none:
		return "no sandbox on this system: " + can.lacking()
	case level == Free:
		return "sandbox: not for this command, which goes beyond it"
	}
	text := "sandbox: on (" + can.way.String() + ")"
	if can.way == files {
		text = "sandbox: files only (" + can.way.String() + "); " + can.lacking()
	}
	if level == Approved || b.o.Network {
		text += ", with the network"
	}
	return text
}

// Elsewhere is bash text for where a command is to run on a host that has not what
// confines it here: it says so, and refuses where it must.
func (b *Box) Elsewhere() string {
	if b == nil || b.o.Mode == Off {
		return ""
	}
	if b.o.Mode == On {
		return "echo 'acp-agent: what confines commands is not where this terminal runs, and the sandbox is \"on\": nothing was run' >&2\nexit 126\n"
	}
	return "echo 'acp-agent: what confines commands is not where this terminal runs: this one is not confined' >&2\n"
}

// Masks reports whether commands that run unasked cannot read secret files.
func (b *Box) Masks() bool {
	return b != nil && b.o.Mode != Off && b.o.Prober.probe().masks()
}

// Masked looks at what commands that run unasked cannot read, and returns what
// tells it of a path: secrets of the session's folders and of the home, and the
// agent's own files. It holds for what is there now, makes nothing, and knows no
// file by another of its names.
func (b *Box) Masked() func(path string) bool {
	if !b.Masks() {
		return func(string) bool { return false }
	}
	p := &plan{way: b.o.Prober.probe().way, level: Reads, mounts: map[string]mount{}}
	for _, root := range b.roots {
		b.maskSecrets(p, Command{}, b.scan(root))
	}
	b.homeMounts(p)
	b.ownMounts(p)
	return func(path string) bool {
		path = resolved(path)
		for _, m := range p.mounts {
			if m.form == hidden && within(m.path, path) {
				return true
			}
		}
		return false
	}
}

// Close removes what the box made.
func (b *Box) Close() {
	if b == nil {
		return
	}
	b.once.Do(func() {}) // makes none any more
	removeTemp(b.temp)
	b.netOnce.Do(func() {})
	b.net.Load().close()
}

// names are the names of a path below a folder.
func names(dir, path string) []string {
	rel := strings.Trim(strings.TrimPrefix(path, dir), "/")
	if rel == "" {
		return nil
	}
	return strings.Split(rel, "/")
}
