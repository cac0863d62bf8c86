package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// WalkOptions says what a walk is to find.
type WalkOptions struct {
	// Match picks files by their path relative to the folder that is walked, with
	// slashes; nil: all. It is called by several goroutines at once.
	Match func(rel string) bool
	// Stat asks for the time of the last change and the size of each file.
	Stat bool
	// Depth is how many names a path may have at most; 0: any number.
	Depth int
	// Workers is how many folders are read at once; 0: as many as pay.
	Workers int
}

// Listing is what a walk found.
type Listing struct {
	Files []File // sorted by path

	Ignored    Tally // left out by ignore rules; a folder counts once
	Unreadable Tally // folders that cannot be read
	Broken     Tally // links that lead nowhere
	Linked     Tally // links to folders below the one that was walked, which are not followed
	Away       Tally // links to other folders, which are not followed either
	Git        Tally // .git, which is never entered
	Special    Tally // neither file nor folder: FIFOs, sockets, devices
}

// File is a file that a walk found: a regular one or a link to one.
type File struct {
	Path    string    // relative to the folder that was walked, with slashes
	Link    bool      // it is a symbolic link, to wherever
	ModTime time.Time // of the file, or of what the link leads to; zero unless asked for
	Size    int64     // in bytes, as ModTime
}

// fileStat is what a file in a folder is, links followed.
type fileStat struct {
	mode    fs.FileMode // its type
	modTime time.Time
	size    int64
}

// Tally counts what was left out for one reason and names the first few. The
// zero value is empty.
type Tally struct {
	Count int
	First []string // the first in order of name, at most tallyNames
}

const tallyNames = 5

// Add counts one more.
func (t *Tally) Add(name string) {
	t.Count++
	t.keep(name)
}

// Join adds what another tally holds.
func (t *Tally) Join(o Tally) {
	t.Count += o.Count
	for _, name := range o.First {
		t.keep(name)
	}
}

func (t *Tally) keep(name string) {
	if len(t.First) == tallyNames && name >= t.First[tallyNames-1] {
		return
	}
	i, _ := slices.BinarySearch(t.First, name)
	t.First = slices.Insert(t.First, i, name)
	if len(t.First) > tallyNames {
		t.First = t.First[:tallyNames]
	}
}

// Walk lists the files below a folder, as spec/tools.md asks of glob and grep:
// .gitignore and .ignore files hold at every level, also those above up to the
// repository's folder, and what the repository and the user exclude; .git is
// never entered; hidden files are found; links to folders are not followed.
// Rules that would leave out the folder itself or all that is in it do not
// hold where the folder is not a root, since then it was named.
//
// The order does not depend on the workers. Walk returns early with ctx's cause
// when ctx is done, and with an error where start is no folder or cannot be read.
func Walk(ctx context.Context, r *Roots, start Path, opts WalkOptions) (*Listing, error) {
	w, err := newWalker(ctx, r, start, opts)
	if err != nil {
		return nil, err
	}
	workers := opts.Workers
	if workers <= 0 {
		workers = min(4, runtime.GOMAXPROCS(0))
	}
	lists := make([]Listing, workers)
	var group sync.WaitGroup // of the workers, awaited below
	for i := range lists {
		group.Go(func() { w.work(&lists[i]) })
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if w.err != nil {
		return nil, w.err
	}
	return joinLists(lists), nil
}

// walker is one walk. Its workers take folders from one stack.
type walker struct {
	ctx    context.Context
	root   *root  // that holds the start; nil: none
	start  string // absolute and resolved
	prefix int    // length of the start's name relative to the rules' top, with a slash
	named  bool   // the start is no root: what its own rules say about all of it is left out
	opts   WalkOptions

	mu      sync.Mutex
	wake    sync.Cond
	stack   []folderJob // to be read
	working int         // workers that may still add to the stack
	err     error       // of reading the start
}

// folderJob is a folder to be read.
type folderJob struct {
	full  string // relative to the rules' top: "" or ending in "/"
	layer *ignoreLayer
}

func newWalker(ctx context.Context, r *Roots, start Path, opts WalkOptions) (*walker, error) {
	one, rel, inside := r.within(start.Target)
	if !inside && isPseudo(start.Target) {
		return nil, fmt.Errorf("%s lies in a file system of the kernel and is not searched", start.Asked)
	}
	info, err := os.Lstat(start.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no folder %s: %w", start.Asked, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("looking at %s: %w", start.Asked, plain(err))
	case !info.IsDir():
		return nil, fmt.Errorf("%s is %s, not a folder", start.Asked, describe(info.Mode()))
	}
	top := ignoreTop(r, start.Target)
	full, _ := below(top, start.Target)
	if full = filepath.ToSlash(full); full == "." {
		full = ""
	}
	w := &walker{ctx: ctx, start: start.Target, named: !inside || rel != ".", opts: opts}
	if inside {
		w.root = one
	}
	w.wake.L = &w.mu
	job := folderJob{full: full, layer: layersAbove(top, full)}
	if full != "" {
		job.full += "/"
	}
	w.prefix = len(job.full)
	w.stack = []folderJob{job}
	return w, nil
}

// work reads folders until none is left and no worker can add one.
func (w *walker) work(list *Listing) {
	reader := newFolderReader()
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.stack) == 0 && w.working > 0 {
			w.wake.Wait()
		}
		n := len(w.stack)
		if n == 0 {
			return
		}
		job := w.stack[n-1]
		w.stack = w.stack[:n-1]
		w.working++
		w.mu.Unlock()
		found, err := w.read(job, reader, list)
		w.mu.Lock()
		w.working--
		switch {
		case w.ctx.Err() != nil:
			w.stack = nil
		case err != nil && len(job.full) == w.prefix:
			w.err = fmt.Errorf("reading the folder %s: %w", w.start, plain(err))
		case err != nil && !gone(err):
			list.Unreadable.Add(strings.TrimSuffix(w.rel(job.full), "/"))
		}
		if w.ctx.Err() == nil {
			w.stack = append(w.stack, found...)
		}
		if len(w.stack) > 1 || len(w.stack) == 0 && w.working == 0 {
			w.wake.Broadcast()
		}
	}
}

