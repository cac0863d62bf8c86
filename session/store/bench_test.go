package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// timed reports the median and the 99th percentile of what f takes.
func timed(b *testing.B, f func(i int)) {
	var took []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		f(i)
		took = append(took, time.Since(start))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
}

// filled is a database with one session of 1,000 parts in 200 messages.
func filled(b *testing.B, path string) *Store {
	s := openAt(b, path)
	must(b, s.Create(b.Context(), Session{ID: "a"}))
	for m := range 200 {
		message := Message{ID: fmt.Sprint("m", m), SessionID: "a", Role: "assistant"}
		for p := range 5 {
			message.Parts = append(message.Parts, part(fmt.Sprint("p", p), strings.Repeat("text ", 60)))
		}
		must(b, s.Append(b.Context(), message))
	}
	return s
}

func BenchmarkAppend(b *testing.B) {
	s := openTest(b)
	must(b, s.Create(b.Context(), Session{ID: "a"}))
	parts := []Part{part("p", strings.Repeat("text ", 60))}
	timed(b, func(i int) {
		must(b, s.Append(b.Context(), Message{ID: fmt.Sprint("m", i), SessionID: "a", Role: "user", Parts: parts}))
	})
}

func BenchmarkPutPart(b *testing.B) {
	s := openTest(b)
	must(b, s.Create(b.Context(), Session{ID: "a"}))
	must(b, s.Append(b.Context(), Message{ID: "m", SessionID: "a"}))
	p := part("p", strings.Repeat("text ", 60))
	p.MessageID = "m"
	timed(b, func(int) { must(b, s.PutPart(b.Context(), "a", p)) })
}

func BenchmarkMessages1000(b *testing.B) {
	s := filled(b, filepath.Join(b.TempDir(), "sessions.db"))
	timed(b, func(int) {
		if _, err := s.Messages(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sessions.db")
	must(b, filled(b, path).Close())
	timed(b, func(int) {
		s, err := Open(b.Context(), path)
		must(b, err)
		b.StopTimer()
		must(b, s.Close())
		b.StartTimer()
	})
}

func BenchmarkOpenNew(b *testing.B) {
	dir := b.TempDir()
	timed(b, func(i int) {
		s, err := Open(b.Context(), filepath.Join(dir, fmt.Sprint(i)))
		must(b, err)
		b.StopTimer()
		must(b, s.Close())
		b.StartTimer()
	})
}
