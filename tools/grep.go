package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

type grepInput struct {
	Pattern         string `json:"pattern"`
	Path            string `json:"path"`
	Include         string `json:"include"`
	OutputMode      string `json:"output_mode"`
	CaseInsensitive bool   `json:"case_insensitive"`
	Literal         bool   `json:"literal"`
	Context         int    `json:"context"`
	Multiline       bool   `json:"multiline"`
}

// Limits of one result.
const (
	maxGrep      = 200  // matches that are shown (spec/tools.md, "The envelope")
	maxGrepFiles = 1000 // files that are listed
	maxContext   = 50   // lines around a match
)

// Grep is the tool that searches the text of files. Files that this session
// read through an editor are searched in the editor's text, the rest on the disk.
func Grep() Tool {
	return Func(Spec{
		ID:      "grep",
		Title:   `Search "{pattern}"`,
		Aliases: []string{"Grep"},
		Description: "Searches files for a regular expression (RE2: no look-around, no back-references) or, with literal, for a text as it is. " +
			"Results are lines as path:line:text, at most 200 matches; output_mode files lists the paths, count the number of matches of each file. " +
			"include picks files: without a slash by name at any depth (*.go), with one relative to path (src/**/*.go), with ! in front all others. " +
			"path may be a folder or a file. What .gitignore and .ignore leave out is searched only where path names it; .git is never searched. What else was left out is said at the end.",
		SearchHint: "search text content regex find in files",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "minLength": 1, "description": "The regular expression"},
				"path": {"type": "string", "description": "The folder or file to search (default: the workspace)"},
				"include": {"type": "string", "description": "Which files, for example *.{ts,tsx}"},
				"output_mode": {"type": "string", "enum": ["content", "files", "count"], "description": "Default content"},
				"case_insensitive": {"type": "boolean"},
				"literal": {"type": "boolean", "description": "The pattern is the text itself"},
				"context": {"type": "integer", "minimum": 0, "maximum": 50, "description": "Lines to show before and after each match"},
				"multiline": {"type": "boolean", "description": "Matches may reach over lines, and . matches line ends"}
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
		Kind:     kinds.KindSearch,
		ReadOnly: true,
		Requires: Requires{Read: fileSurface},
	}, prepareGrep)
}

// grepping is one call of grep.
type grepping struct {
	scope
	in      grepInput
	pattern *workspace.Pattern
	include func(rel string) bool // nil: all
}

func prepareGrep(ctx context.Context, ws *Workspace, in grepInput) (*Action, error) {
	pattern, err := workspace.Compile(workspace.Query{
		Pattern: in.Pattern, Literal: in.Literal, FoldCase: in.CaseInsensitive, Multiline: in.Multiline})
	if err != nil {
		return nil, err
	}
	in.Context = min(in.Context, maxContext)
	p, err := findScope(ctx, ws, in.Path)
	if err != nil {
		return nil, err
	}
	g := &grepping{scope: p, in: in, pattern: pattern}
	if g.include, err = g.includes(in.Include); err != nil {
		return nil, err
	}
	return &Action{
		Card:  g.root().Search(in.Pattern, g.Asked, in.Include),
		Facts: kinds.Facts{Paths: g.access(kinds.Read), ReadOnly: true, Concurrent: true},
		Run:   func(ctx context.Context, _ func(Output)) (Result, error) { return g.run(ctx) },
	}, nil
}

// includes makes a filter of the include pattern: without a slash it is about
// names; else about paths, relative to the scope or to the working directory.
func (g *grepping) includes(text string) (func(string) bool, error) {
	text, others := strings.CutPrefix(filepath.ToSlash(text), "!")
	if text == "" {
		return nil, nil
	}
	if !doublestar.ValidatePattern(text) {
		return nil, fmt.Errorf("include %q is malformed: check its brackets and braces", g.in.Include)
	}
	slash := strings.Contains(text, "/")
	if rel, err := filepath.Rel(g.Asked, text); filepath.IsAbs(text) && err == nil && filepath.IsLocal(rel) {
		text = filepath.ToSlash(rel)
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "./"), "/")
	if strings.HasSuffix(text, "/") {
		text += "**"
	}
	p := newNamePattern(text, slash)
	return func(rel string) bool {
		return (p.match(rel) || slash && p.match(g.under(rel))) != others
	}, nil
}

