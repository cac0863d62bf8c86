package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestConfigured: which files of settings a server's projects go by.
func TestConfigured(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.MkdirAll(at("both/in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"both/pyrightconfig.json", "both/pyproject.toml"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		server, root, path string
		want               bool
	}{
		{"typescript", "p", "p/tsconfig.json", true},
		{"typescript", "p", "p/packages/a/tsconfig.build.json", true},
		{"typescript", "p", "tsconfig.json", true},
		{"typescript", "p", "q/tsconfig.json", false},
		{"typescript", "p", "p/package.json", false},
		{"pyright", "p", "p/pyproject.toml", true},
		{"pyright", "p/in", "p/pyproject.toml", true},
		{"pyright", "p", "p/in/pyproject.toml", false},
		{"pyright", "both", "both/pyproject.toml", false},
		{"pyright", "both", "both/pyrightconfig.json", true},
		{"clangd", "p", "p/build/compile_commands.json", true},
		{"clangd", "p", "p/.clangd", true},
		{"gopls", "p", "p/go.mod", false}, // which is a file of its own
	} {
		s := &server{startOptions: startOptions{spec: builtinSpec(t, tt.server), root: at(tt.root)}}
		if got := s.configured(at(tt.path)); got != tt.want {
			t.Errorf("%s in %s goes by %s: %t", tt.server, tt.root, tt.path, got)
		}
	}
}

func builtinSpec(t *testing.T, name string) *Spec {
	t.Helper()
	for i := range builtin {
		if builtin[i].Name == name {
			return &builtin[i]
		}
	}
	t.Fatal("no server", name)
	return nil
}

// TestHears: a server is told of its projects' settings although it has not asked yet to
// hear of those that others extend.
func TestHears(t *testing.T) {
	for _, tt := range []struct {
		server, watches, path string
		want                  bool
	}{
		{"typescript", "/p/src/**", "/p/tsconfig.base.json", true},
		{"typescript", "/p/src/**", "/tsconfig.base.json", true},
		{"typescript", "/p/src/**", "/q/tsconfig.json", false},
		{"typescript", "/p/src/**", "/p/base.json", false},
		{"typescript", "/p/src/**", "/p/src/base.json", true},
		{"typescript", "/p/src/**", "/q/a.ts", true},
		{"typescript", "/p/src/**", "/p/a.ts", false},
		{"typescript", "", "/p/a.ts", true},
		{"pyright", "/p/src/**", "/pyproject.toml", false}, // it would be awaited
		{"pyright", "/p/**", "/p/pyproject.toml", true},
	} {
		r := newRun(builtinSpec(t, tt.server))
		if tt.watches != "" {
			r.client.watched["1"] = watch{[]watcher{{pattern: tt.watches, kinds: 7}}}
		}
		if got := r.hears(Happened{tt.path, Changed}); got != tt.want {
			t.Errorf("%s that watches %q hears of %s: %t", tt.server, tt.watches, tt.path, got)
		}
	}
}

// TestToldOfOthers: what a tool changes is looked for on the disk where a server cares for
// it that does not judge it, and not where it was told.
func TestToldOfOthers(t *testing.T) {
	c := fakeConfig("")
	fake := c.Servers["fake"]
	fake.RootMarkers = []string{"marker.data"}
	c.Servers["fake"] = fake
	fake.RootMarkers, fake.Extensions = nil, []string{".data"}
	c.Servers["data"] = fake
	p := newProject(t, c, "marker.data", "1", "a.fake", "def foo\n")
	for _, step := range []struct {
		name, content string
		want          bool
	}{
		{"a.fake", "def bar\n", false},
		{"marker.data", "2", true},
		{"other.data", "3", false},
	} {
		was := p.view.servers.changes.Load()
		if d := p.change(step.name, step.content); len(d.Servers) != 1 {
			t.Errorf("%s: %+v", step.name, d)
		}
		if got := p.view.servers.changes.Load() != was; got != step.want {
			t.Errorf("%s is looked for: %t", step.name, got)
		}
	}
}

// TestStartsAgain: a server that takes in its settings only at its start makes way for
// another when they have changed, and all that ask meanwhile are answered.
func TestStartsAgain(t *testing.T) {
	c := fakeConfig("")
	c.Servers = map[string]ServerConfig{"clangd": c.Servers["fake"]}
	p := newProject(t, c, "compile_flags.txt", "0", "a.fake", "def foo\nfoo\n")
	ask := func() error {
		answer, err := p.view.LookUp(p.context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
		if err == nil && len(answer.Found) != 1 {
			err = fmt.Errorf("found %v", answer.Found)
		}
		return err
	}
	running := func() *run {
		t.Helper()
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		p.view.mu.Lock()
		defer p.view.mu.Unlock()
		return p.view.used[0].running()
	}
	all := func() {
		p.view.Dirty()
		var asking sync.WaitGroup
		for range 8 {
			asking.Go(func() {
				if err := ask(); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
	}
	listed := p.view.opts.Walk
	was := running()
	p.write("compile_flags.txt", "0") // at another time
	if all(); running() != was {
		t.Error("it was started again for what it had read")
	}
	for _, content := range []string{"1", "22", "333"} {
		p.write("compile_flags.txt", content)
		all()
		is := running()
		if is == was {
			t.Errorf("%s: it was not started again", content)
		}
		was = is
	}
	p.write("compile_flags.txt", "333") // at another time
	if all(); running() != was {
		t.Error("it was started again although nothing changed")
	}
	for _, unlisted := range []bool{false, true} {
		p.view.opts.Walk = listed
		if unlisted {
			p.view.opts.Walk = func(context.Context, string, func(string) bool, func(string, Stamp)) error { return nil }
		}
		p.write("build/compile_commands.json", fmt.Sprint(unlisted))
		if all(); running() == was {
			t.Error("it was not started again for what a build wrote")
		}
		was = running()
		p.write("build/compile_commands.json", fmt.Sprint(unlisted)) // at another time
		if all(); running() != was {
			t.Error("it was started again for what a build wrote as it was")
		}
	}
	p.view.opts.Walk = listed
	if d := p.change("compile_flags.txt", "4444"); len(d.NotReady) != 1 || len(d.Servers) > 0 {
		t.Errorf("a change by a tool: %+v", d)
	}
	if running() == was {
		t.Error("it was not started again after a change by a tool")
	}
	was = running()
	if err := os.Remove(p.path("compile_flags.txt")); err != nil {
		t.Fatal(err)
	}
	if all(); running() == was {
		t.Error("it was not started again when they were gone")
	}
}

// TestCrashedObsolete: a process that crashes while it is to make way has crashed, and
// nobody is told that it made way.
func TestCrashedObsolete(t *testing.T) {
	p := newProject(t, fakeConfig("crash-on-open"), "a.fake", "def foo\n")
	r := p.started()
	r.obsolete.Store(true)
	if _, err := p.view.show(p.context(), r, p.path("a.fake")); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	if got, want := r.why.Error(), "fake stopped with exit status 1"; !strings.HasPrefix(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}
