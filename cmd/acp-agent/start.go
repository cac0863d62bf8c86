package main

import (
	"fmt"

	"golang.org/x/term"
)

// startAgent says whether the arguments ask for the agent and nothing else. It
// is decided without the parser of the command line, which would take longer
// than all the rest of the start.
func startAgent(args []string) bool {
	return len(args) == 0 || len(args) == 1 && (args[0] == "acp" || args[0] == "serve")
}

// byHand says whether a person started the program in a terminal without
// saying what for.
func (p *process) byHand(args []string) bool {
	return len(args) == 0 && term.IsTerminal(int(p.in.Fd()))
}

// introduce tells that person what the program is.
func (p *process) introduce() error {
	_, err := fmt.Fprintln(p.out, `acp-agent is a coding agent that editors launch over the Agent Client Protocol.

  acp-agent demo          shows what it does
  acp-agent setup         shows how an editor launches it
  acp-agent run "PROMPT"  works in this terminal
  acp-agent --help        lists the rest`)
	return err
}
