package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

// maxGlob is how many paths one result has at most (spec/tools.md, "The envelope").
const maxGlob = 1000

// Glob is the tool that finds files by their names, newest first.
func Glob() Tool {
	return Func(Spec{
		ID:      "glob",
		Title:   `Find "{pattern}"`,
		Aliases: []string{"Glob"},
		Description: "Finds files by name. ** stands for any folders, * and ? stay within a name, {a,b} for either. A pattern without a slash matches names at any depth, " +
			"one with a slash is relative to path. Results are paths, newest first, at most 1000. " +
			"What .gitignore and .ignore leave out is left out, unless path or the pattern's first folders name it; hidden files are found, .git is never entered.",
		SearchHint: "find list files by name pattern",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "minLength": 1, "description": "For example **/*.go, src/**/*.{ts,tsx} or README.md"},
				"path": {"type": "string", "description": "The folder to look in (default: the workspace)"}
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindSearch,
		ReadOnly: true,
		Requires: Requires{Read: fileSurface},
	}, prepareGlob)
}

// globbing is one call of glob: the folder with which the pattern begins, and
// what is left of it.
type globbing struct {
	scope
	asked   string // the pattern as it was given
	pattern namePattern
	literal string // a pattern without wildcards: what it names below the scope
}

func prepareGlob(ctx context.Context, ws *Workspace, in globInput) (*Action, error) {
	pattern := filepath.ToSlash(in.Pattern)
	if strings.ContainsRune(pattern, 0) {
		return nil, fmt.Errorf("the pattern %q has a NUL character in it", in.Pattern)
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("the pattern %q is malformed: check its brackets and braces, and put a backslash before one that is meant as it is", in.Pattern)
	}
	if in.Path != "" {
		if folder, err := findScope(ctx, ws, in.Path); err != nil {
			return nil, err
		} else if folder.file {
			return nil, fmt.Errorf("%s is a file: give the folder to look in as path", folder.name)
		}
	}
	g, err := newGlobbing(ws, pattern, in)
	if err != nil {
		return nil, err
	}
	return &Action{
		Card:  g.root().Find(in.Pattern, g.Asked),
		Facts: kinds.Facts{Paths: g.access(kinds.List), ReadOnly: true, Concurrent: true},
		Run:   func(ctx context.Context, _ func(Output)) (Result, error) { return g.run(ctx) },
	}, nil
}

