package workspace

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecodeStream(t *testing.T) {
	for _, c := range []struct {
		name, data, want string
		at               int64
		err              error
	}{
		{"empty", "", "", 0, nil},
		{"plain", "a\r\nb", "a\r\nb", 0, nil},
		{"BOM", "\xef\xbb\xbfa", "a", 3, nil},
		{"UTF-16", "\xff\xfea\x00\n\x00", "a\n", -1, nil},
		{"a character cut by the sniffing", strings.Repeat("x", sniffed-1) + "äx", strings.Repeat("x", sniffed-1) + "äx", 0, nil},
		{"broken later on", strings.Repeat("x", sniffed) + "\xff", strings.Repeat("x", sniffed) + "\xff", 0, nil},
		{"binary", "a\x00", "", 0, ErrBinary},
		{"Latin-1", "caf\xe9 au lait", "café au lait", -1, nil},
		{"Shift JIS cut by the sniffing", strings.Repeat("\x93\xfa\x96\x7b\x8c\xea\n", 2000), strings.Repeat("日本語\n", 2000), -1, nil},
		{"neither", strings.Repeat("\x01\xff", 40), "", 0, ErrBinary},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "", 0, ErrBinary},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := Sniff(strings.NewReader(c.data))
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			r, at, err := DecodeStream(strings.NewReader(c.data), e)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != c.want || at != c.at {
				t.Errorf("%q at %d, %v", got, at, err)
			}
		})
	}
}

func TestDecodeRange(t *testing.T) {
	for _, c := range []struct {
		name, data   string
		from, length int64
		want         Range
		err          error
	}{
		{"a piece", "hello", 1, 3, Range{"ell", 1, 4}, nil},
		{"past the end", "hello", 3, 99, Range{"lo", 3, 5}, nil},
		{"from within a character", "aäb", 2, 1, Range{"ä", 1, 3}, nil},
		{"to within a character", "aäb", 0, 2, Range{"aä", 0, 3}, nil},
		{"less than a character", "😀😀", 0, 1, Range{"😀", 0, 4}, nil},
		{"after the mark", "\xef\xbb\xbfab", 0, 1, Range{"a", 3, 4}, nil},
		{"UTF-16", "\xff\xfea\x00b\x00c\x00", 3, 3, Range{"a", 2, 4}, nil},
		{"UTF-16 from within a pair", "\xff\xfe\x3d\xd8\x00\xdeb\x00", 4, 4, Range{"😀", 2, 6}, nil},
		{"UTF-16 to within a pair", "\xff\xfeb\x00\x3d\xd8\x00\xde", 2, 4, Range{"b", 2, 4}, nil},
		{"binary", "a\x00b", 0, 1, Range{}, ErrBinary},
		{"no UTF-8 further on", strings.Repeat("x", sniffed) + "\xff\xff", sniffed, 9, Range{"\ufffd\ufffd", sniffed, sniffed + 2}, nil},
		{"Latin-1", "caf\xe9 au", 3, 2, Range{"é ", 3, 5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Range
			e, err := Sniff(strings.NewReader(c.data))
			if err == nil {
				got, err = DecodeRange(strings.NewReader(c.data), e, c.from, c.length)
			}
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err == nil && got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDecodeRangeOfTwoBytesEach(t *testing.T) {
	data := strings.Repeat("\x82\xcd\x93\xfa\x96\x7b\x8c\xea\n", 2) // は日本語
	for _, c := range []struct {
		from, length int64
		want         Range
	}{
		{0, 2, Range{"は", 0, 2}},
		{5, 1, Range{"本", 4, 6}},
		{2, 3, Range{"日本", 2, 6}},
		{12, 1, Range{"日", 11, 13}},
		{6, 99, Range{"語\nは日本語\n", 6, 18}},
	} {
		got, err := DecodeRange(strings.NewReader(data), ShiftJIS, c.from, c.length)
		if err != nil || got != c.want {
			t.Errorf("from %d, %d bytes: %+v, %v", c.from, c.length, got, err)
		}
	}
}

func FuzzDecodeRange(f *testing.F) {
	f.Add([]byte("aäb😀c"), uint16(2), uint16(3))
	f.Add([]byte("\xff\xfe\x3d\xd8\x00\xdeb\x00"), uint16(3), uint16(1))
	f.Add([]byte("\xef\xbb\xbfab"), uint16(0), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, from, length uint16) {
		whole, err := Decode(data)
		if err != nil || int(from) >= len(data) || whole.Encoding() == DamagedUTF8 {
			return
		}
		// What is read piece by piece is the whole, and every piece goes on.
		var all strings.Builder
		mark := int64(len(whole.Encoding().mark()))
		for at := mark; at < int64(len(data)); {
			piece, err := DecodeRange(bytes.NewReader(data), whole.Encoding(), at, int64(length))
			if err != nil {
				t.Fatal(err)
			}
			if piece.Start != at || piece.End <= at || !utf8.ValidString(piece.Text) {
				t.Fatalf("from %d: %+v", at, piece)
			}
			all.WriteString(piece.Text)
			at = piece.End
		}
		if all.String() != whole.Body() {
			t.Fatalf("%q, want %q", all.String(), whole.Body())
		}
	})
}
