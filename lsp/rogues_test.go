package lsp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/tools/process"
)

// define asks where foo is defined.
func (p *project) define() error {
	p.t.Helper()
	a, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
	if err == nil && len(a.Found) != 1 {
		err = fmt.Errorf("found %+v", a.Found)
	}
	return err
}

// started is the server's process, once it is ready.
func (p *project) started() *run {
	p.t.Helper()
	srv, err := p.view.primary(p.path("a.fake"))
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := srv.acquire(p.context())
	if err != nil {
		p.t.Fatal(err)
	}
	srv.release()
	return r
}

// TestDies: whenever a server is killed, the call says so or works, and the next one
// works.
func TestDies(t *testing.T) {
	for _, when := range []string{"initialize", "initialized", "open", "asked"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, fakeConfig("once-die-"+when), "a.fake", "def foo\nfoo\n")
			if err := p.define(); err == nil || !strings.Contains(err.Error(), "fake ended while it was starting") && !strings.Contains(err.Error(), "fake stopped, ended by SIGKILL") {
				t.Errorf("the first call: %v", err)
			}
			if err := p.define(); err != nil {
				t.Errorf("the next call: %v", err)
			}
			if s := p.view.Status(); len(s) != 1 || s[0].Crashes != 1 || s[0].State != Running {
				t.Errorf("status %+v", s)
			}
		})
	}
	t.Run("change", func(t *testing.T) {
		t.Parallel()
		c := fakeConfig("once-die-change")
		c.DiagnosticWait = time.Minute
		p := newProject(t, c, "a.fake", "one\n")
		if d := p.change("a.fake", "one\ntwo BAD\n"); len(d.NotReady) != 1 || !strings.Contains(d.NotReady[0], "fake stopped, ended by SIGKILL") {
			t.Errorf("the first change: %+v", d)
		}
		if d := p.change("a.fake", "one\ntwo BAD\nthree BAD\n"); len(d.New.Items) != 1 || len(d.NotReady) != 0 {
			t.Errorf("the next one: %+v", d)
		}
	})
}

