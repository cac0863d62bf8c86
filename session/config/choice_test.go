package config

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/model"
)

func TestChoose(t *testing.T) {
	own := map[string]Provider{"mine": {Type: model.APIChat, BaseURL: "http://127.0.0.1:9/v1", APIKeyEnv: "MINE", Headers: map[string]string{"a": "b"}},
		"free": {Type: model.APIChat, BaseURL: "http://127.0.0.1:9/v1"}}
	type vars = map[string]string
	tests := []struct {
		name       string
		flag, conf string
		env        vars
		stored     vars
		want       string
		explicit   bool
		missing    string // a part of it; empty: nothing is missing
		key        string
	}{
		{name: "nothing at all", want: "commands/commands"},
		{name: "the first provider with a key", env: vars{"ANTHROPIC_API_KEY": "k"}, want: "anthropic/" + defaultModel(t, "anthropic"), key: "k"},
		{name: "a stored key does as well", stored: vars{"anthropic": "s"}, want: "anthropic/" + defaultModel(t, "anthropic"), key: "s"},
		{name: "openai-compatible is never chosen without a model", env: vars{"OPENAI_API_KEY": "k"}, want: "commands/commands"},
		{name: "the flag first", flag: "mine/f", conf: "mine/c", env: vars{"ACP_AGENT_MODEL": "mine/e", "MINE": "k"}, want: "mine/f", explicit: true, key: "k"},
		{name: "then the variable", conf: "mine/c", env: vars{"ACP_AGENT_MODEL": "mine/e", "MINE": "k"}, want: "mine/e", explicit: true, key: "k"},
		{name: "then the configuration", conf: "mine/c", env: vars{"ANTHROPIC_API_KEY": "k", "MINE": "m"}, want: "mine/c", explicit: true, key: "m"},
		{name: "a chosen one without a key says how", flag: "anthropic/x", want: "anthropic/x", explicit: true, missing: "ANTHROPIC_API_KEY"},
		{name: "and how to log in", flag: "anthropic/x", want: "anthropic/x", explicit: true, missing: "acp-agent login anthropic"},
		{name: "the environment beats the file", flag: "anthropic/x", env: vars{"ANTHROPIC_API_KEY": "e"}, stored: vars{"anthropic": "s"}, want: "anthropic/x", explicit: true, key: "e"},
		{name: "a provider of one's own without a key", flag: "mine/x", want: "mine/x", explicit: true, missing: "MINE"},
		{name: "one that needs none", flag: "free/x", want: "free/x", explicit: true},
		{name: "which never gets another's key", flag: "free/x", env: vars{"OPENAI_API_KEY": "k"}, want: "free/x", explicit: true},
		{name: "a model's name may have slashes", flag: "free/a/b", want: "free/a/b", explicit: true},
		{name: "no such provider", flag: "nosuch/x", want: "nosuch/x", explicit: true, missing: "no provider"},
		{name: "no model", flag: "anthropic", want: "anthropic/", explicit: true, missing: "PROVIDER/MODEL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paths, _ := home(t)
			for provider, key := range tt.stored {
				if err := paths.Login(provider, key); err != nil {
					t.Fatal(err)
				}
			}
			c := Default()
			c.Model, c.Providers = tt.conf, own
			got := c.Choose(tt.flag, env(tt.env), paths)
			if got.Name() != tt.want || got.Explicit != tt.explicit || got.Key != tt.key {
				t.Errorf("got %s, explicit %v, key %q; want %s, %v, %q", got.Name(), got.Explicit, got.Key, tt.want, tt.explicit, tt.key)
			}
			if (got.Missing == "") != (tt.missing == "") || !strings.Contains(got.Missing, tt.missing) {
				t.Errorf("missing: %q, want %q", got.Missing, tt.missing)
			}
		})
	}
}

func defaultModel(t *testing.T, provider string) string {
	t.Helper()
	p, ok := model.FindProvider(provider)
	if !ok {
		t.Fatalf("no provider %s", provider)
	}
	return p.DefaultModel
}

func TestBaseURL(t *testing.T) {
	paths, _ := home(t)
	c := Default()
	c.Providers = map[string]Provider{"mine": {Type: model.APIChat, BaseURL: "http://own.example/v1"}}
	for name, want := range map[string]string{"openai-compatible/m": "http://env.example/v1", "mine/m": "http://own.example/v1"} {
		got, err := c.Resolve(name, env(map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://env.example/v1"}), paths)
		if err != nil || got.BaseURL != want {
			t.Errorf("%s: %q, %v", name, got.BaseURL, err)
		}
	}
}
