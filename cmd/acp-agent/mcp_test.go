package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/acp-agent/acp-agent/session/config"
)

// host is an MCP host with `acp-agent mcp` as its server.
type host struct {
	t       *testing.T
	dir     string // the project
	home    string
	client  *client.Client
	toAgent *os.File // what the client writes
	ended   chan error
	said    func() []string // the lines that the agent wrote
}

// newHost serves a project of the harness's small language, in an untrusted folder.
// extra are more arguments of its language server.
func newHost(t *testing.T, extra ...string) *host {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node is not installed, and CI skips nothing")
		}
		t.Skip("node is not installed")
	}
	fake, err := filepath.Abs("../../testdata/harness/fakelsp.mjs")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, dir: t.TempDir(), home: t.TempDir(), ended: make(chan error, 1)}
	server := map[string]any{"command": append([]string{node, fake}, extra...), "extensions": []string{".fake"}, "languageId": "fake"}
	settings, err := json.Marshal(map[string]any{"lsp": map[string]any{"servers": map[string]any{"fake": server}, "diagnosticsWaitMs": 600_000}})
	if err != nil {
		t.Fatal(err)
	}
	h.write(filepath.Join(h.home, "config", "acp-agent", "config.json"), string(settings))
	h.write(filepath.Join(h.dir, "a.fake"), "def foo\nx = \"日本🙂\" + foo\n")
	h.start()
	return h
}

func (h *host) write(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) getenv(name string) string {
	switch name {
	case "HOME", "USERPROFILE":
		return h.home
	case "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME":
		return filepath.Join(h.home, strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "XDG_"), "_HOME")))
	case "ACP_AGENT_KEYRING":
		return "off"
	}
	return os.Getenv(name)
}

