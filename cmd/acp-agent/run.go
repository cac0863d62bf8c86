package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/client"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/editors"
)

// runCommand is one turn in the terminal, with the agent as a child process as
// an editor would have it.
type runCommand struct {
	Prompt []string `arg:"" optional:"" help:"What to do; without it, stdin is read."`
	Model  string   `help:"The model to ask." placeholder:"PROVIDER/MODEL"`
	Mode   string   `help:"What is asked before it is done: default, acceptEdits, plan, dontAsk or bypassPermissions." placeholder:"MODE"`
	Dir    string   `short:"C" help:"The folder to work in, instead of this one." placeholder:"FOLDER"`
	JSON   bool     `name:"json" help:"Print the protocol's session updates, one JSON object a line."`
}

// Help is what --help says beside the flags.
func (*runCommand) Help() string {
	return "The answer goes to stdout; calls and questions go to stderr. Where no person can answer, what asks is refused. " +
		"Exit status: 0 the turn ended, 1 an error, 2 the model refused or something was not permitted, 130 cancelled."
}

// Exit statuses of run beside 0 and statusFailed (spec/sessions-models.md,
// "Headless").
const (
	statusDenied    = 2
	statusCancelled = 130
)

// Run asks the agent once. It ends with status 0 where the turn ended by itself,
// 2 where something was refused, 130 where it was cancelled.
func (c *runCommand) Run(p *process) error {
	prompt, err := c.prompt(p)
	if err != nil {
		return err
	}
	dir, err := folder(c.Dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	show := newScreen(p.out, p.errout, colored(p.errout, p.getenv))
	show.together = sameFile(p.out, p.errout)
	if term.IsTerminal(int(p.in.Fd())) && len(c.Prompt) > 0 {
		show.answers = newAnswers(p.in)
	}
	handler := client.Handler{Update: show.update, RequestPermission: show.permission}
	if show.answers != nil {
		handler.CreateElicitation = show.elicitation
	}
	options := jsonrpc.Options{}
	if c.JSON {
		handler.Update = nil
		options.Observe = jsonUpdates(p.out)
	}
	agent, err := p.launch(ctx, dir, nil, c.agentArgs(), handler, options)
	if err != nil {
		return err
	}
	response, err := c.turn(ctx, agent, dir, prompt, show.answers, stop)
	show.end()
	_, closeErr := agent.Close()
	if err != nil {
		return explain(err, agent)
	}
	if closeErr != nil {
		return closeErr
	}
	return statusOf(response.StopReason, show.denied)
}

func (c *runCommand) prompt(p *process) (string, error) {
	if len(c.Prompt) > 0 {
		return strings.Join(c.Prompt, " "), nil
	}
	if term.IsTerminal(int(p.in.Fd())) {
		return "", &statusError{statusUsage, errors.New(`what is to be done? acp-agent run "PROMPT", or the prompt on stdin`)}
	}
	text, err := io.ReadAll(p.in)
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = &statusError{statusUsage, errors.New("the prompt on stdin is empty")}
	}
	return string(text), err
}

// sameFile reports whether what is written to both is seen in one place.
func sameFile(a, b *os.File) bool {
	if term.IsTerminal(int(a.Fd())) && term.IsTerminal(int(b.Fd())) {
		return true
	}
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// folder is the absolute path of one that exists.
func folder(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s", path)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", path)
	}
	return path, nil
}

func (c *runCommand) agentArgs() []string {
	if c.Model == "" {
		return nil
	}
	return []string{"--model", c.Model}
}

// turn opens a session and sends the prompt. The first interrupt cancels the
// turn, the second one ends everything.
func (c *runCommand) turn(ctx context.Context, agent *client.Process, dir, prompt string, a *answers, stop func()) (acp.PromptResponse, error) {
	none := acp.PromptResponse{}
	s, err := agent.NewSession(ctx, acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		return none, err
	}
	if c.Mode != "" {
		if _, err := agent.SetMode(ctx, acp.SetSessionModeRequest{SessionID: s.SessionID, ModeID: c.Mode}); err != nil {
			return none, err
		}
	}
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() { // ends with this function
		defer close(watched)
		for n := 0; ; n++ {
			select {
			case <-interrupts:
			case <-ended:
				return
			}
			if n > 0 {
				stop()
				return
			}
			a.cancel()
			_ = agent.Cancel(ctx, acp.CancelNotification{SessionID: s.SessionID}) // a lost agent ends the turn anyway
		}
	}()
	response, err := agent.Prompt(ctx, acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.TextContent{Text: prompt}}})
	close(ended)
	<-watched
	return response, err
}

// launch starts this program as an agent and introduces itself to it.
func (p *process) launch(ctx context.Context, dir string, env, args []string, h client.Handler, o jsonrpc.Options) (*client.Process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find my own program to start it: %w", err)
	}
	agent, err := client.Command{Path: exe, Args: append([]string{"acp"}, args...), Env: env, Dir: dir, Options: o}.Start(ctx, h)
	if err != nil {
		return nil, err
	}
	can := acp.ClientCapabilities{}
	if h.CreateElicitation != nil {
		can.Elicitation = &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}
	}
	_, err = agent.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersion, ClientCapabilities: can,
		ClientInfo: &acp.Implementation{Name: editors.CommandLine, Version: version()}})
	if err != nil {
		err = explain(err, agent)
		_, _ = agent.Close() // the first error is the one to tell
		return nil, err
	}
	return agent, nil
}

// explain is an error as a person reads it: what the agent answered, without
// the protocol around it, or what it said on stderr where it is gone.
func explain(err error, agent *client.Process) error {
	if answered, ok := errors.AsType[*jsonrpc.Error](err); ok && answered.Message != "" {
		return errors.New(answered.Message)
	}
	if text := strings.TrimSpace(agent.Stderr()); text != "" {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return err
}

// jsonUpdates prints the lines that carry updates.
func jsonUpdates(out io.Writer) func(jsonrpc.Direction, []byte) {
	return func(dir jsonrpc.Direction, line []byte) {
		var m struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if dir == jsonrpc.In && json.Unmarshal(line, &m) == nil && m.Method == acp.MethodSessionUpdate {
			fmt.Fprintf(out, "%s\n", m.Params)
		}
	}
}

// statusOf is the exit status that a turn's end asks for.
func statusOf(stop acp.StopReason, denied bool) error {
	switch stop {
	case acp.StopCancelled:
		return &statusError{Status: statusCancelled}
	case acp.StopRefusal:
		return &statusError{statusDenied, errors.New("the model refused")}
	case acp.StopMaxTokens:
		return errors.New("the answer was cut at the model's limit of tokens")
	case acp.StopMaxTurnRequests:
		return errors.New("the turn was ended at its limit of model requests; maxTurnRequests in the configuration raises it")
	}
	if denied {
		return &statusError{Status: statusDenied}
	}
	return nil
}
