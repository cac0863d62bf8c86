package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watch notices the protected names that a command made. A mount can keep a file
// as it is, but not keep one from being made without something standing in its
// place, and an empty .npmrc or AGENTS.md there would mean something to the user's
// programs. So what an unasked command made is put aside when it has ended, and
// the model is told.
//
// What is in a folder that the command made as well is the command's: a new
// project may have a .git and an AGENTS.md of its own. And where somebody used git
// meanwhile, which the command could not, the files are taken for theirs.
type watch struct {
	box     *Box
	asked   uint64 // how much the user had approved when it began
	guarded map[string]bool
	links   map[string]string // protected names that are links, and where they lead
	folders map[string]bool
	git     map[string]time.Time // of what git alone writes: when it was written
}

// watch looks at what there is before a command that may not make such names; nil
// for others.
func (b *Box) watch(c Command, by way) *watch {
	if c.Level != Unasked || c.Git {
		return nil
	}
	w := &watch{box: b, asked: b.asked.Load(), guarded: map[string]bool{}, links: map[string]string{}, folders: map[string]bool{}}
	for _, root := range b.roots {
		for _, h := range b.scan(root) {
			if h.guard == Open || b.places.stands(h.path) {
				continue
			}
			w.guarded[h.path] = true
			if to, err := os.Readlink(h.path); h.link && err == nil {
				w.links[h.path] = to
			}
		}
		if by > files { // else the command can write there itself
			w.git = written(root, w.git)
		}
		b.mu.Lock()
		for dir := range b.scans[root].dirs {
			w.folders[dir] = true
		}
		b.mu.Unlock()
	}
	return w
}

// written adds when the files of a root's repository were written that a checkout,
// a merge or a commit writes.
func written(root string, times map[string]time.Time) map[string]time.Time {
	if times == nil {
		times = map[string]time.Time{}
	}
	for _, name := range []string{"HEAD", "index"} {
		path := filepath.Join(root, ".git", name)
		if info, err := os.Lstat(path); err == nil {
			times[path] = info.ModTime()
		}
	}
	return times
}

// others reports whether what was made may be somebody else's: the user approved
// something meanwhile, or git was used.
func (w *watch) others() bool {
	if w.asked != w.box.asked.Load() {
		return true
	}
	for path, before := range w.git {
		if info, err := os.Lstat(path); err == nil && !info.ModTime().Equal(before) {
			return true
		}
	}
	return false
}

// made are the protected names that are there now and were not, of folders that
// were.
func (w *watch) made() []string {
	var paths []string
	for _, root := range w.box.roots {
		paths = append(paths, w.fresh(w.box.scan(root))...)
	}
	for path, to := range w.links {
		if now, err := os.Readlink(path); err != nil || now != to {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// fresh are those of some protected names that were not there before. What stood in the
// place of nothing when they were looked for may have gone since: what confined the
// command is freed at the same time.
func (w *watch) fresh(hits []found) (paths []string) {
	for _, h := range hits {
		if h.guard == Open || w.guarded[h.path] || !w.folders[filepath.Dir(h.path)] {
			continue
		}
		if !w.box.places.stands(h.path) && exists(h.path) && !w.box.places.stands(h.path) { // it may have come back for another command
			paths = append(paths, h.path)
		}
	}
	return paths
}

// undo puts aside what the command made and says so, with what was noticed since
// the last time; empty: nothing.
func (w *watch) undo() string {
	var said []string
	w.box.mu.Lock()
	said, w.box.late = w.box.late, nil
	w.box.mu.Unlock()
	others := w.others()
	for _, path := range w.made() {
		if others {
			said = append(said, w.box.name(path)+" was made or changed meanwhile, which is protected: if the user did not approve it, ask")
			continue
		}
		if one := w.putAside(path); one != "" {
			said = append(said, one)
		}
	}
	return strings.Join(said, "; ")
}

// putAside renames what is at the path and has a link there again that was there. It
// says so; empty: nothing was there any more.
func (w *watch) putAside(path string) string {
	name := w.box.name(path)
	aside := path + ".unasked"
	for n := 2; exists(aside); n++ {
		aside = path + ".unasked" + strconv.Itoa(n)
	}
	to, link := w.links[path]
	err := os.Rename(path, aside)
	switch gone := os.IsNotExist(err); {
	case gone && !link:
		return ""
	case err != nil && !gone:
		return fmt.Sprintf("the command made %s, which is protected, and it cannot be put aside (%v): tell the user", name, err)
	}
	if link {
		if back := os.Symlink(to, path); back != nil {
			return fmt.Sprintf("the command replaced the link %s, which is protected, and it cannot be made again (%v): tell the user", name, back)
		}
		return "the command replaced or removed the link " + name + ", which is protected without approval: it is as it was"
	}
	return fmt.Sprintf("the command made %s, which is protected: it was renamed to %s; to have it there, rename it back with a command of its own, which asks the user; if it is what the user saved meanwhile, tell them where it is", name, filepath.Base(aside))
}

// noteLate notices what was made by what the command left running. By then the
// user may have made it, and it stays.
func (w *watch) noteLate() {
	if w.others() {
		return
	}
	for _, path := range w.made() {
		w.box.mu.Lock()
		w.box.late = append(w.box.late, w.box.name(path)+", which is protected, was made or changed while a command ran on in the background: if that was not the user, tell them")
		w.box.mu.Unlock()
	}
}

// Granted notes that the user approved something: what is protected may change
// by that.
func (b *Box) Granted() {
	if b != nil {
		b.asked.Add(1)
	}
}

// name is a path as it is told: quoted, and below its root where it is in one.
func (b *Box) name(path string) string {
	for _, root := range b.roots {
		if within(root, path) {
			path = filepath.Join(names(root, path)...)
			break
		}
	}
	return strconv.Quote(path)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
