package permission

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// selection is what of the files below a folder a command takes, by its own words.
// What is not certain to be left out is taken.
type selection struct {
	dot   bool                   // it leaves out names that begin with a dot
	takes func(path string) bool // of a file; nil: all
	names func(path string) bool // whether its words name the file; nil: none
	depth int                    // of folders below the first; 0: all

	follows bool // links to files and folders, wherever they lead
}

func (sel selection) take(path string) bool { return sel.takes == nil || sel.takes(path) }

// matchesName compares as fnmatch does with no regard to slashes; a pattern that it
// does not understand matches.
func matchesName(pattern, name string) bool {
	if strings.ContainsAny(pattern, `[\{`) {
		return true
	}
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(p), `\?`, `.`)
	}
	re, err := regexp.Compile(`(?is)^` + strings.Join(parts, ".*") + `$`)
	return err != nil || re.MatchString(name)
}

// spelledOut reports whether one of the patterns names a file by how it begins.
func spelledOut(patterns []string, file string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "" || strings.ContainsAny(p[:1], "*?[!") {
			return false
		}
		if strings.Contains(p, "/") {
			return matchesName("*/"+strings.TrimPrefix(p, "/"), file)
		}
		return matchesName(p, path.Base(file))
	})
}

// grepTakes is what a recursive grep reads. A file that none of --include and
// --exclude matches is left out where the first of them is --include.
func grepTakes(u *usage) selection {
	var include, exclude []string
	first := ""
	for _, g := range u.given {
		switch g[0] {
		case "include":
			include = append(include, g[1])
		case "exclude":
			exclude = append(exclude, g[1])
		default:
			continue
		}
		if first == "" {
			first = g[0]
		}
	}
	matches := func(list []string, base string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.Contains(p, "/") || matchesName(p, base) })
	}
	literal := func(p string) bool { return !strings.ContainsAny(p, `[\{/`) }
	return selection{
		takes: func(file string) bool {
			base := filepath.Base(file)
			in := matches(include, base)
			out := slices.ContainsFunc(exclude, func(p string) bool { return literal(p) && matchesName(p, base) })
			return in || !out && first != "include"
		},
		names: func(file string) bool { return spelledOut(include, filepath.ToSlash(file)) },
	}
}

// typeNames are the files of some of rg's types.
var typeNames = map[string]string{
	"go": "*.go", "rust": "*.rs", "py": "*.py *.pyi", "python": "*.py *.pyi", "js": "*.js *.jsx *.mjs *.cjs *.vue", "ts": "*.ts *.tsx *.mts *.cts",
	"java": "*.java *.jsp *.jspx *.properties", "ruby": "*.rb *.gemspec *.rbw .irbrc Gemfile Rakefile config.ru", "c": "*.c *.h *.H *.cats *.[chH].in", "cpp": "*.C *.cc *.cpp *.cxx *.h *.hh *.hpp *.H *.inl *.in", "css": "*.css *.scss", "md": "*.md *.markdown *.mdown *.mdwn *.mdx *.mkd *.mkdn",
}

// rgTakes is what rg reads.
func rgTakes(u *usage) selection {
	var globs []string
	for _, g := range u.all("g", "glob", "iglob") {
		if !strings.HasPrefix(g, "!") {
			globs = append(globs, g)
		}
	}
	var types []string
	for _, t := range u.all("t", "type") {
		if typeNames[t] == "" {
			types = nil
			break
		}
		types = append(types, strings.Fields(typeNames[t])...)
	}
	any := func(list []string, base string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(p string) bool {
			return strings.Contains(p, "/") || slices.ContainsFunc(unbraced(p), func(p string) bool { return matchesName(p, base) })
		})
	}
	return selection{
		dot: !u.flags["hidden"] && !u.flags["."] && !u.flags["u"] && !u.flags["unrestricted"] && !u.flags["no-ignore"],
		takes: func(file string) bool {
			base := filepath.Base(file)
			return any(globs, base) && any(types, base)
		},
		names: func(file string) bool { return spelledOut(globs, filepath.ToSlash(file)) },
	}
}

// unbraced are the patterns that one with a single list in braces stands for.
func unbraced(pattern string) []string {
	head, rest, ok := strings.Cut(pattern, "{")
	list, tail, closed := strings.Cut(rest, "}")
	if !ok || !closed || strings.ContainsAny(tail, "{}") {
		return []string{pattern}
	}
	var out []string
	for one := range strings.SplitSeq(list, ",") {
		out = append(out, head+one+tail)
	}
	return out
}

