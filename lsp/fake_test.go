package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// fakeVariable makes the test's own program a language server that behaves as its
// value says: words with blanks between.
const fakeVariable = "LSP_TEST_SERVER"

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(fakeVariable); behaviour != "" {
		fakeServer(strings.Fields(behaviour))
		return
	}
	os.Exit(m.Run())
}

// fakeConfig is a configuration with the fake server alone, for .fake files.
func fakeConfig(behaviour string) Config {
	return Config{
		Servers: map[string]ServerConfig{"fake": {
			Command: []string{os.Args[0]}, Extensions: []string{".fake"}, LanguageID: "fake",
			Env: map[string]string{fakeVariable: behaviour + " ok"},
		}},
		StartTimeout: time.Minute,
	}
}

// fake is a language server for tests. In its language `def NAME` declares, every
// other word refers, and BAD is an error.
type fake struct {
	conn *jsonrpc.Conn
	does func(word string) bool
	root string
	told chan struct{} // closed once it has all answers; nil: it asks nothing

	mu   sync.Mutex
	docs map[string]string
	now  map[string]int // the documents' versions

	publishing sync.Mutex // held while all is judged and published
	asked      int        // how many times that was begun

	alone sync.Mutex // nothing else is answered while all is judged, as by gopls

	pulled int // how many times it was asked for a verdict

	eaten []byte // memory that nobody needs

	heard map[string]bool // files by URI, where it knows only those that it was told of

	lax bool // it finds nothing, as its settings say
}

func fakeServer(behaviour []string) {
	f := &fake{docs: map[string]string{}, now: map[string]int{}, does: func(w string) bool { return slices.Contains(behaviour, w) }}
	in, out := f.pipes()
	if f.does("asks") {
		f.told = make(chan struct{})
	}
	if f.does("exits") {
		fmt.Fprintln(os.Stderr, "fake: cannot be bothered")
		os.Exit(3)
	}
	f.conn = jsonrpc.New(in, out, f.handle, jsonrpc.Options{Framing: jsonrpc.Headers})
	_ = f.conn.Run(context.Background())
}

func result(v any) (jsonrpc.Work, error) {
	return func(context.Context) (any, error) { return v, nil }, nil
}

