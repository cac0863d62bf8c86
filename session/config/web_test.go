package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
)

func TestLoadWeb(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    Web
		problem string
	}{
		{`{}`, Web{Timeout: 30 * time.Second}, ""},
		{`{"web": {"allowPrivate": true, "timeoutMs": 5000}}`, Web{Private: kinds.Private{All: true}, Timeout: 5 * time.Second}, ""},
		{`{"web": {"allowPrivate": false}}`, Web{Timeout: 30 * time.Second}, ""},
		{`{"web": {"allowPrivate": ["LocalHost:3000", "10.0.0.5", "::1"]}}`,
			Web{Private: kinds.Private{Hosts: []string{"localhost:3000", "10.0.0.5", "[::1]"}}, Timeout: 30 * time.Second}, ""},
		{`{"web": {"allowPrivate": ["10.0.0.0/8"]}}`, Web{Timeout: 30 * time.Second}, "neither HOST nor HOST:PORT"},
		{`{"web": {"allowPrivate": "all"}}`, Web{Timeout: 30 * time.Second}, "true, false or a list"},
		{`{"web": {"timeoutMs": 0}}`, Web{Timeout: 30 * time.Second}, "whole number from 1"},
		{`{"web": {"search": {"provider": "brave", "apiKeyEnv": "K"}}}`, Web{Timeout: 30 * time.Second, Search: []Search{{"brave", "", "K"}}}, ""},
		{`{"web": {"search": [{"provider": "searxng", "url": "https://s.example"}, {"provider": "brave"}]}}`,
			Web{Timeout: 30 * time.Second, Search: []Search{{"searxng", "https://s.example", ""}, {"brave", "", ""}}}, ""},
		{`{"web": {"search": [{"url": "https://s.example"}]}}`, Web{Timeout: 30 * time.Second}, "names no provider"},
		{`{"web": {"search": "brave"}}`, Web{Timeout: 30 * time.Second}, "must be {provider"},
	} {
		got, told := loaded(t, c.text)
		if !reflect.DeepEqual(got.Web, c.want) {
			t.Errorf("%s: %+v", c.text, got.Web)
		}
		if all := strings.Join(told, "; "); (all == "") != (c.problem == "") || !strings.Contains(all, c.problem) {
			t.Errorf("%s: told %q", c.text, all)
		}
	}
	if got, _ := loaded(t, `{"web": {"search": {"provider": "brave", "apiKeyEnv": "K"}}}`); !slices.Contains(got.Secrets(), "K") {
		t.Error("commands get the key")
	}
}

// TestProjectCannotOpenTheNetwork holds that a project names neither private
// places nor a server that gets a key.
func TestProjectCannotOpenTheNetwork(t *testing.T) {
	paths, project := home(t)
	write(t, ProjectFiles(project)[0], `{"web": {"allowPrivate": true, "timeoutMs": 1000, "search": {"provider": "searxng", "url": "https://s.example", "apiKeyEnv": "K"}}}`)
	c, problems := Load(LoadOptions{Paths: paths, Project: project, Trusted: true})
	if want := (Web{Timeout: time.Second}); !reflect.DeepEqual(c.Web, want) || len(problems) != 2 {
		t.Errorf("%+v, %v", c.Web, problems)
	}
}
