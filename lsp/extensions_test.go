package lsp

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// TestCannotJudge: where ESLint says that it could not judge a file, its empty verdict is
// none, until it could.
func TestCannotJudge(t *testing.T) {
	r := newRun(&Spec{Name: "fake"})
	r.server.owner = New(Options{})
	for _, step := range []struct{ method, params, want string }{
		{"eslint/status", `{"uri":"file:///p/a","state":1}`, ""},
		{"eslint/noLibrary", `{"source":{"uri":"file:///p/a"}}`, "fake cannot judge a: the project does not have it"},
		{"eslint/status", `{"uri":"file:///p/b","state":1}`, "the project does not have it"},
		{"eslint/status", `{"uri":"file:///p/a","state":1}`, ""},
		{"eslint/status", `{"uri":"file:///p/a","state":3}`, "fake cannot judge a: it does not say why"},
		{"window/showMessage", `{"type":1,"message":"no such rule\n    at f (x.js:1:1)"}`, "it does not say why"},
		{"eslint/probeFailed", `{"textDocument":{"uri":"file:///p/a"}}`, "fake cannot judge a: no such rule$"},
		{"eslint/status", `[]`, "no such rule"},
		{"eslint/status", `{"uri":"x:y","state":3}`, "no such rule"},
		{"eslint/noConfig", `{"document":{"uri":"file:///p/a"}}`, "no such rule"},
	} {
		if _, err := r.client.handle(t.Context(), &jsonrpc.Request{Method: step.method, Params: []byte(step.params), Notification: true}); err != nil {
			t.Errorf("%s: %v", step.method, err)
		}
		got := ""
		if err := r.client.unableToJudge("/p/a"); err != nil {
			got = err.Error() + "$"
		}
		if !strings.Contains(got, step.want) || (got == "") != (step.want == "") {
			t.Errorf("%s %s: %q, want %q", step.method, step.params, got, step.want)
		}
	}
}