// forever is work that never ends by itself, but for a cancel that is heeded.
func forever(ctx context.Context) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (f *fake) handle(_ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
	var p struct {
		RootURI      string `json:"rootUri"`
		TextDocument struct {
			URI     string `json:"uri"`
			Text    string `json:"text"`
			Version int    `json:"version"`
		} `json:"textDocument"`
		Position       Position                `json:"position"`
		ContentChanges []struct{ Text string } `json:"contentChanges"`
		NewName        string                  `json:"newName"`
		Query          string                  `json:"query"`
	}
	_ = json.Unmarshal(r.Params, &p)
	f.mu.Lock()
	defer f.mu.Unlock()
	uri := p.TextDocument.URI
	if work, err, ok := f.scripted(r); ok {
		return work, err
	}
	switch r.Method {
	case "initialize":
		return f.initialize(p.RootURI)
	case "initialized":
		f.started()
	case "textDocument/didOpen", "textDocument/didChange":
		if f.once("die-open") || p.TextDocument.Version > 1 && f.once("die-change") {
			die()
		}
		if f.does("crash-on-open") {
			os.Exit(1)
		}
		f.docs[uri], f.now[uri] = p.TextDocument.Text, p.TextDocument.Version
		if r.Method == "textDocument/didChange" {
			f.docs[uri] = p.ContentChanges[len(p.ContentChanges)-1].Text
		}
		return f.published(uri, p.TextDocument.Version), nil
	case "textDocument/didClose":
		delete(f.docs, uri)
	case "textDocument/definition":
		switch {
		case f.once("die-asked"):
			die()
		case f.does("die-in-request"):
			os.Exit(1)
		case f.does("hang-in-request"):
			return forever, nil
		case f.does("error-code-0"):
			return nil, &jsonrpc.Error{Code: 0, Message: "line out of range"}
		case f.does("error-dumb"):
			return nil, &jsonrpc.Error{Code: -32099}
		case f.does("null"):
			return nil, nil
		case f.does("odd-uri"):
			return result([]wireLocation{{URI: "untitled:Untitled-1"}, {URI: "jdt://contents/x"}, {URI: "http://[::1"}})
		case f.does("wrong-type"):
			return result("a text")
		}
		found := f.uses(f.wordAt(uri, p.Position), true)
		return func(ctx context.Context) (any, error) {
			f.alone.Lock()
			defer f.alone.Unlock()
			f.noLater(ctx)
			return found, nil
		}, nil
	case "workspace/didChangeWatchedFiles":
		f.hears(r.Params)
		if f.does("all") {
			return f.publishAll(), nil
		}
	case "textDocument/diagnostic":
		if f.does("judges") {
			return f.judged(uri, r.Params)
		}
		if f.pulled++; f.does("pull-once") && f.pulled > 1 {
			return nil, &jsonrpc.Error{Code: 0, Message: "asked once more"}
		}
		report := map[string]any{"kind": "full", "items": f.problems(uri)}
		return func(ctx context.Context) (any, error) { return report, f.free(ctx) }, nil
	case "workspace/executeCommand":
		return f.judgeAll, nil
	case "workspace/symbol":
		return result(f.declared(p.Query))
	case "textDocument/references":
		return result(f.uses(f.wordAt(uri, p.Position), false))
	case "textDocument/rename":
		changes := map[string][]textEdit{}
		for _, u := range f.uses(f.wordAt(uri, p.Position), false) {
			changes[u.URI] = append(changes[u.URI], textEdit{u.Range, p.NewName})
		}
		return result(map[string]any{"changes": changes})
	}
	if r.Notification || r.Method == "shutdown" {
		if r.Method == "exit" && !f.does("endless") {
			os.Exit(0)
		}
		return nil, nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no " + r.Method}
}

func (f *fake) initialize(root string) (jsonrpc.Work, error) {
	switch {
	case f.once("die-initialize"):
		die()
	case f.once("hang-initialize"):
		return forever, nil
	case f.does("error-initialize"):
		return nil, &jsonrpc.Error{Code: -32603, Message: "no licence"}
	case f.does("null-initialize"):
		return nil, nil
	case f.does("junk-initialize"):
		return result(map[string]any{"capabilities": map[string]any{"textDocumentSync": "full", "positionEncoding": 8, "diagnosticProvider": "yes", "renameProvider": []int{1}, "definitionProvider": true, "executeCommandProvider": 7}, "serverInfo": "fake 1", "offsetEncoding": []int{}})
	case f.does("text-initialize"):
		return result("ready")
	}
	f.root, _ = filePath(root)
	if f.does("heeds") {
		f.heard = map[string]bool{}
		for uri := range f.disk() {
			f.heard[uri] = true
		}
	}
	caps := map[string]any{"textDocumentSync": 1, "definitionProvider": true, "referencesProvider": map[string]any{}, "renameProvider": true}
	if f.does("pulls") || f.does("judges") {
		caps["diagnosticProvider"] = map[string]any{"interFileDependencies": true}
	}
	if f.does("symbols") {
		caps["workspaceSymbolProvider"] = true
	}
	if f.does("judges-all") {
		caps["executeCommandProvider"] = map[string]any{"commands": []string{judgeCommand}}
	}
	if f.does("utf8") {
		caps["positionEncoding"] = utf8Units
	}
	for name, value := range f.script().Capabilities {
		caps[name] = value
	}
	if f.does("flood") {
		go func() {
			for i := 0; ; i++ {
				name := filepath.Join(f.root, fmt.Sprintf("gen%d.fake", i%10_000))
				if f.conn.Notify(context.Background(), "textDocument/publishDiagnostics", map[string]any{"uri": fileURI(name), "diagnostics": []any{map[string]any{"message": strings.Repeat("x", 100)}}}) != nil {
					return
				}
			}
		}()
	}
	return result(map[string]any{"capabilities": caps, "serverInfo": map[string]string{"name": "fake", "version": "1"}})
}

// published judges a document, or all.
func (f *fake) published(uri string, version int) jsonrpc.Work {
	if f.does("pulls-late") && version == 1 {
		time.AfterFunc(100*time.Millisecond, func() {
			one := registration{ID: "1", Method: "textDocument/diagnostic"}
			_ = f.conn.Call(context.Background(), "client/registerCapability", map[string]any{"registrations": []registration{one}}, nil)
		})
	}
	if f.does("silent") {
		return nil
	}
	if f.does("all") {
		return f.publishAll()
	}
	list := f.problems(uri)
	if f.does("one") {
		list = problemsIn(f.files(), uri)
	}
	slow := f.does("waits") || strings.Contains(f.docs[uri], "SLOW")
	return func(ctx context.Context) (any, error) {
		params := map[string]any{"uri": uri, "diagnostics": list}
		if !f.does("no-version") {
			params["version"] = version
		}
		if slow {
			if err := f.free(ctx); err != nil {
				return nil, err
			}
		}
		return nil, f.conn.Notify(ctx, "textDocument/publishDiagnostics", params)
	}
}

// problems are those of a document.
func (f *fake) problems(uri string) []map[string]any {
	list := []map[string]any{}
	for n, line := range strings.Split(f.docs[uri], "\n") {
		for _, at := range regexp.MustCompile("BAD").FindAllStringIndex(line, -1) {
			list = append(list, map[string]any{"range": lineRange(n, at[0], at[1]), "severity": 1, "message": "this is bad: " + strings.TrimSpace(line)})
		}
	}
	return list
}

// judgeCommand has the fake judge whether "use NAME" has a "def NAME" anywhere. It
// comes to no end while the project has a file named busy.
const judgeCommand = "fake.judge"

// free waits until the project has no file named busy.
func (f *fake) free(ctx context.Context) error {
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(f.root, "busy")); err != nil {
			return nil
		}
		_ = sleep(ctx, 10*time.Millisecond)
	}
	return ctx.Err()
}

