package lsp

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// scanEvery is how long what the disk has may be out of date where nothing says
// that it changed.
const scanEvery = 3 * time.Second

// Dirty says that files may have changed on the disk, as after a command.
func (v *View) Dirty() { v.servers.changes.Add(1) }

// scan looks for files that changed on the disk since the last time, and tells the
// servers that this view uses. Without a server it costs nothing.
func (v *View) scan(ctx context.Context) {
	if v.opts.Walk == nil {
		return
	}
	select {
	case v.scanning <- struct{}{}:
		defer func() { <-v.scanning }()
	case <-ctx.Done():
		return
	}
	v.mu.Lock()
	var runs []*run
	fresh := false
	for _, s := range v.used {
		if r := s.running(); r != nil {
			runs = append(runs, r)
			fresh = fresh || !r.disk.walked(v.opts.Dirs)
		}
	}
	changes := v.servers.changes.Load()
	due := fresh || v.changes != changes || time.Since(v.scanned) > max(scanEvery, 20*v.scanCost)
	v.mu.Unlock()
	if len(runs) == 0 || !due {
		return
	}
	began := time.Now()
	found, err := v.walk(ctx, runs)
	if err != nil {
		return // cut off: next time
	}
	v.mu.Lock()
	v.scanned, v.scanCost, v.changes = time.Now(), time.Since(began), changes
	v.mu.Unlock()
	var all sync.WaitGroup
	for i, r := range runs {
		if events := r.disk.compare(v.opts.Dirs, found[i], r.started); len(events) > 0 {
			all.Go(func() { r.announce(ctx, events) })
		}
	}
	all.Wait()
}

