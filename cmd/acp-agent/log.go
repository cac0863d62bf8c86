package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
)

// logLevels are the values of log.level.
var logLevels = map[string]slog.Level{"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug}

// openLog is the log: a file, made when the first line is written; never
// stdout, and not stderr, which editors show as an error. No secret gets into it
// (policy section 12).
func (p *process) openLog(paths config.Paths, file string, secrets *kinds.Redactor) (*slog.Logger, func()) {
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
	know := sync.OnceFunc(func() { // only now: most runs log nothing
		secrets.KnowEnvironment(os.Environ())
		secrets.Know(paths.StoredKeys()...)
		for _, name := range cfg.Secrets() {
			secrets.Know(p.getenv(name))
		}
	})
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		know()
		return redactAttr(secrets, a)
	}}
	return slog.New(slog.NewTextHandler(out, o)), out.close
}

// redactAttr is an attribute of a log's line without its secrets, whatever its
// value is.
func redactAttr(secrets *kinds.Redactor, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString, slog.KindAny:
		text := a.Value.String()
		if kinds.SecretName(a.Key) && text != "" {
			text = a.Key + "=" + text
			_, text, _ = strings.Cut(secrets.Text(text), "=")
			return slog.String(a.Key, text)
		}
		return slog.String(a.Key, secrets.Text(text))
	}
	return a
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
		if err == nil {
			err = onlyMine(f.file)
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

// onlyMine takes the rights of others from a log that was there before.
func onlyMine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return err
	}
	return f.Chmod(0o600)
}
