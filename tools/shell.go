package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/acp-agent/acp-agent/tools/process"
	"github.com/acp-agent/acp-agent/tools/sandbox"
)

// ErrNoBash says that there is nothing to run commands with.
var ErrNoBash = errors.New("bash was not found: install it (on Windows: Git for Windows) or put its folder into PATH")

// ExecOptions are what an ExecShell's commands run in.
type ExecOptions struct {
	Environ []string            // the agent's; nil: that of the process
	Secrets []string            // names of further variables that no command gets: those of configured keys
	Set     map[string]*string  // variables that commands get; nil: are without
	Path    *process.SearchPath // where programs are looked for; nil: in Environ's PATH, with no root
	Guard   *process.Guard      // ends commands when the agent is killed; nil: none
	Box     *sandbox.Box        // confines commands, and is closed with the shell; nil: nothing does
}

// ExecShell runs commands as child processes, each as
// `bash --noprofile --norc -c TEXT` in a cleaned environment (security/policy.md,
// section 3). It keeps track of them until CloseAll. It is safe for concurrent
// use.
type ExecShell struct {
	environ   []string
	secrets   []string
	set       map[string]*string
	path      *process.SearchPath
	guard     *process.Guard
	box       *sandbox.Box
	processes process.Supervisor
}

// NewExecShell makes a shell; it looks for nothing yet.
func NewExecShell(o ExecOptions) *ExecShell {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Path == nil {
		o.Path = process.NewSearchPath(o.Environ, nil)
	}
	return &ExecShell{environ: o.Environ, secrets: o.Secrets, set: o.Set, path: o.Path, guard: o.Guard, box: o.Box}
}

// Available reports, without starting anything, why no command can run.
func (s *ExecShell) Available() error {
	kept, _ := process.RebuildPath(lookup(s.environ, "PATH"), nil)
	_, err := FindBash(kept, s.environ)
	return err
}

// Environment is what commands in a folder find in their environment.
func (s *ExecShell) Environment(dir string) []string {
	return process.Environment(s.environ, s.rules(dir))
}

// Bash is the bash that commands run in; empty: there is none.
func (s *ExecShell) Bash() string {
	kept, _ := s.path.Dirs()
	bash, err := FindBash(kept, s.environ)
	if err != nil {
		return ""
	}
	return bash
}

// Start runs the command. The first one may take as long as the login shell
// takes to say its PATH, where that has to be asked.
func (s *ExecShell) Start(ctx context.Context, c Command) (Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	kept, _ := s.path.Dirs()
	bash, err := FindBash(kept, s.environ)
	if err != nil {
		return nil, err
	}
	rules := s.rules(c.Dir)
	for name, value := range c.Env {
		rules.Set[name] = &value
	}
	confined, err := s.box.Confine(sandbox.Command{Path: bash, Args: []string{"--noprofile", "--norc", "-c", c.Text}, Level: c.Level, Git: c.Git, Ports: c.Ports})
	if err != nil {
		return nil, err
	}
	// Without a guard only commands of an agent that is killed live on.
	_ = s.processes.GuardBy(s.guard, bash)
	p, err := s.processes.Start(process.Command{
		Path:   confined.Path,
		Args:   confined.Args,
		Dir:    c.Dir,
		Env:    process.Environment(s.environ, rules),
		Stdin:  c.Stdin,
		Output: c.Output,
		Stderr: c.Errors,
		Linger: c.Linger,
		Gone:   confined.Done,
	})
	if err != nil {
		confined.Done()
		return nil, err
	}
	return execProcess{p, confined}, nil
}

// Script is the command as a bash script, for a terminal whose environment cannot
// be given: it cleans the environment as Start does, and then is the command as
// it was judged. The terminal must be given the variables in empty with no
// value, since they act before the first line.
func (s *ExecShell) Script(c Command) (Script, error) {
	confined, err := s.box.Confine(sandbox.Command{Level: c.Level, Git: c.Git, Ports: c.Ports, Terminal: true})
	if err != nil {
		return Script{}, err
	}
	var within []string
	if confined.Path != "" {
		within = append([]string{confined.Path}, confined.Args...)
	}
	mark, sweep := s.processes.Mark()
	text := process.Script(s.environ, s.rules(c.Dir), c.Text, mark, within, confined.Needs, s.box.Elsewhere())
	return Script{Text: text, Empty: process.EarlyNames(), Sweep: sweep, Held: confined, Done: confined.Done}, nil
}

// Script is a command for a terminal.
type Script struct {
	Text  string
	Empty []string // variables that the terminal is given without a value
	// Sweep ends what the command started and the terminal's end does not reach;
	// CloseAll does it too.
	Sweep func()
	Held  Confinement
	Done  func() // the terminal is no more; called once
}

// Holds reports whether commands find a variable of that name in their
// environment.
func (s *ExecShell) Holds(name string) bool {
	value, set := s.set[name]
	if set {
		return value != nil
	}
	return lookup(s.environ, name) != ""
}

// CloseAll ends all that its commands left running, and the login shell that is
// being asked for its PATH. No command starts
// afterwards.
func (s *ExecShell) CloseAll() {
	s.path.Close()
	s.processes.Close()
	s.box.Close()
}

// rules puts the rebuilt PATH, and the folder as the client spells it, into the
// environment of a command in dir.
func (s *ExecShell) rules(dir string) process.Rules {
	path := s.path.Value()
	set := map[string]*string{}
	maps.Copy(set, s.set)
	set["PATH"], set["PWD"] = &path, &dir
	return process.Rules{Secrets: s.secrets, Set: set}
}

// execProcess is a child process as tools see it.
type execProcess struct {
	*process.Process
	held Confinement
}

// Held says how the command is confined.
func (p execProcess) Held() Confinement { return p.held }

func (execProcess) TerminalID() string { return "" }

func (p execProcess) Wait(ctx context.Context) (Exit, error) {
	exit, err := p.Process.Wait(ctx)
	return Exit(exit), err
}

// FindBash is the absolute path of the bash that commands run in: the first in
// dirs, the folders of PATH, else one in its usual places. The error is
// ErrNoBash.
func FindBash(dirs, environ []string) (string, error) {
	if runtime.GOOS == "windows" {
		return gitBash(dirs, environ)
	}
	for _, dir := range append(dirs[:len(dirs):len(dirs)], "/bin", "/usr/bin", "/usr/local/bin") {
		name := filepath.Join(dir, "bash")
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return name, nil
		}
	}
	return "", ErrNoBash
}

// gitBash is the bash that comes with Git for Windows. The one in Windows'
// system folder is another system's, whose paths are not the workspace's.
func gitBash(dirs, environ []string) (string, error) {
	var bases []string
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "git.exe")); err == nil {
			bases = append(bases, filepath.Dir(dir))
		}
	}
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		if dir := lookup(environ, name); dir != "" {
			bases = append(bases, filepath.Join(dir, "Git"))
		}
	}
	if dir := lookup(environ, "LocalAppData"); dir != "" {
		bases = append(bases, filepath.Join(dir, "Programs", "Git"))
	}
	for _, base := range bases {
		for _, below := range []string{"bin", filepath.Join("usr", "bin")} {
			name := filepath.Join(base, below, "bash.exe")
			if _, err := os.Stat(name); err == nil {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("%w; looked beside git and in %s", ErrNoBash, strings.Join(bases, ", "))
}

// lookup is the value of a variable, whose name is compared in any letter case
// on Windows.
func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		n, v, ok := strings.Cut(entry, "=")
		if ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			value = v
		}
	}
	return value
}
