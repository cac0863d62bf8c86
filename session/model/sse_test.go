package model

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads all events of a stream as name|data lines.
func readAll(r io.Reader, limit int) ([]string, error) {
	events := NewEventReader(r, limit)
	var out []string
	for {
		ev, err := events.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, string(ev.Name)+"|"+string(ev.Data))
	}
}

func TestEventReader(t *testing.T) {
	long := strings.Repeat("x", 3*eventBufferBytes)
	tests := map[string]struct {
		in   string
		want []string
	}{
		"one event":                {"data: a\n\n", []string{"|a"}},
		"a name":                   {"event: ping\ndata: {}\n\n", []string{"ping|{}"}},
		"several data lines":       {"data: a\ndata:\ndata: b\n\n", []string{"|a\n\nb"}},
		"carriage returns":         {"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", []string{"|a", "|b", "|c"}},
		"comments":                 {": keep-alive\n\n:\ndata: a\n: more\n\n", []string{"|a"}},
		"no space after the colon": {"data:a\n\ndata:  b\n\n", []string{"|a", "| b"}},
		"a field without a colon":  {"data\n\n", []string{"|"}},
		"unknown fields":           {"id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", []string{"|a"}},
		"a name without data":      {"event: ping\n\ndata: a\n\n", []string{"|a"}},
		"a byte order mark":        {"\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		"no end":                   {"data: a\n\ndata: b\n", []string{"|a"}},
		"half a line":              {"data: a\n\ndata: b", []string{"|a"}},
		"nothing":                  {"", nil},
		"a line above the buffer":  {"data: " + long + "\n\ndata: b\n\n", []string{"|" + long, "|b"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			readers := map[string]io.Reader{
				"whole": strings.NewReader(tt.in), "bytes": iotest.OneByteReader(strings.NewReader(tt.in)),
				"with error": iotest.DataErrReader(strings.NewReader(tt.in)),
			}
			for how, r := range readers {
				got, err := readAll(r, 0)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("%s: got %.200q, %v; want %.200q", how, got, err, tt.want)
				}
			}
		})
	}
}

func TestEventReaderKeepsErrors(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 0)
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("got %q, %v; want one event and the error", got, err)
	}
}

func TestEventReaderLimit(t *testing.T) {
	for _, in := range []string{"data: " + strings.Repeat("x", 100) + "\n\n", ":" + strings.Repeat("x", 100) + "\n", strings.Repeat("data: xx\n", 50) + "\n"} {
		if _, err := readAll(strings.NewReader(in), 64); !errors.Is(err, ErrEventTooLarge) {
			t.Errorf("%.30q: got %v, want ErrEventTooLarge", in, err)
		}
	}
	endless := io.LimitReader(zeros{}, 1<<20)
	if _, err := readAll(endless, 1000); !errors.Is(err, ErrEventTooLarge) {
		t.Errorf("a line without an end: got %v, want ErrEventTooLarge", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestEventReaderWithoutProgress(t *testing.T) {
	if _, err := readAll(stuck{}, 0); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v, want io.ErrNoProgress", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// FuzzSSE holds the reader to two rules: how the bytes are cut into reads makes
// no difference, and no event is larger than the limit.
func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: 1\r\ndata: 2\r\n\r\n", ":c\n\ndata:\r\r", "\xef\xbb\xbfdata: a\n\n", "data: [DONE]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 256
		whole, errWhole := readAll(strings.NewReader(string(in)), limit)
		bytewise, errBytes := readAll(iotest.OneByteReader(strings.NewReader(string(in))), limit)
		if fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", bytewise) || (errWhole == nil) != (errBytes == nil) {
			t.Fatalf("read at once: %q, %v; byte by byte: %q, %v", whole, errWhole, bytewise, errBytes)
		}
		for _, ev := range whole {
			if _, data, _ := strings.Cut(ev, "|"); len(data) > limit {
				t.Fatalf("an event of %d bytes passed", len(data))
			}
		}
	})
}

func BenchmarkEventReader(b *testing.B) {
	line := `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"w1 "},"finish_reason":null}]}` + "\n\n"
	in := strings.Repeat(line, 2000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := drain(strings.NewReader(in)); err != nil {
			b.Fatal(err)
		}
	}
}

func drain(r io.Reader) (n int, err error) {
	events := NewEventReader(r, 0)
	for {
		if _, err := events.Next(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		n++
	}
}
