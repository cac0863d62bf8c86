package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/sandbox"
)

// Bash is the tool that runs a command (spec/tools.md, "bash"). What the command
// leaves in the background goes on until the shell is closed.
func Bash() Tool {
	return Func(Spec{
		ID:      "bash",
		Title:   "{command}",
		Aliases: []string{"Bash"},
		Description: `Runs one command with bash in a fresh process and returns standard output and standard error together, and the exit code where it is not 0.

- Nothing is kept between calls: no folder, no variable. Use cwd, or cd within the command.
- Standard input is empty, pagers and editors are disabled: nothing can be typed.
- The command and all it started end after timeout_ms.
- With background it goes on beside the conversation, for servers and watchers: the call returns at once with an id for task_output and task_stop. It ends when it is stopped, when timeout_ms is over (if given), or with the session; a cancelled turn leaves it running.
- Of long output you get the head and the tail; the whole is in a file that the result names.
- Prefer read, edit, write, glob and grep to cat, sed, find and grep: the user sees better what they do.`,
		SearchHint: "shell terminal command execute run process script build test git",
		Parameters: json.RawMessage(`{
	"type": "object",
	"properties": {
		"command": {"type": "string", "description": "the command, as for bash -c"},
		"description": {"type": "string", "description": "what it does, in 5 to 10 words, for the user"},
		"timeout_ms": {"type": "integer", "minimum": 1, "maximum": 600000, "description": "time limit in milliseconds; 120000 if not given"},
		"cwd": {"type": "string", "description": "the folder to run it in; the workspace's if not given"},
		"background": {"type": "boolean", "description": "return at once and let the command run on"}
	},
	"required": ["command"],
	"additionalProperties": false
}`),
		Kind:      kinds.KindExecute,
		Requires:  Requires{Shell: true},
		MaxOutput: bashOutput,
	}, prepareBash)
}

// Limits of a command.
const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	// maxCommand is what a system passes as one argument: 128 KiB on Linux.
	maxCommand = 100 << 10
	// showEvery is the pace of live output (spec/clients.md, rule 24).
	showEvery = 200 * time.Millisecond
)

type bashInput struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	TimeoutMS   int    `json:"timeout_ms"`
	CWD         string `json:"cwd"`
	Background  bool   `json:"background"`
}

func prepareBash(_ context.Context, ws *Workspace, in bashInput) (*Action, error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return nil, errors.New("bash: the command is empty: give the text to run")
	case strings.ContainsRune(in.Command, 0):
		return nil, errors.New("bash: the command has a NUL character, which cannot be passed: take it out")
	case len(in.Command) > maxCommand:
		return nil, fmt.Errorf("bash: the command has %d bytes, more than %d: write it to a file and run that", len(in.Command), maxCommand)
	}
	call := &bashCall{text: in.Command, runs: in.Command, limit: defaultTimeout}
	if in.Background {
		call.limit = 0
	}
	if in.TimeoutMS > 0 {
		call.limit = min(time.Duration(in.TimeoutMS)*time.Millisecond, maxTimeout)
	}
	var paths []kinds.PathAccess
	var err error
	if call.dir, paths, err = bashDir(ws, in.CWD); err != nil {
		return nil, fmt.Errorf("bash: %w", err)
	}
	action := &Action{
		Card:  call.card(ws, in.Description),
		Facts: kinds.Facts{Command: &kinds.Command{Text: in.Command, Dir: call.dir}, Paths: paths},
		RunAs: func(text string) { call.runs = text },
		Confine: func(level sandbox.Level, git bool, ports []int) {
			call.level, call.git, call.ports = level, git, ports
		},
		Run: func(ctx context.Context, show func(Output)) (Result, error) {
			if in.Background {
				return call.begin(ctx, ws)
			}
			return call.run(ctx, ws, show)
		},
	}
	if ws.Display && !in.Background {
		action.Display = call.dir
	}
	return action, nil
}

