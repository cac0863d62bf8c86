package workspace

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkAutomaton searches a megabyte of program text that is in memory.
func BenchmarkAutomaton(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(goSources(b), "net", "http", "*.go"))
	if err != nil || len(files) == 0 {
		b.Skip("no sources:", err)
	}
	var text bytes.Buffer
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(data)
	}
	for _, q := range []Query{
		{Pattern: `[A-Z]+_[A-Z]+_[A-Z]+`}, {Pattern: `[0-9]{3}[a-f][0-9]{3}`}, {Pattern: `\b[A-Z][a-z]+[A-Z][a-z]+[A-Z]\b`},
		{Pattern: `[ \t]+$`}, {Pattern: `[α-ω]+|[一-龥]{2}`}, {Pattern: `\w+\s+\w+\s+\w+\s+\w+\s+\w+z`}, {Pattern: "return"}, {Pattern: "ErrUnexpectedEOF"}, {Pattern: "TODO|FIXME|XXX"}, {Pattern: "unexpectedeof", FoldCase: true},
		{Pattern: `(foo|bar|baz)Handler`}, {Pattern: `unlockslow`, FoldCase: true}, {Pattern: `.`}, {Pattern: `^$`},
	} {
		b.Run(q.Pattern, func(b *testing.B) {
			p, err := Compile(q)
			if err != nil {
				b.Fatal(err)
			}
			m := p.matcher()
			b.SetBytes(int64(text.Len()))
			lines := 0
			for b.Loop() {
				lines = 0
				m.each(context.Background(), text.Bytes(), func(span) bool { lines++; return true })
			}
			b.ReportMetric(float64(lines), "lines")
		})
	}
}
