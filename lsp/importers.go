package lsp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Bounds of looking for the files that import others.
const (
	maxImporter  = 1 << 20 // bytes of a file that is looked at
	maxImporters = 32      // importers that are shown for a change
	maxDistant   = 16      // the same where each is read from the editor, or imports it by way of others
)

// importers are the files that the server was told of, by what they import.
type importers struct {
	mu    sync.Mutex
	files map[string]importer // by path
	by    map[string][]string // paths, by a name that they import, or did before
	also  map[string][]alias  // by the file of settings that has them
}

// importer is what a file imported when it was looked at.
type importer struct {
	stamp   Stamp
	imports []string // sorted
	passes  bool     // who imports the file gets what it imports
	aliases []alias  // of a file of settings
}

// showImporters shows the server those that import files that are to change, and
// notes which were shown, and of which it is not known what breaks in them.
func (v *View) showImporters(ctx context.Context, s *side) {
	how := s.run.server.spec.importing
	if how == nil {
		return
	}
	looking, cancel := context.WithTimeout(ctx, v.wait()/4)
	found, direct := s.run.importersOf(looking, how, s.paths)
	if looking.Err() != nil || v.opts.Walk != nil && !s.run.disk.walked(v.opts.Dirs) {
		s.unshown = append(s.unshown, fmt.Sprintf("has not been shown all files that import %s yet", names(s.paths)))
	}
	cancel()
	limit := min(max(min(direct, v.maxShown()), maxDistant), max(maxOpen-len(s.texts), 0))
	shown := found[:min(len(found), limit)]
	missed := max(direct-len(shown), 0)
	for i, path := range slices.Backward(shown) { // the nearest is closed last
		if _, err := v.show(ctx, s.run, path); err == nil {
			s.shown = append(s.shown, path)
		} else if i < direct {
			missed++
		}
	}
	if missed > 0 {
		s.unshown = append(s.unshown, fmt.Sprintf("was not shown %d of the %d that import %s", missed, direct, names(s.paths)))
	}
	if global := how.global; global != nil && slices.ContainsFunc(s.paths, func(path string) bool { return global(path, s.texts[path]) }) {
		s.unshown = append(s.unshown, "was not shown those that use what "+names(s.paths)+" declares for all files")
	}
}

// maxShown is how many files are shown at once that nobody asked for.
func (v *View) maxShown() int {
	if v.opts.Unsaved {
		return maxDistant
	}
	return maxImporters
}

// partly is why the verdict on a change is not one on all files that import what
// changed; nil: it is.
func (s *side) partly() []string {
	var out []string
	for _, what := range s.unshown {
		out = append(out, fmt.Sprintf("%s judges only files that it is shown, and %s", s.server.spec.Name, what))
	}
	return out
}

// importersOf are the files that import the ones given, directly or by way of files
// that pass on what they import, nearest first, and then some that import these;
// direct is how many the first are. Both are what was found until ctx was done.
func (r *run) importersOf(ctx context.Context, how *importing, paths []string) (found []string, direct int) {
	x := &r.importers
	x.read(ctx, how, r)
	x.mu.Lock()
	defer x.mu.Unlock()
	met := map[string]bool{}
	for _, path := range paths {
		met[path] = true
	}
	for next := paths; len(next) > 0; {
		level := x.of(how, next, met)
		sortByNearness(level, paths)
		found = append(found, level...)
		next = slices.DeleteFunc(level, func(path string) bool { return !x.files[path].passes })
	}
	direct = len(found)
	for next := slices.Clone(found); len(next) > 0 && len(found) < maxDistant; {
		next = x.of(how, next, met)
		sortByNearness(next, paths)
		found = append(found, next...)
	}
	return found, direct
}

