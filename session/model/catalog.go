package model

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"strings"
	"time"
)

// API is a wire format that a provider's server speaks. Its values are the
// types of providers.NAME.type in the configuration.
type API string

// The APIs, served or not.
const (
	APIAnthropic API = "anthropic"         // Messages
	APIOpenAI    API = "openai"            // Responses
	APIChat      API = "openai-compatible" // Chat Completions
	APIGoogle    API = "google"            // Gemini
	APICommands  API = "commands"          // none: built in, no model
)

// Provider is a row of the table of providers (spec: sessions-models, Models).
type Provider struct {
	Name         string
	API          API
	KeyEnv       []string // variables that may hold the key, the first that is set counts
	TokenEnv     string   // a variable with a bearer token that serves instead of a key
	BaseURLEnv   string   // the variable with another base URL
	BaseURL      string   // empty: there is none to fall back on
	DefaultModel string   // empty: chosen only together with a model
	SmallModel   string   // for titles and summaries; empty: none
	NoKey        bool     // serves without a key
	Served       bool     // false: known, and not built yet
}

// Providers are all that are known, in the order in which one with credentials
// is chosen.
func Providers() []Provider {
	return []Provider{
		{
			Name: "anthropic", API: APIAnthropic, KeyEnv: []string{"ANTHROPIC_API_KEY"}, TokenEnv: "ANTHROPIC_AUTH_TOKEN",
			BaseURLEnv: "ANTHROPIC_BASE_URL", BaseURL: "https://api.anthropic.com",
			DefaultModel: "claude-opus-5-5", SmallModel: "claude-haiku-5-5", Served: true,
		},
		{
			Name: "openai", API: APIOpenAI, KeyEnv: []string{"OPENAI_API_KEY"},
			BaseURLEnv: "OPENAI_BASE_URL", BaseURL: "https://api.openai.com/v1",
		},
		{
			Name: "openai-compatible", API: APIChat, KeyEnv: []string{"OPENAI_API_KEY"},
			BaseURLEnv: "OPENAI_BASE_URL", BaseURL: "https://api.openai.com/v1", Served: true,
		},
		{
			Name: "google", API: APIGoogle, KeyEnv: []string{"GEMINI_API_KEY"},
			BaseURL: "https://generativelanguage.googleapis.com",
		},
		{
			Name: "ollama", API: APIChat, BaseURLEnv: "OLLAMA_HOST", BaseURL: "http://127.0.0.1:11434/v1",
			NoKey: true, Served: true,
		},
		{Name: "commands", API: APICommands, DefaultModel: "commands", NoKey: true, Served: true},
	}
}

