package lsp

import (
	"context"
	"path/filepath"
	"sync"
	"time"
)

// scanEvery is how long what the disk has may be out of date where nothing says
// that it changed.
const scanEvery = 3 * time.Second

// Dirty says that files may have changed on the disk, as after a command.
func (v *View) Dirty() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dirty = true
}

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
	used := append([]*server(nil), v.used...)
	due := v.dirty || time.Since(v.scanned) > max(scanEvery, 20*v.scanCost)
	v.dirty = false
	v.mu.Unlock()
	if len(used) == 0 || !due {
		return
	}
	began := time.Now()
	now := map[string]Stamp{}
	for _, dir := range v.opts.Dirs {
		err := v.opts.Walk(ctx, dir, v.watched(used), func(path string, stamp Stamp) { now[path] = stamp })
		if err != nil {
			v.Dirty()
			return // cut off: next time
		}
	}
	v.mu.Lock()
	was := v.files
	v.files, v.scanned, v.scanCost = now, time.Now(), time.Since(began)
	v.mu.Unlock()
	if was == nil {
		return // a server that starts reads the disk itself
	}
	if events := compare(was, now); len(events) > 0 {
		v.announce(ctx, used, events)
	}
}

// watched matches the files that a server can care for: those of its languages and
// its roots' markers.
func (v *View) watched(used []*server) func(rel string) bool {
	return func(rel string) bool {
		name := filepath.Base(rel)
		for _, s := range used {
			if _, ok := s.spec.language(name); ok {
				return true
			}
			for _, group := range s.spec.Roots {
				for _, marker := range group {
					if matched, _ := filepath.Match(marker, name); matched {
						return true
					}
				}
			}
		}
		return false
	}
}

// compare is what happened between two walks.
func compare(was, now map[string]Stamp) []Happened {
	var out []Happened
	for path, stamp := range now {
		old, known := was[path]
		switch {
		case !known:
			out = append(out, Happened{path, Created})
		case old != stamp:
			out = append(out, Happened{path, Changed})
		}
	}
	for path := range was {
		if _, still := now[path]; !still {
			out = append(out, Happened{path, Deleted})
		}
	}
	return out
}

// announce tells the servers that run of what happened.
func (v *View) announce(ctx context.Context, used []*server, events []Happened) {
	var all sync.WaitGroup
	for _, s := range used {
		if r := s.running(); r != nil {
			all.Go(func() { r.announce(ctx, events) })
		}
	}
	all.Wait()
}

// announce tells the server of what happened, as far as it reads.
func (r *run) announce(ctx context.Context, events []Happened) {
	ctx, cancel := r.telling(ctx)
	defer cancel()
	for _, e := range events {
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
