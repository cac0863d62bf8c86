package workspace

import (
	"context"
	"path/filepath"
	"time"
)

// Bounds of the search for what a wrong path may have meant.
const (
	maxNames   = 10_000
	searchTime = 150 * time.Millisecond
)

// Siblings lists the names beside a path, which need not exist itself: at most
// maxNames, in no order, and none where the path lies outside the roots or its
// folder cannot be read.
func (r *Roots) Siblings(p Path) []string {
	one, rel, inside := r.within(filepath.Dir(p.Target))
	if !inside {
		return nil
	}
	info, err := one.held.Lstat(rel)
	if err != nil || !info.IsDir() {
		return nil
	}
	dir, err := one.held.OpenFile(rel, nonblock, 0)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxNames) // what was read before an error will do
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Elsewhere lists the files below the working directory whose path matches,
// relative to it and with slashes: none where that takes too long. Ignore rules
// hold.
func (r *Roots) Elsewhere(ctx context.Context, match func(rel string) bool) []string {
	start, err := r.Resolve(r.Dir())
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	list, err := Walk(ctx, r, start, WalkOptions{Match: match})
	if err != nil {
		return nil
	}
	paths := make([]string, len(list.Files))
	for i, f := range list.Files {
		paths[i] = f.Path
	}
	return paths
}
