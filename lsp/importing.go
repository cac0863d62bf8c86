package lsp

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// importing is how files of a language use each other. Servers that judge open
// documents alone are shown those that use what changes: nobody else would tell that
// they break.
//
// Names are whole paths where a file is imported by its place, and else the ends of
// paths, since where the compiler looks for them is its own matter.
type importing struct {
	names   func(path string) []string       // by which others import a file
	imports func(path, body string) []string // the names that a file imports, sorted
	passes  func(path, body string) bool     // who imports the file gets what it imports
	global  func(path, body string) bool     // others use the file without importing it; nil: never
	aliases func(path, body string) []alias  // what a file of settings calls files; nil: there are none
}

var (
	scriptImporting = &importing{scriptNames, scriptImports, scriptPasses, scriptGlobal, scriptAliases}
	pythonImporting = &importing{pythonNames, pythonImports, pythonPasses, nil, nil}
	// cImporting: a header is text of what includes it, so that all pass it on.
	cImporting = &importing{ends, cImports, func(_, _ string) bool { return true }, nil, nil}
)

// ends are the ends of a path: base.h, acme/base.h, include/acme/base.h.
func ends(path string) []string {
	path = filepath.ToSlash(path)
	var out []string
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			out = append(out, path[i+1:])
		}
	}
	return out
}

// scriptSources are folders that no name by which a package is imported tells of.
var scriptSources = []string{"src", "source", "lib"}

// scriptNames are those of a module of TypeScript or JavaScript: its path, and the
// ends of it. Of a folder's index it is the folder, too, and the one that this is the
// sources of.
func scriptNames(path string) []string {
	whole := withoutScriptEnding(path)
	out := append(ends(whole), whole)
	if filepath.Base(whole) != "index" {
		return out
	}
	dir := filepath.Dir(whole)
	out = append(append(out, ends(dir)...), dir)
	if slices.Contains(scriptSources, filepath.Base(dir)) {
		out = append(out, ends(filepath.Dir(dir))...)
	}
	return out
}

// scriptImports are paths from the file that imports, or ends of paths: a name that
// begins with no dot begins with an alias, with a package, which a scope is before, or
// with a folder.
func scriptImports(path, body string) []string {
	return each(scriptImport, body, func(groups []string) []string {
		name := withoutScriptEnding(groups[1] + groups[2])
		if strings.HasPrefix(name, ".") || groups[2] != "" {
			return []string{filepath.Join(filepath.Dir(path), filepath.FromSlash(name))}
		}
		out := []string{name}
		first, rest, deep := strings.Cut(name, "/")
		if deep {
			out = append(out, rest)
		}
		if _, within, deeper := strings.Cut(rest, "/"); deeper && len(first) > 1 && first[0] == '@' {
			out = append(out, within)
		}
		return out
	})
}

func scriptPasses(path, body string) bool {
	return filepath.Base(withoutScriptEnding(path)) == "index" || scriptExport().MatchString(body)
}

// scriptGlobal reports whether a file's declarations hold for all files.
func scriptGlobal(path, body string) bool {
	if strings.Contains(body, "declare global") {
		return true
	}
	declares := slices.ContainsFunc([]string{".d.ts", ".d.mts", ".d.cts"}, func(ending string) bool { return strings.HasSuffix(path, ending) })
	return declares && body != "" && !scriptModule().MatchString(body)
}

// pythonNames are those of a module: its path, and the ends of it. A package's own
// module has the package's.
func pythonNames(path string) []string {
	dir, name := filepath.Split(path)
	name, _, _ = strings.Cut(name, ".")
	whole := filepath.Join(dir, name)
	if name == "__init__" {
		whole = filepath.Clean(dir)
	}
	return append(ends(whole), whole)
}

// pythonImports are the modules of an import, the packages that hold them, and what
// is imported from them, which may be modules, too.
func pythonImports(path, body string) []string {
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\\\n", " ")
	return each(pythonImport, body, func(groups []string) []string {
		from, list := groups[1], groups[2]+groups[3]
		if from == "" {
			var out []string
			for _, module := range pythonList(list) {
				module = strings.ReplaceAll(module, ".", "/")
				for i, c := range module {
					if c == '/' {
						out = append(out, module[:i])
					}
				}
				out = append(out, module)
			}
			return out
		}
		module := strings.TrimLeft(from, ".")
		above := len(from) - len(module)
		module = strings.ReplaceAll(module, ".", "/")
		if above > 0 {
			dir := filepath.Dir(path)
			for range above - 1 {
				dir = filepath.Dir(dir)
			}
			module = filepath.Join(dir, filepath.FromSlash(module))
		}
		out := []string{module}
		for _, name := range pythonList(list) {
			if above > 0 {
				name = filepath.Join(module, name)
			} else {
				name = module + "/" + name
			}
			out = append(out, name)
		}
		return out
	})
}

// pythonList are the names of an import's list, without those that they get.
func pythonList(list string) []string {
	var out []string
	for _, one := range strings.Split(pythonComment().ReplaceAllString(list, ""), ",") {
		if words := strings.Fields(strings.Trim(one, "() \t\n")); len(words) > 0 && words[0] != "*" {
			out = append(out, words[0])
		}
	}
	return out
}

func pythonPasses(path, body string) bool {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name == "__init__" || pythonStar().MatchString(body)
}

// cImports are the files that are included, without the way up to them.
func cImports(_, body string) []string {
	return each(cInclude, body, func(groups []string) []string {
		name := filepath.ToSlash(filepath.Clean(strings.ReplaceAll(groups[1], `\`, "/")))
		for strings.HasPrefix(name, "../") {
			name = name[3:]
		}
		return []string{strings.TrimLeft(name, "/")}
	})
}

// The patterns are compiled when they are first needed, not when the program starts.
var (
	scriptImport = pattern(`\b(?:from|import|require|module)\s*\(?\s*["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]|<reference\s+path\s*=\s*["']([^"'\n]+)["']`)
	scriptExport = pattern(`\bexport\s*(?:type\s*)?(?:\*|\{[^}]*\}\s*from\b)`)
	scriptModule = pattern(`(?m)^\s*(?:import|export)\b`)

	pythonImport  = pattern(`(?m)(?:^|[:;])[ \t]*(?:from\b[ \t]*([.\pL\pN_]+)[ \t]+import\b[ \t]*(\((?:[^)#]|#[^\n]*)*\)|[^\n(#;]*)|import[ \t]+([^\n#;]+))`)
	pythonStar    = pattern(`(?m)^from\b[^\n]*\bimport[ \t]*\*`)
	pythonComment = pattern(`#[^\n]*`)

	cInclude = pattern(`(?m)^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*["<]([^">\n]+)[">]`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

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
