package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/acp-agent/acp-agent/acp"
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
	log, closeLog := p.openLog(paths, c.LogFile)
	defer closeLog()
	slog.SetDefault(log) // whatever a dependency logs
	registry, err := tools.NewRegistry(tools.Builtin()...)
	if err != nil {
		return err
	}
	sessions := session.New(session.Options{Paths: paths, Tools: registry, Model: c.Model, Getenv: p.getenv, Log: log, PDF: pdfReader()})
	err = acp.Serve(ctx, p.in, p.out, acp.Options{Sessions: sessions, Version: version(), Log: log})
	if errors.Is(err, context.Canceled) {
		return nil // a signal asked for it
	}
	return err
}

// logLevels are the values of log.level.
var logLevels = map[string]slog.Level{"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug}

// openLog is the log: a file, made when the first line is written; never
// stdout, and not stderr, which editors show as an error.
func (p *process) openLog(paths config.Paths, file string) (*slog.Logger, func()) {
	cfg, _ := config.Load(config.LoadOptions{Paths: paths})
	level, ok := logLevels[p.getenv("ACP_AGENT_LOG_LEVEL")]
	if !ok {
		level = logLevels[cfg.LogLevel]
	}
	if file == "" {
		file = cfg.LogFile
	}
	if file == "" {
		file = filepath.Join(paths.State, "acp-agent.log")
	}
	out := &lateFile{path: file}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), out.close
}

// lateFile is a file that is opened for its first line. Where it cannot be, the
// lines are lost: nothing that an editor watches may carry them.
type lateFile struct {
	path string
	file *os.File
	lost bool
}

// Write appends; the handler calls it one line at a time.
func (f *lateFile) Write(line []byte) (int, error) {
	if f.file == nil && !f.lost {
		err := os.MkdirAll(filepath.Dir(f.path), 0o700)
		if err == nil {
			f.file, err = os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		}
		f.lost = err != nil
	}
	if f.lost {
		return io.Discard.Write(line)
	}
	return f.file.Write(line)
}

func (f *lateFile) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}
