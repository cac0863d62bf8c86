package lsp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// importing is how files of a language use each other. Servers that judge open
// documents alone are shown those that use what changes: nobody else would tell that
// they break.
type importing struct {
	names   func(path string) []string       // by which others import a file
	imports func(path, body string) []string // the names that a file imports
}

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
	by    map[string][]string // paths, by a name that they import
}

// importer is what a file imported when it was looked at.
type importer struct {
	stamp   Stamp
	imports []string
}

// showImporters shows the server those that import files that are to change, and
// notes which were shown, and how many were not.
func (v *View) showImporters(ctx context.Context, s *side) {
	how := s.run.server.spec.importing
	if how == nil {
		return
	}
	looking, cancel := context.WithTimeout(ctx, v.wait()/4)
	found, direct := s.run.importersOf(looking, how, s.paths)
	cancel()
	limit := maxImporters
	if v.opts.Unsaved {
		limit = maxDistant
	}
	s.importers, s.unshown = direct, max(direct-limit, 0)
	shown := min(len(found), max(min(direct, limit), maxDistant))
	for _, path := range slices.Backward(found[:shown]) { // the nearest is closed last
		if _, err := v.show(ctx, s.run, path); err == nil {
			s.shown = append(s.shown, path)
		}
	}
}

// partly is why the verdict on a change is not one on all files that import what
// changed; empty: it is.
func (s *side) partly() string {
	if s.unshown == 0 {
		return ""
	}
	return fmt.Sprintf("%s judges only files that it is shown, and was not shown %d of the %d that import %s", s.server.spec.Name, s.unshown, s.importers, names(s.paths))
}

// importersOf are the files that import the ones given, nearest first, and then those
// that import these; direct is how many the first are. Both are what was found until
// ctx was done.
func (r *run) importersOf(ctx context.Context, how *importing, paths []string) (found []string, direct int) {
	x := &r.importers
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read(ctx, how, r)
	met := map[string]bool{}
	for _, path := range paths {
		met[path] = true
	}
	for next := paths; len(next) > 0 && len(found) < maxDistant; {
		level := next
		next = nil
		for _, path := range level {
			for _, name := range how.names(path) {
				for _, other := range x.by[name] {
					if !met[other] {
						met[other], next = true, append(next, other)
					}
				}
			}
		}
		slices.SortFunc(next, func(a, b string) int {
			return cmp.Or(cmp.Compare(nearness(b, paths), nearness(a, paths)), strings.Compare(a, b))
		})
		if found == nil {
			direct = len(next)
		}
		found = append(found, next...)
	}
	return found, direct
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
		x.mu.Lock()
		defer x.mu.Unlock()
		x.read(ctx, how, r)
	}
}

// read looks at the files that are new or have changed.
func (x *importers) read(ctx context.Context, how *importing, r *run) {
	if x.files == nil {
		x.files, x.by = map[string]importer{}, map[string][]string{}
	}
	for path, stamp := range x.changed(&r.disk) {
		if ctx.Err() != nil {
			return
		}
		next := importer{stamp: stamp}
		if _, ok := r.server.spec.language(path); ok && within(r.server.root, path) {
			body, _ := beginning(path) // what cannot be read imports nothing
			next.imports = how.imports(path, body)
		}
		x.put(path, next)
	}
}

// changed are the files that are not as they were when they were looked at. What is
// no more imports nothing.
func (x *importers) changed(d *disk) map[string]Stamp {
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
				x.put(path, importer{})
				delete(x.files, path)
			}
		}
	}
	return out
}

// put replaces what a file imports.
func (x *importers) put(path string, next importer) {
	for _, name := range x.files[path].imports {
		x.by[name] = slices.DeleteFunc(x.by[name], func(other string) bool { return other == path })
		if len(x.by[name]) == 0 {
			delete(x.by, name)
		}
	}
	x.files[path] = next
	for _, name := range next.imports {
		x.by[name] = append(x.by[name], path)
	}
}

// beginning is the text of a file, as far as it is looked at.
func beginning(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", cmp.Or(err, os.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxImporter))
	return string(data), err
}

var (
	// scriptImporting is that of TypeScript and JavaScript: a path from the file that
	// imports, or a name that ends like the path.
	scriptImporting = &importing{
		names: func(path string) []string {
			whole := withoutScriptEnding(path)
			dir, last := filepath.Split(whole)
			if dir = filepath.Clean(dir); last == "index" {
				return []string{whole, dir, filepath.Base(dir)}
			}
			return []string{whole, last}
		},
		imports: func(path, body string) []string {
			return each(scriptImport, body, func(groups []string) []string {
				name := withoutScriptEnding(groups[1])
				if strings.HasPrefix(name, ".") {
					return []string{filepath.Join(filepath.Dir(path), filepath.FromSlash(name))}
				}
				return []string{name[strings.LastIndexByte(name, '/')+1:]}
			})
		},
	}
	// pythonImporting takes all words of an import: each may be a module.
	pythonImporting = &importing{
		names: func(path string) []string {
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			if name == "__init__" {
				name = filepath.Base(filepath.Dir(path))
			}
			return []string{name}
		},
		imports: func(_, body string) []string {
			return each(pythonImport, body, func(groups []string) []string {
				return strings.FieldsFunc(groups[0], func(r rune) bool { return !inWord(r) })
			})
		},
	}
	// cImporting goes by the names of included files alone: where they are looked for
	// is the compiler's matter.
	cImporting = &importing{
		names: func(path string) []string { return []string{filepath.Base(path)} },
		imports: func(_, body string) []string {
			return each(cInclude, body, func(groups []string) []string {
				return []string{groups[1][strings.LastIndexAny(groups[1], `/\`)+1:]}
			})
		},
	}
)

// The patterns are compiled when they are first needed, not when the program starts.
var (
	scriptImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:from|import|require)\s*\(?\s*["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]`)
	})
	pythonImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import[ \t]*(?:\([^)]*\)|[^\n(]*)|import[ \t]+[^\n]+)`)
	})
	cInclude = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*["<]([^">\n]+)[">]`)
	})
)

// each are the names that a pattern's matches in a text give, each once.
func each(pattern func() *regexp.Regexp, body string, names func(groups []string) []string) []string {
	var out []string
	for _, groups := range pattern().FindAllStringSubmatch(body, -1) {
		for _, name := range names(groups) {
			out = append(out, strings.Clone(name)) // or it would hold the whole text
		}
	}
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// scriptEndings are those of TypeScript's and JavaScript's files; longer ones first.
var scriptEndings = []string{".d.ts", ".d.mts", ".d.cts", ".tsx", ".mts", ".cts", ".jsx", ".mjs", ".cjs", ".ts", ".js"}

func withoutScriptEnding(path string) string {
	for _, ending := range scriptEndings {
		if name, ok := strings.CutSuffix(path, ending); ok {
			return name
		}
	}
	return path
}
