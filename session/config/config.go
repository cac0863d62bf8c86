// Package config reads what the user and a trusted project set, keeps
// credentials, trust and grants, and chooses the model. It follows
// spec/config-keys.md.
//
// It leaves out what the settings do, and the editors' configurations (package
// editors).
package config

import (
	"maps"
	"slices"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
)

// Config is what holds for a session. The zero value of a field is its default
// but where Default says otherwise.
type Config struct {
	Model                 string // provider/model for new sessions; empty: see Choose
	SmallModel            string
	Mode                  permission.Mode
	MaxTurnRequests       int
	Retry                 Retry
	Rules                 []permission.Rule // of the files, with their scopes
	AskReason             bool
	AdditionalDirectories []string // absolute
	Trust                 Trust
	Proxy                 string
	NoProxy               []string
	CAFile                string
	Web                   Web
	LSP                   LSP
	Env                   map[string]*string // nil removes a variable
	Providers             map[string]Provider
	Models                map[string]model.Override // by provider/model
	ToolSearchThreshold   int                       // tools in all, above which those of servers are deferred
	Hooks                 map[HookEvent][]Hook      // those of all files, the user's first
	Skills                []SkillFolder             // further ones
	Sandbox               Sandbox
	LogLevel              string
	LogFile               string
	// Unread are the files that are there and could not be read, so that nobody knows
	// what they forbid.
	Unread []string
}

// Retry is how failed model requests are repeated.
type Retry struct {
	Max                 int // after the first try; 0: none
	BaseDelay, MaxDelay time.Duration
}

// Web is what the web tools may reach, and how they search.
type Web struct {
	Private kinds.Private
	Timeout time.Duration // of a whole fetch
	Search  []Search      // search engines, of which a session uses one
}

// Search is a search engine.
type Search struct {
	Provider  string `json:"provider"`
	URL       string `json:"url"`       // of the server; empty: the provider's own
	APIKeyEnv string `json:"apiKeyEnv"` // empty: the provider's usual one
}

// Sandbox is how commands are confined.
type Sandbox struct {
	Mode     string   // auto, on or off
	Network  bool     // commands that ran unasked reach the network
	Writable []string // absolute; further folders that commands may write to
}

// Trust says whether a folder that is not yet trusted is asked about.
type Trust string

// The values of the key trust.
const (
	TrustAsk    Trust = "ask"
	TrustAlways Trust = "always"
	TrustNever  Trust = "never"
)

// Provider is a provider of the user's own.
type Provider struct {
	Type      model.API
	BaseURL   string
	APIKeyEnv string
	Headers   map[string]string
	Models    []string
}

// Default is the configuration where no file says anything.
func Default() *Config {
	return &Config{
		Mode:            permission.Default,
		MaxTurnRequests: 200,
		Retry:           Retry{Max: 5, BaseDelay: 500 * time.Millisecond, MaxDelay: time.Minute},
		Trust:           TrustAsk,
		Web:             Web{Timeout: 30 * time.Second},
		Sandbox:         Sandbox{Mode: "auto"},
		LogLevel:        "warn",

		ToolSearchThreshold: 60,
	}
}

// SkillFolder is a folder whose folders are skills.
type SkillFolder struct {
	Path    string // absolute
	Project bool   // named by a project, in which it lies
}

// Secrets names the variables that hold keys of the user's own providers and
// search engines: no command gets them.
func (c *Config) Secrets() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if env := c.Providers[name].APIKeyEnv; env != "" {
			names = append(names, env)
		}
	}
	for _, s := range c.Web.Search {
		if s.APIKeyEnv != "" {
			names = append(names, s.APIKeyEnv)
		}
	}
	return names
}

// Transport is how model servers are reached.
func (c *Config) Transport() model.TransportOptions {
	return model.TransportOptions{Proxy: c.Proxy, NoProxy: c.NoProxy, CAFile: c.CAFile}
}
