// Command acp-agent is a coding agent that editors launch over the Agent Client
// Protocol, and the few commands that set it up and look after it. This package
// reads the command line, the environment and signals, and wires the parts
// together; one file a command.
//
// It leaves out everything that an editor or a model is told (packages acp and
// session).
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/alecthomas/kong"
)

// grammar is the command line: a command is a field, and a Run method on its
// type that takes what it needs of *process.
type grammar struct {
	Agent       agentCommand       `cmd:"" name:"acp" aliases:"serve" default:"withargs" help:"Be the agent, for an editor, on stdin and stdout."`
	Run         runCommand         `cmd:"" help:"Do what a prompt asks, in this terminal."`
	Demo        demoCommand        `cmd:"" help:"Show what the agent does, on a throw-away project."`
	Setup       setupCommand       `cmd:"" help:"Show what an editor needs to launch the agent."`
	Doctor      doctorCommand      `cmd:"" help:"Check the model, credentials, database, tools, language servers, configuration and trust."`
	Login       loginCommand       `cmd:"" help:"Store the key of a model's provider."`
	Logout      logoutCommand      `cmd:"" help:"Forget stored keys."`
	MCP         mcpCommand         `cmd:"" name:"mcp" help:"Offer the language servers to another agent, over MCP on stdin and stdout."`
	Trust       trustCommand       `cmd:"" help:"Trust a folder and its settings as they are now."`
	Permissions permissionsCommand `cmd:"" help:"List, add, remove and test the rules for what is asked about."`
	Explain     explainCommand     `cmd:"" help:"Say what decides whether a call is asked about: the rule, the mode, the layer."`
	Version     versionCommand     `cmd:"" help:"Show the version."`
	ReadPDF     readPDFCommand     `cmd:"" name:"read-pdf" hidden:""`

	ShowVersion versionFlag `name:"version" help:"Show the version."`
}

// process is what the system gave this run of the program.
type process struct {
	in          *os.File
	out, errout *os.File // out is where results go; for the agent, the protocol alone
	getenv      func(name string) string
}

// Statuses that the program ends with, beside 0.
const (
	statusFailed = 1
	statusUsage  = 2 // the command line was not understood
)

// statusError is an error that asks for an exit status other than
// statusFailed. Without Err it ends the program silently: all was said.
type statusError struct {
	Status int
	Err    error
}

func (e *statusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *statusError) Unwrap() error { return e.Err }

func main() {
	p := &process{in: os.Stdin, out: os.Stdout, errout: os.Stderr, getenv: os.Getenv}
	os.Stdout = os.Stderr // what anything else prints must not get into the protocol
	os.Exit(p.finish(p.run(os.Args[1:])))
}

// run does what the arguments say.
func (p *process) run(args []string) error {
	if len(args) > 1 && args[0] == confineWord {
		return confine(args[1:])
	}
	if p.byHand(args) {
		return p.introduce()
	}
	if startAgent(args) {
		return (&agentCommand{}).Run(p)
	}
	return p.parse(args)
}

// parse runs the command that the arguments name.
func (p *process) parse(args []string) error {
	var g grammar
	parser, err := kong.New(&g,
		kong.Name("acp-agent"),
		kong.Description("A coding agent for editors that speak the Agent Client Protocol (ACP)."),
		kong.Writers(p.out, p.errout),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		return fmt.Errorf("the grammar of the command line: %w", err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		return &statusError{statusUsage, fmt.Errorf("%w\n`acp-agent%s --help` shows what there is", err, commandOf(err))}
	}
	return command.Run(p)
}

// commandOf is the command that a mistake was made in, with a blank before it;
// empty where it was made before any.
func commandOf(err error) string {
	mistake, ok := errors.AsType[*kong.ParseError](err)
	if !ok || mistake.Context == nil || mistake.Context.Selected() == nil || len(mistake.Context.Args) == 0 {
		return ""
	}
	name := mistake.Context.Selected().Name
	if mistake.Context.Args[0] != name {
		return "" // the command that stands for none
	}
	return " " + name
}

// finish says what went wrong and returns the exit status.
func (p *process) finish(err error) int {
	if err == nil {
		return 0
	}
	status, silent := statusFailed, false
	if s, ok := errors.AsType[*statusError](err); ok {
		status, silent = s.Status, s.Err == nil
	}
	if !silent {
		fmt.Fprintln(p.errout, "acp-agent: "+(*kinds.Redactor)(nil).Keys(err.Error()))
	}
	return status
}
