package corpus_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission/cases"
	"github.com/acp-agent/acp-agent/session/permission/corpus"
)

const folder = "../../../testdata/security"

// failing is how many benign cases of a file may ask too much still: it only
// sinks.
var failing = map[string]int{}

// TestCorpus judges every case of the repository: none may fail.
func TestCorpus(t *testing.T) {
	layout, err := cases.ReadLayout(filepath.Join(folder, "layout.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "path", "always", "net", "display"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := corpus.New(layout)
			defer r.Close()
			passed, strict, failed := 0, 0, 0
			for c, err := range cases.Read(filepath.Join(folder, name+"_cases.jsonl")) {
				if err != nil {
					t.Fatal(err)
				}
				out, err := r.Run(c)
				switch {
				case err != nil:
					t.Errorf("%s: %v", c.Place(), err)
				case out.Failure != "" && strings.HasPrefix(c.Kind, "benign") && failed < failing[name]:
					failed++
					t.Logf("%s: %s (%s): %q: %s", c.Place(), c.ID, c.Kind, c.Cmd+c.Path, out.Failure)
				case out.Failure != "":
					t.Errorf("%s: %s (%s): %q: %s", c.Place(), c.ID, c.Kind, c.Cmd+c.Path, out.Failure)
				default:
					passed++
				}
				if out.Stricter != "" {
					strict++
					t.Logf("%s (%s): %q: %s", c.ID, c.Kind, c.Cmd+c.Path, out.Stricter)
				}
			}
			t.Logf("%d cases pass, %d of them stricter than wanted", passed, strict)
		})
	}
}

// TestFurther judges what the repository's cases leave out of the kinds net and
// display: other characters, other secrets, other forms of addresses.
func TestFurther(t *testing.T) {
	layout, err := cases.ReadLayout(filepath.Join(folder, "layout.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := corpus.New(layout)
	defer r.Close()
	for _, name := range []string{"net", "display"} {
		for c, err := range cases.Read(filepath.Join("testdata", name+".jsonl")) {
			if err != nil {
				t.Fatal(err)
			}
			if out, err := r.Run(c); err != nil || out.Failure != "" {
				t.Errorf("%s: %s: %v %s", c.Place(), c.ID, err, out.Failure)
			}
		}
	}
}
