package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/acptest"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/config"
	acpschema "github.com/acp-agent/acp-agent/testdata/acp"
	"github.com/acp-agent/acp-agent/tools"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// agentSchema is compiled once for all tests.
var agentSchema = sync.OnceValues(func() (*acptest.Schema, error) {
	return acptest.Compile(acpschema.V1(), acp.MethodSessionSetModel)
})

// place is where an agent works in a test: a project, and a home with the
// agent's own folders, all temporary.
type place struct {
	Root  string // above both
	Dir   string // the project
	Env   map[string]string
	Paths config.Paths
}

func newPlace(t testing.TB) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{Root: root, Dir: filepath.Join(root, "work"), Env: map[string]string{
		"HOME": filepath.Join(root, "home"), "USERPROFILE": filepath.Join(root, "home"), "ACP_AGENT_KEYRING": "off",
	}}
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		p.Env["XDG_"+name+"_HOME"] = filepath.Join(root, "home", name)
	}
	p.Paths = config.NewPaths(p.getenv)
	p.Paths.Manifest = filepath.Join(root, "home", "etc", "config.json")
	if err := errors.Join(os.Mkdir(p.Dir, 0o755), os.Mkdir(p.Env["HOME"], 0o755)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) getenv(name string) string { return p.Env[name] }

// useModel has new sessions ask the mock.
func (p *place) useModel(m *mockModel) {
	p.Env["ACP_AGENT_MODEL"], p.Env["OPENAI_BASE_URL"], p.Env["OPENAI_API_KEY"] = "openai-compatible/mock", m.URL(), "test-key"
}

func (p *place) write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sessions are the whole engine, as the program wires it.
func (p *place) sessions(t testing.TB) *session.Sessions {
	t.Helper()
	registry, err := tools.NewRegistry(tools.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	return session.New(session.Options{Paths: p.Paths, Tools: registry, Getenv: p.getenv})
}

// peer is the editor's end of a connection to an agent that runs in the test.
// Everything that the agent sends is checked by the schema and the linter.
type peer struct {
	t      testing.TB
	in     *io.PipeWriter
	frames chan []byte
	served chan error // what Serve returned
	cancel context.CancelFunc

	mu    sync.Mutex
	check *acptest.Validator
	lint  *linter
	ids   int
}

// start serves an agent. The connection must be ended by end.
func (p *place) start(t testing.TB) *peer {
	t.Helper()
	schema, err := agentSchema()
	if err != nil {
		t.Fatal(err)
	}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	e := &peer{t: t, in: inWrite, frames: make(chan []byte, 1<<16), served: make(chan error, 1), cancel: cancel,
		check: schema.Validator(), lint: newLinter()}
	sessions := p.sessions(t)
	go func() { // ends with the connection
		err := acp.Serve(ctx, inRead, outWrite, acp.Options{Sessions: sessions, Version: "0.0.0-test"})
		_ = outWrite.Close()
		_ = inRead.Close()
		e.served <- err
	}()
	go e.read(outRead) // ends with the agent's output
	return e
}

func (e *peer) read(out io.Reader) {
	defer close(e.frames)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				e.t.Errorf("the output ends within a line: %s", line)
			}
			return
		}
		line = line[:len(line)-1]
		e.mu.Lock()
		err = e.check.Check(acptest.Agent, line)
		e.lint.received(line)
		e.mu.Unlock()
		if err != nil {
			e.t.Errorf("against the schema: %v", err)
		}
		e.frames <- line
	}
}

// send writes lines as they stand, in one piece.
func (e *peer) send(lines ...string) {
	e.t.Helper()
	var all []byte
	e.mu.Lock()
	for _, line := range lines {
		if !e.lint.open(line) { // a second one under the same id is answered under none
			_ = e.check.Check(acptest.Client, []byte(line)) // it may well be wrong: only the agent is judged
			e.lint.sent([]byte(line))
		}
		all = append(append(all, line...), '\n')
	}
	e.mu.Unlock()
	if _, err := e.in.Write(all); err != nil {
		e.t.Fatalf("the agent does not read: %v", err)
	}
}

// next is the agent's next line; nil when its output has ended.
func (e *peer) next() []byte {
	e.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line := <-e.frames:
		return line
	case <-timer.C:
		e.t.Fatalf("nothing came for %v", patience)
		return nil
	}
}

// request sends a request and gives every line up to its answer to each, which
// may be nil; it returns the answer.
func (e *peer) request(method string, params any, each func(line []byte)) frame {
	e.t.Helper()
	e.mu.Lock()
	e.ids++
	id := e.ids
	e.mu.Unlock()
	line := mustJSON(e.t, map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	e.send(line)
	return e.answerTo(mustJSON(e.t, id), each)
}

// answerTo reads up to the answer to a request.
func (e *peer) answerTo(id string, each func(line []byte)) frame {
	e.t.Helper()
	for {
		line := e.next()
		if line == nil {
			e.t.Fatalf("the agent's output ended before the answer to %s", id)
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			e.t.Fatal(err)
		}
		if f.isAnswer() && string(f.ID) == id {
			return f
		}
		if each != nil {
			each(line)
		}
	}
}

// open introduces the editor and opens a session.
func (e *peer) open(dir string) (sessionID string) {
	e.t.Helper()
	e.request(acp.MethodInitialize, map[string]any{"protocolVersion": 1}, nil)
	return e.newSession(dir)
}

func (e *peer) newSession(dir string) string {
	e.t.Helper()
	f := e.request(acp.MethodSessionNew, map[string]any{"cwd": dir, "mcpServers": []any{}}, nil)
	id := sessionIn(f.Result)
	if id == "" {
		e.t.Fatalf("session/new: %s", f.Error)
	}
	return id
}

// prompt is the params of a prompt of text.
func prompt(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// end closes the agent's input and returns what it still sent, and checks the
// connection as a whole.
func (e *peer) end() (rest [][]byte) {
	e.t.Helper()
	_ = e.in.Close()
	return e.drain()
}

// drain reads until the agent has ended.
func (e *peer) drain() (rest [][]byte) {
	e.t.Helper()
	for line := e.next(); line != nil; line = e.next() {
		rest = append(rest, line)
	}
	e.cancel()
	if err := <-e.served; err != nil && !errors.Is(err, context.Canceled) {
		e.t.Errorf("Serve: %v", err)
	}
	e.lint.ended()
	for _, p := range e.lint.problems {
		e.t.Errorf("lint: %s", p)
	}
	return rest
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
