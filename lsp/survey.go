package lsp

import (
	"cmp"
	"slices"
)

// Surveyed is a language of a project, and what serves it.
type Surveyed struct {
	Language string
	Files    int
	Server   string // its name; empty: none is installed
	Program  string // its path
	Install  []*Spec
}

// Survey tells which servers there are for the files of a folder, and for each
// language without one which could be installed; the language with most files
// first. Nothing is started. dirs are the folders of PATH.
func (c Config) Survey(dir string, files []string, dirs []string) []Surveyed {
	specs := c.Specs()
	find := lookup{dirs: []string{dir}, path: func() []string { return dirs }}
	byLanguage := map[string]*Surveyed{}
	first := map[string]string{}
	for _, file := range files {
		for _, s := range specs {
			id, ok := s.language(file)
			if !ok || s.Beside || s.Disabled {
				continue
			}
			if byLanguage[id] == nil {
				byLanguage[id], first[id] = &Surveyed{Language: id}, file
			}
			byLanguage[id].Files++
			break
		}
	}
	var out []Surveyed
	for id, one := range byLanguage {
		for _, s := range specs {
			if lang, ok := s.language(first[id]); !ok || s.Beside || s.Disabled || lang != id {
				continue
			}
			root, _ := find.root(s, first[id])
			if command := find.command(s, root, first[id]); command != nil {
				one.Server, one.Program, one.Install = s.Name, command[0], nil
				break
			}
			one.Install = append(one.Install, s)
		}
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Surveyed) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Language, b.Language))
	})
	return out
}
