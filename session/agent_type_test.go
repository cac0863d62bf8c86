package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/tools"
)

func typeNames(types []agentType) (names []string) {
	for _, t := range types[len(builtinAgents):] {
		names = append(names, t.name)
	}
	return names
}

// What is wrong with an agent's file is told, and the others are there.
func TestAgentTypesOfHostileFiles(t *testing.T) {
	p := newSkillPlace(t)
	dir := filepath.Join(p.home, ".agents", "agents")
	p.write(filepath.Join(p.home, "secret.md"), "---\nname: secret\n---\nkey")
	for name, text := range map[string]string{
		"a-fine.md":     "---\nname: fine\ndescription: |\n  two\n  lines \u202e\ntools: [Read, \"Grep\"]\n---\nBe brief.",
		"b-again.md":    "---\nname: fine\n---\n",
		"c-open.md":     "---\nname: open\n",
		"d-built-in.md": "---\nname: explore\ntools: '*'\n---\nYou may write.",
		"e-name.md":     "---\nname: ../../x\n---\n",
		"f-long.md":     "---\nname: " + strings.Repeat("x", 65) + "\n---\n",
		"g-large.md":    "---\nname: large\n---\n" + strings.Repeat("x", maxAgentFile),
		"h-tools.md":    "---\nname: odd\ntools: Read, Bash(git *), NotebookEdit, mcp__s__t\n---\n",
		"i-model.md":    "---\nname: inherits\nmodel: inherit\n---\n",
		"j-model.md":    "---\nname: nowhere\nmodel: nobody/model\n---\n",
		"k-plain.md":    "no head at all",
		"l-nul.md":      "---\nname: \"a\x00b\"\n---\n",
		"no-markdown":   "---\nname: other\n---\n",
	} {
		p.write(filepath.Join(dir, name), text)
	}
	p.write(filepath.Join(dir, "m-folder.md", "x"), "")
	project := filepath.Join(p.project, ".agents", "agents")
	p.write(filepath.Join(project, "near.md"), "---\nname: near\n---\n")
	p.link(filepath.Join(p.home, "secret.md"), filepath.Join(project, "out.md"))
	p.link(filepath.Join("..", ".agents", "agents"), filepath.Join(p.project, ".claude", "agents"))

	s := p.open(p.project)
	if got, want := typeNames(s.agentTypes()), []string{"near", "fine", "odd", "inherits", "k-plain"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	told := strings.Join(s.notices, "\n")
	for _, want := range []string{"b-again.md is left out: there is another", "c-open.md is left out: its head", "d-built-in.md is left out: there is another",
		"e-name.md is left out: its name", "f-long.md is left out: its name", "g-large.md is left out: it has", "j-model.md is left out",
		"l-nul.md is left out", "m-folder.md is left out: it is no regular file", "out.md is left out: it is a link out of the project",
		"h-tools.md names tools that there are not: Bash(git *), NotebookEdit. It has the others"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told: %s", want, told)
		}
	}
	if index := s.agentIndex(); !strings.Contains(index, "- fine: two lines \\u202e\n") {
		t.Errorf("the index is %q", index)
	}
}

// A type has the tools that it names, by any of their names, and none else.
func TestToolsOfAnAgentType(t *testing.T) {
	registry, err := tools.NewRegistry(tools.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string][]string{
		"Read, nothing, Bash": {"bash", "read"},
		"nothing":             nil,
	} {
		typ := &agentType{tools: strings.Split(names, ", ")}
		var got []string
		for _, tool := range registry.List(typ.allows) {
			got = append(got, tool.Spec().ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}

// However many types there are, the prompt names all and grows no further.
func TestManyAgentTypes(t *testing.T) {
	p := newSkillPlace(t)
	for _, dir := range []string{".agents", ".claude"} {
		for i := range maxAgentFiles + 1 {
			name := fmt.Sprintf("%s%02d", dir[1:], i)
			p.write(filepath.Join(p.home, dir, "agents", name+".md"), "---\ndescription: "+strings.Repeat("long ", 100)+"\n---\n")
		}
	}
	s := p.open(p.project)
	index := s.agentIndex()
	if n := strings.Count(index, "\n- "); n != 2*maxAgentFiles || len(index) > maxAgentIndex+2*maxAgentFiles*20 {
		t.Errorf("%d types in %d bytes", n, len(index))
	}
	if len(s.notices) != 2 || !strings.Contains(s.notices[0], "only the first 64") {
		t.Errorf("told %q", s.notices)
	}
}
