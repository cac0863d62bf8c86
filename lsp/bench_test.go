package lsp

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// benchProject is a project of which the server knows 10 000 problems, in a hundred
// files.
func benchProject(b *testing.B, behaviour string) *project {
	c := fakeConfig(behaviour)
	c.DiagnosticWait = time.Minute
	files := []string{"a.fake", "def one\nuse one\n"}
	for i := range 100 {
		var text strings.Builder
		for j := range 100 {
			fmt.Fprintf(&text, "BAD problem %d in file %d\n", j, i)
		}
		files = append(files, fmt.Sprintf("f%d.fake", i), text.String())
	}
	p := newProject(b, c, files...)
	if d, err := p.view.Diagnostics(p.context(), p.path("a.fake")); err != nil || len(d.NotReady) > 0 {
		b.Fatalf("%+v, %v", d, err)
	}
	return p
}

// BenchmarkDelta is what the verdict on a change costs beside the server's own time,
// which is reported: that from the change to the verdict on it.
func BenchmarkDelta(b *testing.B) {
	for _, behaviour := range []string{"own", "silent judges"} {
		b.Run(behaviour, func(b *testing.B) {
			p := benchProject(b, behaviour)
			r := p.view.used[0].running()
			for i := range 100 {
				r.verdicts.publish(p.path(fmt.Sprintf("f%d.fake", i)), nil, manyProblems(100))
			}
			path := p.path("a.fake")
			var server, all time.Duration
			for i := 0; b.Loop(); i++ {
				begun := time.Now()
				base := p.view.Before(b.Context(), []string{path})
				before := time.Since(begun)
				p.write("a.fake", strings.Repeat("def one\n", 1+i%2)+"BAD\n")
				begun = time.Now()
				d := base.After(b.Context(), []string{path})
				all += before + time.Since(begun)
				if len(d.NotReady) > 0 {
					b.Fatal(d.NotReady)
				}
				own := r.verdicts.of(path)
				last := own.pushed.at
				if own.asked.seq > 0 {
					last = own.asked.at
				}
				server += last.Sub(r.openDocuments(b.Context())[0].at)
			}
			b.ReportMetric(float64(server.Microseconds())/1000/float64(b.N), "server-ms/op")
			b.ReportMetric(float64((all-server).Microseconds())/1000/float64(b.N), "added-ms/op")
		})
	}
}

func manyProblems(n int) []wireDiagnostic {
	out := make([]wireDiagnostic, n)
	for i := range out {
		out[i] = wireDiagnostic{Range: lineRange(i, 0, 3), Severity: 1, Message: marked(fmt.Sprintf("problem %d", i))}
	}
	return out
}

// BenchmarkDiffer compares a file of 10 000 problems with itself, moved by a line.
func BenchmarkDiffer(b *testing.B) {
	was := manyProblems(maxDiagnostics)
	is := manyProblems(maxDiagnostics)
	for i := range is {
		is[i].Range.Start.Line++
	}
	text := strings.Repeat("line\n", maxDiagnostics)
	for b.Loop() {
		if fresh, gone := differ(was, is, moved(text, "new\n"+text)); len(fresh)+len(gone) > 0 {
			b.Fatal("a line moved, and something is new")
		}
	}
}

// BenchmarkDefinition is what a definition costs beside the server's own time, as an
// editor that asks by itself would measure it.
func BenchmarkDefinition(b *testing.B) {
	b.Run("fake", func(b *testing.B) {
		benchDefinition(b, newProject(b, fakeConfig("ok"), "a.fake", "def foo\nfoo\n"), "a.fake", Target{Symbol: "foo", Line: 2}, Position{Line: 1})
	})
	b.Run("gopls", func(b *testing.B) {
		benchDefinition(b, goProject(b), "b.go", Target{Symbol: "One", Line: 3}, Position{Line: 2, Character: 8})
	})
}

// goProject is a project for gopls.
func goProject(b *testing.B) *project {
	if _, err := exec.LookPath("gopls"); err != nil {
		b.Skip("gopls is not in PATH")
	}
	return newProject(b, Config{DiagnosticWait: time.Minute, StartTimeout: time.Minute}, "go.mod", "module example.com/m\n\ngo 1.26\n",
		"a.go", "package m\n\nfunc One() int { return 1 }\n", "b.go", "package m\n\nvar b = One()\n")
}

func benchDefinition(b *testing.B, p *project, name string, q Target, at Position) {
	q.Path = p.path(name)
	ask := func() {
		a, err := p.view.LookUp(b.Context(), Definition, q)
		if err != nil || len(a.Found) != 1 {
			b.Fatalf("%+v, %v", a, err)
		}
	}
	ask()
	r := p.view.used[0].running()
	params := lookupParams(Definition, q.Path, at)
	var server, all time.Duration
	for b.Loop() {
		begun := time.Now()
		var found locations
		if err := r.ask(b.Context(), "textDocument/definition", params, &found); err != nil || len(found) != 1 {
			b.Fatal(found, err)
		}
		server += time.Since(begun)
		begun = time.Now()
		ask()
		all += time.Since(begun)
	}
	b.ReportMetric(float64(server.Microseconds())/1000/float64(b.N), "server-ms/op")
	b.ReportMetric(float64((all-server).Microseconds())/1000/float64(b.N), "added-ms/op")
}

// BenchmarkGoDelta is an edit that breaks another file, and the one that mends it,
// with gopls: all of its time, and how much of that is past its last verdict on what
// changed.
func BenchmarkGoDelta(b *testing.B) {
	p := goProject(b)
	if d := p.change("a.go", "package m\n\nfunc One() int { return 2 }\n"); len(d.NotReady) > 0 {
		b.Fatal(d.NotReady)
	}
	r := p.view.used[0].running()
	path := p.path("a.go")
	var late time.Duration
	for i := 0; b.Loop(); i++ {
		base := p.view.Before(b.Context(), []string{path})
		p.write("a.go", fmt.Sprintf("package m\n\nfunc %s() int { return 1 }\n", [...]string{"Two", "One"}[i%2]))
		d := base.After(b.Context(), []string{path})
		late += time.Since(r.verdicts.of(p.path("b.go")).pushed.at)
		if len(d.New.Items)+len(d.Fixed.Items) != 1 || len(d.NotReady) > 0 {
			b.Fatalf("%+v", d)
		}
	}
	b.ReportMetric(float64(late.Microseconds())/1000/float64(b.N), "behind-the-verdict-ms/op")
}
