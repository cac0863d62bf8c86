package lsp

import (
	"context"
	"slices"
	"strings"
)

// maxMentions is how many files are shown to a server for one name.
const maxMentions = 16

// symbolsNamed asks one server for symbols of the project. One that knows open
// documents alone, and what these import, is first shown the files in which a name
// stands that it does not find: it would say that there is none.
func (v *View) symbolsNamed(ctx context.Context, s session, query string) ([]Symbol, error) {
	lines := v.lineText(ctx)
	found, err := s.workspaceSymbols(ctx, query, lines)
	_, name := symbolName(query)
	known := func(one Symbol) bool {
		_, own := symbolName(one.Name)
		return own == name
	}
	if err != nil || s.server.spec.importing == nil || slices.ContainsFunc(found, known) || !v.showMentions(ctx, s.run, name) {
		return found, err
	}
	return s.workspaceSymbols(ctx, query, lines)
}

// showMentions shows a server the first files in which a name stands, or any one
// where it stands in none and the server has none, and waits until it has judged
// them, as long as the settings say. It reports whether the server was shown more
// than it had.
func (v *View) showMentions(ctx context.Context, r *run, name string) bool {
	open, err := r.opened(ctx)
	if err != nil {
		return false
	}
	reading, cancel := context.WithTimeout(ctx, r.server.config.RequestTimeout/4)
	paths := r.mentions(reading, name, len(open) == 0)
	cancel()
	telling, cancel := r.telling(ctx)
	defer cancel()
	var shown []synced
	for _, path := range paths {
		if doc, err := v.show(telling, r, path); err == nil && !slices.Contains(open, path) {
			shown = append(shown, doc)
		}
	}
	if len(shown) == 0 {
		return false
	}
	waiting, cancel := context.WithTimeout(ctx, v.wait())
	defer cancel()
	r.judgeAt(waiting, shown)
	return true
}

// mentions are the first files of a server, by their paths, in which a name stands,
// of those that were looked at before ctx was done; orAny: the first file of all where
// it stands in none.
func (r *run) mentions(ctx context.Context, name string, orAny bool) []string {
	files := r.files()
	var out []string
	for _, path := range files {
		if len(out) == maxMentions || ctx.Err() != nil {
			break
		}
		if body, err := beginning(r.server.root, path); err == nil && strings.Contains(body, name) && wordIndex(body, name) >= 0 {
			out = append(out, path)
		}
	}
	if len(out) == 0 && orAny && len(files) > 0 {
		out = files[:1]
	}
	return out
}

// files are the files below a server's root that are of its languages, as they were
// when the disk was looked at last, sorted.
func (r *run) files() []string {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	return slices.DeleteFunc(sortedKeys(r.disk.files), func(path string) bool {
		_, ok := r.server.spec.language(path)
		return !ok || !within(r.server.root, path)
	})
}