func (g *grepping) run(ctx context.Context) (Result, error) {
	if !g.Inside {
		if err := g.look(ctx); err != nil {
			return Result{}, err
		}
	}
	list := &workspace.Listing{Files: []workspace.File{{}}}
	if g.file {
		f, err := g.ws.Open(g.Path) // says what is wrong with it
		if err != nil {
			return Result{}, err
		}
		f.Close()
	} else {
		var err error
		if list, err = workspace.Walk(ctx, g.ws.Roots, g.Path, workspace.WalkOptions{Match: g.include}); err != nil {
			return Result{}, err
		}
	}
	opts := workspace.SearchOptions{Context: g.in.Context, Text: g.editorText(list)}
	switch g.in.OutputMode {
	case "files":
		opts.First = true
	case "count":
	default:
		opts.Lines = maxGrep
	}
	kept := g.withoutUnreadable(list)
	found, err := workspace.Search(ctx, g.ws.Roots, g.Path, list.Files, g.pattern, opts)
	if err != nil {
		return Result{}, err
	}
	return g.result(list, found, kept), nil
}

// withoutUnreadable takes out of the list what a rule keeps from being read.
// The file that was named itself has been judged.
func (g *grepping) withoutUnreadable(list *workspace.Listing) (kept workspace.Tally) {
	if g.ws.Readable == nil || g.file {
		return kept
	}
	readable := g.ws.Readable()
	if readable == nil {
		return kept
	}
	list.Files = slices.DeleteFunc(list.Files, func(f workspace.File) bool {
		path := g.abs(f.Path)
		p, err := g.ws.Resolve(path)
		if err == nil && readable(kinds.PathAccess{Access: kinds.Read, Path: path, Target: p.Target}) {
			return false
		}
		kept.Add(f.Path)
		return true
	})
	return kept
}

// editorText reads files that this session saw through the workspace's Files,
// where these are more than the disk: an editor may have text of them that is
// not saved. Those that only the editor can have are added to the list.
func (g *grepping) editorText(list *workspace.Listing) func(context.Context, string) ([]byte, bool) {
	seen, absent := g.seenBelow()
	if len(seen) == 0 {
		return nil
	}
	for _, rel := range absent {
		if !g.file && (g.include == nil || g.include(rel)) {
			list.Files = append(list.Files, workspace.File{Path: rel})
		}
	}
	slices.SortFunc(list.Files, func(a, b workspace.File) int { return strings.Compare(a.Path, b.Path) })
	return func(ctx context.Context, target string) ([]byte, bool) {
		if !seen[target] {
			return nil, false
		}
		return g.editorFile(ctx, target)
	}
}

