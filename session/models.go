package session

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/model/anthropic"
	"github.com/acp-agent/acp-agent/session/model/commands"
	"github.com/acp-agent/acp-agent/session/model/openai"
)

// chosenModel is a model ready to be asked.
type chosenModel struct {
	model model.Model
	name  string // provider/model
	id    string // the provider's own
	info  model.Info
}

// Model is the name of the session's model: provider/model.
func (s *Session) Model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modelLocked()
}

func (s *Session) modelLocked() string {
	if s.model != "" {
		return s.model
	}
	return s.sessions.choose(s.cfg()).Name()
}

func (m *Sessions) choose(cfg *config.Config) config.Choice {
	return cfg.Choose(m.flag, m.getenv, m.paths)
}

// checkModel says what is wrong with a model's name.
func (s *Session) checkModel(name string) error { return s.cfg().Check(name) }

func (s *Session) infoOf(name string) model.Info { return s.sessions.infoOf(s.cfg(), name) }

// infoOf is what is known of a model.
func (m *Sessions) infoOf(cfg *config.Config, name string) model.Info {
	provider, id, _ := strings.Cut(name, "/")
	api := model.API("")
	if own, ok := cfg.Providers[provider]; ok {
		api = own.Type
	}
	return model.NewCatalog(cfg.Models).Lookup(provider, api, id)
}

// chooseModel makes the client of the session's model. Credentials are looked
// up anew each time, so that a login holds from the next prompt on.
func (s *Session) chooseModel() (chosenModel, error) {
	s.mu.Lock()
	name := s.model
	s.mu.Unlock()
	if name == "" && s.parent != nil {
		return s.parent.chooseModel()
	}
	if name == "" {
		return s.sessions.connect(s.cfg(), s.sessions.choose(s.cfg()))
	}
	choice, err := s.cfg().Resolve(name, s.sessions.getenv, s.sessions.paths)
	if err != nil {
		return chosenModel{}, err
	}
	return s.sessions.connect(s.cfg(), choice)
}

// connect makes the client of a choice. It does no network.
func (m *Sessions) connect(cfg *config.Config, c config.Choice) (chosenModel, error) {
	if c.Missing != "" {
		return chosenModel{}, &AuthError{c.Missing}
	}
	m.secrets.Know(c.Key, c.Token)
	for name, value := range c.Headers {
		if kinds.SecretName(name) {
			m.secrets.Know(value)
		}
	}
	chosen := chosenModel{name: c.Name(), id: c.Model, info: m.infoOf(cfg, c.Name())}
	if c.API == model.APICommands {
		chosen.model = commands.New()
		return chosen, nil
	}
	client, err := m.httpClient(cfg)
	if err != nil {
		return chosenModel{}, err
	}
	switch c.API {
	case model.APIAnthropic:
		chosen.model = anthropic.New(anthropic.Options{Provider: c.Provider, BaseURL: c.BaseURL, APIKey: c.Key, AuthToken: c.Token,
			KeyEnv: c.KeyEnv, Headers: c.Headers, HTTP: client, Images: chosen.info.Images})
	case model.APIChat:
		chosen.model = openai.New(openai.Options{Provider: c.Provider, BaseURL: c.BaseURL, APIKey: c.Key,
			KeyEnv: c.KeyEnv, Headers: c.Headers, HTTP: client, Images: chosen.info.Images, Audio: chosen.info.Audio})
	default:
		return chosenModel{}, fmt.Errorf("the provider %s cannot be asked", c.Provider)
	}
	return chosen, nil
}

// httpClient is the client that the configuration wants, one for all sessions
// that want the same, so that connections are used again.
func (m *Sessions) httpClient(cfg *config.Config) (*http.Client, error) {
	o := cfg.Transport()
	key := fmt.Sprintf("%q", []any{o.Proxy, o.NoProxy, o.CAFile})
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.clients[key]; ok {
		return c, nil
	}
	c, err := model.NewHTTPClient(o)
	if err != nil {
		return nil, err
	}
	m.clients[key] = c
	return c, nil
}

// listTimeout bounds the request for a provider's models.
const listTimeout = 10 * time.Second

// lister is a provider that can list its models.
type lister interface {
	Models(ctx context.Context) ([]string, error)
}

// Announce tells the commands, and the models once they are listed. It returns
// at once; what it began ends with the process's sessions.
func (s *Session) Announce() {
	ctx := s.sessions.ctx
	if err := s.ends.Sink.Update(ctx, CommandsChanged{s.Commands()}); err != nil {
		return
	}
	s.sessions.behind(func() {
		// The first prompt should not have to wait for a new database.
		if _, err := s.sessions.store(ctx); err != nil {
			s.sessions.log.Warn("database not opened", "error", err)
		}
		if s.sessions.listModels(ctx, s) {
			_ = s.ends.Sink.Update(ctx, SettingsChanged{s.Settings()}) // the editor may be gone: then nobody misses it
		}
	})
}

// listModels asks the session's provider for its models, once a process. It
// reports whether there is something new to choose.
func (m *Sessions) listModels(ctx context.Context, s *Session) bool {
	chosen, err := s.chooseModel()
	if err != nil {
		return false
	}
	provider, _, _ := strings.Cut(chosen.name, "/")
	l, ok := chosen.model.(lister)
	m.mu.Lock()
	_, known := m.listed[provider]
	if !known {
		m.listed[provider] = nil // from now on it is known, whatever comes of it
	}
	m.mu.Unlock()
	if known || !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	ids, err := l.Models(ctx)
	if err != nil {
		m.log.Info("models not listed", "provider", provider, "error", err)
		return false
	}
	slices.Sort(ids)
	m.mu.Lock()
	m.listed[provider] = ids
	m.mu.Unlock()
	return len(ids) > 0
}

// configuredModels names the models that can be chosen without knowing more.
func (s *Session) configuredModels() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.cfg().Models)) {
		if s.cfg().Check(name) == nil {
			names = append(names, name)
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(s.cfg().Providers)) {
		for _, id := range s.cfg().Providers[provider].Models {
			names = append(names, provider+"/"+id)
		}
	}
	choice := s.sessions.choose(s.cfg())
	for _, id := range choice.API.Models() {
		names = append(names, choice.Provider+"/"+id)
	}
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	for _, provider := range slices.Sorted(maps.Keys(s.sessions.listed)) {
		for _, id := range s.sessions.listed[provider] {
			names = append(names, provider+"/"+id)
		}
	}
	return names
}