// TestStuck: a server that does nothing any more costs three calls their time-out;
// the next one has another.
func TestStuck(t *testing.T) {
	for _, behaviour := range []string{"once-mute", "once-deaf"} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			c := fakeConfig(behaviour)
			c.RequestTimeout = time.Second
			big := "def foo\nfoo\n" + strings.Repeat("x\n", 3<<20) // two of these fill what may wait to be written
			p := newProject(t, c, "a.fake", big)
			r := p.started()
			r.asked.Store(true) // the first request would have more time
			for i := range maxSilent {
				p.write("a.fake", big+strings.Repeat("y", i))
				err := p.define()
				if err == nil || !strings.Contains(err.Error(), "did not answer textDocument/definition within ") && !strings.Contains(err.Error(), "fake does not read what it is told of the files (out of time after ") {
					t.Errorf("call %d: %v", i+1, err)
				}
			}
			<-r.ended
			if s := p.view.Status(); len(s) != 1 || !strings.Contains(s[0].Error, "fake was ended, since it said nothing while 3 requests in a row ran out of time") {
				t.Errorf("status %+v", s)
			}
			p.write("a.fake", "def foo\nfoo\n")
			if err := p.define(); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// TestEats: a server that has more memory than it may is ended, the reason is said, and
// the next call has another.
func TestEats(t *testing.T) {
	if process.MachineMemory() == 0 {
		t.Skip("what a process has in memory is not known here")
	}
	if c := (Config{}).withDefaults(); c.MemoryLimit < 1<<28 {
		t.Errorf("by default it may have %d bytes", c.MemoryLimit)
	}
	c := fakeConfig("once-eats")
	c.MemoryLimit = 300e6
	p := newProject(t, c, "a.fake", "def foo\nfoo\n")
	p.view.servers.memoryLook = time.Millisecond
	r := p.started()
	<-r.ended
	if s := p.view.Status(); len(s) != 1 || s[0].Crashes != 1 || !strings.Contains(s[0].Error, " MB of memory, and lsp.memoryLimitMb is 300") {
		t.Errorf("status %+v", s)
	}
	if err := p.define(); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// TestBegs: a server that asks and asks and reads no answer is ended, before its
// questions fill the memory.
func TestBegs(t *testing.T) {
	var why error
	r := &run{server: &server{startOptions: startOptions{spec: &Spec{Name: "fake"}}}, stderr: process.NewTail(1), cancel: func(err error) { why = err }}
	r.client.init(r)
	for i := range maxUnanswered + 1 {
		if why != nil {
			t.Fatalf("ended after %d questions: %v", i, why)
		}
		if _, err := r.client.handle(t.Context(), &jsonrpc.Request{Method: "workspace/workspaceFolders"}); err != nil {
			t.Fatal(err)
		}
	}
	if why == nil || r.reason(why).Error() != "fake was ended, since it asked 10000 times without reading an answer" {
		t.Errorf("it is ended since %v", why)
	}
}

// TestAnswers: whatever a server asks is answered, while it is asked itself.
func TestAnswers(t *testing.T) {
	for _, behaviour := range []string{"asks", "asks questions noise"} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			c := fakeConfig(behaviour)
			s := c.Servers["fake"]
			s.Settings = []byte(`{"fake":{"on":true},"fake.deep":{"er":[1]},"other.one":{"x":1},"other.one.two":null}`)
			c.Servers["fake"] = s
			p := newProject(t, c, "a.fake", "def foo\nfoo\n")
			if err := p.define(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(p.path("answers"))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(wantAnswers, "ROOT", p.dir)
			if string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

const wantAnswers = `workspace/configuration: [{"deep":{"er":[1]},"on":true},{"er":[1]},{"two":null,"x":1},null,{"fake":{"deep":{"er":[1]},"on":true},"other":{"one":{"two":null,"x":1}}},[1]]
workspace/configuration: []
client/registerCapability: null
client/registerCapability: null
client/registerCapability: null
client/unregisterCapability: null
client/unregisterCapability: null
window/workDoneProgress/create: null
window/showMessageRequest: null
window/showDocument: {"success":false}
workspace/workspaceFolders: [{"uri":"file://ROOT","name":"ROOT"}]
workspace/diagnostic/refresh: null
workspace/semanticTokens/refresh: null
workspace/textDocumentContent/refresh: null
workspace/applyEdit: {"applied":false,"failureReason":"nobody asked for an edit"}
workspace/applyEdit: {"applied":false,"failureReason":"the edit is not understood"}
workspace/applyEdit: {"applied":false,"failureReason":"the edit is not understood"}
eslint/noLibrary: null
eslint/probeFailed: null
no/such: method not found: no/such (code -32601)
$/such: method not found: $/such (code -32601)
`

// TestShared: fifty calls at once, of two views, start one server.
func TestShared(t *testing.T) {
	p := newProject(t, fakeConfig("ok"), "a.fake", "def foo\nfoo\n")
	other := p.view.servers.View(p.view.opts)
	var wg sync.WaitGroup
	for i := range 50 {
		view := []*View{p.view, other}[i%2]
		wg.Go(func() {
			if a, err := view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2}); err != nil || len(a.Found) != 1 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	wg.Wait()
	if all := slices.Collect(maps.Values(p.view.servers.servers)); len(all) != 1 || all[0].crashes.count != 0 || all[0].held != 0 {
		t.Errorf("%d servers", len(all))
	}
}

// TestApart: settings that a server must not share have it run twice, and roots
// within roots have their own.
func TestApart(t *testing.T) {
	c := fakeConfig("ok")
	s := c.Servers["fake"]
	s.RootMarkers = []string{"fake.root"}
	c.Servers["fake"] = s
	p := newProject(t, c, "fake.root", "", "a.fake", "def foo\nfoo\n", "in/fake.root", "", "in/a.fake", "def foo\nfoo\n")
	o := p.view.opts
	o.Config = fakeConfig("ok")
	s.Extensions, s.LanguageID = []string{".fake", ".other"}, "other"
	o.Config.Servers["fake"] = s
	other := p.view.servers.View(o)
	for _, view := range []*View{p.view, other} {
		for _, name := range []string{"a.fake", "in/a.fake"} {
			a, err := view.LookUp(p.context(), Definition, Target{Path: p.path(name), Symbol: "foo", Line: 2})
			if err != nil || len(a.Found) == 0 {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
	}
	if n := len(p.view.servers.servers); n != 4 {
		t.Errorf("%d servers, want 4", n)
	}
}

// TestRootsWithinRoots: a symbol that two servers find is told of once.
func TestRootsWithinRoots(t *testing.T) {
	c := fakeConfig("symbols symbols-of-all")
	s := c.Servers["fake"]
	s.RootMarkers = []string{"fake.root"}
	c.Servers["fake"] = s
	p := newProject(t, c, "fake.root", "", "a.fake", "def one\n", "in/fake.root", "", "in/a.fake", "def foo\n")
	for _, name := range []string{"a.fake", "in/a.fake"} {
		if _, err := p.view.Diagnostics(p.context(), p.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.view.servers.servers); n != 2 {
		t.Fatalf("%d servers", n)
	}
	if got, failed := p.view.WorkspaceSymbols(p.context(), "foo"); len(got) != 1 || len(failed) != 0 {
		t.Errorf("%+v, %v", got, failed)
	}
}

// TestNothingLeft: what was started has ended once Close returns, whatever the
// servers were at: goroutines, descriptors, children.
func TestNothingLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are counted in /proc")
	}
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := 0
	for i, behaviour := range []string{"ok", "ok", "hang-initialize", "exits", "die-in-request", "hang-in-request", "deaf", "mute", "flood", "noise", "endless"} {
		c := fakeConfig(behaviour)
		p := newProject(t, c, "a.fake", "def foo\nfoo\n")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, _ = p.view.LookUp(ctx, Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
		cancel()
		p.view.Touch(p.path("a.fake"))
		p.view.servers.Close()
		if i == 0 {
			before = descriptors() // with those of the test's own that come with the first child
		} else if now := descriptors(); now > before {
			t.Errorf("%s: %d descriptors, %d before", behaviour, now, before)
		}
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		for _, stack := range strings.Split(string(buf), "\n\n") {
			if strings.Contains(stack, "lsp.(*run)") || strings.Contains(stack, "lsp.(*View)") || strings.Contains(stack, "jsonrpc.(*Conn)") {
				t.Errorf("%s leaves\n%s", behaviour, stack)
			}
		}
	}
}

// TestIdle: a server that nobody uses is stopped, which is no crash, and the next
// call has another.
func TestIdle(t *testing.T) {
	c := fakeConfig("ok")
	c.IdleStop = time.Millisecond
	p := newProject(t, c, "a.fake", "def foo\nfoo\n")
	for range 3 {
		r := p.started()
		<-r.ended
		if err := p.define(); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.view.Status(); s[0].Crashes != 0 || s[0].Error != "" {
		t.Errorf("status %+v", s)
	}
}

// TestManyDocuments: no more than some are open, and those that were closed are
// answered about as before.
func TestManyDocuments(t *testing.T) {
	files := []string{"a.fake", "def foo\nfoo\n"}
	for i := range maxOpen + 20 {
		files = append(files, fmt.Sprintf("b%d.fake", i), fmt.Sprintf("def b%d\nb%d foo\n", i, i))
	}
	p := newProject(t, fakeConfig("ok"), files...)
	if err := p.define(); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for i := range maxOpen + 20 {
			a, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path(fmt.Sprintf("b%d.fake", i)), Symbol: fmt.Sprintf("b%d", i), Line: 2})
			if err != nil || len(a.Found) != 1 {
				t.Fatalf("round %d, file %d: %+v, %v", round, i, a, err)
			}
		}
		if s := p.view.Status(); s[0].Open != maxOpen {
			t.Errorf("%d documents are open", s[0].Open)
		}
	}
	if err := p.define(); err != nil {
		t.Error(err)
	}
	p.write("b0.fake", "\ndef b0\nb0\n")
	a, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("b0.fake"), Symbol: "b0", Line: 3})
	if err != nil || len(a.Found) != 1 || a.Found[0].At.Line != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}
