package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// client is the side of the protocol that servers ask: every request of theirs is
// answered, since one without an answer stops a server for good.
type client struct {
	run *run

	unanswered atomic.Int32 // requests of the server

	mu       sync.Mutex
	watched  map[string]watch       // by the id of a registration
	pull     map[string]pullOptions // registrations of pulled diagnostics
	progress map[string]progress    // under way, by token
	loads    bool                   // the progress that Spec.Loading names has begun
	loaded   bool                   // it has ended
	loading  chan struct{}          // closed then
	surveyed chan struct{}          // closed when a message of Spec.Surveys has come
	said     string                 // the last error or warning that the server showed
	unable   map[string]error       // the files that it cannot judge, by path
	applied  []*workspaceEdit       // while a command runs: what the server wants changed
	applying bool
}

// progress is work that a server tells of.
type progress struct {
	title, message string
	percent        int // below 0: not told
	began          time.Time
}

func (c *client) init(r *run) {
	c.run = r
	c.watched = map[string]watch{}
	c.pull = map[string]pullOptions{}
	c.progress = map[string]progress{}
	c.loading = make(chan struct{})
	c.surveyed = make(chan struct{})
	if c.loaded = r.server.spec.Loading == ""; c.loaded {
		close(c.loading)
	}
}

// maxUnanswered is how many requests of a server may wait for it to read the answers.
const maxUnanswered = 10_000

// handle answers the server. It never blocks.
func (c *client) handle(_ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
	c.run.silent.Store(0)
	if !r.Notification {
		if c.unanswered.Add(1) > maxUnanswered {
			c.run.abort("asked %d times without reading an answer", maxUnanswered)
		}
		r.AfterAnswer(func() { c.unanswered.Add(-1) })
	}
	switch r.Method {
	case "textDocument/publishDiagnostics":
		return nil, c.published(r.Params)
	case "$/progress":
		return nil, c.progressed(r.Params)
	case "window/logMessage", "window/showMessage":
		return nil, c.told(r.Params)
	case "workspace/configuration":
		return c.configuration(r.Params)
	case "client/registerCapability":
		return nil, c.register(r.Params)
	case "client/unregisterCapability":
		return nil, c.unregister(r.Params)
	case "workspace/diagnostic/refresh":
		c.run.verdicts.outdated()
		return nil, nil
	case "window/workDoneProgress/create", "window/showMessageRequest":
		return nil, nil
	case "window/showDocument":
		return answer(map[string]bool{"success": false}), nil
	case "workspace/workspaceFolders":
		root := c.run.server.root
		return answer([]protocol.WorkspaceFolder{{URI: fileURI(root), Name: root}}), nil
	case "workspace/applyEdit":
		return c.applyEdit(r.Params)
	}
	if work, ok := c.extension(r); ok {
		return work, nil
	}
	if strings.HasPrefix(r.Method, "workspace/") && strings.HasSuffix(r.Method, "/refresh") {
		return nil, nil // there is nothing to draw anew, and some servers end at an error
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + r.Method}
}

// answer is work that is done.
func answer(result any) jsonrpc.Work {
	return func(context.Context) (any, error) { return result, nil }
}

// decode reads parameters; the error is the one for the peer.
func decode(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params: " + err.Error()}
	}
	return nil
}

// published takes in a verdict that the server pushed.
func (c *client) published(params json.RawMessage) error {
	var p publishParams
	if err := decode(params, &p); err != nil {
		return err
	}
	path, err := filePath(p.URI)
	if err != nil {
		return nil // an untitled or a generated document: nobody can be shown it
	}
	c.run.verdicts.publish(path, p.version(), p.Diagnostics)
	return nil
}

// progressed keeps what the server is at.
func (c *client) progressed(params json.RawMessage) error {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind       string   `json:"kind"`
			Title      string   `json:"title"`
			Message    string   `json:"message"`
			Percentage *float64 `json:"percentage"`
		} `json:"value"`
	}
	if err := decode(params, &p); err != nil {
		return err
	}
	token := string(p.Token)
	c.mu.Lock()
	defer c.mu.Unlock()
	was, known := c.progress[token]
	switch p.Value.Kind {
	case "begin":
		was = progress{title: cut(p.Value.Title, maxSaid), percent: -1, began: time.Now()}
		c.loads = c.loads || strings.HasPrefix(was.title, c.run.server.spec.Loading)
	case "report":
		if !known {
			return nil
		}
	case "end":
		delete(c.progress, token)
		defer c.run.verdicts.poke()
		if known && !c.loaded && strings.HasPrefix(was.title, c.run.server.spec.Loading) {
			c.loaded = true
			close(c.loading)
		}
		return nil
	default:
		return nil
	}
	if was.message = cut(p.Value.Message, maxSaid); p.Value.Percentage != nil {
		was.percent = int(min(max(*p.Value.Percentage, 0), 100))
	}
	if len(c.progress) < maxProgress || known {
		c.progress[token] = was
	}
	return nil
}

// tellsOfLoading reports whether the server ever said that it is loading.
func (c *client) tellsOfLoading() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loads
}

// maxProgress bounds what a server may say it is at, at once.
const maxProgress = 100

// maxSaid is how many bytes are kept of what a server says it is at, or shows.
const maxSaid = 500

