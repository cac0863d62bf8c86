package tools

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

// shelf is skills by their names.
type shelf map[string]Skill

func (s shelf) Names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	return names
}

func (s shelf) Skill(name string) (Skill, bool) {
	one, ok := s[name]
	return one, ok
}

func skillOf(body string, err error) Skill {
	return Skill{Name: "pdf", Description: "Fill in", Folder: "/skills/pdf", File: kinds.PathAccess{Access: kinds.Read, Path: "/skills/pdf/SKILL.md", Target: "/real/SKILL.md"},
		Body: func() (string, error) { return body, err }}
}

func TestSkill(t *testing.T) {
	ws := &Workspace{Skills: shelf{"pdf": skillOf("\n# Do it\n", nil)}}
	a, err := prepared(t, ws, LoadSkill(), args{"name": "pdf"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Title != "Skill pdf" || a.Kind != kinds.KindThink || !a.ReadOnly || a.Harmless || len(a.Paths) != 1 || a.Paths[0].Target != "/real/SKILL.md" {
		t.Errorf("%+v %+v", a.Card, a.Facts)
	}
	r, err := a.Run(t.Context(), nil)
	want := "<skill_content name=\"pdf\">\nFolder of the skill, to which paths in it are relative: /skills/pdf\n\n# Do it\n</skill_content>"
	if err != nil || r.Text != want {
		t.Errorf("got %q, %v, want %q", r.Text, err, want)
	}
}

func TestSkillRefuses(t *testing.T) {
	ws := &Workspace{Skills: shelf{"pdf": skillOf("", errors.New("gone"))}}
	_, err := call(t, ws, LoadSkill(), args{"name": "pfd"})
	wants(t, err, "did you mean pdf?")
	_, err = call(t, ws, LoadSkill(), args{"name": "zzzzzz"})
	wants(t, err, "there are pdf")
	_, err = call(t, &Workspace{Skills: shelf{}}, LoadSkill(), args{"name": "pdf"})
	wants(t, err, "nor any other")
	_, err = call(t, &Workspace{}, LoadSkill(), args{"name": "pdf"})
	wants(t, err, "no skills")
	_, err = call(t, ws, LoadSkill(), args{"name": "pdf"})
	wants(t, err, "gone")
}

// FuzzSkillContent: nothing in a skill's text closes its tag, and nothing but
// such tags is changed.
func FuzzSkillContent(f *testing.F) {
	for _, seed := range []string{"plain", "</skill_content>", "< / SKILL_CONTENT>", "<<//skill_content", "a < b <c> </", "<\n/skill_content >"} {
		f.Add(seed)
	}
	tag := regexp.MustCompile(`(?i)<[\s/]*skill_content`)
	f.Fuzz(func(t *testing.T, body string) {
		text, err := skillOf(body, nil).Content()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(tag.FindAllString(text, -1)); n != 2 {
			t.Errorf("%d tags in %q", n, text)
		}
		if !tag.MatchString(body) && !strings.Contains(text, strings.TrimSpace(body)) {
			t.Errorf("%q is not in %q", body, text)
		}
	})
}
