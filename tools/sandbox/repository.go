package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// repositories are the folders in which git keeps the repository of a root that
// does not hold it: a root may be a folder of a repository, or one of its further
// working trees, which a file at pointer tells. Links are resolved.
func repositories(root string) (dirs []string, pointer string) {
	for dir := root; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err != nil && dir == filepath.Dir(dir):
			return nil, ""
		case err != nil:
			continue
		case info.IsDir() && dir == root:
			return nil, ""
		case info.IsDir():
			return onlyRepositories(at), ""
		}
		own := pointedAt(at, "gitdir: ", dir)
		if own == "" {
			return nil, ""
		}
		return onlyRepositories(own, pointedAt(filepath.Join(own, "commondir"), "", own)), at
	}
}

// pointedAt is the path that a file of one line holds behind a word; empty: none.
func pointedAt(file, word, dir string) string {
	info, err := os.Lstat(file) // a pipe in its place would be waited for
	if err != nil || !info.Mode().IsRegular() || info.Size() > 8<<10 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\n"), word)
	if !ok || path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

// onlyRepositories are those of the folders that look as git makes them.
func onlyRepositories(dirs ...string) []string {
	var found []string
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if dir == "" || err != nil || !exists(filepath.Join(real, "HEAD")) {
			continue
		}
		if exists(filepath.Join(real, "objects")) && exists(filepath.Join(real, "refs")) || exists(filepath.Join(real, "commondir")) {
			found = append(found, real)
		}
	}
	return found
}
