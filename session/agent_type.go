package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/tools"
)

// agentType is a kind of sub-agent (spec/tools.md, "task").
type agentType struct {
	name        string
	description string
	prompt      string   // added to the instructions
	tools       []string // the ids of those it may use; nil: all
	model       string   // provider/model; empty: the session's
	readOnly    bool     // it only reads, whatever the mode allows
}

// Those that are always there.
var builtinAgents = []agentType{
	{name: "general", description: "has all tools"},
	{name: "explore", description: "only reads and searches", readOnly: true,
		prompt: "You only read: find what is asked for, and report places as path:line with what stands there. Do not try to change anything."},
}

// Limits of what is looked for in folders.
const (
	maxAgentFiles = 64       // a folder
	maxAgentFile  = 64 << 10 // bytes
	maxAgentHint  = 500      // bytes of a description in the prompt
)

// agentTypes is all types: those of the project where it is trusted, from the
// nearest folder outwards, and the user's. They are looked for once, which must
// not be under a lock of the session.
func (s *Session) agentTypes() []agentType {
	top := s.top()
	top.agentsOnce.Do(func() {
		top.agents = slices.Clone(builtinAgents)
		for _, dir := range top.customFolders("agents") {
			top.loadAgents(dir)
		}
	})
	return top.agents
}

// customFolders is where a session looks for what users and projects add, of one
// sort: agents or skills.
func (s *Session) customFolders(sort string) []string {
	return slices.Compact(append(s.projectFolders(sort), s.userFolders(sort)...))
}

// projectFolders are the project's, from the nearest outwards; none before it is
// trusted.
func (s *Session) projectFolders(sort string) []string {
	if !s.trusted {
		return nil
	}
	var folders []string
	up := lineage(s.workspace.Dir())
	slices.Reverse(up)
	for _, dir := range up {
		folders = append(folders, filepath.Join(dir, ".agents", sort), filepath.Join(dir, ".claude", sort))
	}
	return folders
}

func (s *Session) userFolders(sort string) []string {
	home := s.sessions.paths.Home
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".agents", sort), filepath.Join(home, ".claude", sort)}
}

// loadAgents takes up the types of one folder. What is wrong with a file is told
// in the next turn, and the file left out.
func (s *Session) loadAgents(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(files) == 0 {
		return
	}
	if len(files) > maxAgentFiles {
		s.tell(fmt.Sprintf("Of the %d agents in %s only the first %d are used.", len(files), dir, maxAgentFiles))
		files = files[:maxAgentFiles]
	}
	for _, file := range files {
		typ, err := readAgentType(file)
		if err == nil && slices.ContainsFunc(s.agents, func(a agentType) bool { return a.name == typ.name }) {
			err = fmt.Errorf("there is another agent named %s already", typ.name)
		}
		if err == nil && typ.model != "" {
			err = s.checkModel(typ.model)
		}
		if err != nil {
			s.tell(fmt.Sprintf("The agent in %s is left out: %v.", file, err))
			continue
		}
		s.agents = append(s.agents, typ)
	}
}

// readAgentType reads a type from a Markdown file with a head.
func readAgentType(file string) (agentType, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return agentType{}, err
	case !info.Mode().IsRegular():
		return agentType{}, fmt.Errorf("it is no regular file")
	case info.Size() > maxAgentFile:
		return agentType{}, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxAgentFile)
	}
	fields, body, err := parseFrontMatter(readBounded(file, maxAgentFile))
	if err != nil {
		return agentType{}, err
	}
	typ := agentType{name: fields["name"], description: fields["description"], prompt: strings.TrimSpace(body)}
	if typ.name == "" {
		typ.name = strings.TrimSuffix(filepath.Base(file), ".md")
	}
	if strings.Trim(typ.name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.HasPrefix(typ.name, "-") || typ.name == "" || len(typ.name) > 64 {
		return agentType{}, fmt.Errorf("its name %q is not made of a-z, 0-9, - and _", typ.name)
	}
	if strings.Contains(fields["model"], "/") { // others' words, such as inherit, are the session's model
		typ.model = fields["model"]
	}
	if list, ok := fields["tools"]; ok && list != "" && list != "*" {
		for name := range strings.SplitSeq(list, ",") {
			typ.tools = append(typ.tools, strings.TrimSpace(name))
		}
	}
	return typ, nil
}

// agentIndex is what the prompt says of the types that are not always there.
func (s *Session) agentIndex() string {
	custom := s.agentTypes()[len(builtinAgents):]
	if len(custom) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nFurther types of sub-agents for the task tool:\n")
	for _, t := range custom {
		fmt.Fprintf(&b, "- %s: %s\n", t.name, shorten(strings.Join(strings.Fields(t.description), " "), maxAgentHint))
	}
	return b.String()
}

// shorten cuts a text to a number of bytes.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// allows reports whether a session may use a tool at all: neither its own type nor
// that of any agent above it leaves it out.
func (s *Session) allows(spec *tools.Spec) bool {
	return s.agent.allows(spec) && (s.parent == nil || s.parent.allows(spec))
}

// allows reports whether the agent may use a tool at all.
func (a *agentType) allows(spec *tools.Spec) bool {
	if a == nil {
		return true
	}
	if a.readOnly && !spec.ReadOnly {
		return false
	}
	if a.tools == nil {
		return true
	}
	return slices.ContainsFunc(a.tools, func(name string) bool {
		return name == spec.ID || slices.Contains(spec.Aliases, name)
	})
}
