package workspace

import (
	"bytes"
	"strings"
)

// pattern is a compiled wildcard of an ignore file, as git defines it: "*" and
// "?" stay within one name, a name of two or more stars stands for any number of
// folders, brackets hold sets, a backslash takes the next byte as it is. It
// works on bytes.
//
// The literal bytes before the first wildcard are compared first, and what is
// left of pattern and path is taken as if each began there. That is git's
// reading, and it shows: `a**/b` matches "ab" and "ac/d/b".
type pattern struct {
	prefix string
	names  []nameGlob // what follows the prefix, by slashes; nil: nothing
	never  bool       // malformed: matches nothing
}

// nameGlob matches one name of a path.
type nameGlob struct {
	tokens  []token
	anyPath bool   // two stars or more: any number of names
	literal string // where there is no wildcard
	plain   bool   // literal holds
}

// token matches one byte, or with star any number of them.
type token struct {
	kind tokenKind
	lit  byte
	set  *byteSet
}

type tokenKind uint8

const (
	tokenByte tokenKind = iota
	tokenAny
	tokenStar
	tokenSet
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *byteSet) addRange(from, to byte) {
	for b := int(from); b <= int(to); b++ {
		s.add(byte(b))
	}
}

const wildcards = `*?[\`

// compilePattern compiles a wildcard that is matched against a whole path.
func compilePattern(text string) *pattern {
	p := &pattern{}
	i := strings.IndexAny(text, wildcards)
	if i < 0 {
		p.prefix = text
		return p
	}
	p.prefix = text[:i]
	p.compileNames(text[i:])
	return p
}

// compileName compiles a wildcard that is matched against a base name.
func compileName(text string) *pattern {
	p := &pattern{}
	p.compileNames(text)
	return p
}

func (p *pattern) compileNames(text string) {
	var tokens []token
	var stars, others int
	flush := func() {
		name := nameGlob{tokens: tokens, anyPath: stars > 1 && others == 0}
		name.literal, name.plain = literalOf(tokens)
		p.names = append(p.names, name)
		tokens, stars, others = nil, 0, 0
	}
	for i := 0; i < len(text); {
		c := text[i]
		i++
		switch c {
		case '/':
			flush()
			continue
		case '*':
			stars++
			if n := len(tokens); n == 0 || tokens[n-1].kind != tokenStar {
				tokens = append(tokens, token{kind: tokenStar})
			}
			continue
		case '?':
			tokens = append(tokens, token{kind: tokenAny})
		case '[':
			set, n := compileSet(text[i:])
			if set == nil {
				p.never = true
				return
			}
			i += n
			tokens = append(tokens, token{kind: tokenSet, set: set})
		case '\\':
			if i == len(text) {
				p.never = true
				return
			}
			if text[i] == '/' {
				continue // an escaped slash is a slash
			}
			tokens = append(tokens, token{lit: text[i]})
			i++
		default:
			tokens = append(tokens, token{lit: c})
		}
		others++
	}
	flush()
}

func literalOf(tokens []token) (string, bool) {
	lit := make([]byte, 0, len(tokens))
	for _, t := range tokens {
		if t.kind != tokenByte {
			return "", false
		}
		lit = append(lit, t.lit)
	}
	return string(lit), true
}

// compileSet reads a bracket expression behind its "[" and returns the set and
// the bytes read; nil where it is malformed.
func compileSet(text string) (*byteSet, int) {
	set, i := &byteSet{}, 0
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	var last byte // what a range may begin with; 0: nothing
	for first := true; ; first = false {
		if i >= len(text) {
			return nil, 0
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			if negated {
				for k := range set {
					set[k] = ^set[k]
				}
			}
			return set, i + 1
		case c == '-' && last != 0 && i+1 < len(text) && text[i+1] != ']':
			i++
			if text[i] == '\\' {
				if i++; i >= len(text) {
					return nil, 0
				}
			}
			set.addRange(last, text[i])
			last = 0
			i++
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			n, ok := addClass(set, text[i:])
			if !ok {
				return nil, 0
			}
			if n == 0 { // no class after all
				set.add(c)
				last = c
				i++
				continue
			}
			last = 0
			i += n
		default:
			if c == '\\' {
				if i++; i >= len(text) {
					return nil, 0
				}
				c = text[i]
			}
			set.add(c)
			last = c
			i++
		}
	}
}

// addClass adds a POSIX class such as "[:alpha:]" that text begins with and
// returns its length: 0 where it is not closed by ":]"; not ok where it is
// unknown or nothing closes it.
func addClass(set *byteSet, text string) (int, bool) {
	end := strings.IndexByte(text[2:], ']')
	if end < 0 {
		return 0, false
	}
	name, ok := strings.CutSuffix(text[2:2+end], ":")
	if !ok {
		return 0, true
	}
	member := classes[name]
	if member == nil {
		return 0, false
	}
	for b := byte(0); b < 0x80; b++ {
		if member(b) {
			set.add(b)
		}
	}
	return 2 + end + 1, true
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isAlpha(b byte) bool { return isUpper(b) || isLower(b) }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isGraph(b byte) bool { return '!' <= b && b <= '~' }

// classes are the POSIX classes in the C locale, for ASCII.
var classes = map[string]func(byte) bool{
	"alnum":  func(b byte) bool { return isAlpha(b) || isDigit(b) },
	"alpha":  isAlpha,
	"blank":  func(b byte) bool { return b == ' ' || b == '\t' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  isLower,
	"print":  func(b byte) bool { return b == ' ' || isGraph(b) },
	"punct":  func(b byte) bool { return isGraph(b) && !isAlpha(b) && !isDigit(b) },
	"space":  func(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' },
	"upper":  isUpper,
	"xdigit": func(b byte) bool { return isDigit(b) || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F' },
}

// match reports whether the pattern matches the whole of a path with slashes.
// The time is bounded by the product of the lengths.
func (p *pattern) match(path string) bool {
	if p.never || !strings.HasPrefix(path, p.prefix) {
		return false
	}
	path = path[len(p.prefix):]
	if p.names == nil {
		return path == ""
	}
	return matchNames(p.names, path)
}

// matchNames matches name by name. Where it fails behind an anyPath, that one
// takes a name more: only the last one need be tried again, as with stars in
// a name.
func matchNames(globs []nameGlob, path string) bool {
	rest, more := path, true // more: rest is there, if only an empty name
	i, retry := 0, -1
	var retryRest string
	for {
		switch {
		case i < len(globs) && globs[i].anyPath:
			if i == len(globs)-1 {
				return more
			}
			i++
			retry, retryRest = i, rest
			if !more {
				return false
			}
			continue
		case i < len(globs) && more:
			name, after, slash := strings.Cut(rest, "/")
			if globs[i].match(name) {
				rest, more = after, slash
				i++
				continue
			}
		case i == len(globs) && !more:
			return true
		}
		if retry < 0 {
			return false
		}
		_, after, slash := strings.Cut(retryRest, "/")
		if !slash {
			return false
		}
		i, rest, more, retryRest = retry, after, true, after
	}
}

// match reports whether the glob matches a name, which has no slash in it.
func (g *nameGlob) match(name string) bool {
	if g.plain {
		return g.literal == name
	}
	i, k := 0, 0
	star, from := -1, 0
	for k < len(name) {
		if i < len(g.tokens) {
			t := &g.tokens[i]
			if t.kind == tokenStar {
				i++
				star, from = i, k
				continue
			}
			if t.matches(name[k]) {
				i++
				k++
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		i, k = star, from
	}
	for i < len(g.tokens) && g.tokens[i].kind == tokenStar {
		i++
	}
	return i == len(g.tokens)
}

func (t *token) matches(b byte) bool {
	switch t.kind {
	case tokenByte:
		return t.lit == b
	case tokenAny:
		return true
	default:
		return t.set.has(b)
	}
}

// rule is one line of an ignore file.
type rule struct {
	negated  bool // "!": what matches is not ignored
	dirOnly  bool // a slash at the end: only folders match
	baseName bool // no other slash: matched against the base name, at any depth
	shape    ruleShape
	text     string   // of all shapes but glob
	glob     *pattern // of the shape glob
	line     string   // as it stands in the file, without "!"
}

// ruleShape lets the common patterns be matched without the machinery.
type ruleShape uint8

const (
	shapeGlob    ruleShape = iota
	shapeLiteral           // text itself
	shapeSuffix            // "*" and text
)

// parseRules reads an ignore file.
func parseRules(data []byte) []rule {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var rules []rule
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if r, ok := parseRule(string(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// parseRule compiles one line; not ok where it is blank or a comment.
func parseRule(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	if i := strings.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	line = trimSpaces(line)
	if line == "" {
		return rule{}, false
	}
	var r rule
	line, r.negated = strings.CutPrefix(line, "!")
	r.line = line
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.baseName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	switch {
	case line == "":
		return rule{}, false
	case !strings.ContainsAny(line, wildcards):
		r.shape, r.text = shapeLiteral, line
	case r.baseName && line[0] == '*' && !strings.ContainsAny(line[1:], wildcards):
		r.shape, r.text = shapeSuffix, line[1:]
	case r.baseName:
		r.glob = compileName(line)
	default:
		r.glob = compilePattern(line)
	}
	return r, true
}

// trimSpaces takes off the spaces at the end that no backslash keeps.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

// matches reports whether the rule is about a file or folder: path is relative
// to the ignore file's folder, base its last name.
func (r *rule) matches(path, base string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.baseName {
		path = base
	}
	switch r.shape {
	case shapeLiteral:
		return path == r.text
	case shapeSuffix:
		return strings.HasSuffix(path, r.text)
	default:
		return r.glob.match(path)
	}
}