// of are the files that import some by any of their names, of those not met yet.
func (x *importers) of(how *importing, paths []string, met map[string]bool) (out []string) {
	also := map[string][]string{}
	for _, list := range x.also {
		for _, one := range list {
			also[one.file] = append(also[one.file], one.name)
		}
	}
	for _, path := range paths {
		for _, name := range append(how.names(path), also[withoutScriptEnding(path)]...) {
			list, known := x.by[name]
			if !known {
				continue
			}
			list = slices.DeleteFunc(list, func(other string) bool { return !x.files[other].has(name) })
			x.by[name] = list
			for _, other := range list {
				if !met[other] {
					met[other], out = true, append(out, other)
				}
			}
		}
	}
	return out
}

func (i importer) has(name string) bool {
	_, found := slices.BinarySearch(i.imports, name)
	return found
}

// sortByNearness puts files first that lie near to some.
func sortByNearness(paths, to []string) {
	near := map[string]int{}
	for _, path := range paths {
		near[path] = nearness(path, to)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(near[b], near[a]), strings.Compare(a, b))
	})
}

// nearness is how many leading bytes a path shares with the one of some that it
// shares most with.
func nearness(path string, to []string) int {
	most := 0
	for _, other := range to {
		n := 0
		for n < len(path) && n < len(other) && path[n] == other[n] {
			n++
		}
		most = max(most, n)
	}
	return most
}

// warm looks at the files before the first change, which would have to wait for it.
func (x *importers) warm(ctx context.Context, r *run) {
	if how := r.server.spec.importing; how != nil {
		x.read(ctx, how, r)
	}
}

// read looks at the files that are new or have changed. Nobody waits for the disk
// with the lock: two may look at the same file at once.
func (x *importers) read(ctx context.Context, how *importing, r *run) {
	for path, stamp := range x.changed(&r.disk) {
		if ctx.Err() != nil {
			return
		}
		next := importer{stamp: stamp}
		if how.aliases != nil && filepath.Ext(path) == ".json" && within(r.server.root, path) {
			if body, err := beginning(r.server.root, path); err == nil {
				next.aliases = how.aliases(path, body)
			}
		}
		if _, ok := r.server.spec.language(path); ok && within(r.server.root, path) {
			if body, err := beginning(r.server.root, path); err == nil { // else it imports nothing
				next.imports, next.passes = how.imports(path, body), how.passes(path, body)
			}
		}
		x.put(path, next)
	}
}

// changed are the files that are not as they were when they were looked at. What is
// no more imports nothing.
func (x *importers) changed(d *disk) map[string]Stamp {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.files == nil {
		x.files, x.by = map[string]importer{}, map[string][]string{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]Stamp{}
	for path, stamp := range d.files {
		if was, known := x.files[path]; !known || was.stamp != stamp || stamp == (Stamp{}) {
			out[path] = stamp
		}
	}
	if len(x.files)+len(out) > len(d.files) {
		for path := range x.files {
			if _, still := d.files[path]; !still {
				delete(x.files, path)
				delete(x.also, path)
			}
		}
	}
	return out
}

// put replaces what a file imports. Names that it imports no more are left to who
// looks for them.
func (x *importers) put(path string, next importer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	was := x.files[path]
	x.files[path] = next
	if next.aliases != nil || x.also[path] != nil {
		if x.also == nil {
			x.also = map[string][]alias{}
		}
		x.also[path] = next.aliases
	}
	for _, name := range next.imports {
		if !was.has(name) {
			x.by[name] = append(x.by[name], path)
		}
	}
}

// readRegular is the beginning of a file of at most max bytes. What is no regular file,
// such as a pipe, is not read: it would block.
func readRegular(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, os.ErrInvalid)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may have come in its place
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, os.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, max))
}

// beginning is the text of a file below a folder, as far as it is looked at. No link
// is followed that leads out of the folder.
func beginning(root, path string) (string, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err == nil && !within(root, path) {
			return "", os.ErrPermission
		}
		info, err = os.Lstat(path)
	}
	if err != nil || !info.Mode().IsRegular() {
		return "", cmp.Or(err, os.ErrInvalid)
	}
	data, err := readRegular(path, maxImporter)
	return strings.TrimPrefix(string(data), "\ufeff"), err // the mark is no part of the first line
}
