package permission

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// access is what is done to one path, resolved.
type access struct {
	kind   kinds.Access
	asked  string // absolute, cleaned
	target string // absolute, links resolved
	tool   string // the file tool that does it; empty: a command
	exists bool
	gone   bool // the name is removed, and what other names its file has keep it
}

// paths judges what the tool itself touches (policy section 10).
func (j *judge) paths(list []kinds.PathAccess) {
	for _, p := range list {
		a := access{kind: p.Access, asked: p.Path, target: p.Target, tool: j.id, gone: p.Gone}
		if a.target == "" {
			a.target = a.asked
		}
		a.exists = exists(a.target)
		if j.special(a) {
			j.deny("devices, /proc and /sys are not files of a project")
			continue
		}
		if name := j.shown(a.asked); strings.HasPrefix(name, "$") {
			j.floor(verbOf(a.kind) + " " + name + ", which reads like a variable and is not expanded")
		}
		j.access(a)
	}
}

// special reports whether the access meets the kernel's own file systems.
func (j *judge) special(a access) bool {
	return !j.inside(a.kind, a.target) && (isPseudo(a.asked) || isPseudo(a.target))
}

func isPseudo(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

// inside reports whether a resolved path lies in a root. That it is resolved is
// seen to; the last name of a write may be a link, which is then what goes.
func (j *judge) inside(kind kinds.Access, target string) bool {
	if j.Roots == nil || !filepath.IsAbs(target) {
		return false
	}
	target = filepath.Clean(target)
	if p, err := j.Roots.Follow(target); err == nil && p.Inside && p.Target == target {
		return true
	}
	if kind != kinds.Write {
		return false
	}
	dir := filepath.Dir(target)
	p, err := j.Roots.Follow(dir)
	return err == nil && p.Inside && p.Target == dir
}

// access judges one access: hard denies, deny rules, the roots, protected and
// secret names, then the rules and the mode.
func (j *judge) access(a access) {
	name := j.shown(a.asked)
	verb := verbOf(a.kind)
	if a.kind == kinds.Write && j.own(a) {
		j.deny(name + " belongs to the agent's own settings and state, which no tool may change")
		return
	}
	if a.tool != "" && j.badName(a, name) {
		return
	}
	r := j.pathRuling(a)
	if j.ruled(r, verb+" "+name) && r.action == Deny {
		return
	}
	if !j.inside(a.kind, a.target) && !j.readable(a) {
		if j.OutsideDenied {
			j.deny(name + " lies outside of the project, which is not allowed here")
		} else {
			j.beyondSandbox(verb + " " + name + ", which lies outside of the project")
		}
		return
	}
	names := append(j.names(a.asked), j.names(a.target)...)
	if j.guard(a, r, names, name) {
		return
	}
	if r.rule != nil || a.kind != kinds.Write {
		return
	}
	j.find(edits, verb+" "+name)
	j.writes = append(j.writes, writePlace{a.asked, a.target})
}

// readable reports whether a file tool may read there though it lies outside.
func (j *judge) readable(a access) bool {
	if a.kind == kinds.Write || a.tool == "" {
		return false
	}
	return slices.ContainsFunc(j.Readable, func(dir string) bool {
		rel, err := filepath.Rel(dir, a.target)
		return err == nil && filepath.IsLocal(rel)
	})
}

func verbOf(k kinds.Access) string {
	switch k {
	case kinds.Read:
		return "reading"
	case kinds.List:
		return "listing"
	}
	return "changing"
}

// guard judges the protected and secret names; it reports whether the access is
// settled.
func (j *judge) guard(a access, r ruling, names []string, name string) bool {
	switch a.kind {
	case kinds.Write:
		p, which := protected(names)
		if p == untouched || p == guarded && !namedBy(r, which) {
			j.beyondSandbox("changing " + name + ", which can change what other programs run")
			return true
		}
		if a.exists && !a.gone && links(a.target) > 1 {
			j.beyondSandbox("changing " + name + ", which has several names (hard links) and may be shared with files outside")
			return true
		}
	case kinds.Read:
		if which, ok := secret(names); ok && !namedBy(r, which) {
			j.floor("reading " + name + ", which usually holds secrets")
			return true
		}
	}
	return false
}

// namedBy reports whether a rule of the user allows by writing the protected
// name out.
func namedBy(r ruling, name string) bool {
	return r.rule != nil && r.action == Allow && r.rule.Scope >= Session && r.rule.path != nil && r.rule.path.literally(name)
}

// badName denies new names that would not be seen as what they are, and asks
// about those that are there (policy 10.6); it reports whether that settles it.
func (j *judge) badName(a access, name string) bool {
	made := a.kind == kinds.Write && !a.exists
	for _, n := range append(j.names(a.asked), j.names(a.target)...) {
		why := ""
		switch {
		case hiddenIn(n) && made:
			why = "a new file's name cannot have hidden characters in it"
		case hiddenIn(n):
			why = "the name " + visible(n) + " has hidden characters in it"
		case lookAlike(n):
			why = name + " is spelled so that it looks like another, protected name"
		default:
			continue
		}
		if made {
			j.deny(why)
			return true
		}
		j.floor(why)
		return false // a rule may deny it
	}
	return false
}

// own reports whether a path lies in the agent's own folders.
func (j *judge) own(a access) bool {
	dirs := append([]string{}, j.Own...)
	if j.Home != "" {
		for _, d := range []string{".config/acp-agent", ".local/state/acp-agent", ".local/share/acp-agent"} {
			dirs = append(dirs, filepath.Join(j.Home, filepath.FromSlash(d)))
		}
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if below(dir, a.asked) || below(dir, a.target) || below(j.resolved(dir), a.target) {
			return true
		}
	}
	return false
}

// below reports whether path is dir or lies in it, by components; cases are
// taken as alike, since this only ever forbids.
func below(dir, path string) bool {
	dir, path = strings.ToLower(filepath.Clean(dir)), strings.ToLower(path)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// resolved is an absolute path with its links resolved, as far as it exists. It
// is looked up once for a call, since the folders that all is held against recur.
func (j *judge) resolved(path string) string {
	if j.Roots == nil {
		return path
	}
	if target, ok := j.targets[path]; ok {
		return target
	}
	target := path
	if p, err := j.Roots.Follow(path); err == nil {
		target = p.Target
	}
	if j.targets == nil {
		j.targets = map[string]string{}
	}
	j.targets[path] = target
	return target
}

// shown is how a path is called in reasons.
func (j *judge) shown(path string) string {
	if j.Roots == nil {
		return path
	}
	return visible(j.Roots.Name(path))
}

// names are the components that protected names are looked for in: those below
// a root, or all of them.
func (j *judge) names(path string) []string {
	if j.Roots != nil {
		for _, dir := range j.Roots.Dirs() {
			for _, d := range []string{dir, j.resolved(dir)} {
				if rel, err := filepath.Rel(d, path); err == nil && filepath.IsLocal(rel) {
					return components(rel)
				}
			}
		}
	}
	return components(path)
}

func components(path string) []string {
	return strings.FieldsFunc(filepath.ToSlash(path), func(r rune) bool { return r == '/' })
}

// pathRuling is what the rules say about an access. The asked path and its
// target are weighed each for itself: what restricts either holds, and only what
// is allowed for both is allowed.
func (j *judge) pathRuling(a access) ruling {
	asked := j.ruling(a, j.place(a.asked))
	if a.asked == a.target {
		return asked
	}
	target := j.ruling(a, j.place(a.target))
	switch {
	case asked.rule == nil && target.rule == nil:
		return ruling{}
	case asked.rule == nil || target.rule == nil:
		one := asked
		if one.rule == nil {
			one = target
		}
		if one.action == Allow {
			return ruling{}
		}
		return one
	case asked.action != target.action:
		if asked.action > target.action {
			return asked
		}
		return target
	case asked.weight.more(target.weight):
		return target
	}
	return asked
}

// ruling weighs the rules for one spelling of a path.
func (j *judge) ruling(a access, at place) ruling {
	perm := permEdit
	switch a.kind {
	case kinds.Read:
		perm = permRead
	case kinds.List:
		perm = "" // listing has no rules of its own
	}
	var ms []match
	for i := range j.rules.all {
		r := &j.rules.all[i]
		switch {
		case r.path != nil:
			if r.class() == perm && r.path.matches(at, r.Action > Allow) {
				ms = append(ms, match{r, r.path.weight})
			}
		case !r.all:
		case r.Permission == "*", r.class() == perm, a.tool != "" && r.names(a.tool):
			ms = append(ms, match{r, weight{}})
		}
	}
	return j.weigh(at.abs, ms)
}

func (j *judge) place(path string) place {
	at := place{abs: filepath.ToSlash(path)}
	if j.Roots != nil {
		if rel := j.Roots.Name(path); !filepath.IsAbs(rel) {
			at.rel = rel
		}
	}
	if j.Home != "" {
		if rel, err := filepath.Rel(j.Home, path); err == nil && filepath.IsLocal(rel) {
			at.inHome = filepath.ToSlash(rel)
		}
	}
	return at
}

// operand judges a path that a command names, from each folder it may run in.
func (s *shell) operand(kind kinds.Access, text string, at dirs) {
	if s.Roots == nil {
		s.floor("no project folder is open")
		return
	}
	for _, dir := range at {
		p, err := s.resolve(text, dir)
		if err != nil {
			s.floor("the path " + visible(text) + " cannot be resolved")
			return
		}
		s.commandAccess(kind, p)
	}
}

// resolve finds what a word means as a path in a folder.
func (s *shell) resolve(text, dir string) (workspace.Path, error) {
	if text == "" {
		return workspace.Path{}, errors.New("the path is empty")
	}
	if s.paths++; s.paths == maxPaths {
		s.floor("it names too many paths to be judged")
	}
	if s.paths >= maxPaths {
		return workspace.Path{}, errors.New("there are too many paths")
	}
	if !filepath.IsAbs(text) {
		text = dir + string(filepath.Separator) + text
	}
	return s.Roots.Resolve(text)
}

func (s *shell) commandAccess(kind kinds.Access, p workspace.Path) {
	if kind != kinds.Write && p.Asked == "/dev/null" {
		return
	}
	for _, n := range append(s.names(p.Asked), s.names(p.Target)...) {
		if hiddenIn(n) || kind != kinds.List && lookAlike(n) {
			s.floor("the name " + visible(n) + " does not look like what it is")
			return
		}
	}
	s.access(access{kind: kind, asked: p.Asked, target: p.Target, exists: p.Exists})
}

// removeName judges a name that a command removes, from each folder it may run in.
func (s *shell) removeName(text string, at dirs) {
	for _, dir := range at {
		p, err := s.resolveName(text, dir)
		if err != nil {
			s.floor("the path " + visible(text) + " cannot be resolved")
			return
		}
		for _, n := range append(s.names(p.Asked), s.names(p.Target)...) {
			if hiddenIn(n) || lookAlike(n) {
				s.floor("the name " + visible(n) + " does not look like what it is")
				return
			}
		}
		s.access(access{kind: kinds.Write, asked: p.Asked, target: p.Target, exists: p.Exists, gone: true})
	}
}

// resolveName finds the place of a name itself: its folder is resolved, and where
// the name is a link, the link is what is meant (policy 10.2).
func (s *shell) resolveName(text, dir string) (workspace.Path, error) {
	name := text[strings.LastIndexByte(text, '/')+1:]
	if s.Roots == nil || name == "" || name == "." || name == ".." {
		return s.resolve(text, dir)
	}
	p, err := s.resolve(cmp.Or(strings.TrimSuffix(text, name), "."), dir)
	if err != nil {
		return workspace.Path{}, err
	}
	p.Asked, p.Target = filepath.Join(p.Asked, name), filepath.Join(p.Target, name)
	_, err = os.Lstat(p.Target)
	p.Exists = err == nil
	return p, nil
}
