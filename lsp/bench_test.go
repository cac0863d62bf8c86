package lsp

import (
	"fmt"
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
	c := fakeConfig("ok")
	p := newProject(b, c, "a.fake", "def foo\nfoo\n")
	ask := func() {
		a, err := p.view.LookUp(b.Context(), Definition, Target{Path: p.path("a.fake"), Symbol: "foo", Line: 2})
		if err != nil || len(a.Found) != 1 {
			b.Fatalf("%+v, %v", a, err)
		}
	}
	ask()
	r := p.view.used[0].running()
	params := lookupParams(Definition, p.path("a.fake"), Position{Line: 1})
	var server, all time.Duration
	for b.Loop() {
		begun := time.Now()
		var found locations
		if err := r.ask(b.Context(), "textDocument/definition", params, &found); err != nil {
			b.Fatal(err)
		}
		server += time.Since(begun)
		begun = time.Now()
		ask()
		all += time.Since(begun)
	}
	b.ReportMetric(float64(server.Microseconds())/1000/float64(b.N), "server-ms/op")
	b.ReportMetric(float64((all-server).Microseconds())/1000/float64(b.N), "added-ms/op")
}
