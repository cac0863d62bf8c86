package model

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestProviders(t *testing.T) {
	for _, p := range Providers() {
		err := p.Check()
		if p.Served != (err == nil) {
			t.Errorf("%s: served is %v, Check says %v", p.Name, p.Served, err)
		}
		if err != nil && (!strings.Contains(err.Error(), p.Name) || !strings.Contains(err.Error(), "choose")) {
			t.Errorf("%s: %v names neither the provider nor what to choose", p.Name, err)
		}
		catalog := NewCatalog(nil)
		for _, m := range []string{p.DefaultModel, p.SmallModel} {
			if p.API == APIAnthropic && catalog.Lookup(p.Name, "", m).ContextWindow == 0 {
				t.Errorf("%s/%s is not in the table of models", p.Name, m)
			}
		}
	}
	if p, _ := FindProvider("openai-compatible"); p.DefaultModel != "" {
		t.Error("openai-compatible must never be chosen without a model")
	}
	if _, ok := FindProvider("nope"); ok {
		t.Error("a provider that does not exist was found")
	}
	for _, m := range APIAnthropic.Models() {
		if NewCatalog(nil).Lookup("anthropic", "", m).Prices == (Prices{}) {
			t.Errorf("%s has no prices", m)
		}
	}
}

func TestOllamaURL(t *testing.T) {
	tests := map[string]string{
		"":                         "http://127.0.0.1:11434/v1",
		"127.0.0.1:11434":          "http://127.0.0.1:11434/v1",
		"box":                      "http://box:11434/v1",
		":8080":                    "http://127.0.0.1:8080/v1",
		"0.0.0.0":                  "http://127.0.0.1:11434/v1",
		"[::]:1":                   "http://127.0.0.1:1/v1",
		"http://box:1/":            "http://box:1/v1",
		"https://box.example":      "https://box.example:443/v1",
		"https://box.example/o/v1": "https://box.example:443/o/v1",
	}
	for in, want := range tests {
		if got := OllamaURL(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestCatalog(t *testing.T) {
	var overrides map[string]Override
	if err := json.Unmarshal([]byte(`{
		"openai-compatible/mock": {"contextWindow": 1000, "images": true, "thinking": ["low", "high"], "prices": {"input": 1, "output": 2}},
		"anthropic/claude-haiku-4-5": {"thinking": [], "maxOutput": 5}
	}`), &overrides); err != nil {
		t.Fatal(err)
	}
	c := NewCatalog(overrides)
	mock := c.Lookup("openai-compatible", "", "mock")
	if mock.ContextWindow != 1000 || !mock.Images || len(mock.Thinking) != 2 || mock.Prices.Output != 2 {
		t.Errorf("an unknown model with an override: got %+v", mock)
	}
	haiku := c.Lookup("anthropic", "", "claude-haiku-4-5")
	if haiku.ContextWindow != 200_000 || haiku.MaxOutput != 5 || len(haiku.Thinking) != 0 || !haiku.Images {
		t.Errorf("an override keeps what it does not name: got %+v", haiku)
	}
	if got := c.Lookup("openai-compatible", "", "other"); got.ContextWindow != 0 || got.Images {
		t.Errorf("an unknown model: got %+v, want nothing", got)
	}
	same := [][3]string{
		{"anthropic", "", "claude-haiku-4-5-20251001"}, {"mine", "anthropic", "claude-opus-5-5"},
		{"openrouter", "openai-compatible", "openai/gpt-5"}, {"openai-compatible", "", "gpt-4o-2024-08-06"},
	}
	for _, s := range same {
		if c.Lookup(s[0], API(s[1]), s[2]).ContextWindow == 0 {
			t.Errorf("%v is not known", s)
		}
	}
	if got := c.Lookup("ollama", "", "gpt-4o"); got.ContextWindow != 0 {
		t.Errorf("a name on ollama is not that of the table: got %+v", got)
	}
}

func TestUndated(t *testing.T) {
	tests := map[string]string{
		"a-20251001": "a", "a-2025-08-07": "a", "a-20259901": "a-20259901", "a-2025-0807": "a-2025-0807", "-20251001": "-20251001", "a": "a",
		"gpt-4-12345678": "gpt-4-12345678",
	}
	for in, want := range tests {
		if got := undated(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	c := NewCatalog(nil)
	haiku := c.Lookup("anthropic", "", "claude-haiku-5-5")
	tests := []struct {
		use  Usage
		want float64
	}{
		{Usage{Input: 50_000, Output: 1000}, 0.0055},
		{Usage{Input: 50_000, CacheRead: 40_000, CacheWrite: 10_000}, 0.0004 + 0.00125},
		{Usage{Input: 200_000}, 0.1},
	}
	for _, tt := range tests {
		got, known := haiku.Cost(tt.use)
		if !known || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%+v: got %v, %v; want %v", tt.use, got, known, tt.want)
		}
	}
	if _, known := c.Lookup("ollama", "", "qwen3").Cost(Usage{Input: 1}); known {
		t.Error("a model without prices has a cost")
	}
}
