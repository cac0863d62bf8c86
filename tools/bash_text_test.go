package tools

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// plain gives the text in pieces of n bytes to a plainText.
func plain(input string, n int) string {
	var out bytes.Buffer
	t := plainText{emit: func(p []byte) { out.Write(p) }}
	for len(input) > 0 {
		k := min(n, len(input))
		_, _ = t.Write([]byte(input[:k]))
		input = input[k:]
	}
	t.Flush()
	return out.String()
}

func TestPlainText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"text", "one\ntwo\tthree", "one\ntwo\tthree"},
		{"letters", "grüße 世界 🎉\n", "grüße 世界 🎉\n"},
		{"colours", "\x1b[31mred\x1b[0m \x1b[1;38;5;208mbold\x1b[m\n", "red bold\n"},
		{"title ended by BEL", "a\x1b]0;evil title\x07b", "ab"},
		{"title ended by ST", "a\x1b]2;evil title\x1b\\b", "ab"},
		{"title that does not end", "a\x1b]0;evil\nb", "a\nb"},
		{"title and another sequence", "a\x1b]0;x\x1b[1mb", "ab"},
		{"link", "\x1b]8;;http://x.example/\x1b\\here\x1b]8;;\x1b\\", "here"},
		{"device control", "a\x1bPq#0;2;0~~\x1b\\b", "ab"},
		{"character set", "\x1b(Bx\x1b)0y\x1b=z", "xyz"},
		{"sequence cut by text", "\x1b[12\nline", "\nline"},
		{"escape before escape", "\x1b\x1b[1mx", "x"},
		{"escape before a letter of two bytes", "\x1bé", "é"},
		{"escape at the end", "x\x1b", "x"},
		{"sequence of C1", "a\u009b31mb\u0085c", "abc"},
		{"control characters", "a\x00b\x07c\x7fd\x0be\x0cf", "abcdef"},
		{"lines of Windows", "a\r\nb\r\r\nc\r\n", "a\nb\nc\n"},
		{"progress", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress that stays", "start\n10%\r20%\r", "start\n20%"},
		{"progress in colours", "\x1b[2K\r1/3\x1b[2K\r2/3\x1b[2K\r3/3\n", "3/3\n"},
		{"over a longer line", "a long line\rshort\n", "short\n"},
		{"bold of manuals", "N\bNA\bAM\bME\bE _\bf_\bi\n", "NAME fi\n"},
		{"backspaces at the beginning", "\b\b\nx\b\b\by", "\ny"},
		{"backspace over a letter of two bytes", "aé\bb", "ab"},
		{"no UTF-8", "a\xff\xfeb\xc3(c\n", "a��b�(c\n"},
		{"half a letter at the end", "a\xe4\xb8", "a��"},
		{"half a letter before a letter", "\xe2\xf0\x9f\x8e\x89", "�🎉"},
		{"surrogate", "\xed\xa0\x80", "���"},
		{"marks of direction stay", "a\u202eb", "a\u202eb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 5, 1 << 10} {
				if got := plain(tt.in, n); got != tt.want {
					t.Errorf("in pieces of %d: got %q, want %q", n, got, tt.want)
				}
			}
		})
	}
}

func TestPlainTextLongLine(t *testing.T) {
	line := strings.Repeat("x", 3*maxHeldLine)
	if got := plain(line+"\rshort\n", 100); len(got) < 2*maxHeldLine || !strings.HasSuffix(got, "short\n") {
		t.Errorf("%d bytes, ends in %q", len(got), got[max(0, len(got)-20):])
	}
	if got := plain("\x1b["+strings.Repeat("1", 1000)+"\n", 7); len(got) > 1000 || !strings.HasSuffix(got, "1\n") {
		t.Errorf("a sequence without end hides %d bytes", 1000-len(got))
	}
}

func FuzzPlainText(f *testing.F) {
	for _, seed := range []string{
		"", "plain\ntext", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07x", "\x1bP\x1b\\", "10%\r20%\r\n", "a\b\b", "\xff\xe4\xb8",
		"\u009b1m", "\x1b(B", "\r\r\n", "\xe2\xf0\x9f\x8e\x89",
	} {
		f.Add(seed, 1)
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, in string, n int) {
		if n < 1 || n > 1<<20 {
			return
		}
		got := plain(in, n)
		if whole := plain(in, len(in)+1); got != whole {
			t.Fatalf("in pieces of %d: %q, in one: %q", n, got, whole)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("no UTF-8: %q", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("a control character at %d: %q", i, got)
		}
		if again := plain(got, n); again != got {
			t.Fatalf("cleaned twice: %q, once: %q", again, got)
		}
	})
}

func BenchmarkPlainText(b *testing.B) {
	for name, line := range map[string]string{
		"ASCII":   "the quick brown fox jumps over the lazy dog and reads on and on\n",
		"Letters": "größer schöner weiter – 世界 und noch ein Stück\n",
		"Colours": "\x1b[32mok\x1b[0m  \x1b[1mpackage\x1b[0m 0.012s\n",
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(strings.Repeat(line, 64<<10/len(line)))
			c := plainText{emit: func([]byte) {}}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				_, _ = c.Write(data)
			}
		})
	}
}
