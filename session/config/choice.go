package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/session/model"
)

// Choice is a model and all that is needed to reach it.
type Choice struct {
	Provider string
	Model    string
	API      model.API
	BaseURL  string
	Key      string // never shown or logged
	Token    string // serves instead of a key
	Headers  map[string]string
	KeyEnv   string // the variable that would hold the key
	Explicit bool   // somebody chose it; else it is what there is
	Missing  string // why it cannot be asked, and what to do; empty: it can
}

// Name is provider/model.
func (c Choice) Name() string { return c.Provider + "/" + c.Model }

// Choose picks the model of new sessions (spec/sessions-models.md, "Models"):
// the flag, ACP_AGENT_MODEL, the configuration, else the first provider with
// credentials, else the built-in commands.
func (c *Config) Choose(flag string, getenv func(string) string, paths Paths) Choice {
	for _, name := range []string{flag, getenv("ACP_AGENT_MODEL"), c.Model} {
		if name == "" {
			continue
		}
		choice, err := c.Resolve(name, getenv, paths)
		if err != nil {
			provider, id, _ := strings.Cut(name, "/")
			choice = Choice{Provider: provider, Model: id, Missing: err.Error()}
		}
		choice.Explicit = true
		return choice
	}
	for _, p := range model.Providers() {
		if !p.Served || p.DefaultModel == "" || p.API == model.APICommands {
			continue
		}
		if choice, err := c.Resolve(p.Name+"/"+p.DefaultModel, getenv, paths); err == nil && choice.Missing == "" {
			return choice
		}
	}
	return Choice{Provider: "commands", Model: "commands", API: model.APICommands}
}

// Check says what is wrong with a model's name, without looking for its
// credentials.
func (c *Config) Check(name string) error {
	provider, id, ok := strings.Cut(name, "/")
	if !ok || id == "" {
		return fmt.Errorf("%q is no model: write PROVIDER/MODEL", name)
	}
	if _, ok := c.Providers[provider]; ok {
		return nil
	}
	row, ok := model.FindProvider(provider)
	if !ok {
		return fmt.Errorf("there is no provider %q; there are %s", provider, strings.Join(c.providerNames(), ", "))
	}
	return row.Check()
}

func (c *Config) providerNames() []string {
	var names []string
	for _, p := range model.Providers() {
		if p.Served {
			names = append(names, p.Name)
		}
	}
	return append(names, slices.Sorted(maps.Keys(c.Providers))...)
}

// Resolve finds what is needed to reach the model of that name.
func (c *Config) Resolve(name string, getenv func(string) string, paths Paths) (Choice, error) {
	if err := c.Check(name); err != nil {
		return Choice{}, err
	}
	provider, id, _ := strings.Cut(name, "/")
	choice := Choice{Provider: provider, Model: id}
	own, isOwn := c.Providers[provider]
	row, _ := model.FindProvider(provider)
	if isOwn {
		row, _ = model.FindProvider(string(own.Type))
		choice.Headers = own.Headers
		row.KeyEnv = nil // the key of the maker's own server is not for this one
		if own.APIKeyEnv != "" {
			row.KeyEnv = []string{own.APIKeyEnv}
		}
	}
	choice.API = row.API
	choice.BaseURL = baseURL(row, own, getenv)
	if row.API == model.APICommands {
		return choice, nil
	}
	for _, env := range row.KeyEnv {
		choice.KeyEnv = env
		if choice.Key = getenv(env); choice.Key != "" {
			return choice, nil
		}
	}
	if row.TokenEnv != "" && !isOwn {
		if choice.Token = getenv(row.TokenEnv); choice.Token != "" {
			return choice, nil
		}
	}
	var err error
	if choice.Key, err = paths.StoredKey(provider); err != nil {
		choice.Missing = err.Error()
	}
	if choice.Key == "" && !row.NoKey && !(isOwn && own.APIKeyEnv == "") {
		choice.Missing = missing(provider, row)
	}
	return choice, nil
}

// baseURL is where the provider is: as the user configured it, as its variable
// says, or where it always is.
func baseURL(row model.Provider, own Provider, getenv func(string) string) string {
	if own.BaseURL != "" {
		return own.BaseURL
	}
	if row.BaseURLEnv != "" {
		if url := getenv(row.BaseURLEnv); url != "" {
			if row.Name == "ollama" {
				return model.OllamaURL(url)
			}
			return url
		}
	}
	return row.BaseURL
}

func missing(provider string, row model.Provider) string {
	how := fmt.Sprintf("run `acp-agent login %s`", provider)
	if len(row.KeyEnv) > 0 {
		how = fmt.Sprintf("set %s, or run `acp-agent login %s`, which also works where the editor hands down no environment", row.KeyEnv[0], provider)
	}
	return fmt.Sprintf("the provider %s has no key: %s", provider, how)
}
