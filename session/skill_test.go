package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// skillPlace is a home and a trusted project in which skills are laid out.
type skillPlace struct {
	*testing.T
	home, project string
}

func newSkillPlace(t *testing.T) *skillPlace {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &skillPlace{t, filepath.Join(base, "home"), filepath.Join(base, "project")}
	p.write(filepath.Join(p.project, ".git", "HEAD"), "ref: refs/heads/main\n")
	p.write(filepath.Join(p.home, "config", "config.json"), `{"trust":"always"}`)
	return p
}

func (p *skillPlace) write(path, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *skillPlace) link(to, path string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		p.Skip("no symbolic links here: ", err)
	}
}

// skill lays out one below a folder of skills.
func (p *skillPlace) skill(dir, name, body string) string {
	path := filepath.Join(dir, name, skillFile)
	p.write(path, "---\nname: "+name+"\ndescription: About "+name+"\n---\n"+body)
	return path
}

// open is a session in the folder.
func (p *skillPlace) open(dir string) *Session {
	p.Helper()
	registry, err := tools.NewRegistry(tools.Builtin()...)
	if err != nil {
		p.Fatal(err)
	}
	below := func(name string) string { return filepath.Join(p.home, name) }
	m := New(Options{Tools: registry, Getenv: func(string) string { return "" },
		Paths: config.Paths{Home: p.home, Config: below("config"), Data: below("data"), State: below("state"), Cache: below("cache")}})
	s, err := m.newSession("sess_1", Request{Dir: dir})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(s.free)
	return s
}

func skillNames(found []*skill) []string {
	out := make([]string, len(found))
	for i, k := range found {
		out[i] = k.name
	}
	return out
}

// TestSkillsOrder: the nearest folder of the project comes first, then those
// further out, then the user's; of one folder the names are in order. A second
// way to the same file is no second skill.
func TestSkillsOrder(t *testing.T) {
	p := newSkillPlace(t)
	sub := filepath.Join(p.project, "a", "b")
	p.skill(filepath.Join(p.project, ".agents", "skills"), "root", "")
	p.skill(filepath.Join(sub, ".claude", "skills"), "near", "near")
	p.skill(filepath.Join(sub, ".claude", "skills"), "both", "near")
	p.skill(filepath.Join(p.home, ".claude", "skills"), "mine", "")
	p.skill(filepath.Join(p.home, ".agents", "skills"), "both", "far")
	p.skill(filepath.Join(p.home, "config", "skills"), "configured", "")
	p.link(filepath.Join("..", ".agents", "skills"), filepath.Join(p.project, ".claude", "skills"))
	p.skill(filepath.Join(filepath.Dir(p.project), ".agents", "skills"), "outside", "")
	s := p.open(sub)
	if got := skillNames(s.findSkills()); !slices.Equal(got, []string{"both", "near", "root", "mine", "configured"}) {
		t.Errorf("found %v", got)
	}
	if text, err := s.skillNamed("both").text(); err != nil || text != "near" {
		t.Errorf("%q, %v", text, err)
	}
	if len(s.notices) != 1 || !strings.Contains(s.notices[0], "same name") {
		t.Errorf("told %q", s.notices)
	}
	p.skill(filepath.Join(p.home, ".agents", "skills"), "late", "")
	if s.skillNamed("late") != nil {
		t.Error("they are looked for once")
	}
}

// TestSkillsHostile: what a folder of skills can hold is left out and told, and
// nothing of it reaches the prompt.
func TestSkillsHostile(t *testing.T) {
	p := newSkillPlace(t)
	dir := filepath.Join(p.project, ".agents", "skills")
	p.skill(dir, "good", "Good.")
	for name, text := range map[string]string{
		"newline":   "---\nname: |\n  a\n  b\ndescription: BAD\n---\n",
		"climbs":    "---\nname: ../../etc\ndescription: BAD\n---\n",
		"tag":       "---\nname: \"x\\\"><y\"\ndescription: BAD\n---\n",
		"open":      "---\nname: open\ndescription: BAD\n",
		"broken":    "---\nno value\n---\n",
		"huge":      strings.Repeat("BAD ", maxSkillFile),
		"long-name": "---\nname: " + strings.Repeat("x", 65) + "\ndescription: BAD\n---\n",
	} {
		p.write(filepath.Join(dir, name, skillFile), text)
	}
	p.write(filepath.Join(dir, "a file"), "BAD")
	p.write(filepath.Join(dir, "hidden", skillFile), "---\ndescription: \"See\u202e\x1b[2J it\"\n---\n")
	if err := os.MkdirAll(filepath.Join(dir, "folder", skillFile), 0o755); err != nil {
		t.Fatal(err)
	}
	outside := p.skill(filepath.Join(p.home, "elsewhere"), "elsewhere", "BAD")
	p.link(filepath.Dir(outside), filepath.Join(dir, "link-out"))
	p.link(outside, filepath.Join(dir, "file-out", skillFile))
	p.link(filepath.Join(dir, "loop"), filepath.Join(dir, "loop"))
	p.link(filepath.Join(dir, "good"), filepath.Join(dir, "again"))
	s := p.open(p.project)
	if got := skillNames(s.findSkills()); !slices.Equal(got, []string{"good", "hidden"}) && !slices.Equal(got, []string{"again", "hidden"}) {
		t.Errorf("found %v", got)
	}
	if index := s.skillIndex(); strings.Contains(index, "BAD") || strings.ContainsAny(index, "\u202e\x1b") {
		t.Errorf("the prompt says %q", index)
	}
	told := strings.Join(s.notices, "\n")
	for _, name := range []string{"newline", "climbs", "tag", "open", "broken", "huge", "long-name", "folder", "link-out", "file-out", "loop"} {
		if !strings.Contains(told, filepath.Join(dir, name)+" is ignored") {
			t.Errorf("%s is not told: %s", name, told)
		}
	}
	if len(s.notices) != 11 || strings.Count(told, "\n") != 10 {
		t.Errorf("told %d: %q", len(s.notices), s.notices)
	}
}

