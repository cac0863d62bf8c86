package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// tree is what was found below one root. A folder that has not changed since is
// not read again.
type tree struct {
	root  string
	dirs  map[string]*folder
	count int
}

// folder is what one folder holds that matters.
type folder struct {
	changed time.Time // its time of change when it was read
	read    time.Time
	below   []string // names of its folders
	hits    []hit
}

// hit is a path that is protected or secret, by its last name.
type hit struct {
	name   string
	guard  Guard
	secret bool
	dir    bool
	link   bool
}

// Limits of a look at a root.
const (
	// maxFolders: what lies beyond is not looked at.
	maxFolders = 50_000
	// settled is how old a change must be that no later one could have the same
	// time.
	settled = 50 * time.Millisecond
)

// passed are folders of packages that come from elsewhere: what in them has the
// name of a secret or a protected file is theirs.
var passed = []string{"node_modules", "site-packages"}

// found is a hit by its path.
type found struct {
	hit
	path string
}

// scan looks for what is protected or secret below a root.
func (b *Box) scan(root string) []found {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.scans[root]
	if t == nil {
		t = &tree{root: root, dirs: map[string]*folder{}}
		b.scans[root] = t
	}
	t.count = 0
	seen := map[string]*folder{}
	var all []found
	t.walk(&b.o.Names, root, nil, seen, &all)
	t.dirs = seen
	return all
}

func (t *tree) walk(n *Names, dir string, at []string, seen map[string]*folder, all *[]found) {
	if t.count++; t.count > maxFolders {
		return
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	f := t.dirs[dir]
	if f == nil || !f.changed.Equal(info.ModTime()) || f.read.Sub(f.changed) < settled {
		f = readFolder(n, dir, at)
		f.changed = info.ModTime()
	}
	seen[dir] = f
	for _, h := range f.hits {
		*all = append(*all, found{h, filepath.Join(dir, h.name)})
	}
	for _, name := range f.below {
		t.walk(n, filepath.Join(dir, name), append(slices.Clip(at), name), seen, all)
	}
}

func readFolder(n *Names, dir string, at []string) *folder {
	f := &folder{read: time.Now()}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f
	}
	for _, e := range entries {
		name := e.Name()
		path := append(slices.Clip(at), name)
		h := hit{name: name, guard: n.Guard(path), secret: n.Secret(path), dir: e.IsDir(), link: e.Type()&fs.ModeSymlink != 0}
		inGit := slices.Contains(at, ".git")
		if h.guard > Open && !inGit || h.guard == Never || h.secret {
			f.hits = append(f.hits, h)
		}
		switch {
		case !e.IsDir() || slices.Contains(passed, name) || h.secret:
		case inGit && !slices.Contains(at, "modules") && name != "modules" && name != "worktrees": // objects hold nothing of the kind
		default:
			f.below = append(f.below, name)
		}
	}
	return f
}
