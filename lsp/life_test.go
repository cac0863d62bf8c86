package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBadServers: whatever a server does, a call ends with an answer or a reason.
func TestBadServers(t *testing.T) {
	for _, tt := range []struct {
		behaviour string
		change    func(*Config)
		want      string // in the error; empty: the definition is found
	}{
		{behaviour: "ok"},
		{behaviour: "junk"},
		{behaviour: "bytes"},
		{behaviour: "no-end"},
		{behaviour: "lengths"},
		{behaviour: "no-json"},
		{behaviour: "long-line"},
		{behaviour: "strays"},
		{behaviour: "too-long"},
		{behaviour: "twice"},
		{behaviour: "noise"},
		{behaviour: "questions"},
		{behaviour: "questions flood noise junk"},
		{behaviour: "error-initialize", want: "fake could not be started: no licence"},
		{behaviour: "null-initialize", want: "fake cannot look up"},
		{behaviour: "junk-initialize"},
		{behaviour: "text-initialize", want: "fake could not be started: the answer to initialize cannot be read: it is a JSON string"},
		{behaviour: "flood"},
		{behaviour: "silent"},
		{behaviour: "exits", want: "fake ended while it was starting: fake: cannot be bothered"},
		{behaviour: "hang-initialize", change: func(c *Config) { c.StartTimeout = 300 * time.Millisecond }, want: "fake"},
		{behaviour: "crash-on-open", want: "fake stopped with exit status 1"},
		{behaviour: "die-in-request", want: "fake stopped with exit status 1; it is started again with the next call"},
		{behaviour: "hang-in-request", change: func(c *Config) { c.RequestTimeout = 300 * time.Millisecond }, want: "fake did not answer textDocument/definition within 300ms"},
		{behaviour: "error-code-0", want: "fake answered: line out of range"},
		{behaviour: "null", want: "nothing"},
		{behaviour: "odd-uri", want: "no files"},
		{behaviour: "wrong-type", want: "asking fake: the answer to textDocument/definition cannot be read: it is a JSON string, which does not belong there"},
		{behaviour: "error-dumb", want: "fake answered: an error with no word of what is wrong (code -32099)"},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			t.Parallel()
			c := fakeConfig(tt.behaviour)
			if tt.change != nil {
				tt.change(&c)
			}
			p := newProject(t, c, "a.fake", "def foo\nfoo\n")
			if c.RequestTimeout > 0 { // which holds from the second request on
				if _, err := p.view.LookUp(p.context(), References, Target{Path: p.path("a.fake"), Symbol: "foo"}); err != nil {
					t.Fatal(err)
				}
			}
			a, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
			switch {
			case tt.want == "no files":
				if err != nil || len(a.Found) != 3 || a.Found[0].URI == "" || a.Found[0].Path != "" {
					t.Errorf("%+v, %v; want three places that are no files", a, err)
				}
			case tt.want == "nothing":
				if err != nil || len(a.Found) != 0 {
					t.Errorf("%+v, %v; want nothing", a, err)
				}
			case tt.want != "":
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			case err != nil || len(a.Found) != 1 || a.Found[0].At != (Place{1, 5}):
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

func TestAbsentServer(t *testing.T) {
	c := fakeConfig("ok")
	s := c.Servers["fake"]
	s.Command = []string{"no-such-server"}
	c.Servers["fake"] = s
	p := newProject(t, c, "a.fake", "def foo\n", "b.none", "x\n")
	for name, want := range map[string]string{"a.fake": "no language server for .fake files is installed", "b.none": "no language server is known for .none files"} {
		_, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path(name), Symbol: "foo"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// TestNoProjectServer: a question about the whole project that nothing can answer says
// what stands in the way.
func TestNoProjectServer(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		trusted    error
		change     func(*ServerConfig)
	}{
		{name: "no marker", want: "no marker of a project is in", change: func(s *ServerConfig) { s.RootMarkers = []string{"other.mark"} }},
		{name: "not installed", want: "is installed; install fake (put no-such-server into PATH, or mend lsp.servers.fake.command in the settings)", change: func(s *ServerConfig) { s.Command = []string{"no-such-server"} }},
		{name: "no program", want: "is installed; install fake (lsp.servers.fake.command in the settings names /no/such, which is no program)", change: func(s *ServerConfig) { s.Command = []string{"/no/such"} }},
		{name: "not trusted", want: "not trusted", trusted: errors.New("not trusted"), change: func(*ServerConfig) {}},
		{name: "neither", want: "not trusted", trusted: errors.New("not trusted"), change: func(s *ServerConfig) { s.RootMarkers = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fakeConfig("ok")
			s := c.Servers["fake"]
			s.RootMarkers = []string{"fake.mark"}
			tt.change(&s)
			c.Servers["fake"] = s
			p := newProject(t, c, "a.fake", "def foo\n", "fake.mark", "")
			p.view.opts.Trusted = func(string) error { return tt.trusted }
			_, found := p.view.WorkspaceSymbols(p.context(), "foo")
			_, known := p.view.Diagnostics(p.context(), "")
			if err := errors.Join(found...); err == nil || known == nil || !strings.Contains(err.Error(), tt.want) || err.Error() != known.Error() {
				t.Errorf("%v and %v; want %q", err, known, tt.want)
			}
			if err := p.view.Missing(); (err != nil) != strings.Contains(tt.want, "install") {
				t.Errorf("missing: %v", err)
			}
		})
	}
}

// TestNoProgram: what the system does not run says which program that is, and what to do.
func TestNoProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what can be run is told by its ending there")
	}
	for text, want := range map[string]string{"#!/no/such/interpreter\n": "what its first line says that it is run with is not there", "\x7fELF": "exec format error"} {
		program := filepath.Join(t.TempDir(), "server")
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil { //nolint:gosec // it is to be a program
			t.Fatal(err)
		}
		c := fakeConfig("ok")
		s := c.Servers["fake"]
		s.Command = []string{program}
		c.Servers["fake"] = s
		p := newProject(t, c, "a.fake", "def foo\n")
		_, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo"})
		want = "fake cannot be started: the system does not run " + program + " (" + want + "); install it anew, or mend lsp.servers.fake.command in the settings"
		if err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// TestCrashesEnd: a server that crashes again and again is given up, and says so.
func TestCrashesEnd(t *testing.T) {
	p := newProject(t, fakeConfig("die-in-request"), "a.fake", "def foo\nfoo\n")
	p.view.servers.backOff = func(int) time.Duration { return 0 }
	var err error
	for range maxCrashes + 2 {
		_, err = p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
	}
	if err == nil || !strings.Contains(err.Error(), "fake has crashed 4 times and is not started again") {
		t.Errorf("error %v", err)
	}
	if s := p.view.Status(); len(s) != 1 || s[0].State != Broken || s[0].Crashes != maxCrashes+1 {
		t.Errorf("status %+v", s)
	}
	if n := p.view.Restart("fake"); n != 1 {
		t.Errorf("%d servers started anew", n)
	}
	if s := p.view.Status(); s[0].State != Idle {
		t.Errorf("status %+v", s)
	}
}

// kill ends the process of the first server and waits until that is known.
func (p *project) kill() {
	p.t.Helper()
	r := p.view.used[0].running()
	process, err := os.FindProcess(p.view.Status()[0].PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	<-r.ended
}

// TestKilled: a server that is killed while nobody asks it is started again by the
// next call.
func TestKilled(t *testing.T) {
	p := newProject(t, fakeConfig("ok"), "a.fake", "def foo\nfoo\n")
	ask := func() error {
		_, err := p.view.LookUp(p.context(), References, Target{Path: p.path("a.fake"), Symbol: "foo"})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	p.kill()
	if err := ask(); err != nil {
		t.Errorf("after the kill: %v", err)
	}
}

// TestCancel: a call that is given up returns at once.
func TestCancel(t *testing.T) {
	for _, behaviour := range []string{"hang-initialize", "hang-in-request"} {
		p := newProject(t, fakeConfig(behaviour), "a.fake", "def foo\nfoo\n")
		ctx, cancel := context.WithCancel(p.context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := p.view.LookUp(ctx, Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2}); err == nil {
			t.Errorf("%s: no error", behaviour)
		}
	}
}

// TestPullsLate: a server that wants to be asked for its verdicts may say so while
// one is waited for.
func TestPullsLate(t *testing.T) {
	c := fakeConfig("silent pulls-late")
	c.DiagnosticWait = time.Minute
	p := newProject(t, c, "a.fake", "BAD\n")
	d, err := p.view.Diagnostics(p.context(), p.path("a.fake"))
	if err != nil || len(d.Items) != 1 || len(d.NotReady) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestSlowPull: a verdict that is asked for and late is not asked for anew, and is
// there for who asks again.
func TestSlowPull(t *testing.T) {
	c := fakeConfig("silent pulls pull-once")
	c.DiagnosticWait = 50 * time.Millisecond
	p := newProject(t, c, "a.fake", "BAD\n")
	p.write("busy", "")
	ask := func() Problems {
		t.Helper()
		d, err := p.view.Diagnostics(p.context(), p.path("a.fake"))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := ask(); len(d.Items) != 0 || len(d.NotReady) != 1 {
		t.Errorf("while it is busy: %+v", d)
	}
	if err := os.Remove(p.path("busy")); err != nil {
		t.Fatal(err)
	}
	p.view.set.Store(&settings{Config{DiagnosticWait: time.Minute}.withDefaults(), p.view.set.Load().specs})
	if d := ask(); len(d.Items) != 1 || len(d.NotReady) != 0 {
		t.Errorf("asked again: %+v", d)
	}
}

// TestOldServer: a server that has loaded is asked however long ago it was started.
func TestOldServer(t *testing.T) {
	p := newProject(t, fakeConfig("ok"), "a.fake", "def foo\nfoo\n")
	for i := range 50 {
		if _, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2}); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		p.view.used[0].running().started = time.Now().Add(-time.Hour)
	}
}

// TestLastWord: of what a program wrote last, what says why it ended.
func TestLastWord(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"one\ncannot be bothered\n\n": "cannot be bothered",
		"TypeError: no\ngiving up\n":  "giving up",
		"panic: boom\n\ngoroutine 1 [running]:\nmain.f()\n\t/a.go:1 +0x2\n":                          "panic: boom",
		"SIGSEGV: segmentation violation\nPC=0x1\n\ngoroutine 0 [idle]:\n\ngs     0x0\n":             "SIGSEGV: segmentation violation",
		"goroutine 7 [select]:\n\t/a.go:1 +0x2\n":                                                    "",
		"/x.js:3\n  throw e;\n\nTypeError: x is no function\n    at f (x.js:3)\n\nNode.js v20.1.0\n": "TypeError: x is no function",
	} {
		if got := lastWord(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestLoads: a server that answers wrongly while it loads is waited for, and one that
// never says that it does only as long as a start may take.
func TestLoads(t *testing.T) {
	const begin, end = `{"token":1,"value":{"kind":"begin","title":"Loading it"}}`, `{"token":1,"value":{"kind":"end"}}`
	for _, tt := range []struct {
		name string
		says []string // a second apart
		wait time.Duration
		took time.Duration
		ok   bool
	}{
		{"says it", []string{begin, end}, time.Hour, 2 * time.Second, true},
		{"never ends", []string{begin}, time.Hour, time.Minute, false},
		{"never says it", nil, time.Hour, time.Minute, true},
		{"never says it, to one who cannot wait", nil, time.Second, time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(&Spec{Name: "fake", Loading: "Loading"})
				r.started, r.server.config.StartTimeout = time.Now(), time.Minute
				go func() {
					for _, one := range tt.says {
						time.Sleep(time.Second)
						_ = r.client.progressed([]byte(one))
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), tt.wait)
				defer cancel()
				err := r.load(ctx)
				if took := time.Since(r.started); (err == nil) != tt.ok || took != tt.took {
					t.Errorf("%v after %s", err, took)
				}
				synctest.Wait()
			})
		})
	}
}

// TestSurvey: a server that reads the project at its start is not asked before it has,
// and one that does not say so is not waited for without end.
func TestSurvey(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spec  []string
		start time.Duration
		says  []string // a second apart
		ends  time.Duration
		took  time.Duration
		ok    bool
	}{
		{name: "has nothing to say", start: time.Minute, ok: true},
		{name: "says it", spec: []string{"Completed", "failed"}, start: time.Minute, says: []string{"begins", "12:00 Completed after 2 s", "Completed again"}, took: 2 * time.Second, ok: true},
		{name: "keeps it to itself", spec: []string{"Completed"}, start: time.Minute, says: []string{"begins"}, took: maxSurvey, ok: true},
		{name: "has little time", spec: []string{"Completed"}, start: 3 * time.Second, took: 3 * time.Second, ok: true},
		{name: "ends", spec: []string{"Completed"}, start: time.Minute, ends: 2 * time.Second, took: 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(&Spec{Name: "fake", Surveys: tt.spec})
				r.server.owner = New(Options{})
				ctx, cancel := context.WithTimeout(t.Context(), tt.start)
				defer cancel()
				go func() {
					for _, text := range tt.says {
						time.Sleep(time.Second)
						_ = r.client.told(fmt.Appendf(nil, `{"type":3,"message":%q}`, text))
					}
				}()
				if tt.ends > 0 {
					time.AfterFunc(tt.ends, func() { close(r.ended) })
				}
				began := time.Now()
				err := r.survey(ctx, r.ended)
				if took := time.Since(began); (err == nil) != tt.ok || took != tt.took {
					t.Errorf("%v after %s", err, took)
				}
				time.Sleep(time.Minute) // what it says later does no harm
			})
		})
	}
}
