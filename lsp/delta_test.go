package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDelta(t *testing.T) {
	for _, behaviour := range []string{"ok", "no-version", "silent"} {
		t.Run(behaviour, func(t *testing.T) {
			c := fakeConfig(behaviour)
			c.DiagnosticWait = 2 * time.Second
			if behaviour == "silent" {
				c.DiagnosticWait = 100 * time.Millisecond
			}
			p := newProject(t, c, "a.fake", "one\nBAD two\nthree\n")
			if _, err := p.view.Diagnostics(p.context(), p.path("a.fake")); err != nil { // so that it runs
				t.Fatal(err)
			}
			d := p.change("a.fake", "zero\none\nBAD two\nthree BAD\n")
			if behaviour == "silent" {
				if len(d.NotReady) != 1 || !strings.Contains(d.NotReady[0], "fake has not judged a.fake") {
					t.Errorf("%+v", d)
				}
				return
			}
			if len(d.New.Items) != 1 || len(d.Fixed.Items) != 0 || d.New.Items[0].At != (Place{4, 7}) {
				t.Errorf("%+v", d)
			}
			d = p.change("a.fake", "one\nthree BAD\n")
			if len(d.New.Items) != 0 || len(d.Fixed.Items) != 1 || d.Fixed.Items[0].Message != "this is bad: BAD two" {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestJudgeAll: of a server that tells when it has judged the whole project, what
// breaks in files that nobody opened is waited for; what was not judged in time is
// told with the next change.
func TestJudgeAll(t *testing.T) {
	c := fakeConfig("judges-all")
	c.DiagnosticWait = time.Minute
	p := newProject(t, c, "a.fake", "def foo\n", "b.fake", "use foo\nuse old\n")
	for _, s := range p.view.set.Load().specs {
		if s.Name == "fake" {
			s.JudgeAll = judgeCommand
		}
	}
	d := p.change("a.fake", "def bar\n")
	if len(d.New.Items) != 1 || d.New.Items[0].Message != "undefined: foo" || d.New.Items[0].Path != p.path("b.fake") || len(d.Present.Items) != 0 || len(d.NotReady) != 0 {
		t.Errorf("the first change: %+v", d)
	}
	if d = p.change("a.fake", "def foo\n"); len(d.Fixed.Items) != 1 || len(d.New.Items) != 0 {
		t.Errorf("changed back: %+v", d)
	}
	c.DiagnosticWait = 200 * time.Millisecond
	specs := p.view.set.Load().specs
	p.view.set.Store(&settings{c.withDefaults(), specs})
	p.write("busy", "")
	d = p.change("a.fake", "def baz\n")
	if len(d.New.Items) != 0 || len(d.NotReady) != 1 || !strings.Contains(d.NotReady[0], "fake has not judged the whole project within 200ms") {
		t.Errorf("while it is busy: %+v", d)
	}
	soon, cancel := context.WithTimeout(p.context(), 10*time.Second) // half of what the server has for its start
	defer cancel()
	if _, err := p.view.LookUp(soon, Definition, Target{Path: p.path("a.fake"), Symbol: "baz"}); err != nil {
		t.Errorf("what was given up holds up the next question: %v", err)
	}
	if err := os.Remove(p.path("busy")); err != nil {
		t.Fatal(err)
	}
	c.DiagnosticWait = time.Minute
	p.view.set.Store(&settings{c.withDefaults(), specs})
	d = p.change("b.fake", "use foo\nuse old\n\n")
	if len(d.New.Items) != 1 || d.New.Items[0].Message != "undefined: foo" || len(d.Fixed.Items) != 0 || len(d.NotReady) != 0 {
		t.Errorf("with the next change: %+v", d)
	}
}

// TestOnce: what the servers of several roots say of one change is told once.
func TestOnce(t *testing.T) {
	one, two := Diagnostic{Path: "/a", At: Place{1, 1}, Message: "one"}, Diagnostic{Path: "/a", At: Place{1, 1}, Message: "two"}
	var d Delta
	for range 2 {
		d.add(Delta{New: List{Items: []Diagnostic{one}}, Fixed: List{Items: []Diagnostic{two}}, Present: List{Items: []Diagnostic{one, two}}, Servers: []string{"fake"}, NotReady: []string{"late"}})
	}
	d.once()
	want := Delta{New: List{Items: []Diagnostic{one}}, Fixed: List{Items: []Diagnostic{two}}, Present: List{Items: []Diagnostic{two}}, Servers: []string{"fake"}, NotReady: []string{"late"}}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("%+v", d)
	}
	p := Problems{Items: []Diagnostic{one, two, one}}
	if p.sort(); !reflect.DeepEqual(p.Items, []Diagnostic{one, two}) {
		t.Errorf("%+v", p.Items)
	}
}

// told is a delta as words: what is new, fixed and present, as path:line:column
// severity message, and why a verdict is not there.
func (p *project) told(d Delta) string {
	var out []string
	for _, part := range []struct {
		sign string
		list List
	}{{"+", d.New}, {"-", d.Fixed}, {"?", d.Present}} {
		for _, one := range part.list.Items {
			name, _ := strings.CutPrefix(one.Path, p.dir+"/")
			out = append(out, fmt.Sprintf("%s%s:%d:%d %s %s", part.sign, name, one.At.Line, one.At.Column, one.Severity, one.Message))
		}
		if part.list.More > 0 {
			out = append(out, fmt.Sprintf("%s%d more", part.sign, part.list.More))
		}
	}
	for _, why := range d.NotReady {
		out = append(out, "not known: "+why)
	}
	return strings.Join(out, "; ")
}

// removed is the content of a file that a change removes.
const removed = "\x00removed"

// TestChanges: what is told of changes, with a server that pushes what it finds in
// all files, and with one that is asked.
func TestChanges(t *testing.T) {
	files := []string{"a.fake", "def one\nBAD old\ntext\n", "b.fake", "use one\nWARN careful\n", "c.fake", "BAD broken\nBAD too\n", "note.txt", "BAD\n"}
	for _, tt := range []struct {
		name   string
		change []string
		want   string
	}{
		{name: "nothing", change: []string{"a.fake", "def one\nBAD old\ntext\n"}},
		{name: "moved", change: []string{"a.fake", "new\nnew\ndef one\nBAD old\ntext\n"}},
		{name: "broken", change: []string{"a.fake", "def one\nBAD old\nBAD new\nWARN 🙂\n"}, want: "+a.fake:3:1 error new; +a.fake:4:1 warning 🙂"},
		{name: "fixed", change: []string{"a.fake", "def one\ntext\n"}, want: "-a.fake:2:1 error old"},
		{name: "twice", change: []string{"a.fake", "def one\nBAD old\nBAD old\ntext\n"}, want: "+a.fake:3:1 error old"},
		{name: "graver", change: []string{"b.fake", "use one\nBAD careful\n"}, want: "+b.fake:2:1 error careful"},
		{name: "less grave", change: []string{"a.fake", "def one\nWARN old\ntext\n"}, want: "-a.fake:2:1 error old"},
		{name: "another file", change: []string{"a.fake", "def two\nBAD old\ntext\n"}, want: "+b.fake:1:5 error undefined: one"},
		{name: "created", change: []string{"d.fake", "BAD new\nuse one\n"}, want: "+d.fake:1:1 error new"},
		{name: "deleted", change: []string{"a.fake", removed}, want: "+b.fake:1:5 error undefined: one; -a.fake:2:1 error old"},
		{name: "renamed", change: []string{"a.fake", removed, "z.fake", "def one\nBAD old\ntext\n"}},
		{name: "renamed and changed", change: []string{"a.fake", removed, "z.fake", "def one\nBAD old\nBAD new\n"}, want: "+z.fake:3:1 error new"},
		{name: "two files", change: []string{"a.fake", "def two\n", "b.fake", "use two\nuse one\n"}, want: "+b.fake:2:5 error undefined: one; -a.fake:2:1 error old; -b.fake:2:1 warning careful"},
		{name: "no server", change: []string{"note.txt", "BAD more\n"}},
	} {
		for _, behaviour := range []string{"all", "all no-version", "silent judges", "silent judges ids", "silent judges no-kind related", "silent judges cancels"} {
			if strings.HasPrefix(behaviour, "silent judges ") && tt.name != "another file" && tt.name != "renamed and changed" {
				continue
			}
			// Without versions only time tells which text a verdict is about: of two
			// files that change at once nobody can know, and such a server is given time.
			unversioned := strings.Contains(behaviour, "no-version")
			if unversioned && tt.name == "two files" {
				continue
			}
			t.Run(tt.name+"/"+behaviour, func(t *testing.T) {
				if !unversioned {
					t.Parallel()
				}
				c := fakeConfig(behaviour)
				c.DiagnosticWait = 20 * time.Second
				p := newProject(t, c, files...)
				for _, name := range []string{"a.fake", "b.fake", "c.fake"} {
					if d, err := p.view.Diagnostics(p.context(), p.path(name)); err != nil || len(d.NotReady) > 0 {
						t.Fatal(d.NotReady, err)
					}
				}
				if got := p.told(p.change(tt.change...)); got != tt.want {
					t.Errorf("told %q, want %q", got, tt.want)
				}
				if got := p.told(p.change("a.fake", "def one\nBAD old\ntext\n", "b.fake", "use one\nWARN careful\n")); strings.Contains(got, "c.fake") || strings.Contains(got, "not known") {
					t.Errorf("on the way back: %q", got)
				}
			})
		}
	}
}

// TestUnknown: what is not known is never told as clean.
func TestUnknown(t *testing.T) {
	for _, tt := range []struct {
		name, behaviour string
		wait            time.Duration
		want            string
	}{
		{"a server that starts", "hang-initialize", 100 * time.Millisecond, "not known: fake is not ready yet"},
		{"one that says nothing", "silent", 100 * time.Millisecond, "not known: fake "},
		{"one that gives up", "silent judges gives-up", time.Minute, "not known: fake answered: never"},
		{"one that answers with nothing new", "silent judges unchanged-first", time.Minute, "not known: fake answered that nothing changed"},
		{"one that ends", "crash-on-open", time.Minute, "not known: fake stopped with exit status 1"},
		{"one that ends at once", "exits", time.Minute, "not known: fake ended while it was starting"},
		{"nobody is asked", "all", -1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := fakeConfig(tt.behaviour)
			c.DiagnosticWait = tt.wait
			p := newProject(t, c, "a.fake", "one\n")
			d := p.change("a.fake", "BAD\n")
			if got := p.told(d); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || len(d.Servers) > 0 {
				t.Errorf("told %q of %v, want %q", got, d.Servers, tt.want)
			}
		})
	}
}

// TestSomeLate: of several files that change, what is known is told, and once; of the
// others it is said that it is not known yet, and it is told with the next change. What
// moved to one of these is neither new nor fixed.
func TestSomeLate(t *testing.T) {
	for _, behaviour := range []string{"silent judges", "one"} {
		t.Run(behaviour, func(t *testing.T) {
			c := fakeConfig(behaviour)
			c.DiagnosticWait = time.Minute
			p := newProject(t, c, "a.fake", "text\n", "b.fake", "BAD old\n")
			check := func(what, want string, change ...string) {
				t.Helper()
				got := p.told(p.change(change...))
				// b.fake is asked about when the time is over.
				got = strings.ReplaceAll(got, "not known: fake has not judged b.fake anew within 1s; ", "")
				if got != want {
					t.Errorf("%s: told %q, want %q", what, got, want)
				}
			}
			check("at first", "", "a.fake", "text\n\n", "b.fake", "BAD old\n")
			hurry := func(of time.Duration) {
				p.wait(of)
				if err := os.Remove(p.path("busy")); err != nil && of > time.Second {
					t.Fatal(err)
				}
				if of < time.Minute {
					p.write("busy", "")
				}
			}
			hurry(time.Second)
			check("two of three are late", "+a.fake:1:1 error a; not known: fake has not judged s.fake, u.fake within 1s", "a.fake", "BAD a\n", "s.fake", "SLOW\nBAD s\n", "u.fake", "SLOW\n")
			hurry(time.Minute)
			check("with the next change", "+s.fake:2:1 error s", "a.fake", "BAD a\n\n", "s.fake", "SLOW\nBAD s\n\n", "u.fake", "SLOW\n\n")
			hurry(time.Second)
			check("moved", "not known: fake has not judged m.fake within 1s", "b.fake", removed, "m.fake", "SLOW\nBAD old\n")
			hurry(time.Minute)
			check("after the move", "", "m.fake", "SLOW\nBAD old\n\n")
			check("and then", "+m.fake:3:1 error new", "m.fake", "SLOW\nBAD old\nBAD new\n")
		})
	}
}

// TestFirstChange: the first change of a session waits for the server to start, as
// long as the settings say, and what the file had before is not told as new.
func TestFirstChange(t *testing.T) {
	for _, behaviour := range []string{"all", "silent judges"} {
		c := fakeConfig(behaviour)
		c.DiagnosticWait = time.Minute
		p := newProject(t, c, "a.fake", "BAD old\n")
		if got := p.told(p.change("a.fake", "BAD old\nBAD new\n")); got != "+a.fake:2:1 error new" {
			t.Errorf("%s: told %q", behaviour, got)
		}
	}
}

// TestOutside: a change of a file outside of the project is nothing to judge.
func TestOutside(t *testing.T) {
	p := newProject(t, fakeConfig("all"), "a.fake", "one\n")
	if b := p.view.Before(p.context(), []string{filepath.Join(t.TempDir(), "x.fake")}); b != nil {
		t.Errorf("%+v", b)
	}
}

// other is a second session in the same folder.
func (p *project) other() *project {
	q := *p
	q.view = p.view.servers.View(p.view.opts)
	return &q
}

// TestTwoSessions: sessions that share a server are each told of what they broke, at
// whatever time the other one changes files, and see each other's changes.
func TestTwoSessions(t *testing.T) {
	for _, behaviour := range []string{"all", "silent judges"} {
		t.Run(behaviour, func(t *testing.T) {
			c := fakeConfig(behaviour)
			c.DiagnosticWait = 30 * time.Second
			a := newProject(t, c, "a.fake", "def one\n", "b.fake", "text\n", "c.fake", "use one\n")
			b := a.other()
			for _, name := range []string{"a.fake", "b.fake", "c.fake"} {
				for _, p := range []*project{a, b} {
					if d, err := p.view.Diagnostics(p.context(), p.path(name)); err != nil || len(d.Items) > 0 || len(d.NotReady) > 0 {
						t.Fatalf("%+v, %v", d, err)
					}
				}
			}
			var told [2]string
			var wg sync.WaitGroup
			wg.Go(func() { told[0] = a.told(a.change("a.fake", "def two\n")) })
			wg.Go(func() { told[1] = b.told(b.change("b.fake", "text\nBAD b\n")) })
			wg.Wait()
			if want := [2]string{"+c.fake:1:5 error undefined: one", "+b.fake:2:1 error b"}; told != want {
				t.Errorf("told %q, want %q", told, want)
			}
			if d, err := b.view.Diagnostics(b.context(), b.path("c.fake")); err != nil || len(d.Items) != 1 {
				t.Errorf("the other session sees %+v, %v", d, err)
			}
			if got := b.told(b.change("b.fake", "text\n")); got != "-b.fake:2:1 error b" {
				t.Errorf("then told %q", got)
			}
		})
	}
}

// TestOthersMeanwhile: where somebody else changed files while a change was judged,
// what broke elsewhere is nobody's, and that is said.
func TestOthersMeanwhile(t *testing.T) {
	c := fakeConfig("all")
	c.DiagnosticWait = 30 * time.Second
	p := newProject(t, c, "a.fake", "def one\n", "b.fake", "text\n", "c.fake", "use one\n")
	for _, name := range []string{"a.fake", "b.fake"} {
		if _, err := p.view.Diagnostics(p.context(), p.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	before := p.view.Before(p.context(), []string{p.path("b.fake")})
	p.write("b.fake", "BAD b\n")
	p.write("a.fake", "def two\n") // as an editor does
	if _, err := p.other().view.Diagnostics(p.context(), p.path("a.fake")); err != nil {
		t.Fatal(err)
	}
	want := "+b.fake:1:1 error b; not known: a.fake changed at the same time, so that what broke beside the changed files is not told"
	if got := p.told(before.After(p.context(), []string{p.path("b.fake")})); got != want {
		t.Errorf("told %q", got)
	}
}

// judging makes the fake one that tells when it has judged the whole project.
func (p *project) judging() {
	for _, s := range p.view.set.Load().specs {
		if s.Name == "fake" {
			s.JudgeAll = judgeCommand
		}
	}
}

// TestAllGone: where all that changes is deleted, and nothing else is open, a server
// that judges the whole project does so all the same.
func TestAllGone(t *testing.T) {
	c := fakeConfig("judges-all")
	c.DiagnosticWait = time.Minute
	p := newProject(t, c, "a.fake", "def foo\n", "b.fake", "use foo\n")
	p.judging()
	if got, want := p.told(p.change("a.fake", removed)), "+b.fake:1:5 error undefined: foo"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestRestartedMeanwhile: a server that is started anew while files change has judged
// nothing.
func TestRestartedMeanwhile(t *testing.T) {
	c := fakeConfig("all")
	c.DiagnosticWait = time.Minute
	p := newProject(t, c, "a.fake", "text\n")
	path := p.path("a.fake")
	before := p.view.Before(p.context(), []string{path})
	s := before.sides[0]
	s.server.mu.Lock()
	s.server.run = nil // as where it is stopped, but not gone yet
	s.server.mu.Unlock()
	var stopping sync.WaitGroup
	stopping.Go(s.run.stop)
	defer stopping.Wait()
	p.write("a.fake", "BAD\n")
	if got, want := p.told(before.After(p.context(), []string{path})), "not known: fake stopped"; !strings.HasPrefix(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestGoneIsNotMoved: what a deleted file had is not taken for what its absence breaks
// elsewhere, however alike both are.
func TestGoneIsNotMoved(t *testing.T) {
	for _, behaviour := range []string{"all", "silent judges"} {
		c := fakeConfig(behaviour)
		c.DiagnosticWait = time.Minute
		p := newProject(t, c, "a.fake", "def m1\nuse m2\n", "b.fake", "use m1\n", "c.fake", "text\n")
		if d, err := p.view.Diagnostics(p.context(), p.path("b.fake")); err != nil || len(d.NotReady) > 0 {
			t.Fatal(d.NotReady, err)
		}
		if got, want := p.told(p.change("a.fake", removed)), "+b.fake:1:5 error undefined: m1; -a.fake:2:5 error undefined: m2"; got != want {
			t.Errorf("%s: told %q, want %q", behaviour, got, want)
		}
	}
}

// TestMovedUnjudged: what a file had on which there was no verdict is not told as new
// where it moved to.
func TestMovedUnjudged(t *testing.T) {
	p := importingProject(t, "silent pulls", "a.fake", "BAD old\n", "other.fake", "text\n")
	p.busy()
	paths := []string{p.path("a.fake"), p.path("z.fake")}
	before := p.view.Before(p.context(), paths)
	if err := os.Remove(p.path("busy")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(paths[0], paths[1]); err != nil {
		t.Fatal(err)
	}
	before.left = time.Minute
	if got, want := p.told(before.After(p.context(), paths)), "?z.fake:1:1 error this is bad: BAD old"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestMovedLate: what moved with a file, on which there was no verdict in time, is not
// told as new with the next change, of another file.
func TestMovedLate(t *testing.T) {
	for _, behaviour := range []string{"silent judges waits", "one waits"} {
		p := importingProject(t, behaviour, "a.fake", "text\n", "m.fake", "BAD old\n", "other.fake", "text\n")
		paths := []string{p.path("m.fake"), p.path("n.fake")}
		before := p.view.Before(p.context(), paths)
		if err := os.Rename(paths[0], paths[1]); err != nil {
			t.Fatal(err)
		}
		p.write("busy", "")
		before.left = 100 * time.Millisecond
		if got := p.told(before.After(p.context(), paths)); !strings.HasPrefix(got, "not known") {
			t.Errorf("%s: in haste: told %q", behaviour, got)
		}
		if err := os.Remove(p.path("busy")); err != nil {
			t.Fatal(err)
		}
		if got, want := p.told(p.change("b.fake", "BAD old\n")), "+b.fake:1:1 error old"; got != want {
			t.Errorf("%s: told %q, want %q", behaviour, got, want)
		}
	}
}

// TestMovedLinesLate: where lines moved by a change whose verdict did not come in time,
// what stands on them is neither new nor fixed with the next change, of another file.
func TestMovedLinesLate(t *testing.T) {
	for _, behaviour := range []string{"silent judges waits", "one waits"} {
		p := importingProject(t, behaviour, "a.fake", "text\n", "s.fake", "text\nBAD old\n", "other.fake", "text\n")
		if got := p.told(p.change("s.fake", "text\nBAD old\n\n")); got != "" {
			t.Errorf("%s: at first: told %q", behaviour, got)
		}
		path := p.path("s.fake")
		before := p.view.Before(p.context(), []string{path})
		p.write("s.fake", "text\nmore\nBAD old\nBAD new\n\n")
		p.write("busy", "")
		before.left = 100 * time.Millisecond
		if got := p.told(before.After(p.context(), []string{path})); !strings.HasPrefix(got, "not known") {
			t.Errorf("%s: in haste: told %q", behaviour, got)
		}
		if err := os.Remove(p.path("busy")); err != nil {
			t.Fatal(err)
		}
		if got, want := p.told(p.change("a.fake", "text\n\n")), "+s.fake:4:1 error new"; got != want {
			t.Errorf("%s: told %q, want %q", behaviour, got, want)
		}
	}
}

// TestBrokenByOthers: what a command breaks is not told as broken by the next change,
// though the server judges open documents alone, and by itself.
func TestBrokenByOthers(t *testing.T) {
	for _, behaviour := range []string{"silent judges", "one"} {
		p := importingProject(t, behaviour, "a.fake", "def a\n", "b.fake", "use a\nuse c\n", "c.fake", "def c\n")
		if got := p.told(p.change("b.fake", "use a\nuse c\n\n")); got != "" {
			t.Errorf("%s: at first: told %q", behaviour, got)
		}
		p.write("a.fake", "text\n")
		p.view.Dirty()
		if got, want := p.told(p.change("c.fake", "text\n")), "+b.fake:2:5 error undefined: c"; got != want {
			t.Errorf("%s: told %q, want %q", behaviour, got, want)
		}
	}
}

// TestLeftOver: what came on a file that was to be judged anew, and was not, may be on
// what there was before the change: it is told with the next one.
func TestLeftOver(t *testing.T) {
	for _, left := range []bool{false, true} {
		r := newRun(&Spec{Name: "fake"})
		v := New(Options{}).View(ViewOptions{
			Dirs: []string{"/p"},
			Read: func(context.Context, string) (string, bool, error) { return "x", true, nil },
		})
		r.shown("/p/a", "x")
		r.pushes(t, noneOfA)
		s := newSide(r.server)
		s.run, s.open, s.judged["/p/a"] = r, []string{"/p/a"}, true
		s.before, s.versions = r.verdicts.snapshot()
		r.pushes(t, oneOfA)
		c := comparison{view: v, side: s, run: r, told: map[string]verdict{}, left: map[string]bool{"/p/a": left}}
		c.difference(t.Context())
		if _, told := c.told["/p/a"]; told == left || (len(c.out.New.Items) == 0) != left {
			t.Errorf("left over %v: %+v", left, c.out)
		}
	}
}

// TestSettings: a server that says when it has taken in its project's settings is not
// asked before, once these have changed.
func TestSettings(t *testing.T) {
	c := fakeConfig("silent judges ids")
	c.DiagnosticWait = time.Minute
	fake := c.Servers["fake"]
	fake.RootMarkers = []string{settingsFile}
	c.Servers["fake"] = fake
	p := newProject(t, c, settingsFile, "strict", "a.fake", "use gone\n")
	found := func() int {
		t.Helper()
		d, err := p.view.Diagnostics(p.context(), p.path("a.fake"))
		if err != nil || len(d.NotReady) > 0 {
			t.Fatal(d.NotReady, err)
		}
		return len(d.Items)
	}
	if found() != 1 {
		t.Fatal("at first it finds nothing")
	}
	set := func(to string) {
		t.Helper()
		p.write(settingsFile, to)
		p.view.Dirty()
	}
	ctx := p.context()
	for set(""); found() > 0 && ctx.Err() == nil; { // it says so for the first time
	}
	if set("strict"); found() != 1 {
		t.Error("the verdict is one by the old settings")
	}
	set("")
	if got := p.told(p.change("a.fake", "use gone\n\n")); got != "" {
		t.Errorf("told %q of what the settings fixed", got)
	}
}

// TestOverlooked: what changed while the server was not ready is told with the next change
// that it judges, once, as something that may be old.
func TestOverlooked(t *testing.T) {
	type step struct{ name, content, want string }
	for _, behaviour := range []string{"all", "silent judges", "judges-all"} {
		for then, steps := range map[string][]step{
			"another file changes": {
				{"b.fake", "two two\n", "?a.fake:1:1 error BAD"},
				{"b.fake", "two\n", ""},
				{"a.fake", "one\n", "-a.fake:1:1 error BAD"},
			},
			"it changes again":  {{"a.fake", "BAD\nBAD\n", "+a.fake:2:1 error BAD; ?a.fake:1:1 error BAD"}, {"b.fake", "two two\n", ""}},
			"it is mended":      {{"a.fake", "one\n", "-a.fake:1:1 error BAD"}},
			"it is gone":        {{"a.fake", removed, "-a.fake:1:1 error BAD"}, {"b.fake", "two two\n", ""}},
			"both change again": {{"b.fake", "BAD\n", "+b.fake:1:1 error BAD; ?a.fake:1:1 error BAD"}},
		} {
			t.Run(behaviour+", and "+then, func(t *testing.T) {
				c := fakeConfig(behaviour + " once-die-change")
				c.DiagnosticWait = time.Minute
				p := newProject(t, c, "a.fake", "one\n", "b.fake", "two\n")
				for _, one := range append([]step{{"a.fake", "BAD\n", "not known: fake stopped, ended by SIGKILL"}}, steps...) {
					if got := strings.ReplaceAll(p.told(p.change(one.name, one.content)), "this is bad: ", ""); got != one.want {
						t.Errorf("%s: told %q, want %q", one.name, got, one.want)
					}
				}
			})
		}
	}
}

// TestOverlookedBehindFailure: a change that fails, of which nothing is compared, leaves
// what is still to be told to the next one.
func TestOverlookedBehindFailure(t *testing.T) {
	for _, behaviour := range []string{"all", "silent judges", "judges-all"} {
		t.Run(behaviour, func(t *testing.T) {
			c := fakeConfig(behaviour + " once-die-change")
			c.DiagnosticWait = time.Minute
			p := newProject(t, c, "a.fake", "one\n", "b.fake", "two\n")
			p.change("a.fake", "BAD\n")
			failed := p.view.Before(p.context(), []string{p.path("b.fake")})
			failed.Close()
			failed.Close()
			if got := strings.ReplaceAll(p.told(p.change("b.fake", "two two\n")), "this is bad: ", ""); got != "?a.fake:1:1 error BAD" {
				t.Errorf("told %q", got)
			}
			if got := p.told(p.change("b.fake", "two\n")); got != "" {
				t.Errorf("told %q again", got)
			}
		})
	}
}

// TestLateThenKilled: what was to be told later is told though the server was killed
// meanwhile.
func TestLateThenKilled(t *testing.T) {
	for _, behaviour := range []string{"silent judges waits", "one waits"} {
		t.Run(behaviour, func(t *testing.T) {
			p := importingProject(t, behaviour, "a.fake", "one\n", "other.fake", "two\n")
			p.busy()
			if d := p.change("a.fake", "BAD\n"); len(d.NotReady) == 0 {
				t.Fatalf("it was judged: %+v", d)
			}
			if err := os.Remove(p.path("busy")); err != nil {
				t.Fatal(err)
			}
			p.kill()
			p.wait(time.Minute)
			if got := strings.ReplaceAll(p.told(p.change("other.fake", "two two\n")), "this is bad: ", ""); got != "?a.fake:1:1 error BAD" {
				t.Errorf("told %q", got)
			}
			if got := p.told(p.change("other.fake", "two\n")); got != "" {
				t.Errorf("told %q again", got)
			}
		})
	}
}
