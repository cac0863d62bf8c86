// Package tools holds the tool contract, the registry and the built-in tools,
// one file each. A tool first prepares an action, which carries its card and
// the facts that permission is decided by, and runs only after that.
//
// It leaves out asking, reporting and recording, which are the session's
// (package session), and how a file or a process is reached in an editor
// (package acp): tools see the small interfaces Files and Shell.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/tools/sandbox"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// Spec is what is fixed about a tool.
type Spec struct {
	ID          string
	Aliases     []string // names of other agents' tools that resolve to it
	Description string   // prose the model reads
	SearchHint  string   // keywords for tool search
	// Title is the title of a call that could not be prepared. {NAME} stands for
	// an argument, which must then be there and a text. Empty: the ID.
	Title string
	// Guess is the card of such a call, without places, where no one title does: from
	// the input as the model wrote it, as far as that can be read. Without a title, or
	// where it is nil, Title holds.
	Guess      func(input string) kinds.Card
	Parameters json.RawMessage // JSON Schema of the input
	Kind       kinds.Kind      // of its calls, where nothing better is known yet
	ReadOnly   bool            // every call only reads: offered in plan mode
	AlwaysLoad bool            // of a server, and never kept back
	Requires   Requires
	MaxOutput  int // bytes of Result.Text; 0: DefaultMaxOutput
	Tail       int // bytes of MaxOutput that are kept from the end
	// Needs reports whether the workspace has what the tool works with; where it
	// has not, the tool is not offered to the model. Nil: nothing is needed.
	Needs func(*Workspace) bool
	Block bool // an interrupt waits for the call instead of ending it
}

// Requires is a tool's capability surface. Patterns may use the variables
// {workspace}, {ad-hoc} and {user-data}.
type Requires struct {
	Read, Write []string // path patterns
	Hosts       []string
	Shell       bool
}

// Tool is one tool. Prepare parses and checks the input, resolves paths and
// computes changes. It may read inside the workspace's roots; it never writes,
// starts a process or reaches the network. An error is for the model.
type Tool interface {
	Spec() *Spec
	Prepare(ctx context.Context, ws *Workspace, input json.RawMessage) (*Action, error)
}

// Action is a call ready to run: what is shown, what is judged, what is done.
type Action struct {
	kinds.Card
	kinds.Facts
	// Display is the folder of a terminal that the editor shows for the call,
	// where Workspace.Display says that it does; empty: none. What is in it,
	// Output.Display says, and not Result.Shown.
	Display string
	// RunAs, where it is set, makes Run run another text in place of the command
	// in Facts: what was judged of one that is allowed without asking
	// (security/policy.md, section 3). Cards and results go on showing the command.
	RunAs func(text string)
	// Confine, where it is set, says how far what Run starts is confined; before
	// it, as what nobody was asked about.
	Confine func(level sandbox.Level, git bool, ports []int)
	// Run does the work, at most once. It honours ctx, and returns only when
	// everything it started has ended or is owned by the session. show sends
	// live output; it may be called from any goroutine until Run returns.
	// An error says that the call failed, and why. The result beside it holds
	// what it came to until then, such as a command's output: its Text, Shown
	// and OutputPath are kept.
	Run func(ctx context.Context, show func(Output)) (Result, error)
}

// Output is live output of a running call.
type Output struct {
	TerminalID string // the editor's terminal that shows it; empty: Text
	Text       string // Markdown that replaces what was shown before
	Display    string // what goes on in the terminal of Action.Display
	Exit       *Exit  // how what that terminal shows ended
}

// Result is what a call came to.
type Result struct {
	Text       string           // what the model reads; the envelope's data
	Media      []Media          // what the model and the user see beside it
	Shown      string           // Markdown for the editor; empty: nothing beside changes and terminal
	TerminalID string           // the editor's terminal that shows it
	Locations  []kinds.Location // nil: the card's
	Changes    []kinds.Change   // nil: the card's
	Plan       *Plan            // nil: the plan stays
	Truncated  bool             // Text is not all there was
	OutputPath string           // the file that holds all of it, or more
	Metadata   map[string]any   // further entries of the envelope's metadata
}

// Media is an image, or a sound.
type Media struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Plan is the list of things to do that the editor shows.
type Plan struct{ Entries []PlanEntry }

// PlanEntry is one thing to do. Status is pending, in_progress or completed,
// Priority high, medium or low.
type PlanEntry struct {
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
}