// walk finds the files that each server can care for.
func (v *View) walk(ctx context.Context, runs []*run) ([]map[string]Stamp, error) {
	found := make([]map[string]Stamp, len(runs))
	cares := make([]func(string) bool, len(runs))
	for i, r := range runs {
		found[i], cares[i] = map[string]Stamp{}, r.cares()
	}
	for _, dir := range v.opts.Dirs {
		any := func(rel string) bool {
			path := filepath.Join(dir, rel)
			return slices.ContainsFunc(cares, func(one func(string) bool) bool { return one(path) })
		}
		err := v.opts.Walk(ctx, dir, any, func(path string, stamp Stamp) {
			if !stamp.settled() {
				stamp = Stamp{} // it may change once more and look the same
			}
			for i := range runs {
				if cares[i](path) {
					found[i][path] = stamp
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for i, r := range runs {
		for _, path := range r.server.settings() {
			if _, listed := found[i][path]; listed {
				continue
			}
			if stamp := stampOf(path); stamp.settled() {
				found[i][path] = stamp
			} else if stamp != (Stamp{}) {
				found[i][path] = Stamp{}
			}
		}
	}
	return found, nil
}

// cares matches the files that the server can care for: those of its languages, its
// roots' markers, and those that it wants to hear of.
func (r *run) cares() func(path string) bool {
	r.client.mu.Lock()
	var watches []watch
	for _, w := range r.client.watched {
		watches = append(watches, w)
	}
	r.client.mu.Unlock()
	spec, root := r.server.spec, r.server.root
	return func(path string) bool {
		name := filepath.Base(path)
		if _, ok := spec.language(name); ok {
			return true
		}
		return spec.marks(name) || spec.configures(name) || slices.ContainsFunc(watches, func(w watch) bool {
			return slices.ContainsFunc([]Event{Created, Changed, Deleted}, func(e Event) bool { return w.wants(root, Happened{path, e}) })
		})
	}
}

// disk is what the files were like when the server last heard of them, or when they
// were first looked at.
type disk struct {
	mu    sync.Mutex
	files map[string]Stamp // zero: it is told as changed next time, unless it has its sum
	sums  map[string]sum   // of what was told of a file whose stamp did not tell changes apart
	dirs  map[string]bool  // that were looked through
}

// walked reports whether folders were looked through.
func (d *disk) walked(dirs []string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !slices.ContainsFunc(dirs, func(dir string) bool { return !d.dirs[dir] })
}

// compare takes in what some folders have now, and is what happened since. Of a
// folder that was never looked through it is what changed since the server started.
func (d *disk) compare(dirs []string, now map[string]Stamp, started time.Time) []Happened {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files, d.sums, d.dirs = map[string]Stamp{}, map[string]sum{}, map[string]bool{}
	}
	known := func(path string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return d.dirs[dir] && within(dir, path) })
	}
	var out []Happened
	for path, stamp := range now {
		old, had := d.files[path]
		d.files[path] = stamp
		switch {
		case had && old == stamp && stamp != (Stamp{}):
		case had && d.sameLocked(path, old, stamp):
		case had:
			out = append(out, Happened{path, Changed})
		case known(path):
			out = append(out, Happened{path, Created})
		case stamp == (Stamp{}) || stamp.ModTime.After(started): // it may have been there before
			out = append(out, Happened{path, Created}, Happened{path, Changed})
		}
	}
	for path := range d.files {
		if _, still := now[path]; !still && slices.ContainsFunc(dirs, func(dir string) bool { return within(dir, path) }) {
			if delete(d.files, path); stampOf(path) == (Stamp{}) { // else it is only listed no more
				out = append(out, Happened{path, Deleted})
			}
		}
	}
	for _, dir := range dirs {
		d.dirs[dir] = true
	}
	return out
}

// sameLocked reports whether a file is what the server was told of, although its stamp
// did not say so then. The sum has served once the stamp does.
func (d *disk) sameLocked(path string, old, stamp Stamp) bool {
	was, ok := d.sums[path]
	if !ok || old != (Stamp{}) {
		return false
	}
	same := was == sumOf(path)
	if !same || stamp != (Stamp{}) {
		delete(d.sums, path)
	}
	return same
}

// sum tells contents of a file apart; zero: there is none, and none is the same.
type sum [sha256.Size]byte

// maxSummed is the size in bytes of the longest file that is read to see whether it is
// still the same.
const maxSummed = 1 << 20

// sumOf is the sum of what a file has now.
func sumOf(path string) (out sum) {
	data, err := readRegular(path, maxSummed+1)
	if err != nil || len(data) > maxSummed {
		return out
	}
	return sha256.Sum256(data)
}

// event is what the server is to be told of a file that has a stamp now; false:
// nothing. existed says that there was one before, where the disk is not known. A file
// that the server does not know of must be told as created: as one that changed it
// would be of no interest, and those that import it go without.
func (d *disk) event(path string, existed bool, stamp Stamp) (Event, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.files[path]
	switch {
	case stamp == (Stamp{}):
		return Deleted, known || existed
	case known || existed && !d.coversLocked(path):
		return Changed, true
	}
	return Created, true
}

// coversLocked reports whether the folder of a file was looked through.
func (d *disk) coversLocked(path string) bool {
	for dir := range d.dirs {
		if within(dir, path) {
			return true
		}
	}
	return false
}

// heard notes that the server was told of a file as it is with a stamp and a sum.
func (d *disk) heard(path string, stamp Stamp, content sum) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sums, path)
	switch {
	case d.files == nil:
	case stamp == (Stamp{}):
		delete(d.files, path)
	case stamp.settled():
		d.files[path] = stamp
	default:
		d.files[path] = Stamp{}
		if content != (sum{}) {
			d.sums[path] = content
		}
	}
}

// announce tells the server of what happened, as far as it reads.
func (r *run) announce(ctx context.Context, events []Happened) {
	ctx, cancel := r.telling(ctx)
	defer cancel()
	open, _ := r.opened(ctx)
	for _, e := range events {
		if e.Event != Changed || !slices.Contains(open, e.Path) { // else it has the document
			r.verdicts.sweep()
		}
		if e.Event == Deleted {
			_ = r.forget(ctx, e.Path)
			r.verdicts.forget(e.Path)
		}
	}
	if err := r.tell(ctx, events); err != nil {
		r.server.owner.log.Debug("changes not told", "server", r.server.spec.Name, "error", err)
	}
}

// running is the server's process if it can be asked; else nil.
func (s *server) running() *run {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.ready:
		if r.err == nil {
			return r
		}
	default:
	}
	return nil
}
