package lsp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shell changes the project's files as a command of the agent does.
func (p *project) shell(script string) {
	p.t.Helper()
	c := exec.Command("sh", "-ec", script)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	p.view.Dirty()
}

// wrong are the problems of a file as line and message.
func (p *project) wrong(name string) string {
	p.t.Helper()
	d, err := p.view.Diagnostics(p.context(), p.path(name))
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, one := range d.Items {
		out = append(out, fmt.Sprintf("%d %s", one.At.Line, one.Message))
	}
	return strings.Join(append(out, d.NotReady...), "; ")
}

// TestCommands: what a command changes is seen by whoever asks next, also where it
// ran before anything was asked, or in another session.
func TestCommands(t *testing.T) {
	for _, behaviour := range []string{"all", "all no-version", "silent judges"} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			c := fakeConfig(behaviour)
			c.DiagnosticWait = 20 * time.Second
			p := newProject(t, c, "a.fake", "use one\n", "sub/b.fake", "def one\n", "sub/c.fake", "text\n")
			other := p.other()
			if got := other.wrong("a.fake"); got != "" {
				t.Errorf("at first: %s", got)
			}
			for _, step := range []struct{ script, want string }{
				{"sed -i.old s/one/two/ sub/b.fake && rm sub/b.fake.old", "1 undefined: one"},
				{"mv sub/b.fake sub/d.fake && sed -i.old s/two/one/ sub/d.fake", ""},
				{"mv sub away", ""},
				{"rm -r away", "1 undefined: one"},
				{"printf 'def one\\n' > new.fake", ""},
				{"printf 'BAD it\\n' > a.fake", "1 it"},
				{"printf 'use one\\n' > a.fake; rm new.fake", "1 undefined: one"},
			} {
				p.shell(step.script)
				for who, q := range []*project{p, other} {
					if got := q.wrong("a.fake"); got != step.want {
						t.Errorf("session %d after %s: %q, want %q", who, step.script, got, step.want)
					}
				}
			}
			p.shell("rm a.fake")
			if got := p.wrong("a.fake"); !strings.Contains(got, "no such file") {
				t.Errorf("of a file that is gone: %s", got)
			}
		})
	}
}

// TestManyFiles: another branch with 500 files is seen.
func TestManyFiles(t *testing.T) {
	need(t, "git")
	c := fakeConfig("all")
	c.DiagnosticWait = 20 * time.Second
	p := newProject(t, c, "a.fake", "use one\n")
	p.shell(`git init -q -b main . && git add . && git commit -qm 1 && git checkout -qb other
		for i in $(seq 500); do echo "text $i" > f$i.fake; done; echo "def one" >> f250.fake; git add . && git commit -qm 2 && git checkout -q main`)
	for range 2 {
		if got := p.wrong("a.fake"); got != "1 undefined: one" {
			t.Errorf("on the first branch: %q", got)
		}
		p.shell("git checkout -q other")
		if got := p.wrong("a.fake"); got != "" {
			t.Errorf("on the other branch: %q", got)
		}
		p.shell("git checkout -q main")
	}
}

// TestDisk: what is told of two looks at a folder.
func TestDisk(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	at := func(n int) Stamp { return Stamp{int64(n), old} }
	var d disk
	if got := d.compare([]string{"/p"}, map[string]Stamp{"/p/a": at(1), "/p/b": at(1), "/p/new": {1, time.Now()}}, time.Now().Add(-time.Minute)); !slices.Equal(got, []Happened{{"/p/new", Created}, {"/p/new", Changed}}) {
		t.Errorf("at first: %v", got)
	}
	if d.walked([]string{"/p", "/q"}) || !d.walked([]string{"/p"}) {
		t.Error("which folders were looked through is not known")
	}
	for _, tt := range []struct {
		dirs []string
		now  map[string]Stamp
		want string
	}{
		{[]string{"/p"}, map[string]Stamp{"/p/a": at(1), "/p/b": at(2), "/p/c": at(1)}, "/p/b changed, /p/c created, /p/new deleted"},
		{[]string{"/q"}, map[string]Stamp{"/q/x": at(1)}, ""},
		{[]string{"/p", "/q"}, map[string]Stamp{"/p/a": at(1), "/p/b": at(2), "/p/c": {}, "/q/y": at(1)}, "/p/c changed, /q/x deleted, /q/y created"},
		{[]string{"/p"}, map[string]Stamp{"/p/a": at(1), "/p/b": at(2), "/p/c": {}}, "/p/c changed"},
	} {
		var got []string
		for _, h := range d.compare(tt.dirs, tt.now, old) {
			got = append(got, h.Path+" "+[]string{"", "created", "changed", "deleted"}[h.Event])
		}
		if text := strings.Join(sortedTexts(got), ", "); text != tt.want {
			t.Errorf("%v: %q, want %q", tt.now, text, tt.want)
		}
	}
}

// TestEvent: what is told of a file depends on what the server knows of it.
func TestEvent(t *testing.T) {
	now := Stamp{1, time.Now()}
	d := disk{files: map[string]Stamp{"/p/known": now}, dirs: map[string]bool{"/p": true}}
	for _, tt := range []struct {
		path    string
		existed bool
		stamp   Stamp
		want    Event // 0: nothing
	}{
		{"/p/known", true, now, Changed},
		{"/p/known", false, now, Changed}, // that it was away nobody told
		{"/p/known", true, Stamp{}, Deleted},
		{"/p/new", false, now, Created},
		{"/p/new", true, now, Created}, // somebody else created it
		{"/p/new", true, Stamp{}, Deleted},
		{"/p/new", false, Stamp{}, 0},
		{"/q/a", true, now, Changed},
		{"/q/a", false, now, Created},
	} {
		if got, some := d.event(tt.path, tt.existed, tt.stamp); some != (tt.want != 0) || some && got != tt.want {
			t.Errorf("%s, existed %v: %d, %v", tt.path, tt.existed, got, some)
		}
	}
}