// ContentError is an error of Prepare whose text shows something of a file's
// content. It reaches the model only where reading that path is allowed.
type ContentError struct {
	Path kinds.PathAccess // of access Read
	Err  error            // for the model, with the content
	Safe string           // what may be said without it
}

func (e *ContentError) Error() string { return e.Err.Error() }
func (e *ContentError) Unwrap() error { return e.Err }

// ErrNotFound is wrapped by Files where there is no such file.
var ErrNotFound = errors.New("no such file")

// Files reads and writes whole files: on the disk, or through the editor so
// that unsaved text is what is read and the editor tracks what is written.
type Files interface {
	// ReadFile returns the file's bytes. It fails with an error that wraps
	// fs.ErrNotExist where there is none, and never blocks on a file that is
	// not regular.
	ReadFile(ctx context.Context, p workspace.Path) ([]byte, error)
	// WriteFile replaces old by new, creating missing parents. Old is what the
	// file held when new was made from it, nil where it did not exist; if it
	// holds something else now, the error wraps workspace.ErrChanged and
	// nothing is written. It returns what the file holds afterwards, which is
	// not new where the editor formats on save.
	WriteFile(ctx context.Context, p workspace.Path, old, new []byte) ([]byte, error)
}

// Shell starts commands: as child processes, or in the editor's terminals.
type Shell interface {
	Start(ctx context.Context, c Command) (Process, error)
}

// Command is a command for a Shell: bash without its start-up files.
type Command struct {
	Text   string
	Dir    string    // absolute
	Output io.Writer // receives stdout and stderr together; may be called until Wait returns
	Linger bool      // the command lasts as long as anything that it started holds its output
	Level  sandbox.Level
	Git    bool  // it is git, as package sandbox means it
	Ports  []int // of this host, which is all it is to reach; as package sandbox means it

	// Further of child processes; the editor's terminals know none of it.
	Env    map[string]string // variables it gets beside the usual ones
	Stdin  *os.File          // nil: empty; stays the caller's
	Errors io.Writer         // receives stderr apart; nil: joins Output
}

// Process is a command that runs.
type Process interface {
	// TerminalID names the editor's terminal that shows the command; empty
	// where it is a child process.
	TerminalID() string
	// Wait returns when the command has ended and its output is complete, or
	// when ctx is done (with its cause). What the command left in the
	// background goes on until Close.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends the command and all its children at once.
	Kill()
	// Close ends what is left of it and frees it. Calling it again is fine.
	Close()
}

// Held is a Process that may be confined.
type Held interface {
	Held() Confinement
}

// Confinement is how a process is confined.
type Confinement = sandbox.Confined

// Fetcher is a Process whose output is elsewhere while it runs.
type Fetcher interface {
	// Fetch gives what came since the last time to the command's writer.
	Fetch(ctx context.Context)
}

// Exit is how a command ended: by its code, or by a signal's name.
type Exit struct {
	Code   int // below 0: not known
	Signal string
}

// Spool keeps output that is too large for the model, in the session's folder.
type Spool interface {
	// Create makes a new file of the session; what is written beyond
	// SpoolLimit bytes is dropped without an error.
	Create() (w io.WriteCloser, path string, err error)
}

// Limits of spec/tools.md, "The envelope", in bytes.
const (
	DefaultMaxOutput = 100 << 10
	SpoolLimit       = 64 << 20
)

// Workspace is what tools work with: one per session, safe for concurrent use.
type Workspace struct {
	*workspace.Roots       // the folders, and the resolution of paths
	Files            Files // editor buffers or disk
	Shell            Shell // editor terminals or child processes
	Display          bool  // the editor shows the output of child processes as terminals
	Jobs             *Jobs // what runs in the background
	Agents           Agents
	Catalog          Catalog   // tools that are kept back until they are looked for
	Spool            Spool     // for output that is too large
	Seen             *Seen     // what this session read, to notice changes
	PDF              PDF       // nil: PDF files are not read
	Web              Web       // nil: the web is not reached
	Search           Searcher  // nil: no search engine is configured
	Ask              Asker     // questions of the tools themselves, for the call that is prepared; nil: nobody is there
	Skills           Skills    // nil: there are none
	LSP              *lsp.View // nil: there are no language servers
	// Mode is the id of the session's mode as it is now; nil: there are no modes.
	Mode func() string
	// Readable says which files a call over many may show, where a rule keeps
	// some from being read; it returns nil where none does. Nil: all.
	Readable func() func(kinds.PathAccess) bool
}