// bashDir is the folder to run in. One outside the roots is not looked at before
// it is allowed.
func bashDir(ws *Workspace, cwd string) (string, []kinds.PathAccess, error) {
	if cwd == "" {
		return ws.Dir(), nil, nil
	}
	p, err := ws.Resolve(cwd)
	if err != nil {
		return "", nil, fmt.Errorf("cwd: %w", err)
	}
	dir := p.Asked
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != p.Target {
		dir = p.Target // the name, cleaned, leads elsewhere: `link/..`
	}
	if !p.Inside {
		return dir, []kinds.PathAccess{{Access: kinds.List, Path: p.Asked, Target: p.Target}}, nil
	}
	if err := folderExists(p.Target); err != nil {
		return "", nil, fmt.Errorf("cwd: %w", err)
	}
	return dir, nil, nil
}

// folderExists says what is wrong with a folder to run in.
func folderExists(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: leave cwd out, or name one that does", kinds.Quote(dir))
	case err != nil:
		return fmt.Errorf("the folder %s cannot be used: %w", kinds.Quote(dir), err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: name the one it is in", kinds.Quote(dir))
	}
	return nil
}

// bashCall is one command that was prepared.
type bashCall struct {
	text  string // as the model wrote it, which is shown
	runs  string // what runs: the same, or what was judged of it
	dir   string
	limit time.Duration // 0: none
	level sandbox.Level
	git   bool
	ports []int
}

// command is what a shell is to start.
func (b bashCall) command(out io.Writer) Command {
	return Command{Text: b.runs, Dir: b.dir, Output: out, Level: b.level, Git: b.git, Ports: b.ports}
}

func (b bashCall) card(ws *Workspace, description string) kinds.Card {
	card := kinds.Execute(b.text)
	if b.dir != ws.Dir() {
		card.Text += "\n\nIn the folder " + kinds.Code(ws.Name(b.dir))
	}
	if d := kinds.Title(description); d != "" {
		card.Text += "\n\nThe model's description: " + kinds.Code(d)
	}
	return card
}

// errTimeout is the cause of the end of a command that took too long.
var errTimeout = errors.New("the command took too long")

func (b bashCall) run(ctx context.Context, ws *Workspace, show func(Output)) (Result, error) {
	if ws.Shell == nil {
		return Result{}, fmt.Errorf("bash: %w", ErrNoBash)
	}
	if err := folderExists(b.dir); err != nil {
		return Result{}, fmt.Errorf("bash: cwd: %w", err)
	}
	out := newCapture(ws.Spool)
	live := liveOutput{capture: out}
	if ws.Display {
		live.screen = newScreen()
	}
	p, err := ws.Shell.Start(ctx, b.command(live))
	if err != nil {
		return Result{}, fmt.Errorf("bash: %w", err)
	}
	limited, stop := context.WithTimeoutCause(ctx, b.limit, errTimeout)
	defer stop()
	exit, err := follow(limited, p, live, show)
	out.Close()
	if errors.Is(err, errTimeout) {
		err = b.tookTooLong()
	}
	r := b.result(p.TerminalID(), out, exit, err)
	if note := heldNote(p, exit, r.Text); note != "" && err == nil {
		r.Text = lastLine(r.Text, note)
	}
	if h, ok := p.(Held); ok && h.Held().After != nil {
		if note := h.Held().After(); note != "" {
			r.Text = lastLine(r.Text, "["+note+"]")
			// The user may have saved such a file meanwhile, and must see where it is.
			r.Shown = strings.TrimLeft(r.Shown+"\n\n"+kinds.Fence("", note), "\n")
		}
	}
	return r, err
}

