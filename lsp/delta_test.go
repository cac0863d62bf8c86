package lsp

import (
	"os"
	"strings"
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