// TestListedNoMore: a file that is there still, and is only listed no more, is not told
// as deleted.
func TestListedNoMore(t *testing.T) {
	var d disk
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.compare([]string{dir}, map[string]Stamp{path: stampOf(path)}, time.Now())
	if got := d.compare([]string{dir}, nil, time.Now()); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestToldOnce: a file that a tool just changed is told of once, unless it changes once
// more behind that, although its stamp does not say so.
func TestToldOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var d disk
	settled := func() Stamp { return Stamp{1, time.Now().Add(-time.Hour)} }
	look := func(stamp Stamp) string {
		return fmt.Sprint(d.compare([]string{dir}, map[string]Stamp{path: stamp}, time.Now()))
	}
	const none, changed = "[]", "changed"
	put("0")
	look(settled())
	for _, tt := range []struct {
		name  string
		then  string // what it has then
		looks []Stamp
		want  []string
	}{
		{"looked at at once, and later", "1", []Stamp{{}, {}, settled()}, []string{none, none, none}},
		{"another text of the same length", "2", []Stamp{settled()}, []string{changed}},
		{"the same, at once", "3", []Stamp{{}, settled()}, []string{changed, changed}},
	} {
		put("1")
		d.heard(path, Stamp{1, time.Now()}, sumOf(path))
		put(tt.then)
		for i, stamp := range tt.looks {
			want := tt.want[i]
			if want == changed {
				want = fmt.Sprint([]Happened{{path, Changed}})
			}
			if got := look(stamp); got != want {
				t.Errorf("%s, look %d: %s, want %s", tt.name, i+1, got, want)
			}
		}
	}
}

func sortedTexts(list []string) []string {
	set := map[string]bool{}
	for _, one := range list {
		set[one] = true
	}
	return sortedKeys(set)
}

// TestBuffersOutliveACrash: an editor's unsaved text of a file that nobody names any more
// is known to the process that comes after one that crashed, too.
func TestBuffersOutliveACrash(t *testing.T) {
	c := fakeConfig("all")
	c.DiagnosticWait = 20 * time.Second
	p := newProject(t, c, "a.fake", "use foo\n", "b.fake", "nothing\n")
	read := p.view.opts.Read
	p.view.opts.Unsaved = true
	p.view.opts.Read = func(ctx context.Context, path string) (string, bool, error) {
		if filepath.Base(path) == "b.fake" {
			return "def foo\n", false, nil
		}
		return read(ctx, path)
	}
	if got := p.wrong("b.fake"); got != "" {
		t.Errorf("at first: %s", got)
	}
	r := p.started()
	r.abort("is ended by the test")
	<-r.ended
	if got := p.wrong("a.fake"); got != "" {
		t.Errorf("after a crash: %s", got)
	}
}

// TestBuffers: a server has an editor's unsaved text, each time as it is then, and
// the view of a session without it has the file's.
func TestBuffers(t *testing.T) {
	c := fakeConfig("all")
	c.DiagnosticWait = 20 * time.Second
	p := newProject(t, c, "a.fake", "BAD on the disk\n")
	buffer := ""
	o := p.view.opts
	o.Unsaved = true
	read := o.Read
	o.Read = func(ctx context.Context, path string) (string, bool, error) {
		if buffer != "" && filepath.Base(path) == "a.fake" {
			return buffer, false, nil
		}
		return read(ctx, path)
	}
	editor := *p
	editor.view = p.view.servers.View(o)
	for _, tt := range []struct{ buffer, want string }{{"", "1 on the disk"}, {"BAD unsaved\n", "1 unsaved"}, {"\n\nBAD more\n", "3 more"}, {"", "1 on the disk"}} {
		buffer = tt.buffer
		if got := editor.wrong("a.fake"); got != tt.want {
			t.Errorf("with %q it has %q", tt.buffer, got)
		}
		if got := p.wrong("a.fake"); got != "1 on the disk" {
			t.Errorf("without an editor it has %q", got)
		}
	}
}

// TestFoldersOfOthers: a session leaves alone what another one has open in a folder
// that is not its own.
func TestFoldersOfOthers(t *testing.T) {
	p := newProject(t, fakeConfig("all"), "a.fake", "def foo\n", "sub/b.fake", "foo\n")
	if got := p.wrong("a.fake"); got != "" {
		t.Error(got)
	}
	r := p.view.used[0].running()
	o := p.view.opts
	o.Dirs = []string{p.path("sub")}
	o.Read = func(ctx context.Context, path string) (string, bool, error) {
		if !within(p.path("sub"), path) {
			return "", false, fmt.Errorf("%s lies outside", path)
		}
		return p.view.opts.Read(ctx, path)
	}
	if err := p.view.servers.View(o).refresh(p.context(), r); err != nil {
		t.Error(err)
	}
	if docs := r.openDocuments(t.Context()); len(docs) != 1 {
		t.Errorf("%d documents are open", len(docs))
	}
}
