package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// LSP are the settings of the language servers. A time of 0 is not set.
type LSP struct {
	Disabled        bool
	Servers         map[string]LanguageServer // by name
	DiagnosticsWait *time.Duration            // 0: edits wait for no verdict; nil: not set
	RequestTimeout  time.Duration
	StartTimeout    time.Duration
	IdleStop        time.Duration
}

// LanguageServer is a new server, or what is different of the built-in one of that
// name.
type LanguageServer struct {
	Command     []string          `json:"command"`
	Extensions  []string          `json:"extensions"`
	LanguageID  string            `json:"languageId"`
	RootMarkers []string          `json:"rootMarkers"`
	Options     any               `json:"initializationOptions"`
	Settings    any               `json:"settings"`
	Env         map[string]string `json:"env"`
	Disabled    bool              `json:"disabled"`
}

// readLSPEnabled takes lsp.enabled.
func readLSPEnabled(r *reader, v hujson.Value) error {
	var on bool
	if err := decode(v, &on); err != nil {
		return errors.New("must be true or false")
	}
	r.config.LSP.Disabled = !on
	return nil
}

// readLanguageServers takes lsp.servers. One that is wrong is left out and told of.
func readLanguageServers(r *reader, v hujson.Value) error {
	var servers map[string]LanguageServer
	if err := decode(v, &servers); err != nil {
		return fmt.Errorf("must be an object of {command, extensions, languageId, rootMarkers, initializationOptions, settings, env, disabled}: %w", err)
	}
	if r.config.LSP.Servers == nil {
		r.config.LSP.Servers = map[string]LanguageServer{}
	}
	for name, s := range servers {
		if err := s.check(); err != nil {
			r.tell(v.StartOffset, "the language server %s %v; it is left out", name, err)
			continue
		}
		r.config.LSP.Servers[name] = s
	}
	return nil
}

// check says what is wrong with a server's settings.
func (s LanguageServer) check() error {
	if len(s.Command) > 0 && strings.TrimSpace(s.Command[0]) == "" {
		return errors.New("has an empty command")
	}
	for _, e := range s.Extensions {
		if !strings.HasPrefix(e, ".") || len(e) < 2 {
			return fmt.Errorf("has the extension %q, which must begin with a dot", e)
		}
	}
	return nil
}

// readDiagnosticsWait takes lsp.diagnosticsWaitMs.
func readDiagnosticsWait(r *reader, v hujson.Value) error {
	return integer(0, func(c *Config, n int) {
		wait := milliseconds(n)
		c.LSP.DiagnosticsWait = &wait
	})(r, v)
}
