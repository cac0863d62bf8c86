package lsp

import (
	"context"
	"slices"
)

// maxOverlooked is how many files are kept of those that changed while a server was not
// ready.
const maxOverlooked = 32

// overlook notes files that changed while a server was not ready. What is wrong in them
// is told with the next change that it judges: nobody knows what they had before.
func (v *View) overlook(s *side, changed []string) {
	if s.beyond {
		return // its own server tells of it
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	list := append(v.overlooked[s.server], s.overlooked...)
	for _, path := range changed {
		if slices.Contains(s.paths, path) {
			list = append(list, path)
		}
	}
	list = unique(list, func(path string) string { return path })
	v.overlooked[s.server] = list[max(len(list)-maxOverlooked, 0):]
}

// showOverlooked lets a server that is ready have the files that changed while it was
// not, and those that import them where it judges only what it has.
func (v *View) showOverlooked(ctx context.Context, s *side) {
	v.mu.Lock()
	paths := v.overlooked[s.server]
	delete(v.overlooked, s.server)
	if was := v.unjudged[s.server]; was != nil && was.run != s.run { // what was known before is gone with its process
		paths = unique(append(paths, was.owed...), func(path string) string { return path })
	}
	v.mu.Unlock()
	if how := s.run.server.spec.importing; how != nil && len(paths) > 0 {
		looking, cancel := context.WithTimeout(ctx, v.wait()/4)
		found, direct := s.run.importersOf(looking, how, paths)
		cancel()
		paths = append(paths, found[:min(direct, maxDistant)]...)
	}
	for _, path := range paths {
		if slices.Contains(s.paths, path) {
			s.overlooked = append(s.overlooked, path)
		} else if _, err := v.show(ctx, s.run, path); err == nil {
			s.overlooked = append(s.overlooked, path)
		}
	}
}

// overlooked adds what is wrong now in the files that changed while the server was not
// ready, or that this may have broken, and leaves to the next change those on which there
// is no verdict.
func (c *comparison) overlooked(now map[string]verdict) {
	if len(c.side.overlooked) == 0 {
		return
	}
	paths := c.side.overlooked
	if spec := c.run.server.spec; spec.importing == nil && !spec.OpenOnly { // it judges the project
		paths = append(paths, sortedKeys(now)...)
	}
	var rest []string
	for _, path := range paths {
		is, known := now[path]
		asked := slices.Contains(c.side.overlooked, path) && c.now[path] == nil
		_, inside := c.view.find.folder(path)
		switch {
		case c.gone[path], !inside, !known && !asked:
		case !known, c.late[path], c.left[path], asked && !c.side.judged[path]:
			rest = append(rest, path)
		default:
			c.held.present = place(c.held.present, path, false, grave(is.items()))
		}
	}
	if c.side.overlooked = rest; len(rest) > 0 {
		c.view.overlook(c.side, nil)
	}
}
