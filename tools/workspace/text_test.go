package workspace

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, data string
		encoding   Encoding
		body, lf   string
		end        string
		err        error
	}{
		{"empty", "", UTF8, "", "", "", nil},
		{"LF", "a\nb\n", UTF8, "a\nb\n", "a\nb\n", "\n", nil},
		{"CRLF", "a\r\nb\r\n", UTF8, "a\r\nb\r\n", "a\nb\n", "\r\n", nil},
		{"mixed", "a\r\nb\nc\r\nd", UTF8, "a\r\nb\nc\r\nd", "a\nb\nc\nd", "\r\n", nil},
		{"as many of both", "a\r\nb\n", UTF8, "a\r\nb\n", "a\nb\n", "\n", nil},
		{"lone CR", "a\rb", UTF8, "a\rb", "a\rb", "", nil},
		{"CR before CRLF", "a\r\r\nb", UTF8, "a\r\r\nb", "a\r\nb", "\r\n", nil},
		{"BOM", "\xef\xbb\xbfä\r\n", UTF8BOM, "ä\r\n", "ä\n", "\r\n", nil},
		{"BOM only", "\xef\xbb\xbf", UTF8BOM, "", "", "", nil},
		{"UTF-16 LE", "\xff\xfeH\x00i\x00\r\x00\n\x00", UTF16LE, "Hi\r\n", "Hi\n", "\r\n", nil},
		{"UTF-16 BE", "\xfe\xff\x00H\x00i\x00\n", UTF16BE, "Hi\n", "Hi\n", "\n", nil},
		{"UTF-16 with a pair", "\xff\xfe\x3d\xd8\x00\xde", UTF16LE, "😀", "😀", "", nil},
		{"UTF-16 of odd length", "\xff\xfeH\x00i", 0, "", "", "", ErrBinary},
		{"UTF-16 with half a pair", "\xff\xfe\x3d\xd8a\x00", 0, "", "", "", ErrBinary},
		{"UTF-16 with a NUL", "\xff\xfea\x00\x00\x00", 0, "", "", "", ErrBinary},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", 0, "", "", "", ErrBinary},
		{"NUL", "\x00\x01\x02\xff", 0, "", "", "", ErrBinary},
		{"a late NUL", strings.Repeat("x", 100_000) + "\x00", 0, "", "", "", ErrBinary},
		{"Latin-1", "caf\xe9\n", Windows1252, "café\n", "café\n", "\n", nil},
		{"cut UTF-8", "caf\xc3", Windows1252, "cafÃ", "cafÃ", "", nil},
		{"what Windows leaves free", "a\x81\r\n", Latin1, "a\u0081\r\n", "a\u0081\n", "\r\n", nil},
		{"control characters", strings.Repeat("\x01\x02\xff\xfe", 9), 0, "", "", "", ErrBinary},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := Decode([]byte(c.data))
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			if text.Encoding() != c.encoding || text.Body() != c.body || text.LF() != c.lf || text.LineEnd() != c.end {
				t.Errorf("%v %q %q %q", text.Encoding(), text.Body(), text.LF(), text.LineEnd())
			}
			if string(text.Bytes()) != c.data {
				t.Errorf("bytes %q", text.Bytes())
			}
			if again, err := c.encoding.Encode(text.Body()); err != nil || string(again) != c.data {
				t.Errorf("encoded again: %q, %v", again, err)
			}
		})
	}
}

func TestIsBinary(t *testing.T) {
	for data, want := range map[string]bool{
		"": false, "text": false, "a\x00": true, "\xff\xfea\x00": false, "caf\xe9": false,
		strings.Repeat("x", sniffed) + "\x00": false,
	} {
		if got := IsBinary([]byte(data)); got != want {
			t.Errorf("IsBinary(%.20q) = %v", data, got)
		}
	}
}

// replaced is data with the first old replaced by new.
func replaced(t *testing.T, data, old, new string) string {
	t.Helper()
	text, err := Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(text.LF(), FoldLineEnds(old))
	if at < 0 {
		t.Fatalf("%q is not in %q", old, text.LF())
	}
	after, err := text.Apply(Splice{at, at + len(FoldLineEnds(old)), new})
	if err != nil {
		t.Fatal(err)
	}
	return string(after.Bytes())
}

