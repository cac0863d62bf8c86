package session

import (
	"slices"
	"testing"
	"time"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string // nil: an error
	}{
		{"a  b\tc\n", []string{"a", "b", "c"}},
		{`src/a.go "old text" "new\n\ttext \"q\" \\"`, []string{"src/a.go", "old text", "new\n\ttext \"q\" \\"}},
		{`'it''s' 'a\n"b"'`, []string{"it", "s", `a\n"b"`}},
		{`"" x`, []string{"", "x"}},
		{`"\d+"`, []string{`\d+`}}, // only what means something is unescaped
		{"", []string{}},
		{`"open`, nil},
		{`'open`, nil},
	} {
		got, err := splitWords(c.in)
		if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
			t.Errorf("splitWords(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`a "b c" 'd' "\n`)
	f.Fuzz(func(t *testing.T, s string) {
		if words, err := splitWords(s); err != nil && words != nil {
			t.Errorf("words beside an error: %q", words)
		}
	})
}

func TestBackoff(t *testing.T) {
	const base, longest = 500 * time.Millisecond, time.Minute
	for attempt := range 70 {
		d := backoff(base, longest, 0, attempt)
		if full := min(base<<min(attempt, 20), longest); d < full/2 || d > full {
			t.Errorf("attempt %d waits %v, want between %v and %v", attempt, d, full/2, full)
		}
	}
	if d := backoff(base, longest, 2*time.Second, 0); d != 2*time.Second {
		t.Errorf("what the provider asked for is waited, got %v", d)
	}
	if d := backoff(base, longest, time.Hour, 0); d != longest {
		t.Errorf("but no longer than the longest, got %v", d)
	}
	if d := backoff(0, longest, 0, 3); d != 0 {
		t.Errorf("no base, no wait: %v", d)
	}
}
