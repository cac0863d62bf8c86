package permission

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// pathPattern is the pattern of a rule for paths, as in .gitignore: without a
// slash it matches a name at any depth, with one it begins at the workspace,
// with a leading "/" or "~/" it is absolute. What it matches is covered with all
// that lies below.
type pathPattern struct {
	home  bool // from the user's home
	abs   bool
	depth bool // at any depth
	parts []string
	weight
}

// parsePath reads a pattern, or says what is wrong with it.
func parsePath(pattern string) (*pathPattern, error) {
	if strings.HasPrefix(pattern, "!") {
		return nil, errors.New("a pattern cannot be an exception: write a more specific rule of another action")
	}
	if strings.ContainsRune(pattern, 0) {
		return nil, errors.New("the pattern has a NUL character in it")
	}
	p := &pathPattern{}
	rest := pattern
	switch {
	case strings.HasPrefix(rest, "~/"):
		p.home, rest = true, rest[2:]
	case strings.HasPrefix(rest, "/"):
		p.abs, rest = true, rest[1:]
	default:
		rest = strings.TrimPrefix(rest, "./")
		p.depth = !strings.Contains(strings.TrimSuffix(rest, "/"), "/")
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == "" {
			continue
		}
		if part == "." || part == ".." {
			return nil, fmt.Errorf("%q has dots in it: write the path from the workspace", pattern)
		}
		if _, err := path.Match(part, ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
		p.parts = append(p.parts, part)
	}
	if len(p.parts) == 0 {
		return nil, errors.New("the pattern names no file")
	}
	p.weigh()
	return p, nil
}

func (p *pathPattern) weigh() {
	p.exact = true
	for _, part := range p.parts {
		if isGlob(part) {
			p.exact = false
			part = strings.NewReplacer("*", "", "?", "").Replace(part)
		} else {
			p.words++
		}
		p.chars += len(part)
	}
	if p.home || p.abs {
		p.words++
	}
}

func isGlob(part string) bool { return strings.ContainsAny(part, `*?[\`) }

// place is a path in the forms that patterns are compared with, with slashes.
type place struct {
	abs    string // absolute
	rel    string // from the workspace; empty: not below it
	inHome string // from the home; empty: not below it
}

// matches reports whether the pattern covers the place.
func (p *pathPattern) matches(at place, fold bool) bool {
	from := at.rel
	switch {
	case p.home:
		from = at.inHome
	case p.abs, p.depth && from == "":
		from = strings.TrimPrefix(at.abs, "/")
	}
	if from == "" {
		return false
	}
	names := strings.Split(from, "/")
	if !p.depth {
		return matchParts(p.parts, names, fold)
	}
	for _, name := range names {
		if matchName(p.parts[0], name, fold) {
			return true
		}
	}
	return false
}

// matchParts compares names from the top; two stars stand for any number of
// names. Names beyond the pattern lie below what it matches.
func matchParts(parts, names []string, fold bool) bool {
	for i, part := range parts {
		if part == "**" {
			if i == len(parts)-1 {
				return len(names) > i // all below, not the folder itself
			}
			for skip := i; skip < len(names); skip++ {
				if matchParts(parts[i+1:], names[skip:], fold) {
					return true
				}
			}
			return false
		}
		if i >= len(names) || !matchName(part, names[i], fold) {
			return false
		}
	}
	return true
}

func matchName(part, name string, fold bool) bool {
	if fold {
		part, name = strings.ToLower(part), strings.ToLower(name)
	}
	ok, err := path.Match(part, name)
	return ok && err == nil
}

// literally reports whether the pattern writes the name out.
func (p *pathPattern) literally(name string) bool {
	for _, part := range p.parts {
		if !isGlob(part) && foldName(part) == name {
			return true
		}
	}
	return false
}