func (h *host) start() {
	t := h.t
	t.Helper()
	in, toAgent := pipe(t)
	fromAgent, out := pipe(t)
	h.toAgent = toAgent
	p := &process{in: in, out: out, errout: os.Stderr, getenv: h.getenv}
	go func() { // end waits for it
		err := (&mcpCommand{Folder: h.dir}).Run(p)
		out.Close()
		h.ended <- err
	}()
	var mu sync.Mutex
	var lines []string
	h.said = func() []string {
		mu.Lock()
		defer mu.Unlock()
		return lines
	}
	read, passOn := io.Pipe()
	go func() { // ends with the agent's output
		from := bufio.NewReader(fromAgent)
		for {
			line, err := from.ReadString('\n')
			mu.Lock()
			lines = append(lines, line)
			mu.Unlock()
			if _, failed := io.WriteString(passOn, line); err != nil || failed != nil {
				passOn.CloseWithError(io.EOF)
				return
			}
		}
	}()
	h.client = client.NewClient(transport.NewIO(read, toAgent, io.NopCloser(strings.NewReader(""))))
	if err := h.client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.client.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// end closes the agent's input and waits until it has ended.
func (h *host) end() {
	h.t.Helper()
	h.toAgent.Close()
	if err := <-h.ended; err != nil {
		h.t.Error("it ended with", err)
	}
	for _, line := range h.said() {
		if line == "" {
			continue // the end
		}
		var m struct {
			Version string `json:"jsonrpc"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			h.t.Errorf("this is no message: %q", line)
		}
	}
}

// call is what the tool answers; failed says that it answers an error.
func (h *host) call(ctx context.Context, arguments map[string]any) (text string, failed bool) {
	h.t.Helper()
	r := mcp.CallToolRequest{}
	r.Params.Name, r.Params.Arguments = "lsp", arguments
	result, err := h.client.CallTool(ctx, r)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range result.Content {
		text += c.(mcp.TextContent).Text
	}
	return text, result.IsError
}

// trust trusts the project, as `acp-agent trust` does.
func (h *host) trust() {
	h.t.Helper()
	paths := config.NewPaths(h.getenv)
	if err := paths.Agree(paths.Open(h.dir)); err != nil {
		h.t.Fatal(err)
	}
}

func TestMCPOffersTheTool(t *testing.T) {
	h := newHost(t)
	defer h.end()
	list, err := h.client.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "lsp" {
		t.Fatalf("tools %+v, %v", list, err)
	}
	// A host that goes by the hints asks its user, since two operations change files.
	if a := list.Tools[0].Annotations; *a.ReadOnlyHint || !*a.DestructiveHint || *a.OpenWorldHint {
		t.Errorf("hints %+v", a)
	}
	if schema, err := json.Marshal(list.Tools[0]); err != nil || !bytes.Contains(schema, []byte(`"workspace_symbols"`)) {
		t.Errorf("the schema names no operation: %s", schema)
	}
}

// No server starts before the folder is trusted; once it is, the next call works.
func TestMCPTrust(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	h := newHost(t, "log="+log)
	ask := map[string]any{"operation": "definition", "path": "a.fake", "symbol": "foo", "line": 2}
	for _, arguments := range []map[string]any{ask, {"operation": "diagnostics", "path": "a.fake"}, {"operation": "rename", "path": "a.fake", "symbol": "foo", "new_name": "bar"}} {
		if text, failed := h.call(t.Context(), arguments); !failed || !strings.Contains(text, "not trusted") {
			t.Errorf("%v, untrusted: %q", arguments, text)
		}
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a server was started in an untrusted folder")
	}
	h.trust()
	if text, failed := h.call(t.Context(), ask); failed || !strings.HasPrefix(text, "a.fake:1:5 def foo") {
		t.Errorf("trusted: %q", text)
	}
	if text, failed := h.call(t.Context(), map[string]any{"operation": "rename", "path": "a.fake", "symbol": "foo", "new_name": "bar"}); failed {
		t.Errorf("rename: %q", text)
	}
	if data, err := os.ReadFile(filepath.Join(h.dir, "a.fake")); err != nil || string(data) != "def bar\nx = \"日本🙂\" + bar\n" {
		t.Errorf("after the rename %q, %v", data, err)
	}
	h.end()
	if data, err := os.ReadFile(log); err != nil || !bytes.Contains(data, []byte(`"shutdown"`)) || !bytes.Contains(data, []byte(`"exit"`)) {
		t.Errorf("its server was not ended: %v", err)
	}
}

// What cannot be done is an answer of the tool, what is no message is none of ours.
func TestMCPErrors(t *testing.T) {
	h := newHost(t)
	defer h.end()
	h.trust()
	for name, tt := range map[string]struct {
		arguments map[string]any
		want      string
	}{
		"no operation":         {nil, "operation"},
		"an unknown operation": {map[string]any{"operation": "nonsense"}, "operation"},
		"a number as text":     {map[string]any{"operation": "hover", "path": "a.fake", "line": "x"}, "line"},
		"no file":              {map[string]any{"operation": "document_symbols", "path": "gone.fake"}, "gone.fake does not exist"},
		"no server":            {map[string]any{"operation": "document_symbols", "path": "../"}, ""},
	} {
		if text, failed := h.call(t.Context(), tt.arguments); !failed || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, an error: %v", name, text, failed)
		}
	}
	r := mcp.CallToolRequest{}
	r.Params.Name = "other"
	if _, err := h.client.CallTool(t.Context(), r); err == nil {
		t.Error("an unknown tool was called")
	}
	for _, junk := range []string{"no JSON\n", "\n", "[1,2]\n", `{"jsonrpc":"2.0","method":"no/such"}` + "\n", "\x00\xff\n"} {
		if _, err := h.toAgent.WriteString(junk); err != nil {
			t.Fatal(err)
		}
	}
	if text, failed := h.call(t.Context(), map[string]any{"operation": "document_symbols", "path": "a.fake"}); failed || !strings.Contains(text, "foo") {
		t.Errorf("after junk: %q", text)
	}
}

// A call that is given up does not hold up the next one, nor the end.
func TestMCPCancel(t *testing.T) {
	h := newHost(t, "slow", "delay=600000")
	defer h.end()
	h.trust()
	if text, failed := h.call(t.Context(), map[string]any{"operation": "hover", "path": "a.fake", "symbol": "foo"}); failed {
		t.Fatalf("hover: %q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		r := mcp.CallToolRequest{}
		r.Params.Name, r.Params.Arguments = "lsp", map[string]any{"operation": "diagnostics", "path": "a.fake"}
		_, err := h.client.CallTool(ctx, r)
		given <- err
	}()
	cancel()
	if err := <-given; err == nil {
		t.Error("a call that was given up has an answer")
	}
	if text, failed := h.call(t.Context(), map[string]any{"operation": "servers"}); failed || !strings.Contains(text, "fake") {
		t.Errorf("servers: %q", text)
	}
}

// TestMCPHoverWithholds: what a server says of a symbol that is declared in a file which
// may not be read is not told, since it may quote it.
func TestMCPHoverWithholds(t *testing.T) {
	h := newHost(t)
	defer h.end()
	h.write(filepath.Join(h.dir, "kept.fake"), "def secret\n")
	h.write(filepath.Join(h.dir, "open.fake"), "def plain\nsecret plain\n")
	h.write(filepath.Join(h.dir, ".acp-agent", "config.json"), `{"permissions":{"rules":[{"permission":"read","pattern":"kept.fake","action":"deny"}]}}`)
	h.trust()
	for symbol, want := range map[string]string{"plain": "about plain", "secret": "it is declared in kept.fake, which may not be read"} {
		text, failed := h.call(t.Context(), map[string]any{"operation": "hover", "path": "open.fake", "symbol": symbol})
		if failed != (symbol == "secret") || !strings.Contains(text, want) || strings.Contains(text, "about secret") {
			t.Errorf("%s: failed %t: %s", symbol, failed, text)
		}
	}
}

// TestMCPWithholds: why a change cannot be made tells nothing of a file that may not be
// read.
func TestMCPWithholds(t *testing.T) {
	h := newHost(t)
	defer h.end()
	h.write(filepath.Join(h.dir, "twice.fake"), "def foo\ndef foo\n")
	h.write(filepath.Join(h.dir, ".acp-agent", "config.json"), `{"permissions":{"rules":[{"permission":"read","pattern":"twice.fake","action":"deny"}]}}`)
	h.trust()
	text, failed := h.call(t.Context(), map[string]any{"operation": "rename", "path": "twice.fake", "symbol": "foo", "new_name": "bar"})
	if !failed || !strings.Contains(text, "twice.fake, which may not be read") || strings.Contains(text, ":1") {
		t.Errorf("failed %t: %s", failed, text)
	}
}
