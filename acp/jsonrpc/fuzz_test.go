package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// seeds are lines of all kinds.
var seeds = []string{
	after, afterLine, "", "{}", "[]", "null", `{"id":null}`, `{"id":{},"method":"x"}`, "\ufeff{}", "\xff", "  {}  ",
	`{"a":"\\","b":"\"","c":"\\\"","d":[{"}":"]"}]}`, `{"\u0069d":1}`, `{"id":-1.5e+3 ,"method" : "x" , "params":[ ] }`,
	`{"id":1,"id":"2","error":{"code":1}}`, `{"result":null,"id":"call-1"}`, `{"method":"\ud800"}`, strings.Repeat("[", 50),
}

// The reader's lines are those that a plain split gives, however the input is
// cut up; lines above the limit are reported in their place.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte(strings.Join(seeds, "\n")), 40)
	f.Add([]byte("a\r\nb\n\n\nc"), 1)
	f.Add([]byte("\ufeff\n\ufeff\r\n0123456789\n1\r\r\n"), 3)
	f.Add([]byte("0\r\r\n"), 1)
	f.Add([]byte("0123456789\n\ufeff"), 5)
	f.Fuzz(func(t *testing.T, input []byte, limit int) {
		limit = max(limit%1000, 1)
		var want []string
		for i, line := range bytes.Split(input, []byte("\n")) {
			if len(bytes.TrimSuffix(line, []byte("\r"))) > limit {
				want = append(want, "too long")
				continue
			}
			if i == 0 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
				want = append(want, string(line))
			}
		}
		for _, in := range []io.Reader{bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input)), iotest.DataErrReader(bytes.NewReader(input))} {
			lines := newLineReader(in, limit)
			var got []string
			for {
				line, err := lines.next()
				if errors.Is(err, errTooLong) {
					line = []byte("too long")
				} else if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("got %q\nwanted %q", got, want)
			}
		}
	})
}

// A line is taken apart as encoding/json would take it apart; none upsets the
// library; and the id of what is answered is the one that came.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 || bytes.HasPrefix(line, []byte("\ufeff")) {
			return // not one line, or one that the reader changes
		}
		m := parse(line, Lines)
		var want map[string]json.RawMessage
		if json.Unmarshal(line, &want) == nil && want != nil && m.fault == nil {
			for name, got := range map[string]json.RawMessage{"method": m.method, "params": m.params, "id": m.id, "result": m.result, "error": m.failure} {
				value := want[name]
				if name == "method" || name == "params" || (name == "id" && m.id == nil) {
					if value = orNil(value); name == "id" {
						value = nil // a wrong id of an answer is forgotten
					}
				}
				if string(got) != string(value) {
					t.Errorf("%s is %q, wanted %q", name, got, value)
				}
			}
		}
		input := string(line) + "\n" + after
		got := exchange(t, echo, Options{}, input)
		answers := 2
		if m.fault == nil && (m.answer || m.id == nil) {
			answers = 1
		}
		if len(got) != answers {
			t.Fatalf("%q was answered %q", line, got)
		}
		if m.fault == nil && !m.answer && m.id != nil {
			if !strings.Contains(strings.Join(got, "\n"), `"id":`+string(m.id)+`,`) {
				t.Errorf("id %s is not in %q", m.id, got)
			}
		}
	})
}
