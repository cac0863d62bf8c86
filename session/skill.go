package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// skill is a piece of instructions that the model, or the user, loads when the
// work calls for it (spec/tools.md, "skill").
type skill struct {
	name        string
	description string
	folder      string // absolute, as it was found
	file        string // its SKILL.md
	realFolder  string // links resolved
	realFile    string
	readable    []string // what of it may be read wherever it lies
	manual      bool     // only the user starts it, never the model

	load sync.Once // body is read when it is first asked for, and kept
	body string
	err  error
}

// Limits of what is looked for in folders of skills.
const (
	maxSkills      = 200
	maxSkillFile   = 128 << 10 // bytes of a SKILL.md
	maxSkillHint   = 500       // bytes of a description in the prompt
	maxSkillIndex  = 16 << 10  // bytes of all of them
	maxSkillFolder = 2000      // entries of a folder that are looked at
)

const skillFile = "SKILL.md"

// validSkill reports whether a name can stand in the prompt, in a tag and behind
// a slash.
func validSkill(name string) bool {
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	return name != "" && len(name) <= 64 && letter(rune(name[0])) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !letter(r) && r != '-' && r != '_' })
}

// skillRoot is a folder in which each folder may be a skill.
type skillRoot struct {
	dir     string
	project bool // of the project: what it holds must lie in the project
}

// findSkills looks for the session's skills, once, and again when the project
// becomes trusted: those of a trusted project from the nearest folder outwards, the
// user's, the configured ones. The first of a name counts. It must not be called
// under a lock of the session.
func (s *Session) findSkills() []*skill {
	top := s.top()
	if top.skills.Load() == nil {
		top.finding.Lock()
		defer top.finding.Unlock()
		if top.skills.Load() == nil {
			top.loadSkills()
		}
	}
	return s.foundSkills()
}

// loadSkills looks for all skills.
func (s *Session) loadSkills() {
	var found []*skill
	for _, root := range s.skillRoots() {
		found = s.addSkills(found, root)
	}
	s.skills.Store(&found)
}

// foundSkills is what was found so far.
func (s *Session) foundSkills() []*skill {
	if found := s.top().skills.Load(); found != nil {
		return *found
	}
	return nil
}

func (s *Session) skillRoots() []skillRoot {
	var roots []skillRoot
	add := func(dir string, project bool) {
		if !slices.ContainsFunc(roots, func(r skillRoot) bool { return r.dir == dir }) {
			roots = append(roots, skillRoot{dir, project})
		}
	}
	for _, dir := range s.projectFolders("skills") {
		add(dir, true)
	}
	for _, dir := range append(s.userFolders("skills"), filepath.Join(s.sessions.paths.Config, "skills")) {
		add(dir, false)
	}
	for _, f := range s.cfg().Skills {
		add(f.Path, f.Project)
	}
	return roots
}

// addSkills takes up the skills of one folder, in the order of their folders'
// names. What is wrong with one is told, and it is left out.
func (s *Session) addSkills(found []*skill, root skillRoot) []*skill {
	folders, err := skillFolders(root.dir)
	if err != nil {
		s.tell(fmt.Sprintf("The skills in %s are ignored: %v.", kinds.Escape(root.dir), err))
		return found
	}
	for _, folder := range folders {
		one, err := s.readSkill(folder, root)
		if one == nil && err == nil || one.isIn(found) {
			continue
		}
		if err == nil {
			err = among(found, one)
		}
		if err != nil {
			s.tell(fmt.Sprintf("The skill in %s is ignored: %v.", kinds.Escape(folder), err))
			continue
		}
		found = append(found, one)
	}
	return found
}

// isIn reports whether the same file is a skill already, by another way to it.
func (k *skill) isIn(found []*skill) bool {
	return k != nil && slices.ContainsFunc(found, func(other *skill) bool { return other.realFile == k.realFile })
}

// among says why a skill cannot join the others.
func among(found []*skill, one *skill) error {
	for _, other := range found {
		if other.name == one.name {
			return fmt.Errorf("the skill %s in %s has the same name and comes first", other.name, kinds.Escape(other.folder))
		}
	}
	if len(found) >= maxSkills {
		return fmt.Errorf("there are %d skills already, the most that are used", maxSkills)
	}
	return nil
}

// skillFolders lists the folders in dir, sorted; none where there is no dir.
func skillFolders(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() { // a FIFO is not to be opened
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxSkillFolder)
	if len(names) == 0 {
		return nil, nil // at its end, or no folder to be listed
	}
	slices.Sort(names)
	folders := make([]string, len(names))
	for i, name := range names {
		folders[i] = filepath.Join(dir, name)
	}
	return folders, err
}

// readSkill reads what a folder's SKILL.md says of itself; nil where it has
// none.
func (s *Session) readSkill(folder string, root skillRoot) (*skill, error) {
	one := &skill{folder: folder, file: filepath.Join(folder, skillFile)}
	if err := one.resolve(); errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoFolder) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if root.project && !(inFolder(s.root, one.realFolder) && inFolder(s.root, one.realFile)) {
		return nil, errors.New("it is a link out of the project")
	}
	if s.deniesReading(one) {
		return nil, errors.New("a rule keeps it from being read")
	}
	fields, body, err := one.read()
	if err != nil {
		return nil, err
	}
	one.name = cmp.Or(fields["name"], filepath.Base(folder))
	if !validSkill(one.name) {
		return nil, fmt.Errorf("its name %s is invalid: it may have up to 64 of A-Z, a-z, 0-9, - and _", kinds.Title(fmt.Sprintf("%q", one.name)))
	}
	one.description = skillHint(cmp.Or(fields["description"], firstLine(body)))
	one.readable = []string{one.realFile}
	if home := s.sessions.paths.Home; home == "" || !inFolder(one.realFolder, realPath(home)) { // else it is no folder of the skill's own
		one.readable = append(one.readable, one.realFolder)
	}
	one.manual = fields["disable-model-invocation"] == "true"
	return one, nil
}

