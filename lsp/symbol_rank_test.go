package lsp

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestOwnSymbolsFirst: what a library calls alike stands behind the project's own.
func TestOwnSymbolsFirst(t *testing.T) {
	dir := t.TempDir()
	v := &View{find: lookup{dirs: []string{dir}}}
	own, library := filepath.Join(dir, "a.go"), filepath.Join(t.TempDir(), "b.go")
	list := []Symbol{{Name: "Repo", Path: library}, {Name: "Repo", Path: own}, {Name: "B.ReportAllocs", Path: library}, {Name: "fakeRepo", Path: own}}
	v.ownFirst(list, "Repo")
	var got []string
	for _, s := range list {
		got = append(got, s.Name+" "+filepath.Base(s.Path))
	}
	if want := []string{"Repo a.go", "Repo b.go", "fakeRepo a.go", "B.ReportAllocs b.go"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
