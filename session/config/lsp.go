package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// LSP are the settings of the language servers. A time or limit of 0 is not set.
type LSP struct {
	Disabled        bool
	Servers         map[string]LanguageServer // by name
	DiagnosticsWait *time.Duration            // 0: edits wait for no verdict; nil: not set
	RequestTimeout  time.Duration
	StartTimeout    time.Duration
	IdleStop        time.Duration
	MemoryLimit     int64 // bytes; below 0: none
}

// LanguageServer is a new server, or what is different of the built-in one of that
// name. What is nil or empty is not set.
type LanguageServer struct {
	Command     []string
	Extensions  []string
	LanguageID  string
	RootMarkers []string
	Options     any
	Settings    any
	Env         map[string]string
	Disabled    bool
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

// readLanguageServers takes lsp.servers. One that is wrong is left out and told of,
// with its place.
func readLanguageServers(r *reader, v hujson.Value) error {
	servers, ok := v.Value.(*hujson.Object)
	if !ok {
		return errors.New("must be an object of servers by name, each {" + strings.Join(serverKeys(), ", ") + "}")
	}
	if r.config.LSP.Servers == nil {
		r.config.LSP.Servers = map[string]LanguageServer{}
	}
	for _, m := range servers.Members {
		name := m.Name.Value.(hujson.Literal).String()
		s, err := readLanguageServer(r, "lsp.servers."+name, m.Value)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			r.tell(m.Value.StartOffset, "lsp.servers.%s%v; this server is left out", name, err)
			continue
		}
		r.config.LSP.Servers[name] = s
	}
	return nil
}

// readLanguageServer reads one server, key by key, so that a mistake is told with
// the key that it is in. Its error begins behind the server's name.
func readLanguageServer(r *reader, key string, v hujson.Value) (s LanguageServer, err error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return s, errors.New(" must be an object: {" + strings.Join(serverKeys(), ", ") + "}")
	}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		field := s.fields()[name]
		if field.to == nil {
			r.warn(m.Name.StartOffset, "unknown key %s.%s; there are %s", key, name, strings.Join(serverKeys(), ", "))
			continue
		}
		if decode(m.Value, field.to) != nil {
			return s, fmt.Errorf(".%s must be %s", name, field.must)
		}
	}
	return s, nil
}

// serverField is where a key of a server goes, and what it must be.
type serverField struct {
	to   any
	must string
}

// fields are the keys of a server.
func (s *LanguageServer) fields() map[string]serverField {
	const texts = `a list of texts, such as ["a", "b"]`
	return map[string]serverField{
		"command":               {&s.Command, `the program and its arguments as a list, such as ["name", "--stdio"]`},
		"extensions":            {&s.Extensions, `a list of endings with their dot, such as [".ts"]`},
		"languageId":            {&s.LanguageID, "a text"},
		"rootMarkers":           {&s.RootMarkers, texts},
		"initializationOptions": {&s.Options, "JSON"},
		"settings":              {&s.Settings, "an object"},
		"env":                   {&s.Env, `an object of texts, such as {"NAME": "value"}`},
		"disabled":              {&s.Disabled, "true or false"},
	}
}

// serverKeys are the names of a server's keys.
func serverKeys() []string {
	return slices.Sorted(maps.Keys(new(LanguageServer).fields()))
}

// check says what is wrong with a server's settings.
func (s LanguageServer) check() error {
	if s.Command != nil && (len(s.Command) == 0 || strings.TrimSpace(s.Command[0]) == "") {
		return errors.New(".command names no program")
	}
	for _, e := range s.Extensions {
		if !strings.HasPrefix(e, ".") || len(e) < 2 {
			return fmt.Errorf(".extensions has %q, which must begin with a dot", e)
		}
	}
	for _, m := range s.RootMarkers {
		if _, err := filepath.Match(m, ""); err != nil || m == "" {
			return fmt.Errorf(".rootMarkers has %q, which must be the name of a file, or a glob", m)
		}
	}
	if _, ok := s.Settings.(map[string]any); s.Settings != nil && !ok {
		return errors.New(".settings must be an object")
	}
	return nil
}

// readMemoryLimit takes lsp.memoryLimitMb.
func readMemoryLimit(r *reader, v hujson.Value) error {
	return integer(0, func(c *Config, n int) {
		if c.LSP.MemoryLimit = int64(n) * 1e6; n == 0 {
			c.LSP.MemoryLimit = -1
		}
	})(r, v)
}

// readDiagnosticsWait takes lsp.diagnosticsWaitMs.
func readDiagnosticsWait(r *reader, v hujson.Value) error {
	return integer(0, func(c *Config, n int) {
		wait := milliseconds(n)
		c.LSP.DiagnosticsWait = &wait
	})(r, v)
}