// newGlobbing cuts the folders that have no wildcards off the pattern: they are
// the scope, so that it is what is judged and what counts as named.
func newGlobbing(ws *Workspace, pattern string, in globInput) (*globbing, error) {
	base, rest := ".", pattern
	if strings.Contains(pattern, "/") {
		base, rest = doublestar.SplitPattern(pattern)
	}
	dir := base
	if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/") && dir != "~" {
		dir = cmp.Or(in.Path, ".") + "/" + dir
	}
	t, err := resolve(ws, dir)
	if err != nil {
		return nil, err
	}
	g := &globbing{scope: scope{target: t}, asked: in.Pattern}
	if rest == "" || rest == "." || rest == ".." {
		rest = "**"
	}
	if leadsAway(rest) {
		return nil, fmt.Errorf("the pattern %q leads up or away behind a wildcard or in braces, which is not followed: give the folder as path, one call for each", in.Pattern)
	}
	g.pattern = newNamePattern(rest, strings.Contains(pattern, "/"))
	if !strings.ContainsAny(rest, `*?[{\`) {
		g.literal = rest
	}
	return g, nil
}

// leadsAway reports whether a part of a pattern behind its fixed folders names a
// parent, or begins anew at the top or the home: it could match nothing below the
// scope, and who reads it would think that it does.
func leadsAway(rest string) bool {
	depth, start := 0, 0 // of braces; of the name that is being read
	for i := 0; i <= len(rest); i++ {
		var c byte = '/'
		if i < len(rest) {
			c = rest[i]
		}
		if c != '/' && c != '{' && c != '}' && (c != ',' || depth == 0) {
			continue
		}
		name := rest[start:i]
		again := start > 0 && rest[start-1] != '/' && i < len(rest) && c == '/' // an alternative's first name
		if name == ".." || again && (name == "" || name == "~") && rest[start-1] != '}' {
			return true
		}
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		start = i + 1
	}
	return false
}

func (g *globbing) run(ctx context.Context) (Result, error) {
	list := &workspace.Listing{Files: g.unsaved(ctx)}
	if info, err := os.Lstat(g.Target); err == nil && info.IsDir() {
		walked, err := workspace.Walk(ctx, g.ws.Roots, g.Path, workspace.WalkOptions{
			Match: g.pattern.match, Stat: true, Depth: g.pattern.depth})
		if err != nil {
			return Result{}, err
		}
		walked.Files = append(walked.Files, list.Files...)
		list = walked
		g.addNamed(list)
	} else if len(list.Files) == 0 {
		return Result{Text: fmt.Sprintf("No files match %q: there is no folder %s.", g.asked, g.name),
			Metadata: map[string]any{"files": 0}}, nil
	}
	slices.SortFunc(list.Files, func(a, b workspace.File) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.Path, b.Path))
	})
	return g.result(list), nil
}

// unsaved are the files that match and that only the editor has: of those that
// this session read there. They count as changed now.
func (g *globbing) unsaved(ctx context.Context) []workspace.File {
	var files []workspace.File
	_, absent := g.seenBelow()
	for _, rel := range absent {
		if !g.pattern.match(rel) {
			continue
		}
		if _, ok := g.editorFile(ctx, filepath.Join(g.Target, filepath.FromSlash(rel))); ok {
			files = append(files, workspace.File{Path: rel, ModTime: time.Now()})
		}
	}
	return files
}

// addNamed adds the file that a pattern without wildcards names, ignored or not.
func (g *globbing) addNamed(list *workspace.Listing) {
	if g.literal == "" || slices.ContainsFunc(list.Files, func(f workspace.File) bool { return f.Path == g.literal }) {
		return
	}
	info, err := os.Lstat(filepath.Join(g.Target, filepath.FromSlash(g.literal)))
	if err == nil && info.Mode().IsRegular() {
		list.Files = append(list.Files, workspace.File{Path: g.literal, ModTime: info.ModTime()})
	}
}

func (g *globbing) result(list *workspace.Listing) Result {
	var b strings.Builder
	shown := 0
	for _, f := range list.Files {
		name := g.under(f.Path)
		if shown == maxGlob || b.Len()+len(name) > maxFoundText {
			break
		}
		b.WriteString(name + "\n")
		shown++
	}
	if shown == 0 {
		b.WriteString(g.nothing())
	}
	out := g.leftOutOf(walkReasons(list)...)
	out.metadata["files"] = len(list.Files)
	r := Result{Metadata: out.metadata, Truncated: shown < len(list.Files)}
	if r.Truncated {
		fmt.Fprintf(&b, "(%d more files match: the limit was reached; narrow the pattern or give a path)\n", len(list.Files)-shown)
	}
	for _, line := range out.lines {
		b.WriteString(line + "\n")
	}
	r.Text = strings.TrimSuffix(b.String(), "\n")
	r.Shown = kinds.Fence("", kinds.Escape(wireText(r.Text)))
	return r
}

// nothing says that no file matches, and what would.
func (g *globbing) nothing() string {
	if g.literal != "" {
		if info, err := os.Lstat(filepath.Join(g.Target, filepath.FromSlash(g.literal))); err == nil && info.IsDir() {
			return fmt.Sprintf("No files match %q: it is a folder; %q finds the files in it.\n", g.asked, strings.TrimSuffix(g.asked, "/")+"/**")
		}
	}
	if g.pattern.anchored && !strings.HasPrefix(g.pattern.text, "**/") {
		return fmt.Sprintf("No files match %q. A pattern with a slash is relative to the folder that is searched (%s); begin it with **/ for any depth.\n", g.asked, g.name)
	}
	return fmt.Sprintf("No files match %q.\n", g.asked)
}

// namePattern is a wildcard that paths with slashes are matched against.
type namePattern struct {
	text     string
	anchored bool // it is matched against the whole path, else against its last name
	depth    int  // how many names a path that matches has at most; 0: any number
}

// newNamePattern takes a pattern that is well-formed.
func newNamePattern(text string, anchored bool) namePattern {
	p := namePattern{text: text, anchored: anchored}
	if anchored && !strings.Contains(text, "**") {
		p.depth = strings.Count(text, "/") + 1 // in braces too: at most as many
	}
	return p
}

func (p namePattern) match(rel string) bool {
	if !p.anchored {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(p.text, rel)
}
