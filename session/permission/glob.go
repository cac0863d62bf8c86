package permission

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// maxGlob bounds the names looked at, and found, for one pattern.
const maxGlob = 2000

// plainSet is a set of characters in brackets that is understood: characters, and
// ranges of letters of one case or of digits, and no classes or negations.
var plainSet = lazy(`\[([a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9_])+\]`)

// plainRange is such a range. Some locales have other letters in it too.
var plainRange = lazy(`([a-z])-([a-z])|([A-Z])-([A-Z])|[0-9]-[0-9]`)

// widened is a pattern that has all that some locale has in the ranges of one: the
// letters of the other case. Names of other letters than ASCII's are not looked at.
func widened(pattern string) string {
	return plainSet().ReplaceAllStringFunc(pattern, func(set string) string {
		return plainRange().ReplaceAllStringFunc(set, func(r string) string { return strings.ToLower(r) + strings.ToUpper(r) })
	})
}

// expand replaces a pattern of file names by the names that it stands for now,
// as bash does in the folder that the command runs in. Each is judged: one that
// lies outside, looks like a flag, or is protected or secret is a question
// (policy section 3, "Globs"). What cannot be expanded stays as it is.
func (s *shell) expand(w word, at dirs) []word {
	if !w.glob || w.dynamic || w.odd != "" {
		return []word{w}
	}
	if s.Roots == nil || len(at) != 1 || strings.Contains(plainSet().ReplaceAllString(strings.ReplaceAll(w.pattern, `\[`, ""), ""), "[") {
		s.floor("the names that " + visible(w.text) + " stands for are not known")
		return []word{w}
	}
	g := globber{left: maxGlob}
	names, ok := g.names(at[0], w.pattern)
	if ok && plainRange().MatchString(w.pattern) {
		var all []string
		if all, ok = g.names(at[0], widened(w.pattern)); ok && (!slices.Equal(names, all) || g.foreign) {
			s.floor("which names " + visible(w.text) + " stands for depends on the language that is set")
			return []word{w}
		}
	}
	if !ok {
		s.floor("the names that " + visible(w.text) + " stands for are too many")
		return []word{w}
	}
	if len(names) == 0 {
		return []word{{text: w.text, named: true}}
	}
	out := make([]word, len(names))
	for i, n := range names {
		out[i] = word{text: n, named: true}
		s.globbed(n, at[0])
	}
	return out
}

// globbed judges one name that a pattern stands for.
func (s *shell) globbed(name, dir string) {
	if strings.HasPrefix(name, "-") {
		s.floor("the file name " + visible(name) + " looks like a flag")
	}
	p, err := s.resolve(name, dir)
	if err != nil {
		s.floor("the path " + visible(name) + " cannot be resolved")
		return
	}
	s.commandAccess(kinds.List, p)
	names := append(s.names(p.Asked), s.names(p.Target)...)
	_, hides := secret(names)
	if p, _ := protected(names); hides || p != open {
		s.beyondSandbox("a pattern stands for " + visible(name) + ", which is protected or usually holds secrets")
	}
}

// globber finds names, and stops where they are too many.
type globber struct {
	left    int
	foreign bool // it met names with other letters than ASCII's
}

// names are the paths that a pattern stands for, as bash would write them.
func (g *globber) names(dir, pattern string) ([]string, bool) {
	parts := strings.Split(pattern, "/")
	found := []string{""}
	if strings.HasPrefix(pattern, "/") {
		dir, found, parts = "/", []string{"/"}, parts[1:]
	}
	for i, part := range parts {
		var next []string
		for _, at := range found {
			names, ok := g.step(dir, at, part, i == len(parts)-1)
			if !ok {
				return nil, false
			}
			next = append(next, names...)
		}
		found = next
	}
	return found, true
}

// step continues a path that was found by one name of the pattern.
func (g *globber) step(dir, at, part string, last bool) ([]string, bool) {
	end := "/"
	if last {
		end = ""
	}
	here := filepath.Join(dir, filepath.FromSlash(at))
	if filepath.IsAbs(at) {
		here = filepath.FromSlash(at)
	}
	if !strings.ContainsAny(part, "*?[") || part == "" {
		name := unescapeGlob(part)
		if g.left--; g.left < 0 {
			return nil, false
		}
		if _, err := os.Lstat(filepath.Join(here, name)); err != nil {
			return nil, true
		}
		return []string{at + name + end}, true
	}
	entries, err := os.ReadDir(here)
	if err != nil {
		return nil, true
	}
	if g.left -= len(entries); g.left < 0 {
		return nil, false
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(part, ".") {
			continue
		}
		if !last && e.Type()&(fs.ModeDir|fs.ModeSymlink) == 0 {
			continue
		}
		g.foreign = g.foreign || !isASCII(e.Name())
		if ok, err := filepath.Match(part, e.Name()); ok && err == nil {
			out = append(out, at+e.Name()+end)
		}
	}
	return out, true
}

func unescapeGlob(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
