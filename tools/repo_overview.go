package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

type repoOverviewInput struct {
	Path string `json:"path"`
}

// Bounds of an overview.
const (
	overviewDepth     = 4   // folders below one another that are shown; a chain of single ones counts as one
	overviewLines     = 250 // of the tree
	overviewFolders   = 40  // shown in one folder
	overviewFiles     = 15  // shown in one folder
	overviewLanguages = 15
)

// RepoOverview is the tool that shows a project as a whole: its languages by
// size, and its tree as far as that fits. What is cut is counted.
func RepoOverview() Tool {
	return Func(Spec{
		ID:    "repo_overview",
		Title: "Overview",
		Description: "Shows what a project is made of: the languages with their sizes, and the tree of folders with how many files each holds, " +
			"a few levels deep. Good as a first look at an unknown project; give a folder as path to see more of it. " +
			"What .gitignore and .ignore leave out is left out; hidden files are shown.",
		SearchHint: "project structure tree folders languages overview summary",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "The folder to look at (default: the workspace)"}
			},
			"additionalProperties": false
		}`),
		Kind:     kinds.KindRead,
		ReadOnly: true,
		Requires: Requires{Read: fileSurface},
	}, prepareRepoOverview)
}

func prepareRepoOverview(ctx context.Context, ws *Workspace, in repoOverviewInput) (*Action, error) {
	s, err := findScope(ctx, ws, in.Path)
	if err != nil {
		return nil, err
	}
	if s.file {
		return nil, fmt.Errorf("%s is a file: give a folder, or use read", s.name)
	}
	return &Action{
		Card:  s.root().Overview(s.Asked),
		Facts: kinds.Facts{Paths: s.access(kinds.List), ReadOnly: true, Concurrent: true},
		Run:   func(ctx context.Context, _ func(Output)) (Result, error) { return s.overview(ctx) },
	}, nil
}

func (s *scope) overview(ctx context.Context) (Result, error) {
	list, err := workspace.Walk(ctx, s.ws.Roots, s.Path, workspace.WalkOptions{Stat: true})
	if err != nil {
		return Result{}, err
	}
	top := newOverview(list.Files)
	drawn := top.choose()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %s, %s\n", s.name, count(top.files, "file"), count(top.folders+1, "folder"), byteSize(top.size))
	if top.files > 0 {
		b.WriteString("\nLanguages by size:\n")
		b.WriteString(languages(list.Files))
		b.WriteString("\nTree (folders with all files below them):\n")
		top.draw(&b, "")
	}
	out := s.leftOutOf(overviewReasons(list)...)
	out.metadata["files"], out.metadata["folders"], out.metadata["bytes"] = top.files, top.folders+1, top.size
	if missing := top.folders + 1 - drawn; missing > 0 {
		fmt.Fprintf(&b, "(%s not opened in the tree: give one as path to see what is in it.)\n", were(missing, "folder"))
	}
	for _, line := range out.lines {
		b.WriteString(line + "\n")
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return Result{Text: text, Shown: kinds.Fence("", kinds.Escape(wireText(text))), Metadata: out.metadata}, nil
}

func overviewReasons(list *workspace.Listing) []reason {
	reasons := walkReasons(list)
	for i, r := range reasons {
		if r.key == "folder_links" {
			reasons[i].label = "Links to folders, not followed"
		}
	}
	return reasons
}

func were(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return count(n, what) + " are"
}

// overviewFolder is a folder of the tree with all that is below it.
type overviewFolder struct {
	name    string // of it alone; a chain of single folders is one name
	depth   int
	files   int
	folders int
	size    int64
	below   []*overviewFolder // by name
	own     []string          // names of files in it, by name
	open    bool              // its content is shown
}

// newOverview makes a tree of files that are sorted by path, so that those of a
// folder stand together.
func newOverview(files []workspace.File) *overviewFolder {
	top := &overviewFolder{}
	stack := []*overviewFolder{top} // the folder of the last file, from the top
	var at []string                 // their names
	for i := range files {
		names := strings.Split(files[i].Path, "/")
		folders := names[:len(names)-1]
		same := 0
		for same < min(len(at), len(folders)) && at[same] == folders[same] {
			same++
		}
		stack = stack[:same+1]
		for _, name := range folders[same:] {
			parent, one := stack[len(stack)-1], &overviewFolder{name: name}
			parent.below = append(parent.below, one)
			stack = append(stack, one)
		}
		at = folders
		last := stack[len(stack)-1]
		last.own = append(last.own, names[len(names)-1])
		last.files++
		if !files[i].Link { // what a link leads to counts where it is
			last.size += files[i].Size
		}
	}
	top.sum()
	return top
}

// sum adds up what is below each folder, and joins chains of folders that hold
// nothing but one other.
func (f *overviewFolder) sum() {
	for _, one := range f.below {
		one.sum()
		f.files += one.files
		f.folders += one.folders + 1
		f.size += one.size
		if len(one.own) == 0 && len(one.below) == 1 {
			next := one.below[0]
			one.name += "/" + next.name
			one.own, one.below = next.own, next.below
		}
	}
}

// choose opens folders level by level, as long as there is room for their lines,
// and returns how many folders are open, those in chains with them.
func (f *overviewFolder) choose() (opened int) {
	room := overviewLines
	for queue := []*overviewFolder{f}; len(queue) > 0; queue = queue[1:] {
		one := queue[0]
		if one.depth > overviewDepth || one.lines() > room {
			continue
		}
		room -= one.lines()
		one.open = true
		opened += 1 + strings.Count(one.name, "/")
		for _, below := range one.below[:min(len(one.below), overviewFolders)] {
			below.depth = one.depth + 1
			queue = append(queue, below)
		}
	}
	return opened
}

// lines is how many lines the content of the folder takes.
func (f *overviewFolder) lines() int {
	return min(len(f.below), overviewFolders+1) + min(len(f.own), overviewFiles+1)
}

// draw writes the content of the folder, and of those open below it.
func (f *overviewFolder) draw(b *strings.Builder, indent string) {
	for i, one := range f.below {
		if i == overviewFolders {
			fmt.Fprintf(b, "%s… %s more\n", indent, count(len(f.below)-i, "folder"))
			break
		}
		fmt.Fprintf(b, "%s%s/  %s, %s\n", indent, treeName(one.name), count(one.files, "file"), byteSize(one.size))
		if one.open {
			one.draw(b, indent+"  ")
		}
	}
	for i, name := range f.own {
		if i == overviewFiles {
			fmt.Fprintf(b, "%s… %s more\n", indent, count(len(f.own)-i, "file"))
			break
		}
		fmt.Fprintf(b, "%s%s\n", indent, treeName(name))
	}
}

// treeName is a name on one line, cut where it is long.
func treeName(name string) string {
	const most = 100
	return clip(strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(kinds.Escape(name)), most)
}

// languages lists the languages of files, the largest first.
func languages(files []workspace.File) string {
	type sum struct {
		name  string
		files int
		size  int64
	}
	by := map[string]*sum{}
	var all int64
	for i := range files {
		if files[i].Link {
			continue
		}
		name := languageOf(path.Base(files[i].Path))
		if by[name] == nil {
			by[name] = &sum{name: name}
		}
		by[name].files++
		by[name].size += files[i].Size
		all += files[i].Size
	}
	var sums []*sum
	for _, s := range by {
		sums = append(sums, s)
	}
	slices.SortFunc(sums, func(a, b *sum) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(b.files, a.files), strings.Compare(a.name, b.name))
	})
	if rest := sums[min(len(sums), overviewLanguages):]; len(rest) > 0 {
		other := &sum{name: fmt.Sprintf("%d other kinds of file", len(rest))}
		for _, s := range rest {
			other.files += s.files
			other.size += s.size
		}
		sums = append(sums[:overviewLanguages:overviewLanguages], other)
	}
	var b strings.Builder
	for _, s := range sums {
		fmt.Fprintf(&b, "%5.1f %%  %s  %s, %s\n", 100*float64(s.size)/float64(max(all, 1)), treeName(s.name), byteSize(s.size), count(s.files, "file"))
	}
	return b.String()
}

// byteSize is a number of bytes for people.
func byteSize(n int64) string {
	const kilo = 1 << 10
	switch {
	case n < kilo:
		return count(int(n), "byte")
	case n < kilo*kilo:
		return fmt.Sprintf("%.1f KB", float64(n)/kilo)
	case n < kilo*kilo*kilo:
		return fmt.Sprintf("%.1f MB", float64(n)/(kilo*kilo))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(kilo*kilo*kilo))
}