func (g *grepping) result(list *workspace.Listing, found *workspace.Found, kept workspace.Tally) Result {
	w := &grepText{scope: &g.scope, context: g.in.Context > 0}
	switch g.in.OutputMode {
	case "files":
		w.paths(found, func(m workspace.FileMatches) string { return w.scope.under(m.Path) })
	case "count":
		w.paths(found, func(m workspace.FileMatches) string {
			return w.scope.under(m.Path) + ":" + strconv.Itoa(m.Count)
		})
	default:
		w.content(found)
	}
	if len(found.Files) == 0 {
		w.WriteString(g.nothing(list))
	}
	out := g.leftOutOf(append([]reason{
		{"binary_files", found.Binary, "Binary files, not searched", ""},
		{"unfinished_files", found.Unfinished, "Files searched in part, since the pattern takes too long on them", " Use a pattern that matches less text at once."},
		{"unreadable_files", found.Unreadable, "Files that cannot be read", ""},
		{"large_files", found.Large, "Files of more than 64 MB, not searched", ""},
		{"links_outside", found.Outside, "Links out of the workspace, not followed", ""},
		{"kept_files", kept, "Files that a rule keeps from being read, not searched", ""},
		{"secret_files", found.Secret, "Files that usually hold secrets, not searched", " Give one as path to search it."},
	}, walkReasons(list)...)...)
	out.metadata["matches"] = found.Matches
	out.metadata["files"] = len(found.Files)
	out.metadata["searched"] = found.Searched
	if w.cut != "" {
		w.WriteString(w.cut + "\n")
	}
	for _, line := range out.lines {
		w.WriteString(line + "\n")
	}
	text := strings.TrimSuffix(w.String(), "\n")
	return Result{Text: text, Shown: kinds.Fence("", kinds.Escape(wireText(text))), Metadata: out.metadata,
		Truncated: w.cut != "", Locations: g.locations(found)}
}

// maxPlaces is how many places of matches an editor is told.
const maxPlaces = 20

// locations are the first matches, for the editor.
func (g *grepping) locations(found *workspace.Found) []kinds.Location {
	var all []kinds.Location
	for _, f := range found.Files {
		if len(all) == maxPlaces {
			break
		}
		at := kinds.Location{Path: g.abs(f.Path)}
		for _, l := range f.Lines {
			if l.Match {
				at.Line = l.Number
				break
			}
		}
		all = append(all, at)
	}
	return all
}

// nothing says that nothing was found, and why that may be.
func (g *grepping) nothing(list *workspace.Listing) string {
	if g.in.Include != "" && len(list.Files) == 0 {
		return fmt.Sprintf("No file matches include %q, so nothing was searched. "+
			"A pattern with a slash is relative to the folder that is searched (%s); begin it with **/ for any depth.\n", g.in.Include, g.name)
	}
	return fmt.Sprintf("No matches for %s in %s.\n", kinds.Quote(g.in.Pattern), g.called())
}

// called is the scope in a sentence.
func (g *grepping) called() string {
	if g.name == "." {
		return "the workspace"
	}
	return g.name
}

// grepText is what the model reads of what was found.
type grepText struct {
	strings.Builder
	scope   *scope
	context bool   // gaps between lines are marked
	cut     string // says what is not shown; empty: nothing
}

// paths writes a line for each file.
func (w *grepText) paths(found *workspace.Found, line func(workspace.FileMatches) string) {
	for i, m := range found.Files {
		text := line(m)
		if i == maxGrepFiles || w.Len()+len(text) > maxFoundText {
			w.cut = fmt.Sprintf("(%d more files have matches: the limit was reached; narrow the search with path or include)", len(found.Files)-i)
			return
		}
		w.WriteString(text + "\n")
	}
}

// content writes the lines of the matches, at most maxGrep of these.
func (w *grepText) content(found *workspace.Found) {
	shown := 0
	for _, m := range found.Files {
		name := w.scope.under(m.Path)
		last, before := 0, shown
		for _, l := range m.Lines {
			mark := "-"
			if l.Match {
				mark = ":"
			}
			text := name + mark + strconv.Itoa(l.Number) + mark + l.Text + "\n"
			if w.Len()+len(text) > maxFoundText {
				w.cut = fmt.Sprintf("(Cut after %d matches: the size limit was reached; narrow the search with path or include)", shown)
				return
			}
			if w.context && w.Len() > 0 && l.Number != last+1 {
				w.WriteString("--\n")
			}
			w.WriteString(text)
			last = l.Number
			if l.More > 0 {
				fmt.Fprintf(w, "(%d more lines of this match are not shown)\n", l.More)
			}
			if l.Match {
				shown = before + l.Of
			}
		}
	}
	if found.Ended {
		w.cut = fmt.Sprintf("(Only the first %d matches are shown: the limit was reached and there are more; narrow the search with path or include)", maxGrep)
	}
}
