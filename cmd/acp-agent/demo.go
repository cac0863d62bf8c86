package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/client"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// demoCommand is a guided tour on a throw-away project, without a model, a key
// or the network.
type demoCommand struct {
	Yes bool `help:"Answer every question with yes; needs no terminal."`
}

// sample is the project of the tour.
var sample = map[string]string{
	"README.md": "# Greeter\n\nSays hello to whoever is named.\n",
	"src/greet.sh": `#!/bin/bash
# Greets everybody who is named.
for name in "$@"; do
  echo "Helo, $name!"
done
`,
	"src/names.txt": "Ada\nGrace\nLin\n",
}

// demo is a tour under way.
type demo struct {
	*process
	show    *screen
	folder  string // everything of the tour is in it
	project string
	agent   *client.Process
	session string
	running chan struct{} // closed when the command that is to be cancelled runs
}

// Run shows the agent as an editor drives it.
func (c *demoCommand) Run(p *process) (err error) {
	d := &demo{process: p, show: newScreen(p.out, p.out, colored(p.out, p.getenv)), running: make(chan struct{})}
	if d.show.yes = c.Yes; !c.Yes {
		if !term.IsTerminal(int(p.in.Fd())) {
			return &statusError{statusUsage, errors.New("the demo asks questions: run it in a terminal, or with --yes")}
		}
		d.show.answers = newAnswers(p.in)
	}
	if err := d.lay(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.folder)) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if d.show.answers != nil {
		defer context.AfterFunc(ctx, d.show.answers.cancel)()
	}
	for _, step := range []func(context.Context) error{d.begin, d.search, d.edit, d.command, d.cancel, d.again} {
		if err := step(ctx); err != nil {
			if d.agent != nil {
				err = explain(err, d.agent)
				_, _ = d.agent.Close() // the first error is the one to tell
			}
			if ctx.Err() != nil {
				d.show.end()
				return &statusError{Status: statusCancelled}
			}
			return err
		}
	}
	d.show.say("\nThat was the tour. `acp-agent setup` says how an editor launches the agent,\n`acp-agent login` gives it a model, and `acp-agent run` works in this terminal.")
	return nil
}

// lay writes the sample project into a folder that goes away with the tour.
func (d *demo) lay() error {
	folder, err := os.MkdirTemp("", "acp-agent-demo-")
	if err != nil {
		return err
	}
	if d.folder, err = filepath.EvalSymlinks(folder); err != nil {
		return err
	}
	d.project = filepath.Join(d.folder, "greeter")
	for name, text := range sample {
		path := filepath.Join(d.project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// start launches the agent with folders of its own, so that the tour neither
// sees nor leaves anything of the user's.
func (d *demo) start(ctx context.Context) error {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "ACP_AGENT_") || strings.HasPrefix(v, "XDG_")
	})
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		env = append(env, "XDG_"+name+"_HOME="+filepath.Join(d.folder, strings.ToLower(name)))
	}
	h := client.Handler{Update: d.update, RequestPermission: d.show.permission}
	agent, err := d.launch(ctx, d.project, env, []string{"--model", "commands/commands"}, h, jsonrpc.Options{})
	d.agent = agent
	return err
}

// update shows an update, and notes when a command runs.
func (d *demo) update(ctx context.Context, n acp.SessionNotification) {
	d.show.update(ctx, n)
	u, ok := n.Update.(acp.SessionToolCallUpdate)
	if !ok || u.Status != acp.ToolCallInProgress {
		return
	}
	d.show.mu.Lock()
	defer d.show.mu.Unlock()
	if c := d.show.calls[u.ToolCallID]; c != nil && strings.HasPrefix(c.title, "sleep") {
		select {
		case <-d.running:
		default:
			close(d.running)
		}
	}
}

func (d *demo) begin(ctx context.Context) error {
	d.show.say("acp-agent, shown as an editor sees it: it runs as a child process\nand speaks ACP over stdio. The project is a throw-away copy in\n%s.", d.project)
	if err := d.start(ctx); err != nil {
		return err
	}
	s, err := d.agent.NewSession(ctx, acp.NewSessionRequest{Cwd: d.project})
	d.session = s.SessionID
	return err
}

// prompt sends one message and returns why the turn ended.
func (d *demo) prompt(ctx context.Context, text string) (acp.StopReason, error) {
	d.show.say("\n> %s", text)
	r, err := d.agent.Prompt(ctx, acp.PromptRequest{SessionID: d.session, Prompt: []acp.ContentBlock{acp.TextContent{Text: text}}})
	d.show.end()
	return r.StopReason, err
}

func (d *demo) search(ctx context.Context) error {
	d.show.say("\n1. A search: it only reads, so nothing is asked.")
	_, err := d.prompt(ctx, "/grep Helo")
	return err
}

func (d *demo) edit(ctx context.Context) error {
	d.show.say("\n2. An edit: the diff is shown, and nothing is written before the answer.")
	_, err := d.prompt(ctx, `/edit src/greet.sh "Helo" "Hello"`)
	return err
}

func (d *demo) command(ctx context.Context) error {
	d.show.say("\n3. A command: it does more than read, so it is asked for.")
	_, err := d.prompt(ctx, "/run bash src/greet.sh $(cat src/names.txt)")
	return err
}

// cancel interrupts a command that would take long.
func (d *demo) cancel(ctx context.Context) error {
	d.show.say("\n4. A command that takes long, cancelled as soon as it runs: it ends with all its children.")
	var asked time.Time
	over := make(chan struct{})
	watched := make(chan error, 1)
	go func() { // ends with this function
		select {
		case <-d.running:
			asked = time.Now()
			watched <- d.agent.Cancel(ctx, acp.CancelNotification{SessionID: d.session})
		case <-over: // it was not allowed to run
			watched <- nil
		}
	}()
	stop, err := d.prompt(ctx, "/run sleep 60")
	close(over)
	if err := errors.Join(err, <-watched); err != nil {
		return err
	}
	if asked.IsZero() {
		d.show.say("The command did not run; the turn ended with %s.", stop)
		return nil
	}
	d.show.say("The turn was answered %q %d ms after the cancel.", stop, time.Since(asked).Milliseconds())
	return nil
}

// again ends the agent, starts it anew and loads the session.
func (d *demo) again(ctx context.Context) error {
	d.show.say("\n5. The agent ends and starts again, and the session is loaded: everything is still there.")
	if _, err := d.agent.Close(); err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	if _, err := d.agent.LoadSession(ctx, acp.LoadSessionRequest{SessionID: d.session, Cwd: d.project}); err != nil {
		return err
	}
	d.show.end()
	if _, err := d.agent.Close(); err != nil {
		return fmt.Errorf("ending the agent: %w", err)
	}
	return nil
}
