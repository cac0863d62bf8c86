package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// configures reports whether a file has settings of a server's projects.
func (s *Spec) configures(path string) bool {
	return slices.ContainsFunc(s.Configs, func(pattern string) bool { return named(pattern, filepath.Base(path)) })
}

// configured reports whether the projects of a server's root may go by a file of
// settings: it lies where the root is, or above it, or below where there are several.
func (s *server) configured(path string) bool {
	dir := filepath.Dir(path)
	if !s.spec.configures(path) || !within(dir, s.root) && (len(s.spec.Projects) == 0 || !within(s.root, path)) {
		return false
	}
	other := s.spec.Unless[filepath.Base(path)]
	return other == "" || stampOf(filepath.Join(dir, other)) == (Stamp{})
}

// reads reports whether a server may answer differently once it has taken in a file of
// settings.
func (s *server) reads(path string) bool {
	if s.spec.configures(path) {
		return s.configured(path)
	}
	return s.spec.marks(path)
}

// settings are the files of settings that a server looks for by itself and takes in only
// when it starts. They may be ignored, as what builds write is.
func (s *server) settings() (paths []string) {
	if len(s.spec.Renewed) == 0 {
		return nil
	}
	for _, dir := range append(s.spec.ConfigDirs, ".") {
		for _, name := range s.spec.Configs {
			paths = append(paths, filepath.Join(s.root, dir, name))
		}
	}
	return paths
}

// noteConfigs notes what the files of settings have, of which a process that starts now
// takes in that or what comes later. It is called with the lock.
func (s *server) noteConfigs() {
	s.configs = map[string]sum{}
	for _, path := range s.settings() {
		if stampOf(path) != (Stamp{}) {
			s.configs[path] = sumOf(path)
		}
	}
}

// renews notes what happened to a file of settings, and reports whether the server takes
// that in only when it starts again. What was written as it had been changes nothing.
func (s *server) renews(h Happened) bool {
	if !s.configured(h.Path) || !slices.Contains(s.spec.Renewed, h.Event) {
		return false
	}
	now := sumOf(h.Path)
	s.mu.Lock()
	defer s.mu.Unlock()
	was, known := s.configs[h.Path]
	if s.configs == nil {
		return false // none runs
	}
	s.configs[h.Path] = now
	return !known || was != now || now == sum{}
}

// holdersLook is how often is looked whether nobody asks a process any more that is to
// make way for another.
const holdersLook = 10 * time.Millisecond

// replace ends the process of a server, once nobody asks it any more, where it must start
// again to take in its projects' settings. It is called with the lock, and reports whether
// somebody does. An editor may have another text of its documents than the disk, so the
// next one is shown them.
func (s *server) replace() (busy bool) {
	r := s.run
	if r == nil || !r.obsolete.Load() {
		return false
	}
	if s.held > 0 {
		return true
	}
	if !s.owner.begin() {
		return false // Close ends it
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if open, err := r.opened(ctx); err == nil {
		s.former = open
	}
	s.run = nil
	r.replaced.Store(true)
	go func() { // Close waits for it
		defer s.owner.tasks.Done()
		r.stop()
	}()
	return false
}

// current is a server's process that is to be asked, and that has taken in what the disk
// has. It must be released.
func (v *View) current(ctx context.Context, srv *server) (*run, error) {
	for try := 1; ; try++ {
		r, err := srv.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if v.scan(ctx); !r.obsolete.Load() || try == 3 {
			return r, nil
		}
		srv.release()
	}
}

// configuring adds the sides of those servers that run and have projects which go by some
// of the files of settings that change.
func (v *View) configuring(sides []*side, paths []string) []*side {
	v.mu.Lock()
	used := slices.Clone(v.used)
	v.mu.Unlock()
	for _, srv := range used {
		r := srv.running()
		if r == nil || r.judgesAll() {
			continue
		}
		var configs []string
		for _, path := range paths {
			if _, inside := v.find.folder(path); inside && srv.configured(path) {
				configs = append(configs, path)
			}
		}
		if len(configs) == 0 {
			continue
		}
		i := slices.IndexFunc(sides, func(s *side) bool { return s.server == srv })
		if i < 0 {
			i = len(sides)
			sides = append(sides, newSide(srv))
		}
		sides[i].configs = configs
	}
	return sides
}

// showConfigured shows the server those of the files that go by settings which are to
// change that are nearest to them, and notes how many it is not shown.
func (v *View) showConfigured(ctx context.Context, s *side) {
	if len(s.configs) == 0 {
		return
	}
	open, err := s.run.opened(ctx)
	if err != nil {
		return
	}
	var files []string
	for _, path := range s.run.files() {
		under := slices.ContainsFunc(s.configs, func(config string) bool { return within(filepath.Dir(config), path) })
		if under && s.run.server.spec.source(path) && !slices.Contains(open, path) && !slices.Contains(s.paths, path) {
			files = append(files, path)
		}
	}
	sortByNearness(files, s.configs)
	room := max(v.maxShown()-len(open), 0)
	for _, path := range files[:min(len(files), room)] {
		if _, err := v.show(ctx, s.run, path); err == nil {
			s.shown = append(s.shown, path)
		}
	}
	if missed := len(files) - min(len(files), room); missed > 0 {
		s.unshown = append(s.unshown, fmt.Sprintf("was not shown %d of those that go by %s", missed, names(s.configs)))
	}
}
