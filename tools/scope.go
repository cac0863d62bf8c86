package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// maxFoundText is how many bytes of entries glob and grep return; the lines
// about what was left out come on top.
const maxFoundText = 90_000

// scope is the folder or file that glob and grep look in.
type scope struct {
	target
	file bool // it is no folder
}

// findScope resolves what a search looks in; an empty name is the working
// directory. What is missing is refused at once where it lies inside the roots;
// elsewhere nothing is looked up before that is allowed.
func findScope(ctx context.Context, ws *Workspace, name string) (scope, error) {
	if name == "" {
		name = "."
	}
	t, err := resolve(ws, name)
	if err != nil {
		return scope{}, err
	}
	s := scope{target: t}
	if t.Inside {
		err = s.look(ctx)
	}
	return s, err
}

// look finds out what the scope is.
func (s *scope) look(ctx context.Context) error {
	info, err := os.Lstat(s.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.missing(ctx)
	case err != nil:
		return fmt.Errorf("looking at %s: %w", s.name, err)
	}
	if s.file = !info.IsDir(); s.file && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a folder: nothing in it can be searched", unmistakable(s.name))
	}
	return nil
}

// under is how the model sees what is called rel below the scope.
func (s *scope) under(rel string) string {
	switch {
	case rel == "":
		return s.name
	case s.name == ".":
		return rel
	}
	return strings.TrimSuffix(s.name, "/") + "/" + rel
}

// abs is the absolute path of what is called rel below the scope.
func (s *scope) abs(rel string) string { return filepath.Join(s.Asked, filepath.FromSlash(rel)) }

// seenBelow are the targets of the files below the scope that this session saw,
// where the workspace's Files are more than the disk; absent are the names of
// those that are not on the disk, so that only an editor can have them.
func (s *scope) seenBelow() (seen map[string]bool, absent []string) {
	if _, disk := s.ws.Files.(*workspace.Disk); disk || s.ws.Files == nil || s.ws.Seen == nil {
		return nil, nil
	}
	seen = map[string]bool{}
	for _, target := range s.ws.Seen.Paths() {
		rel, err := filepath.Rel(s.Target, target)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		seen[target] = true
		if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
			absent = append(absent, filepath.ToSlash(rel))
		}
	}
	slices.Sort(absent)
	return seen, absent
}

// editorFile reads what the editor has of a file that this session saw.
func (s *scope) editorFile(ctx context.Context, target string) ([]byte, bool) {
	p, err := s.ws.Resolve(filepath.FromSlash(s.ws.Name(target))) // as the client spells it
	if err != nil {
		return nil, false
	}
	data, err := s.ws.Files.ReadFile(ctx, p)
	return data, err == nil
}

// leftOut tells what a search left out: a line for the model each, and the
// counts for the metadata.
type leftOut struct {
	lines    []string
	metadata map[string]any
}

// reason is one reason to leave something out.
type reason struct {
	key   string // in the metadata
	tally workspace.Tally
	label string // for the model, before the number; empty: in the metadata only
	hint  string // what may be done about it
}

// leftOutOf sums up the reasons that did happen. Names are as the model sees
// them.
func (s *scope) leftOutOf(reasons ...reason) leftOut {
	out := leftOut{metadata: map[string]any{}}
	for _, r := range reasons {
		if r.tally.Count == 0 {
			continue
		}
		names := make([]string, len(r.tally.First))
		for i, name := range r.tally.First {
			names[i] = s.under(name)
		}
		out.metadata[r.key] = map[string]any{"count": r.tally.Count, "first": names}
		if r.label != "" {
			out.lines = append(out.lines, fmt.Sprintf("(%s: %d (%s).%s)", r.label, r.tally.Count, some(names, r.tally.Count), r.hint))
		}
	}
	return out
}

// some lists names and says when they are not all.
func some(names []string, count int) string {
	list := strings.Join(names, ", ")
	if count > len(names) {
		list += ", …"
	}
	return list
}

// walkReasons are those of a walk. The ignored ones come last, where they are
// looked for.
func walkReasons(list *workspace.Listing) []reason {
	return []reason{
		{"unreadable_folders", list.Unreadable, "Folders that cannot be read", ""},
		{"broken_links", list.Broken, "", ""},
		{"folder_links", list.Linked, "", ""},
		{"folder_links_away", list.Away, "Links to folders elsewhere, not followed", " Give one as path to search it."},
		{"special_files", list.Special, "", ""},
		{"git_folders", list.Git, "", ""},
		{"ignored", list.Ignored, "Ignored entries left out", " Give one as path to search it."},
	}
}