// findTakes is which files find lists, and where it starts. Each list of tests between
// two -o has to leave a file out for certain; brackets do not matter to that.
func findTakes(args []string) (from []string, sel selection) {
	from = findStarts(args)
	alternatives := [][]findTest{nil}
	for i := 0; i < len(args); i++ {
		last := len(alternatives) - 1
		switch a := args[i]; a {
		case ",":
			return from, selection{}
		case "!", "-not":
			if i++; i < len(args) && (args[i] == "(" || args[i] == "!" || args[i] == "-not") {
				return from, selection{}
			}
			if i < len(args) && findValued[args[i]] {
				i++
			}
		case "-maxdepth":
			if i+1 < len(args) {
				sel.depth, _ = strconv.Atoi(args[i+1])
			}
		case "-o", "-or":
			alternatives = append(alternatives, nil)
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-type":
			if i++; i < len(args) {
				alternatives[last] = append(alternatives[last], findTest{a, args[i]})
			}
		}
	}
	sel.takes = func(file string) bool {
		for _, tests := range alternatives {
			if !slices.ContainsFunc(tests, func(t findTest) bool { return !t.passes(file) }) {
				return true
			}
		}
		return false
	}
	return from, sel
}

// findTest is a test of find's that a file has to pass.
type findTest struct{ flag, value string }

// passes reports whether a file may pass. A path is compared by its end, as where it
// starts is written in many ways.
func (t findTest) passes(file string) bool {
	file = filepath.ToSlash(file)
	switch t.flag {
	case "-type":
		return t.value != "d"
	case "-name", "-iname":
		return matchesName(t.value, path.Base(file))
	}
	return matchesName("*"+strings.TrimPrefix(t.value, "."), file)
}

// fdTakes is which files fd lists, and where it starts.
func fdTakes(u *usage) (from []string, sel selection) {
	if len(u.operands) > 1 {
		from = u.operands[1:]
	}
	sel.dot = !u.flags["H"] && !u.flags["hidden"] && !u.flags["u"] && !u.flags["unrestricted"]
	extensions := u.all("e", "extension")
	var pattern *regexp.Regexp
	if len(u.operands) > 0 && !u.flags["g"] && !u.flags["glob"] && !u.flags["F"] && !u.flags["fixed-strings"] && !u.flags["p"] && !u.flags["full-path"] {
		pattern, _ = regexp.Compile("(?i)" + u.operands[0])
	}
	sel.takes = func(file string) bool {
		base := filepath.Base(file)
		return (pattern == nil || pattern.MatchString(base)) && (len(extensions) == 0 || slices.ContainsFunc(extensions, func(e string) bool {
			return matchesName("*."+strings.TrimPrefix(e, "."), base)
		}))
	}
	return from, sel
}

// gitTakes is which files a git that lists files lists: those that the index names,
// or where untracked ones are wanted, all.
func (s *shell) gitTakes(args []string) selection {
	index, read := gitIndex(filepath.Join(s.Roots.Dir(), ".git", "index"))
	others := slices.ContainsFunc(args, func(a string) bool {
		return a == "--others" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "o")
	})
	unknown := !read || partial(index)
	var paths []string
	for i, a := range args {
		if i > 0 && !strings.HasPrefix(a, "-") {
			paths = append(paths, a)
		}
	}
	return selection{takes: func(file string) bool {
		base, rel := filepath.Base(file), filepath.ToSlash(s.Roots.Name(file))
		if !others && !unknown && !bytes.Contains(index, append([]byte(base), 0)) {
			return false
		}
		return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(p, ":") || args[0] == "diff" || matchesName(p, base) || matchesName("*"+p+"*", rel)
		})
	}}
}

// maxIndex is how large an index of git is looked into, in bytes.
const maxIndex = 64 << 20

// gitIndex is the content of an index. Not read: it is there, and cannot be looked
// into; something else in its place, such as a pipe, is never waited for.
func gitIndex(path string) (data []byte, read bool) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true // nothing is tracked
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, false
	}
	data, err = os.ReadFile(path)
	return data, err == nil
}

// partial reports whether an index does not name all that is tracked: version 4 cuts
// names short, a split index leaves most of them to a second file, and a sparse one
// has folders in their place.
func partial(index []byte) bool {
	return len(index) > 7 && index[7] == 4 ||
		bytes.Contains(index, []byte("\x00link\x00")) || bytes.Contains(index, []byte("sdir\x00\x00\x00\x00"))
}