// FindProvider returns the row of that name.
func FindProvider(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// Check is an error for a provider that is not served yet. It says what to
// choose instead.
func (p Provider) Check() error {
	if p.Served {
		return nil
	}
	instead := "anthropic, openai-compatible or ollama"
	if p.API == APIOpenAI {
		instead = "openai-compatible, which takes the same key and serves the same models"
	}
	return fmt.Errorf("the provider %s is not served yet: choose %s", p.Name, instead)
}

// OllamaURL makes a base URL of the value of OLLAMA_HOST, which may lack scheme,
// host or port. An address to listen at is taken as this machine.
func OllamaURL(host string) string {
	host = strings.TrimRight(strings.TrimSpace(host), "/")
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return host
	}
	name, port := u.Hostname(), u.Port()
	switch name {
	case "", "0.0.0.0", "::":
		name = "127.0.0.1"
	}
	if port == "" {
		port = "11434"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	u.Host = net.JoinHostPort(name, port)
	if !strings.HasSuffix(u.Path, "/v1") {
		u.Path += "/v1"
	}
	return u.String()
}

// Prices are in US dollars for a million tokens.
type Prices struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

func (p Prices) cost(u Usage) float64 {
	plain := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	return (float64(plain)*p.Input + float64(u.CacheRead)*p.CacheRead +
		float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / 1e6
}

// Info is what is known of a model. The zero value is a model of which nothing
// is known.
type Info struct {
	ContextWindow int      // tokens; 0: unknown
	MaxOutput     int      // tokens; 0: unknown
	Images, Audio bool     // whether it takes them
	Thinking      []string // its levels, weakest first; empty: none to choose
	Prices        Prices   // zero: unknown
	LongPrompt    int      // tokens of a prompt above which LongPrices hold; 0: never
	LongPrices    Prices
}

// Cost is what one request cost, in US dollars, and whether that is known. It
// is worked out a request at a time: long prompts have prices of their own.
func (i Info) Cost(u Usage) (float64, bool) {
	p := i.Prices
	if i.LongPrompt > 0 && u.Input > i.LongPrompt {
		p = i.LongPrices
	}
	return p.cost(u), p != Prices{}
}

// Override is models."PROVIDER/MODEL" of the configuration: what is set
// replaces the table's (spec: config-keys).
type Override struct {
	ContextWindow int      `json:"contextWindow,omitzero"`
	MaxOutput     int      `json:"maxOutput,omitzero"`
	Images        *bool    `json:"images,omitzero"`
	Audio         *bool    `json:"audio,omitzero"`
	Thinking      []string `json:"thinking,omitzero"` // nil: the table's; empty: none
	Prices        *Prices  `json:"prices,omitzero"`
}

func (o Override) apply(i Info) Info {
	if o.ContextWindow > 0 {
		i.ContextWindow = o.ContextWindow
	}
	if o.MaxOutput > 0 {
		i.MaxOutput = o.MaxOutput
	}
	if o.Images != nil {
		i.Images = *o.Images
	}
	if o.Audio != nil {
		i.Audio = *o.Audio
	}
	if o.Thinking != nil {
		i.Thinking = o.Thinking
	}
	if o.Prices != nil {
		i.Prices, i.LongPrompt = *o.Prices, 0
	}
	return i
}

// Catalog is the table of models with a configuration's changes.
type Catalog struct {
	builtin   map[string]Info
	overrides map[string]Override
}

// NewCatalog makes a catalog. The keys of overrides are provider/model.
func NewCatalog(overrides map[string]Override) *Catalog {
	return &Catalog{builtin: builtinModels(), overrides: maps.Clone(overrides)}
}

// Lookup returns what is known of a provider's model. api is the type of a
// provider of the user's own; for one of the table it may be empty. A dated
// name is known as the undated one, and so is one that a gateway prefixes with
// the maker's name.
func (c *Catalog) Lookup(provider string, api API, model string) Info {
	if p, ok := FindProvider(provider); ok && api == "" {
		api = p.API
	}
	if provider == "ollama" {
		api = "" // its models' names are not those of the table
	}
	return c.overrides[provider+"/"+model].apply(c.known(api, model))
}

func (c *Catalog) known(api API, model string) Info {
	if api == APIOpenAI {
		api = APIChat
	}
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, m := range []string{name, undated(name)} {
		if info, ok := c.builtin[string(api)+"/"+m]; ok {
			return info
		}
	}
	return Info{}
}

// undated drops the date that ends the names of snapshots, as in -20251001 and
// -2025-08-07.
func undated(name string) string {
	for _, n := range []int{len("-20060102"), len("-2006-01-02")} {
		at := len(name) - n
		if at <= 0 {
			continue
		}
		date := strings.ReplaceAll(name[at:], "-", "")
		_, err := time.Parse("20060102", date)
		if err == nil && name[at] == '-' && (n == len("-20060102")) == (name[at+1:] == date) {
			return name[:at]
		}
	}
	return name
}

// Models lists the models of the table that an API serves, best first, for
// where a server's list cannot be had.
func (a API) Models() []string {
	if a != APIAnthropic {
		return nil
	}
	return []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-2"}
}

// builtinModels is the table of models, by API and name.
func builtinModels() map[string]Info {
	million := func(in, out, read, write float64) Prices { return Prices{in, out, read, write} }
	claude := func(p Prices, levels ...string) Info {
		return Info{ContextWindow: 1_000_000, MaxOutput: 128_000, Images: true, Thinking: levels, Prices: p}
	}
	early := func(window, output int, p Prices) Info {
		return Info{ContextWindow: window, MaxOutput: output, Images: true, Thinking: []string{"low", "medium", "high"}, Prices: p}
	}
	gpt := func(window, output int, p Prices, levels ...string) Info {
		return Info{ContextWindow: window, MaxOutput: output, Images: true, Thinking: levels, Prices: p}
	}
	effort := []string{"low", "medium", "high", "xhigh", "max"}
	haiku := claude(million(0.10, 0.50, 0.01, 0.125), effort...)
	haiku.LongPrompt, haiku.LongPrices = 100_000, million(0.50, 2.50, 0.05, 0.625)
	return map[string]Info{
		"anthropic/claude-fable-5-2":  claude(million(8, 40, 0.20, 10), effort...),
		"anthropic/claude-fable-5-1":  claude(million(10, 50, 0.25, 12.50), effort...),
		"anthropic/claude-opus-5-5":   claude(million(4, 20, 0.20, 5), effort...),
		"anthropic/claude-sonnet-5-5": claude(million(2, 10, 0.20, 2.50), effort...),
		"anthropic/claude-haiku-5-5":  haiku,
		"anthropic/claude-opus-5":     claude(million(5, 25, 0.50, 6.25), effort...),
		"anthropic/claude-sonnet-5":   claude(million(2, 10, 0.20, 2.50), effort...),
		"anthropic/claude-opus-4-8":   claude(million(5, 25, 0.50, 6.25), effort...),
		"anthropic/claude-opus-4-7":   claude(million(5, 25, 0.50, 6.25), effort...),
		"anthropic/claude-opus-4-6":   claude(million(5, 25, 0.50, 6.25), "low", "medium", "high", "max"),
		"anthropic/claude-sonnet-4-6": claude(million(3, 15, 0.30, 3.75), "low", "medium", "high"),
		"anthropic/claude-opus-4-5":   early(200_000, 64_000, million(5, 25, 0.50, 6.25)),
		"anthropic/claude-sonnet-4-5": early(200_000, 64_000, million(3, 15, 0.30, 3.75)),
		"anthropic/claude-haiku-4-5":  early(200_000, 64_000, million(1, 5, 0.10, 1.25)),
		"anthropic/claude-opus-4-1":   early(200_000, 32_000, million(15, 75, 1.50, 18.75)),

		"openai-compatible/gpt-5":        gpt(400_000, 128_000, million(1.25, 10, 0.125, 1.25), "minimal", "low", "medium", "high"),
		"openai-compatible/gpt-5-mini":   gpt(400_000, 128_000, million(0.25, 2, 0.025, 0.25), "minimal", "low", "medium", "high"),
		"openai-compatible/gpt-4.1":      gpt(1_047_576, 32_768, million(2, 8, 0.50, 2)),
		"openai-compatible/gpt-4.1-mini": gpt(1_047_576, 32_768, million(0.40, 1.60, 0.10, 0.40)),
		"openai-compatible/gpt-4o":       gpt(128_000, 16_384, million(2.50, 10, 1.25, 2.50)),
		"openai-compatible/gpt-4o-mini":  gpt(128_000, 16_384, million(0.15, 0.60, 0.075, 0.15)),
	}
}
