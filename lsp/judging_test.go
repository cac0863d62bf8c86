package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// problemsIn are those of a file as the fake judges the whole project: BAD and WARN
// lines, and "use NAME" without a "def NAME" in any file.
func problemsIn(files map[string]string, uri string) []map[string]any {
	defined := map[string]bool{}
	for _, text := range files {
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "def "); ok {
				defined[name] = true
			}
		}
	}
	list := []map[string]any{}
	add := func(line, from, to, severity int, message string) {
		list = append(list, map[string]any{"range": lineRange(line, from, to), "severity": severity, "code": 7, "source": "judge", "message": message})
	}
	for n, line := range strings.Split(files[uri], "\n") {
		name, uses := strings.CutPrefix(line, "use ")
		switch {
		case uses && !defined[name]:
			add(n, 4, len(line), 1, "undefined: "+name)
		case strings.HasPrefix(line, "BAD"):
			add(n, 0, 3, 1, strings.TrimPrefix(line, "BAD "))
		case strings.HasPrefix(line, "WARN"):
			add(n, 0, 4, 2, strings.TrimPrefix(line, "WARN "))
		}
	}
	return list
}

// publishAll judges all files there are, but where there is more to judge by then: a
// server tells no old news.
func (f *fake) publishAll() jsonrpc.Work {
	f.asked++
	asked := f.asked
	return func(ctx context.Context) (any, error) {
		f.publishing.Lock()
		defer f.publishing.Unlock()
		files := f.disk() // meanwhile more may come
		f.mu.Lock()
		maps.Copy(files, f.docs)
		now, open, old := maps.Clone(f.now), maps.Clone(f.docs), asked != f.asked
		f.mu.Unlock()
		if old {
			return nil, nil
		}
		return nil, f.publish(ctx, files, now, open)
	}
}

// publish tells what is wrong with files, in the versions that are open.
func (f *fake) publish(ctx context.Context, files map[string]string, now map[string]int, open map[string]string) error {
	for _, uri := range sortedKeys(files) {
		params := map[string]any{"uri": uri, "diagnostics": problemsIn(files, uri)}
		if _, ok := open[uri]; ok && !f.does("no-version") {
			params["version"] = now[uri]
		}
		if err := f.conn.Notify(ctx, "textDocument/publishDiagnostics", params); err != nil {
			return err
		}
	}
	return nil
}

// judged answers a pull, in the ways that servers do.
func (f *fake) judged(uri string, params json.RawMessage) (jsonrpc.Work, error) {
	var p struct {
		Previous string `json:"previousResultId"`
	}
	_ = json.Unmarshal(params, &p)
	f.pulled++
	files := f.files()
	items := problemsIn(files, uri)
	if f.lax {
		items = nil
	}
	data, _ := json.Marshal(items)
	id := string(data)
	switch {
	case f.does("cancels") && f.pulled <= 5:
		return nil, &jsonrpc.Error{Code: codeServerCancelled, Message: "not now", Data: map[string]any{"retriggerRequest": true}}
	case f.does("gives-up"):
		return nil, &jsonrpc.Error{Code: codeServerCancelled, Message: "never", Data: map[string]any{"retriggerRequest": false}}
	case f.does("unchanged-first") && p.Previous == "":
		return result(map[string]any{"kind": "unchanged", "resultId": "x"})
	case f.does("ids") && p.Previous == id:
		return result(map[string]any{"kind": "unchanged", "resultId": id})
	}
	report := map[string]any{"kind": "full", "items": items}
	if f.does("ids") {
		report["resultId"] = id
	}
	if f.does("no-kind") {
		report["kind"] = ""
	}
	if f.does("related") {
		others := map[string]any{}
		for other := range files {
			if other != uri {
				others[other] = map[string]any{"kind": "full", "items": problemsIn(files, other)}
			}
		}
		report["relatedDocuments"] = others
	}
	if f.does("waits") || strings.Contains(f.docs[uri], "SLOW") { // and tells then what was so when it was asked
		return func(ctx context.Context) (any, error) { return report, f.free(ctx) }, nil
	}
	return result(report)
}

// settingsFile is the fake's. Where it is empty, the fake finds nothing wrong.
const settingsFile = "settings.fake"

// reload takes in the settings, and says that what was answered may be outdated.
func (f *fake) reload() {
	data, _ := os.ReadFile(filepath.Join(f.root, settingsFile))
	f.mu.Lock()
	f.lax = len(data) == 0
	f.mu.Unlock()
	_ = f.conn.Call(context.Background(), "workspace/diagnostic/refresh", nil, nil)
}