func (f *fake) judgeAll(ctx context.Context) (any, error) {
	f.alone.Lock()
	defer f.alone.Unlock()
	if err := f.free(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	files, now := f.files(), maps.Clone(f.now)
	f.mu.Unlock()
	for _, uri := range sortedKeys(files) {
		list := []map[string]any{}
		for n, line := range strings.Split(files[uri], "\n") {
			name, ok := strings.CutPrefix(line, "use ")
			if ok && !slices.ContainsFunc(sortedKeys(files), func(u string) bool { return strings.Contains("\n"+files[u], "\ndef "+name+"\n") }) {
				list = append(list, map[string]any{"range": lineRange(n, 4, len(line)), "severity": 1, "message": "undefined: " + name})
			}
		}
		params := map[string]any{"uri": uri, "diagnostics": list}
		if version, open := now[uri]; open {
			params["version"] = version
		}
		if err := f.conn.Notify(ctx, "textDocument/publishDiagnostics", params); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// declared are the symbols of open documents with a name that begins so.
func (f *fake) declared(query string) []map[string]any {
	out := []map[string]any{}
	files := f.docs
	if f.does("symbols-of-all") {
		files = f.files()
	}
	for _, uri := range sortedKeys(files) {
		for n, line := range strings.Split(files[uri], "\n") {
			if name, ok := strings.CutPrefix(line, "def "); ok && strings.HasPrefix(name, query) {
				out = append(out, map[string]any{"name": name, "kind": 12, "location": wireLocation{uri, lineRange(n, 4, len(line))}})
			}
		}
	}
	return out
}

func lineRange(n, from, to int) Range {
	return Range{Start: Position{Line: uint32(n), Character: uint32(from)}, End: Position{Line: uint32(n), Character: uint32(to)}}
}

var words = regexp.MustCompile(`[A-Za-z_]\w*`)

// files are the documents and the files on the disk.
func (f *fake) files() map[string]string {
	out := f.disk()
	maps.Copy(out, f.docs)
	maps.DeleteFunc(out, func(uri, _ string) bool { return f.heard != nil && !f.heard[uri] })
	return out
}

// hears takes in what happened to files. As for real servers, a file that changed and
// was never created is of no interest.
func (f *fake) hears(params json.RawMessage) {
	var p struct {
		Changes []struct {
			URI  string
			Type Event
		}
	}
	_ = json.Unmarshal(params, &p)
	for _, one := range p.Changes {
		switch {
		case strings.HasSuffix(one.URI, settingsFile):
			time.AfterFunc(100*time.Millisecond, f.reload)
		case f.heard == nil || one.Type == Changed:
		case one.Type == Created:
			f.heard[one.URI] = true
		default:
			delete(f.heard, one.URI)
		}
	}
}

// disk are the files of the language as they are on the disk, by their URIs.
func (f *fake) disk() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(f.root, func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".fake") {
			data, _ := os.ReadFile(path)
			out[fileURI(path)] = string(data)
		}
		return nil
	})
	return out
}

func (f *fake) wordAt(uri string, p Position) string {
	lines := strings.Split(f.files()[uri], "\n")
	if int(p.Line) >= len(lines) {
		return ""
	}
	for _, at := range words.FindAllStringIndex(lines[p.Line], -1) {
		if at[0] <= int(p.Character) && int(p.Character) <= at[1] {
			return lines[p.Line][at[0]:at[1]]
		}
	}
	return ""
}

func (f *fake) uses(word string, declared bool) []wireLocation {
	var out []wireLocation
	files := f.files()
	for _, uri := range sortedKeys(files) {
		for n, line := range strings.Split(files[uri], "\n") {
			for _, at := range words.FindAllStringIndex(line, -1) {
				if line[at[0]:at[1]] == word && (!declared || strings.HasSuffix(line[:at[0]], "def ")) {
					out = append(out, wireLocation{uri, lineRange(n, at[0], at[1])})
				}
			}
		}
	}
	return out
}
