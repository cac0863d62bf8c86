package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCorpus runs the corpus of this repository as `acp-agent permissions test`
// does: no case may fail.
func TestCorpus(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "security")
	for _, name := range []string{"always", "bash", "display", "net", "path"} {
		t.Run(name, func(t *testing.T) {
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			p := &process{out: out, errout: out, getenv: os.Getenv}
			err = p.parse([]string{"permissions", "test", "--layout", filepath.Join(dir, "layout.json"), filepath.Join(dir, name+"_cases.jsonl")})
			if err == nil {
				return
			}
			said, _ := os.ReadFile(out.Name())
			t.Errorf("%v\n%s", err, said)
		})
	}
}
