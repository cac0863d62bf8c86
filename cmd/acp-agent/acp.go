package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/tools"
)

// agentCommand is the agent itself, speaking the protocol on stdin and stdout.
type agentCommand struct {
	Model   string `help:"The model of new sessions." placeholder:"PROVIDER/MODEL"`
	LogFile string `help:"Write the log to this file." type:"path" placeholder:"FILE"`
}

// Run serves one editor until stdin closes or a signal asks for the end.
func (c *agentCommand) Run(p *process) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// An editor that is gone fails a write, which ends the agent as the end of
	// its input does; the signal would kill it, with what it runs left behind.
	// Ignored, it would be ignored by the commands it starts, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	paths := config.NewPaths(p.getenv)
	secrets := &kinds.Redactor{}
	log, closeLog := p.openLog(paths, c.LogFile, secrets)
	defer closeLog()
	slog.SetDefault(log) // whatever a dependency logs
	registry, err := tools.NewRegistry(tools.Builtin()...)
	if err != nil {
		return err
	}
	sessions := session.New(session.Options{Paths: paths, Tools: registry, Model: c.Model, Getenv: p.getenv, Log: log, Secrets: secrets, PDF: pdfReader(), Sandbox: prober()})
	err = acp.Serve(ctx, p.in, p.out, acp.Options{Sessions: sessions, Version: version(), Log: log})
	if errors.Is(err, context.Canceled) {
		return nil // a signal asked for it
	}
	return err
}