// TestSkillsOfTheUserMayBeLinks: the user's own files often are, into a
// repository of theirs.
func TestSkillsOfTheUserMayBeLinks(t *testing.T) {
	p := newSkillPlace(t)
	target := p.skill(filepath.Join(p.home, "dotfiles"), "one", "One.")
	p.link(target, filepath.Join(p.home, ".agents", "skills", "one", skillFile))
	p.link(p.home, filepath.Join(p.home, ".agents", "skills", "wide"))
	p.write(filepath.Join(p.home, skillFile), "---\nname: wide\n---\nWide.")
	s := p.open(p.project)
	if got := skillNames(s.findSkills()); !slices.Equal(got, []string{"one", "wide"}) {
		t.Errorf("found %v, told %q", got, s.notices)
	}
	reads := func(path string) permission.Action {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			t.Fatal(err)
		}
		return s.decide(kinds.Facts{Tool: "read", ReadOnly: true, Paths: []kinds.PathAccess{{Access: kinds.Read, Path: path, Target: real}}}).Action
	}
	p.write(filepath.Join(p.home, "dotfiles", "other"), "")
	p.write(filepath.Join(p.home, "dotfiles", "one-more", "x"), "")
	p.write(filepath.Join(p.home, ".agents", "skills", "one", "notes"), "")
	p.link(filepath.Join(p.home, "dotfiles", "other"), filepath.Join(p.home, ".agents", "skills", "one", "out"))
	for path, want := range map[string]permission.Action{
		filepath.Join(p.home, ".agents", "skills", "one", skillFile): permission.Allow,
		filepath.Join(p.home, ".agents", "skills", "one", "notes"):   permission.Allow,
		filepath.Join(p.home, ".agents", "skills", "one", "out"):     permission.ForcedAsk,
		filepath.Join(p.home, "dotfiles", "other"):                   permission.ForcedAsk,
		filepath.Join(p.home, "dotfiles", "one-more", "x"):           permission.ForcedAsk,
		filepath.Join(p.home, skillFile):                             permission.Allow,
		filepath.Join(p.home, "config", "config.json"):               permission.ForcedAsk, // a skill in the home makes none of it readable
	} {
		if got := reads(path); got != want {
			t.Errorf("reading %s: %v, want %v", path, got, want)
		}
	}
}

// TestSkillChangedLater: the file that is read is the one that was found.
func TestSkillChangedLater(t *testing.T) {
	p := newSkillPlace(t)
	dir := filepath.Join(p.project, ".agents", "skills")
	swapped, grown, gone := p.skill(dir, "swapped", "x"), p.skill(dir, "grown", "x"), p.skill(dir, "gone", "x")
	kept := p.skill(dir, "kept", "before")
	secret := filepath.Join(p.home, "secret")
	p.write(secret, "SECRET")
	s := p.open(p.project)
	s.findSkills()
	if text, err := s.skillNamed("kept").text(); err != nil || text != "before" {
		t.Errorf("%q, %v", text, err)
	}
	p.write(kept, "after")
	p.write(grown, strings.Repeat("x", maxSkillFile+1))
	for _, path := range []string{swapped, gone} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	p.link(secret, swapped)
	for _, name := range []string{"swapped", "grown", "gone"} {
		if text, err := s.skillNamed(name).text(); err == nil || text != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if text, _ := s.skillNamed("kept").text(); text != "before" {
		t.Errorf("it is kept: %q", text)
	}
}

// TestSkillIndexIsBounded: many and long descriptions leave the names.
func TestSkillIndexIsBounded(t *testing.T) {
	p := newSkillPlace(t)
	for i := range maxSkills + 3 {
		p.write(filepath.Join(p.home, ".agents", "skills", fmt.Sprintf("s%03d", i), skillFile),
			"---\ndescription: "+strings.Repeat("é", maxSkillHint)+"\n---\n")
	}
	s := p.open(p.project)
	if got := len(s.findSkills()); got != maxSkills || len(s.notices) != 3 {
		t.Errorf("found %d, told %d", got, len(s.notices))
	}
	index := s.skillIndex()
	if len(index) > maxSkillIndex+maxSkills*80 || !strings.Contains(index, "- s199\n") || strings.Count(index, "\n- ")+1 != maxSkills+1 {
		t.Errorf("%d bytes: %s", len(index), index)
	}
}

// TestSkillCommands: skills stand behind the agent's own commands, and take the
// place of none.
func TestSkillCommands(t *testing.T) {
	p := newSkillPlace(t)
	p.skill(filepath.Join(p.home, ".agents", "skills"), "read", "")
	p.skill(filepath.Join(p.home, ".agents", "skills"), "deploy", "")
	s := p.open(p.project)
	var got []string
	for _, c := range s.Commands() {
		got = append(got, c.Name)
	}
	if n := len(commandTable()); len(got) != n+1 || got[n] != "deploy" || slices.Index(got, "read") > n {
		t.Errorf("%v", got)
	}
}
