package cases

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// read is the ids of the cases of a file, and what is wrong with it.
func read(name string) (ids, told []string) {
	for c, err := range Read(name) {
		if err != nil {
			told = append(told, err.Error())
			continue
		}
		ids = append(ids, c.ID)
	}
	return ids, told
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadPassesOverAMarkAndTellsBadLines(t *testing.T) {
	ids, told := read(file(t, "\xef\xbb\xbf{\"id\": \"1\"}\n\n{oops\n{\"id\": \"2\", \"want\": \"maybe\"}\n\x00\xff\n[]\n{\"id\": \"3\"}"))
	if strings.Join(ids, " ") != "1 3" || len(told) != 4 {
		t.Fatalf("%q, %q", ids, told)
	}
	for i, at := range []string{":3: ", ":4: ", ":5: ", ":6: "} {
		if !strings.Contains(told[i], "cases.jsonl"+at) {
			t.Errorf("%q", told[i])
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	ids, told := read(file(t, "{\"id\": \"1\"}\n{\"id\": \""+strings.Repeat("x", maxLine)+"\"}\n{\"id\": \"2\"}\n"))
	if len(ids) != 1 || len(told) != 1 || !strings.Contains(told[0], ":2: the line is longer than") {
		t.Errorf("a long line: %q, %q", ids, told)
	}
	if ids, told := read(file(t, strings.Repeat("x\n", 10*maxBad))); len(ids) != 0 || len(told) != maxBad+1 {
		t.Errorf("no file of cases: %d, %d", len(ids), len(told))
	}
	special := []string{t.TempDir(), os.DevNull}
	if name := filepath.Join(t.TempDir(), "pipe"); mkfifo(name) == nil {
		special = append(special, name)
	}
	for _, name := range special {
		if ids, told := read(name); len(ids) != 0 || len(told) != 1 || !strings.Contains(told[0], "not a regular file") {
			t.Errorf("%s: %q, %q", name, ids, told)
		}
		if _, err := ReadLayout(name); err == nil {
			t.Errorf("%s is a layout", name)
		}
	}
	if _, err := ReadLayout(file(t, strings.Repeat(" ", maxLayout+1))); err == nil {
		t.Error("a huge layout is one")
	}
	if fs, err := ReadLayout(file(t, "\xef\xbb\xbf{\"fs\": [{\"path\": \"ws\"}]}")); err != nil || len(fs) != 1 {
		t.Errorf("a layout with a mark: %v, %v", fs, err)
	}
}

// FuzzRead holds reading to: nothing crashes, and a line is a case or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id": "1", "path": ["a"], "fs": [{"path": "x"}]}`))
	f.Add([]byte(`{"id": 1, "path": 2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse(text, "f", 1)
		if line, ok := errors.AsType[*LineError](err); (c == nil) != ok {
			t.Errorf("%v, %v", c, line)
		}
	})
}
