package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/lsp"
	"github.com/acp-agent/acp-agent/tools"
)

// lspTool is the id of the tool that asks language servers.
const lspTool = "lsp"

// parseLookUp reads the arguments of /def and /refs: a symbol, and the file, or the
// line of a file, where it stands.
func parseLookUp(operation string) func(*Session, string) (direct, error) {
	return func(_ *Session, args string) (direct, error) {
		words, err := splitWords(args)
		if err != nil {
			return nil, err
		}
		if len(words) < 1 || len(words) > 2 {
			return nil, errors.New("a symbol is needed, and at most the file in which it stands")
		}
		input := map[string]any{"operation": operation, "symbol": words[0]}
		if len(words) == 2 {
			path, line := splitLine(words[1])
			if input["path"] = path; line > 0 {
				input["line"] = line
			}
		}
		return runTool(lspTool, input)
	}
}

// splitLine cuts the number of a line off a path, as in main.go:12; 0: there is
// none.
func splitLine(word string) (path string, line int) {
	i := strings.LastIndexByte(word, ':')
	if i <= 0 {
		return word, 0
	}
	n, err := strconv.Atoi(word[i+1:])
	if err != nil || n < 1 {
		return word, 0
	}
	return word[:i], n
}

// parseDiagnostics reads the argument of /diag: a file, or nothing.
func parseDiagnostics(_ *Session, args string) (direct, error) {
	words, err := splitWords(args)
	if err != nil {
		return nil, err
	}
	input := map[string]any{"operation": "diagnostics"}
	switch len(words) {
	case 0:
	case 1:
		input["path"] = words[0]
	default:
		return nil, errors.New("at most one file is needed")
	}
	return runTool(lspTool, input)
}

// parseSymbols reads the argument of /symbols: a file of which the symbols are
// listed, or what symbols of the project are called.
func parseSymbols(s *Session, args string) (direct, error) {
	words, err := splitWords(args)
	if err != nil {
		return nil, err
	}
	if len(words) != 1 {
		return nil, errors.New("a file, or a name or a part of one, is needed")
	}
	known := s.workspace.LSP != nil && s.workspace.LSP.Serves(words[0])
	if known || strings.ContainsAny(words[0], `/\`) || s.namesFile(words[0]) {
		return runTool(lspTool, map[string]any{"operation": "document_symbols", "path": words[0]})
	}
	return runTool(lspTool, map[string]any{"operation": "workspace_symbols", "query": words[0]})
}

// namesFile reports whether a word is the name of a file of the project. A folder has no
// symbols, and is often called as one of those is.
func (s *Session) namesFile(word string) bool {
	p, err := s.workspace.Resolve(word)
	if err != nil || !p.Exists || !p.Inside {
		return false
	}
	info, err := os.Stat(p.Target)
	return err == nil && !info.IsDir()
}

// parseServers reads the arguments of /lsp: nothing, or which servers to start anew.
func parseServers(s *Session, args string) (direct, error) {
	words := strings.Fields(args)
	v := s.workspace.LSP
	switch {
	case v == nil:
		return func(ctx context.Context, t *Turn) error {
			t.answer(ctx, "Language servers are turned off (`lsp.enabled` in the settings).")
			return nil
		}, nil
	case len(words) == 0:
		return func(ctx context.Context, t *Turn) error {
			t.answer(ctx, serversAnswer(v, s.workspace.Name))
			return nil
		}, nil
	case words[0] != "restart" || len(words) > 2:
		return nil, fmt.Errorf("%q is not understood", args)
	}
	name := strings.Join(words[1:], "")
	return func(ctx context.Context, t *Turn) error {
		switch n := v.Restart(name); {
		case n == 0:
			t.answer(ctx, "No language server"+named(name)+" is there to be started anew; `/lsp` lists those that are.")
		case n == 1:
			t.answer(ctx, "The language server"+named(name)+" starts anew when it is asked next.")
		default:
			t.answer(ctx, fmt.Sprintf("%d language servers start anew when they are asked next.", n))
		}
		return nil
	}, nil
}

// named is the name of a server behind a noun; empty where there is none.
func named(name string) string {
	if name == "" {
		return ""
	}
	return " `" + name + "`"
}

// serversAnswer lists the servers as Markdown.
func serversAnswer(v *lsp.View, name func(string) string) string {
	text := tools.ServersText(v, name)
	if v.Refused() != nil {
		return strings.ToUpper(text[:1]) + text[1:] + "."
	}
	return kinds.Fence("", kinds.Escape(text))
}
