package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// played is what the fake server answers where its project has a file script.json.
// ROOT in it is the URI of the project.
type played struct {
	Capabilities map[string]any
	Answers      map[string]json.RawMessage // by method
	Errors       map[string]string          // by method, with code 0
	Applies      []json.RawMessage          // edits that a command asks for
	Unasked      bool                       // so does a hover
}

const scriptFile = "script.json"

func (f *fake) script() (s played) {
	data, err := os.ReadFile(filepath.Join(f.root, scriptFile))
	if err != nil {
		return s
	}
	data = bytes.ReplaceAll(data, []byte("ROOT"), []byte(fileURI(f.root)))
	if err := json.Unmarshal(data, &s); err != nil {
		panic(err)
	}
	return s
}

// scripted answers a request as the script has it.
func (f *fake) scripted(r *jsonrpc.Request) (jsonrpc.Work, error, bool) {
	if r.Notification || r.Method == "initialize" {
		return nil, nil, false
	}
	s := f.script()
	if text, ok := s.Errors[r.Method]; ok {
		return nil, &jsonrpc.Error{Message: text}, true
	}
	answer, ok := s.Answers[r.Method]
	if !ok {
		return nil, nil, false
	}
	return func(ctx context.Context) (any, error) {
		if r.Method == "workspace/executeCommand" || s.Unasked {
			for _, edit := range s.Applies {
				var got json.RawMessage
				if err := f.conn.Call(ctx, "workspace/applyEdit", map[string]any{"edit": edit}, &got); err != nil {
					return nil, err
				}
				if s.Unasked {
					return map[string]any{"contents": string(got)}, nil
				}
			}
		}
		return answer, nil
	}, nil, true
}

// scriptedConfig is a configuration with the fake server, for projects with a
// script.
func scriptedConfig(behaviour ...string) Config { return fakeConfig(strings.Join(behaviour, " ")) }