// heldNote is what the model is told of a command that failed as one does that a
// sandbox keeps from something.
func heldNote(p Process, exit Exit, text string) string {
	h, ok := p.(Held)
	if !ok || exit == (Exit{}) || h.Held().Note == "" {
		return ""
	}
	files := signsOf(text, "Read-only file system", "EROFS", "Permission denied", "EACCES", "permission denied", "not permitted", "EPERM", "read-only file system", "resource busy", "EBUSY")
	network := signsOf(text, "Connection refused", "connection refused", "ECONNREFUSED", "Failed to connect",
		"unreachable", "ENETUNREACH", "resolve", "resolution", "ENOTFOUND", "EAI_AGAIN", "no such host", "dial tcp")
	if !files && !network {
		return ""
	}
	note := h.Held().Note
	if strings.Contains(text, ".git/") {
		note += "; git changes its repository only in a command that is git's alone: run it without other programs"
	}
	if network {
		note += "; what a rule lets use the network has it only in a command of its own: run it without other programs"
	}
	return "[" + note + "; if that is why it failed, say so to the user, who can change the sandbox's settings]"
}

// signsOf reports whether one of the signs is in a text.
func signsOf(text string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// signalled names the signal that ended a confined command, which what confines it
// tells as shells do, by a code.
func signalled(p Process, exit Exit) Exit {
	if h, ok := p.(Held); ok && h.Held().Note != "" && exit.Signal == "" {
		exit.Signal = process.SignalOf(exit.Code)
	}
	return exit
}

// follow waits for the command and shows its output meanwhile. When ctx ends,
// the command does, with its children.
func follow(ctx context.Context, p Process, out liveOutput, show func(Output)) (exit Exit, err error) {
	if id := p.TerminalID(); id != "" {
		defer p.Close() // the editor goes on showing what it was
		show(Output{TerminalID: id})
	} else {
		stop := out.showEvery(showEvery, show)
		defer func() { stop(exit, err) }()
	}
	exit, err = p.Wait(ctx)
	exit = signalled(p, exit)
	switch {
	case errors.Is(err, errTimeout):
		p.Close() // what comes next is not to meet what is left of it
	case err != nil:
		p.Kill() // at once: the user waits
	}
	return exit, err
}

func (b bashCall) tookTooLong() error {
	advice := fmt.Sprintf("raise timeout_ms, up to %d", maxTimeout.Milliseconds())
	if b.limit == maxTimeout {
		advice = "run it in smaller steps, or with background"
	}
	return fmt.Errorf("the command was still running after %v and was ended with all it started; its output so far is kept; %s", b.limit, advice)
}

// result is what the command came to. Of one that was ended, err says why.
func (b bashCall) result(terminal string, out *capture, exit Exit, err error) Result {
	text, truncated := out.Text()
	r := Result{TerminalID: terminal, Truncated: truncated, OutputPath: out.Path()}
	end := ending(exit)
	switch {
	case err != nil: // which the card tells beside what is shown
		r.Text, end = text, ""
	default:
		r.Text = lastLine(text, end)
		r.Metadata = map[string]any{}
		if exit.Code >= 0 {
			r.Metadata["exit_code"] = exit.Code
		}
		if exit.Signal != "" {
			r.Metadata["signal"] = exit.Signal
		}
	}
	shown := lastLine(excerpt(text), end)
	if shown == "" && err == nil {
		shown = "(no output)"
	}
	if shown != "" {
		r.Shown = b.whole(fenced(shown))
	}
	return r
}

// whole puts the command over what is shown of it in the end, where the title
// cannot hold all of it.
func (b bashCall) whole(shown string) string {
	if all := kinds.Execute(b.text).Untold(); all != "" {
		return all + "\n\n" + shown
	}
	return shown
}

// ending says how a command ended that did not end well.
func ending(exit Exit) string {
	switch {
	case exit.Signal == "SIGKILL":
		return "ended by signal SIGKILL, which the system sends too where memory runs out"
	case exit.Signal != "":
		return "ended by signal " + exit.Signal
	case exit.Code < 0:
		return "exit code: not known"
	case exit.Code != 0:
		return fmt.Sprintf("exit code: %d", exit.Code)
	}
	return ""
}

// lastLine puts a line under a text.
func lastLine(text, line string) string {
	if text != "" && line != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line
}
