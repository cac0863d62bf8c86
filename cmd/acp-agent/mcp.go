package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/tools"
)

// mcpCommand serves the tool that asks language servers to any other agent, over
// the Model Context Protocol on stdin and stdout.
type mcpCommand struct {
	Folder  string `arg:"" optional:"" default:"." help:"The project; without one, this folder."`
	LogFile string `help:"Write the log to this file." type:"path" placeholder:"FILE"`
}

// Run serves one client until stdin closes or a signal asks for the end.
func (c *mcpCommand) Run(p *process) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := folder(c.Folder)
	if err != nil {
		return err
	}
	paths := config.NewPaths(p.getenv)
	secrets := &kinds.Redactor{}
	log, closeLog := p.openLog(paths, c.LogFile, secrets)
	defer closeLog()
	slog.SetDefault(log)
	for _, problem := range paths.Open(dir).Problems {
		fmt.Fprintln(p.errout, problem)
	}
	tool := tools.LanguageServers()
	registry, err := tools.NewRegistry(tool)
	if err != nil {
		return err
	}
	sessions := session.New(session.Options{Paths: paths, Tools: registry, Getenv: p.getenv, Log: log, Secrets: secrets})
	defer sessions.Shutdown(context.WithoutCancel(ctx))
	s, err := sessions.New(ctx, session.Request{Dir: dir})
	if err != nil {
		return err
	}
	m := server.NewMCPServer("acp-agent", version(), server.WithRecovery(), server.WithToolCapabilities(false))
	m.AddTool(offeredTool(tool.Spec()), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return served(ctx, s, tool.Spec().ID, r)
	})
	err = server.NewStdioServer(m).Listen(ctx, p.in, p.out)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// offeredTool is a tool as the protocol describes it. It changes files only in two
// of its operations, and nothing outside of the project.
func offeredTool(spec *tools.Spec) mcp.Tool {
	t := mcp.NewToolWithRawSchema(spec.ID, spec.Description, spec.Parameters)
	no, yes := false, true
	t.Annotations = mcp.ToolAnnotation{Title: "Language servers", ReadOnlyHint: &no, DestructiveHint: &yes, OpenWorldHint: &no}
	return t
}

// served is what came of a call; a failure is one of the tool, not of the protocol.
func served(ctx context.Context, s *session.Session, tool string, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	input, err := json.Marshal(r.GetArguments())
	if err != nil {
		return nil, err
	}
	env := s.Serve(ctx, tool, input)
	if env.IsError() {
		return mcp.NewToolResultError(env.Rendering()), nil
	}
	return mcp.NewToolResultText(env.Rendering()), nil
}
