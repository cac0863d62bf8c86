package lsp

import (
	"cmp"
	"slices"
	"strings"
)

// Surveyed is what of a project one server is for, or several of which one is
// enough: a language, or some that go together, such as c and cpp.
type Surveyed struct {
	Languages []string // their ids, in order
	Files     int
	Server    string   // its name; empty: none is installed
	Program   string   // its path
	Beside    []string // what judges beside it, and is installed
	Install   []*Spec  // any of which would serve; empty where one does

	first string // one of the files
	specs []*Spec
}

// Survey tells which servers there are for the files of a folder, and for languages
// without one which could be installed; what has most files first. Nothing is
// started. dirs are the folders of PATH.
func (c Config) Survey(dir string, files []string, dirs []string) []Surveyed {
	specs := slices.DeleteFunc(c.Specs(), func(s *Spec) bool { return s.Disabled })
	groups := map[string]*Surveyed{}
	for _, file := range files {
		var fit []*Spec
		var names strings.Builder
		language := ""
		for _, s := range specs {
			if id, ok := s.language(file); ok && !s.Beside {
				fit, language = append(fit, s), cmp.Or(language, id)
				names.WriteString(s.Name + "\n")
			}
		}
		if fit == nil {
			continue
		}
		g := groups[names.String()]
		if g == nil {
			g = &Surveyed{first: file, specs: fit}
			groups[names.String()] = g
		}
		g.Files++
		if i, known := slices.BinarySearch(g.Languages, language); !known {
			g.Languages = slices.Insert(g.Languages, i, language)
		}
	}
	find := lookup{dirs: []string{dir}, path: func() []string { return dirs }}
	var out []Surveyed
	for _, g := range groups {
		g.look(&find, specs)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Surveyed) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), slices.Compare(a.Languages, b.Languages))
	})
	return out
}

// look finds the server that is there, and what is there beside it.
func (g *Surveyed) look(find *lookup, all []*Spec) {
	for _, s := range g.specs {
		root, _ := find.root(s, g.first)
		if command := find.command(s, root, g.first); command != nil {
			g.Server, g.Program, g.Install = s.Name, command[0], nil
			break
		}
		g.Install = append(g.Install, s)
	}
	for _, s := range all {
		if _, ok := s.language(g.first); !ok || !s.Beside {
			continue
		}
		if root, ok := find.root(s, g.first); ok && find.command(s, root, g.first) != nil {
			g.Beside = append(g.Beside, s.Name)
		}
	}
}
