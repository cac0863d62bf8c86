package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// maxProjects is how many projects are opened for one question.
const maxProjects = 32

// showProjects shows a server, of each project of which it has no file open, one in
// which a name stands. A server that sees the projects of open files alone would say
// that nothing there uses the name, and leave it as it is in a rename. left says, as a
// clause, that it was not shown all; empty: it was.
func (v *View) showProjects(ctx context.Context, s session, name string) (left string) {
	markers := s.server.spec.Projects
	if len(markers) == 0 || name == "" {
		return ""
	}
	rest := fmt.Sprintf("%s was not shown all files in which %s stands", s.server.spec.Name, name)
	open, err := s.opened(ctx)
	if err != nil {
		return rest
	}
	projects := projects{root: s.server.root, markers: markers, of: map[string]string{}}
	met := map[string]bool{}
	for _, path := range open {
		met[projects.project(path)] = true
	}
	reading, cancel := context.WithTimeout(ctx, s.server.config.RequestTimeout/4)
	defer cancel()
	var shown []synced
	for _, path := range s.files() {
		project := projects.project(path)
		if met[project] {
			continue
		}
		if reading.Err() != nil {
			left = rest
			break
		}
		body, err := beginning(s.server.root, path)
		if err != nil || !strings.Contains(body, name) || wordIndex(body, name) < 0 {
			continue
		}
		if len(shown) == maxProjects {
			left = rest
			break
		}
		doc, err := v.show(reading, s.run, path)
		if err != nil {
			left = rest
			continue
		}
		met[project] = true
		shown = append(shown, doc)
	}
	if len(shown) > 0 {
		waiting, cancel := context.WithTimeout(ctx, v.wait())
		defer cancel()
		s.judgeAt(waiting, shown)
	}
	return left
}

// projects tells which files are of one project.
type projects struct {
	root    string
	markers []string
	of      map[string]string // by folder
}

// project is the nearest folder with a marker, or the file itself where there is none
// below the root: what nothing holds together is a project of its own.
func (p *projects) project(path string) string {
	dir := filepath.Dir(path)
	found, known := p.of[dir]
	if !known {
		dirs := upward(p.root, path)
		if i := slices.IndexFunc(dirs, func(dir string) bool { return anyIn(dir, p.markers) }); i >= 0 {
			found = dirs[i]
		}
		p.of[dir] = found
	}
	if found == "" {
		return path
	}
	return found
}