func TestApplyKeepsLineEnds(t *testing.T) {
	for _, c := range []struct{ name, data, old, new, want string }{
		{"LF", "a\nb\nc\n", "b\nc", "B\nC", "a\nB\nC\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", "b\nc", "B\nC", "a\r\nB\r\nC\r\n"},
		{"CRLF in the arguments", "a\nb\nc\n", "b\r\nc", "B\r\nC\r\nD", "a\nB\nC\nD\n"},
		{"more lines in CRLF", "a\r\nb", "b", "b\nc\nd", "a\r\nb\r\nc\r\nd"},
		{"no line end at all", "a", "a", "a\nb", "a\nb"},
		{"mixed, after an LF line", "a\r\nb\nc\r\n", "b", "b\nx", "a\r\nb\nx\nc\r\n"},
		{"mixed, after a CRLF line", "a\r\nb\nc\r\n", "a", "a\nx", "a\r\nx\r\nb\nc\r\n"},
		{"mixed, line by line", "a\r\nb\nc\r\nd\n", "a\nb\nc", "1\n2\n3", "1\r\n2\n3\r\nd\n"},
		{"mixed, at the end without one", "a\nb\r\nc", "c", "c\nd", "a\nb\r\nc\r\nd"},
		{"mixed, what is common stays", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nnew\nc\nd", "a\r\nb\nnew\r\nc\r\nd\n"},
		{"mixed, what is common between changes stays", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nnew\nb\nc\nD", "A\r\nnew\r\nb\nc\r\nD\n"},
		{"a CRLF goes as a whole", "a\r\nb\r\n", "a\nb", "ab", "ab\r\n"},
		{"final end added", "a\r\nb", "b", "b\n", "a\r\nb\r\n"},
		{"final end taken", "a\r\nb\r\n", "b\n", "b", "a\r\nb"},
		{"BOM", "\xef\xbb\xbfone\r\ntwo\r\nthree", "one\ntwo", "1\n2", "\xef\xbb\xbf1\r\n2\r\nthree"},
		{"UTF-16 LE", "\xff\xfea\x00\r\x00\n\x00b\x00", "a\nb", "a\nä\nb", "\xff\xfea\x00\r\x00\n\x00\xe4\x00\r\x00\n\x00b\x00"},
		{"UTF-16 BE", "\xfe\xff\xd8\x3d\xde\x00\x00b", "b", "c", "\xfe\xff\xd8\x3d\xde\x00\x00c"},
		{"by whole characters", "x ä y", "ä", "ö", "x ö y"},
		{"to nothing", "a\n", "a\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := replaced(t, c.data, c.old, c.new); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestApplySeveral(t *testing.T) {
	text, err := Decode([]byte("\xff\xfex\x00=\x00x\x00\r\x00\n\x00x\x00"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := text.Apply(Splice{0, 1, "😀"}, Splice{2, 3, ""}, Splice{4, 5, "y\nz"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := after.Body(), "😀=\r\ny\r\nz"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range [][]Splice{{{2, 1, ""}}, {{0, 99, ""}}, {{3, 4, ""}, {0, 1, ""}}} {
		if _, err := text.Apply(bad...); err == nil {
			t.Errorf("Apply(%v) went well", bad)
		}
	}
	if _, err := text.Apply(Splice{0, 1, "\x00"}); !errors.Is(err, ErrBinary) {
		t.Errorf("a NUL: %v", err)
	}
	if _, err := text.Apply(Splice{0, 1, "\xff"}); !errors.Is(err, ErrEncoding) {
		t.Errorf("no UTF-8: %v", err)
	}
}

func TestReplaceKeepsHowItIsWritten(t *testing.T) {
	for _, c := range []struct{ name, data, content, want string }{
		{"CRLF", "a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"},
		{"LF though CRLF comes", "a\n", "b\r\nc\r\n", "b\nc\n"},
		{"BOM", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n"},
		{"BOM sent as well", "\xef\xbb\xbfa\n", "\ufeffb\n", "\xef\xbb\xbfb\n"},
		{"UTF-16", "\xff\xfea\x00", "b", "\xff\xfeb\x00"},
		{"final end forgotten", "a\nb\n", "a\nc", "a\nc\n"},
		{"final end invented", "a\nb", "a\nc\n", "a\nc"},
		{"final end meant", "a\nb", "a\nb\n", "a\nb\n"},
		{"final end to go", "a\nb\n", "a\nb", "a\nb"},
		{"empty file", "", "e\n", "e\n"},
		{"empty file without end", "", "e\r\nf", "e\nf"},
		{"emptied", "a\n", "", ""},
		{"mixed ends of lines that stay", "a\r\nb\nc\r\n", "a\nb\nC\n", "a\r\nb\nC\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := Decode([]byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			after, err := text.Replace(c.content)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(after.Bytes()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestManyChangesInOneLongLineAreNotSlow(t *testing.T) {
	const n = 200_000
	text, err := Decode([]byte("a\r\nb\n" + strings.Repeat("x,", n)))
	if err != nil {
		t.Fatal(err)
	}
	splices := make([]Splice, n)
	for i := range splices {
		splices[i] = Splice{4 + 2*i, 5 + 2*i, "y\n"}
	}
	after, err := text.Apply(splices...)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(after.Body(), "y\n,"); got != n {
		t.Errorf("%d of %d", got, n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb\n", "\xef\xbb\xbfx", "\xff\xfea\x00\r\x00\n\x00", "\xfe\xff\x00a", "a\x00b", "caf\xe9", "\r\r\n\n\r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := Decode(data)
		if err != nil {
			if !errors.Is(err, ErrBinary) && !errors.Is(err, ErrEncoding) {
				t.Fatal(err)
			}
			return
		}
		if text.Encoding() == DamagedUTF8 {
			if same, err := text.Apply(); err != nil || !bytes.Equal(same.Bytes(), data) {
				t.Fatalf("nothing changed %q: %v", data, err)
			}
		} else if again, err := text.Encoding().Encode(text.Body()); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%q came back as %q, %v", data, again, err)
		}
		if text.LF() != FoldLineEnds(text.Body()) || !utf8.ValidString(text.LF()) {
			t.Fatalf("LF %q of %q", text.LF(), text.Body())
		}
		same, err := text.Replace(text.LF())
		if err != nil || !bytes.Equal(same.Bytes(), data) {
			if !strings.HasPrefix(text.LF(), "\ufeff") && !strings.Contains(text.Body(), "\r\r") {
				t.Fatalf("replaced by itself: %v", err)
			}
		}
	})
}

// FuzzApply holds every change to the rule that what is outside stays, byte for
// byte, and that the model gets what it asked for.
func FuzzApply(f *testing.F) {
	f.Add("a\r\nb\nc\r\n", uint(0), uint(3), "x\ny", uint(0))
	f.Add("ä\nö", uint(1), uint(2), "ü\r\n", uint(2))
	f.Add("\r\n\r\n", uint(0), uint(1), "", uint(1))
	f.Add("😀x\n", uint(0), uint(9), "😁\n\n", uint(3))
	f.Fuzz(func(t *testing.T, body string, from, length uint, new string, code uint) {
		e := Encoding(code % 4)
		data, err := e.Encode(body)
		if err != nil {
			return
		}
		text, err := Decode(data)
		if err != nil || text.Body() != body {
			return // no text, or one that begins with a mark
		}
		lf := text.LF()
		start := int(from % uint(len(lf)+1))
		end := start + int(length%uint(len(lf)-start+1))
		for ; start > 0 && !boundary(lf, start); start-- {
		}
		for ; !boundary(lf, end); end++ {
		}
		after, err := text.Apply(Splice{start, end, new})
		if err != nil {
			if utf8.ValidString(new) && !strings.Contains(new, "\x00") {
				t.Fatal(err)
			}
			return
		}
		if e.wide() || e == UTF8BOM {
			head, _ := e.Encode(body[:text.inBody(start)])
			tail, _ := e.encode(body[text.inBody(end):])
			if !bytes.HasPrefix(after.Bytes(), head) || !bytes.HasSuffix(after.Bytes(), tail) {
				t.Fatalf("%q became %q", data, after.Bytes())
			}
		} else if !bytes.HasPrefix(after.Bytes(), data[:text.inBody(start)]) || !bytes.HasSuffix(after.Bytes(), data[text.inBody(end):]) {
			t.Fatalf("%q became %q", data, after.Bytes())
		}
		want := lf[:start] + FoldLineEnds(new) + lf[end:]
		if !strings.Contains(want, "\r") && !strings.HasPrefix(want, "\ufeff") && after.LF() != want {
			t.Fatalf("%q: %d to %d by %q: %q, want %q", body, start, end, new, after.LF(), want)
		}
	})
}