// gone says that a folder was removed or replaced since it was listed.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isReplaced(err)
}

// rel is a path relative to the start.
func (w *walker) rel(full string) string { return full[w.prefix:] }

// read lists one folder: files go to the list, folders are returned.
func (w *walker) read(job folderJob, reader *folderReader, list *Listing) ([]folderJob, error) {
	rel := w.rel(job.full)
	dir, err := reader.open(w.root, w.start, rel)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	entries, err := dir.entries(w.ctx, reader)
	if err != nil {
		return nil, err
	}
	layer := w.layer(job, dir, entries)
	var found []folderJob
	for i, e := range entries {
		if i%checkEvery == checkEvery-1 && w.ctx.Err() != nil {
			return nil, nil
		}
		full := job.full + e.name
		if e.name == ".git" {
			list.Git.Add(w.rel(full))
			continue
		}
		isDir := e.mode.IsDir()
		if isDir && w.start == "/" && isPseudo("/"+w.rel(full)) {
			list.Special.Add(w.rel(full))
			continue
		}
		switch {
		case layer.ignores(full, isDir):
			list.Ignored.Add(w.rel(full))
		case isDir && w.opts.Depth > 0 && strings.Count(w.rel(full), "/")+1 >= w.opts.Depth:
		case isDir:
			found = append(found, folderJob{full: full + "/", layer: layer})
		default:
			w.file(dir, e, w.rel(full), list)
		}
	}
	return found, nil
}

// layer is what is ignored in a folder that was listed.
func (w *walker) layer(job folderJob, dir folder, entries []folderEntry) *ignoreLayer {
	var has ignoreFiles
	for _, e := range entries {
		if e.name != "" && e.name[0] == '.' {
			has.note(e.name, e.mode.IsRegular())
		}
	}
	layer := job.layer.below(job.full, has, dir.open)
	if has&hasGit != 0 {
		layer.extra = repoRules(filepath.Join(w.start, filepath.FromSlash(w.rel(job.full))))
	}
	if w.named && has != 0 && len(job.full) == w.prefix {
		layer.spare("")
	}
	return layer
}

// file lists an entry that is no folder.
func (w *walker) file(dir folder, e folderEntry, rel string, list *Listing) {
	link := e.mode&fs.ModeSymlink != 0
	if !link && !e.mode.IsRegular() {
		list.Special.Add(rel)
		return
	}
	if !link && w.opts.Match != nil && !w.opts.Match(rel) {
		return
	}
	f := File{Path: rel, Link: link}
	if link || w.opts.Stat {
		what, err := dir.stat(e.name)
		switch {
		case err != nil && link:
			list.Broken.Add(rel)
			return
		case err != nil:
			return // removed since it was listed
		case what.mode.IsDir():
			if w.reaches(rel) {
				list.Linked.Add(rel)
			} else {
				list.Away.Add(rel)
			}
			return
		case !what.mode.IsRegular():
			list.Special.Add(rel)
			return
		}
		if w.opts.Stat {
			f.ModTime, f.Size = what.modTime, what.size
		}
		if w.opts.Match != nil && link && !w.opts.Match(rel) {
			return
		}
	}
	list.Files = append(list.Files, f)
}

// reaches reports whether what a link leads to lies below the start.
func (w *walker) reaches(rel string) bool {
	target, err := filepath.EvalSymlinks(filepath.Join(w.start, filepath.FromSlash(rel)))
	if err != nil {
		return false
	}
	_, ok := below(w.start, target)
	return ok
}

func joinLists(lists []Listing) *Listing {
	all := &lists[0]
	for i := 1; i < len(lists); i++ {
		one := &lists[i]
		all.Files = append(all.Files, one.Files...)
		all.Ignored.Join(one.Ignored)
		all.Unreadable.Join(one.Unreadable)
		all.Broken.Join(one.Broken)
		all.Linked.Join(one.Linked)
		all.Away.Join(one.Away)
		all.Special.Join(one.Special)
		all.Git.Join(one.Git)
	}
	slices.SortFunc(all.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return all
}
