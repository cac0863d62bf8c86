package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// extension answers what single servers ask beyond the protocol; false: it is none of
// that.
func (c *client) extension(r *jsonrpc.Request) (jsonrpc.Work, bool) {
	switch r.Method {
	case "_typescript.rename": // what a refactoring made could be given another name
		return nil, true
	case "tsserver/request":
		return c.noTSServer(r.Params), true
	case "eslint/noLibrary":
		c.unableTo(r.Params, "the project does not have it: npm install --save-dev eslint, and /lsp restart eslint")
		return nil, true
	case "eslint/noConfig", "eslint/probeFailed":
		c.unableTo(r.Params, "")
		return nil, true
	case "eslint/status":
		c.linted(r.Params)
		return nil, true
	case "eslint/openDoc", "eslint/exitCalled", "eslint/showOutputChannel":
		return nil, true
	}
	return nil, false
}

// noTSServer tells Vue's server that nobody asks TypeScript for it. Without an answer it
// would answer nothing itself.
func (c *client) noTSServer(params json.RawMessage) jsonrpc.Work {
	var calls [][]json.RawMessage // one: its id, a command, and arguments
	if json.Unmarshal(params, &calls) != nil || len(calls) != 1 || len(calls[0]) == 0 {
		return nil
	}
	answer := [][]json.RawMessage{{calls[0][0], json.RawMessage("null")}}
	return func(ctx context.Context) (any, error) {
		return nil, c.run.conn.Notify(ctx, "tsserver/response", answer)
	}
}

// unableTo notes that ESLint cannot judge a file, and why; empty: as it said last. It
// answers that nothing is wrong then.
func (c *client) unableTo(params json.RawMessage, why string) {
	var p struct {
		Source, Document, TextDocument identifier
	}
	if json.Unmarshal(params, &p) == nil {
		c.judgedOr(cmp.Or(p.Source.URI, p.Document.URI, p.TextDocument.URI), true, why)
	}
}

// linted notes whether ESLint could judge a file.
func (c *client) linted(params json.RawMessage) {
	var p struct {
		URI   string `json:"uri"`
		State int    `json:"state"` // 1: it could
	}
	if json.Unmarshal(params, &p) == nil {
		c.judgedOr(p.URI, p.State > 1, "")
	}
}

func (c *client) judgedOr(uri string, unable bool, why string) {
	path, err := filePath(uri)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !unable {
		delete(c.unable, path)
		return
	}
	if c.unable == nil {
		c.unable = map[string]error{}
	}
	if len(c.unable) < maxFiles {
		c.unable[path] = fmt.Errorf("%s cannot judge %s: %s", c.run.server.spec.Name, filepath.Base(path), cmp.Or(why, firstLine(c.said), "it does not say why"))
	}
}

// firstLine is a text without the lines behind its first, such as where in a program
// something failed.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// unableToJudge is why the server's verdict on a file is none; nil: it is one.
func (c *client) unableToJudge(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unable[path]
}