var errNoFolder = errors.New("not a folder")

// resolve finds out where the skill really lies.
func (k *skill) resolve() (err error) {
	if k.realFolder, err = filepath.EvalSymlinks(k.folder); err != nil {
		return err
	}
	if info, err := os.Stat(k.realFolder); err != nil || !info.IsDir() {
		return cmp.Or(err, errNoFolder)
	}
	k.realFile, err = filepath.EvalSymlinks(filepath.Join(k.realFolder, skillFile))
	return err
}

// read reads the SKILL.md.
func (k *skill) read() (fields map[string]string, body string, err error) {
	info, err := os.Stat(k.realFile)
	switch {
	case err != nil:
		return nil, "", err
	case !info.Mode().IsRegular():
		return nil, "", fmt.Errorf("its %s is no regular file", skillFile)
	case info.Size() > maxSkillFile:
		return nil, "", fmt.Errorf("its %s has %d bytes, more than %d", skillFile, info.Size(), maxSkillFile)
	}
	return parseFrontMatter(readBounded(k.realFile, maxSkillFile))
}

// inFolder reports whether a path is dir or lies below it. Both are resolved.
func inFolder(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// deniesReading reports whether a rule keeps the skill's file from being read.
func (s *Session) deniesReading(k *skill) bool {
	p := s.policy()
	p.Readable = []string{k.realFile}
	f := kinds.Facts{Tool: "skill", ReadOnly: true, Paths: []kinds.PathAccess{{Access: kinds.Read, Path: k.file, Target: k.realFile}}}
	p.Mode = permission.Default // only its rules are meant
	return p.Decide(f).Action == permission.Deny
}

// skillHint is a description as one line of the prompt.
func skillHint(s string) string {
	return shorten(strings.Join(strings.Fields(kinds.Escape(s)), " "), maxSkillHint)
}

// firstLine is the first line of a Markdown text that says something.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.Trim(line, "# \t\r\n"); line != "" {
			return line
		}
	}
	return ""
}

// skillIndex is what the prompt says of the skills: their names, and what each
// is for as long as there is room.
func (s *Session) skillIndex() string {
	var b strings.Builder
	for _, k := range s.foundSkills() {
		if k.manual {
			continue
		}
		line := "- " + k.name + ": " + k.description + "\n"
		if b.Len()+len(line) > maxSkillIndex {
			line = "- " + k.name + "\n"
		}
		b.WriteString(line)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nSkills are instructions for certain work. Where one fits, load it with the skill tool before you begin:\n" + b.String()
}

// readableSkills are the folders and files of skills, which may be read wherever
// they lie: the user put them there, or trusts them.
func (s *Session) readableSkills() []string {
	var paths []string
	for _, k := range s.foundSkills() {
		paths = append(paths, k.readable...)
	}
	return paths
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// library is the session's skills as its tools see them.
type library struct{ session *Session }

// Names are those that the model may load.
func (l library) Names() []string {
	var names []string
	for _, k := range l.session.findSkills() {
		if !k.manual {
			names = append(names, k.name)
		}
	}
	return names
}

// Skill finds one that the model may load.
func (l library) Skill(name string) (tools.Skill, bool) {
	k := l.session.skillNamed(name)
	if k == nil || k.manual {
		return tools.Skill{}, false
	}
	return k.tool(), true
}

// tool is the skill as tools see it.
func (k *skill) tool() tools.Skill {
	return tools.Skill{Name: k.name, Description: k.description, Folder: k.folder,
		File: kinds.PathAccess{Access: kinds.Read, Path: k.file, Target: k.realFile}, Body: k.text}
}

// bringSkill puts a skill into the conversation that the prompt names as a slash
// command.
func (t *Turn) bringSkill(ctx context.Context) {
	name, _ := commandName(plainText(t.prompt))
	k := t.session.skillNamed(name)
	if k == nil {
		return
	}
	text, err := k.tool().Content()
	if err != nil {
		t.update(ctx, Notice{err.Error()})
		return
	}
	t.tellModel(ctx, "The user starts the skill "+k.name+" by this message:\n\n"+text)
}

func (s *Session) skillNamed(name string) *skill {
	found := s.findSkills()
	if i := slices.IndexFunc(found, func(k *skill) bool { return k.name == name }); i >= 0 {
		return found[i]
	}
	return nil
}

// text is the skill's body. It is read once.
func (k *skill) text() (string, error) {
	k.load.Do(func() {
		now := &skill{folder: k.folder}
		if k.err = now.resolve(); k.err == nil && now.realFile != k.realFile {
			k.err = errors.New("its file is a link to elsewhere since it was found")
		}
		if k.err == nil {
			_, k.body, k.err = k.read()
		}
		if k.err != nil {
			k.err = fmt.Errorf("the skill %s cannot be read any more: %w", k.name, k.err)
		}
	})
	return k.body, k.err
}