// busy says what the server is at, as the end of a sentence; empty: nothing.
func (c *client) busy() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, p := range c.progress {
		part := strings.Trim(strings.TrimRight(p.title, " .…:")+": "+strings.TrimRight(p.message, " .…"), ": ")
		if p.percent >= 0 {
			part += fmt.Sprintf(" (%d %%)", p.percent)
		}
		if part == "" {
			part = "something that it does not name"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	slices.Sort(parts)
	return "; it is busy: " + strings.Join(parts[:min(3, len(parts))], ", ")
}

// busySince reports whether the server is at work that it began after a moment, and
// whose title begins so.
func (c *client) busySince(moment time.Time, title string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.progress {
		if p.began.After(moment) && strings.HasPrefix(p.title, title) {
			return true
		}
	}
	return false
}

// told keeps the last error or warning that the server shows its user.
func (c *client) told(params json.RawMessage) error {
	var p struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
	}
	if err := decode(params, &p); err != nil {
		return err
	}
	spec := c.run.server.spec
	c.run.server.owner.log.Debug("language server says", "server", spec.Name, "text", p.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Type == 1 || p.Type == 2 {
		c.said = cut(p.Message, maxSaid)
	}
	if spec.Announces != "" && strings.Contains(p.Message, spec.Announces) {
		c.run.verdicts.reloads()
	}
	if slices.ContainsFunc(spec.Surveys, func(end string) bool { return strings.Contains(p.Message, end) }) {
		select {
		case <-c.surveyed:
		default:
			close(c.surveyed)
		}
	}
	return nil
}

// configuration answers what the settings have for each section, null where they
// have nothing.
func (c *client) configuration(params json.RawMessage) (jsonrpc.Work, error) {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	settings := nested(c.run.server.spec.Settings)
	out := make([]json.RawMessage, len(p.Items))
	for i, item := range p.Items {
		out[i] = section(settings, item.Section)
	}
	return answer(out), nil
}

// section is a part of settings by its dotted name; settings may spell the name in
// one or in several steps.
func section(settings json.RawMessage, name string) json.RawMessage {
	if name == "" || settings == nil {
		if settings == nil {
			return json.RawMessage("null")
		}
		return settings
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(settings, &members) != nil {
		return json.RawMessage("null")
	}
	if value, ok := members[name]; ok {
		return value
	}
	for at := strings.LastIndexByte(name, '.'); at > 0; at = strings.LastIndexByte(name[:at], '.') {
		if value, ok := members[name[:at]]; ok {
			return section(value, name[at+1:])
		}
	}
	return json.RawMessage("null")
}

// nested is settings with one step of a name at each level: "a.b" of their top, as
// editors' settings are often written, is what "b" is in "a". Settings that are no
// object stay as they are.
func nested(settings json.RawMessage) json.RawMessage {
	var flat map[string]any
	if json.Unmarshal(settings, &flat) != nil {
		return settings
	}
	out := map[string]any{}
	for _, name := range sortedKeys(flat) { // "a" before "a.b"
		at := out
		steps := strings.Split(name, ".")
		for _, step := range steps[:len(steps)-1] {
			below, ok := at[step].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[step] = below
			}
			at = below
		}
		at[steps[len(steps)-1]] = flat[name]
	}
	data, err := json.Marshal(out)
	if err != nil {
		return settings
	}
	return data
}

// wireID is the id of a registration: a string, and of some servers a number.
type wireID string

func (id *wireID) UnmarshalJSON(data []byte) error {
	*id = wireID(data)
	return nil
}

// registration is a capability that a server announces, or takes back, later.
type registration struct {
	ID      wireID          `json:"id"`
	Method  string          `json:"method"`
	Options json.RawMessage `json:"registerOptions"`
}

func (c *client) register(params json.RawMessage) error {
	var p struct {
		Registrations []registration `json:"registrations"`
	}
	if err := decode(params, &p); err != nil {
		return err
	}
	defer c.run.verdicts.poke() // for those who wait for a push
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.Registrations {
		switch r.Method {
		case "workspace/didChangeWatchedFiles":
			if w, err := newWatch(r.Options); err == nil {
				c.watched[string(r.ID)] = w
			}
		case "textDocument/diagnostic":
			var options pullOptions
			_ = json.Unmarshal(r.Options, &options) // none: as if they said nothing
			c.pull[string(r.ID)] = options
		}
	}
	return nil
}

func (c *client) unregister(params json.RawMessage) error {
	var p struct {
		Unregisterations []registration `json:"unregisterations"` // as the protocol spells it
		Unregistrations  []registration `json:"unregistrations"`
	}
	if err := decode(params, &p); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range append(p.Unregisterations, p.Unregistrations...) {
		delete(c.watched, string(r.ID))
		delete(c.pull, string(r.ID))
	}
	return nil
}

// pulls reports whether the server is to be asked for diagnostics.
func (c *client) pulls() bool {
	if c.run.server.spec.NoPull {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run.caps.Diagnostic != nil || len(c.pull) > 0
}

// withinFile reports whether the server says that its verdict on a file depends on no
// other.
func (c *client) withinFile() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.run.caps.Diagnostic; o != nil && !o.within() {
		return false
	}
	for _, o := range c.pull {
		if !o.within() {
			return false
		}
	}
	return c.run.caps.Diagnostic != nil || len(c.pull) > 0
}

// applyEdit takes in an edit that the server wants while it executes a command that
// it was asked for. At any other time nobody has been asked about it.
func (c *client) applyEdit(params json.RawMessage) (jsonrpc.Work, error) {
	var p struct {
		Edit *workspaceEdit `json:"edit"`
	}
	if err := decode(params, &p); err != nil {
		return answer(map[string]any{"applied": false, "failureReason": "the edit is not understood"}), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.applying || p.Edit == nil {
		return answer(map[string]any{"applied": false, "failureReason": "nobody asked for an edit"}), nil
	}
	c.applied = append(c.applied, p.Edit)
	return answer(map[string]any{"applied": true}), nil
}
