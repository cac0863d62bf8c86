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
	var out nameList
	for _, groups := range scriptImport().FindAllStringSubmatch(lineEnds(body), -1) {
		name := withoutScriptEnding(strings.Join(groups[1:], ""))
		if len(name) > maxImport {
			continue
		}
		if last := len(groups) - 1; strings.HasPrefix(name, ".") || groups[last] != "" {
			out.add(filepath.Join(filepath.Dir(path), filepath.FromSlash(name)))
			continue
		}
		out.add(name)
		first, rest, deep := strings.Cut(name, "/")
		if deep {
			out.add(rest)
		}
		if _, within, deeper := strings.Cut(rest, "/"); deeper && len(first) > 1 && first[0] == '@' {
			out.add(within)
		}
	}
	return out.sorted()
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
	var out nameList
	body = strings.ReplaceAll(lineEnds(body), "\\\n", " ")
	for unclosed := false; !out.full(); {
		at := pythonImport().FindStringSubmatchIndex(body)
		if at == nil {
			break
		}
		rest := body[at[1]:]
		if modules := at[8]; modules >= 0 {
			out.addPackages(body[modules:at[9]])
		} else {
			list := body[at[6]:at[7]]
			if opened := at[4] < at[5]; opened && !unclosed { // a second one would be looked for to the end again
				list, rest, unclosed = pythonParentheses(body[at[5]:])
			}
			out.addMembers(path, strings.Join(strings.Fields(body[at[2]:at[3]]), ""), list)
		}
		body = rest
	}
	return out.sorted()
}

// pythonParentheses is the text up to what closes a parenthesis, and what is behind
// that. Where nothing does, it is the line's.
func pythonParentheses(body string) (list, rest string, unclosed bool) {
	comment := false
	for i := range len(body) {
		switch c := body[i]; {
		case c == '\n':
			comment = false
		case c == '#':
			comment = true
		case c == ')' && !comment:
			return body[:i], body[i+1:], false
		}
	}
	list, rest, _ = strings.Cut(body, "\n")
	return list, rest, true
}

// addPackages adds the modules of a list, and the packages that hold them.
func (l *nameList) addPackages(list string) {
	for _, module := range pythonList(list) {
		if len(module) > maxImport {
			continue
		}
		module = strings.ReplaceAll(module, ".", "/")
		for i, c := range module {
			if c == '/' {
				l.add(module[:i])
			}
		}
		l.add(module)
	}
}

// addMembers adds a module, and what a list has of it. Dots before it lead up from the
// file that imports.
func (l *nameList) addMembers(path, from, list string) {
	if len(from) > maxImport {
		return
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
	l.add(module)
	for _, name := range pythonList(list) {
		if l.full() {
			return
		}
		if above > 0 {
			l.add(filepath.Join(module, name))
		} else {
			l.add(module + "/" + name)
		}
	}
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

// cImports are the files that are included, without the way up to them, and those
// that a macro names, by which they may be included.
func cImports(_, body string) []string {
	var out nameList
	for _, groups := range cInclude().FindAllStringSubmatch(lineEnds(body), -1) {
		name := filepath.ToSlash(filepath.Clean(strings.ReplaceAll(groups[1], `\`, "/")))
		for strings.HasPrefix(name, "../") {
			name = name[3:]
		}
		out.add(strings.TrimLeft(name, "/"))
	}
	return out.sorted()
}

// The patterns are compiled when they are first needed, not when the program starts.
var (
	scriptImport = pattern(`\b(?:from|import|require|module)\s*\(?\s*(?:/\*[^*]{0,200}\*/\s*|//[^\n]{0,200}\n\s*)?(?:"([^"\n]+)"|'([^'\n]+)'|` + "`([^`\\n]+)`" + `)|<reference\s+path\s*=\s*["']([^"'\n]+)["']`)
	scriptExport = pattern(`\bexport\s*(?:type\s*)?(?:\*|\{[^}]*\}\s*from\b)`)
	scriptModule = pattern(`(?m)^\s*(?:import|export)\b`)

	// What is in parentheses is no part of it: where many are not closed, each match
	// would read on to the end.
	pythonImport  = pattern(`(?m)(?:^|[:;])[ \t\f]*(?:from\b[ \t]*(\.+[ \t]*|[.\pL\pM\pN_]+[ \t]+|\.+[ \t]+[.\pL\pM\pN_]+[ \t]+)import\b[ \t]*(\(?)([^\n(#;]*)|import[ \t]+([^\n#;]+))`)
	pythonStar    = pattern(`(?m)^from\b[^\n]*\bimport[ \t]*\*`)
	pythonComment = pattern(`#[^\n]*`)

	cInclude = pattern(`(?m)^[ \t]*#[ \t]*(?:include|include_next|import|define[ \t]+\w+)[ \t]*["<]([^">\n]+)[">]`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Bounds of what a file imports. A file is at most some megabyte, but what it names may
// be far more: each package of a long name, and each of many names of a long one.
const (
	maxImport  = 1 << 10 // bytes of a name
	maxImports = 1 << 22 // bytes of all together
)

// nameList are the names that a file imports.
type nameList struct {
	names []string
	size  int
}

func (l *nameList) full() bool { return l.size >= maxImports }

// add adds a name, but one that is too long for a file's.
func (l *nameList) add(name string) {
	if len(name) <= maxImport && !l.full() {
		l.names = append(l.names, strings.Clone(name)) // or it would hold the whole text
		l.size += len(name)
	}
}

// sorted are the names, each once.
func (l *nameList) sorted() []string {
	slices.Sort(l.names)
	return slices.Clip(slices.Compact(l.names))
}

// lineEnds has every line of a text end with a line feed.
func lineEnds(body string) string {
	if strings.Contains(body, "\r") {
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	}
	return body
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
