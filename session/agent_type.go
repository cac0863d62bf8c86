package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// agentType is a kind of sub-agent (spec/tools.md, "task").
type agentType struct {
	name        string
	description string
	prompt      string   // added to the instructions
	tools       []string // the ids of those it may use; nil: all
	model       string   // provider/model; empty: the session's
	file        string   // that it was read from, links resolved; empty: built in
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
	maxAgentIndex = 16 << 10 // bytes of all of them
	maxAgentTools = 10       // unknown names that are told
)

// agentTypes is all types: those of the project where it is trusted, from the
// nearest folder outwards, and the user's. They are looked for once, and again when
// the project becomes trusted, which must not be under a lock of the session.
func (s *Session) agentTypes() []agentType {
	top := s.top()
	if found := top.agents.Load(); found != nil {
		return *found
	}
	top.finding.Lock()
	defer top.finding.Unlock()
	if top.agents.Load() == nil {
		top.loadAgents()
	}
	return *top.agents.Load()
}

// loadAgents looks for all types.
func (s *Session) loadAgents() {
	found := slices.Clone(builtinAgents)
	for _, dir := range s.projectFolders("agents") {
		found = s.addAgents(found, dir, s.root)
	}
	for _, dir := range s.userFolders("agents") {
		found = s.addAgents(found, dir, "")
	}
	s.agents.Store(&found)
}

// projectFolders is where a session looks for what a project adds, of one sort,
// agents or skills, from the nearest outwards; none before it is trusted.
func (s *Session) projectFolders(sort string) []string {
	if !s.top().trusted.Load() {
		return nil
	}
	return s.foldersOf(sort)
}

// foldersOf is where a project may add what is of one sort, trusted or not.
func (s *Session) foldersOf(sort string) []string {
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

// addAgents takes up the types of one folder, whose files must lie in within where
// that is not empty. What is wrong with a file is told in the next turn, and the file
// left out. A file that was found by another way is passed over.
func (s *Session) addAgents(found []agentType, dir, within string) []agentType {
	files := markdownFiles(dir)
	if len(files) > maxAgentFiles {
		s.tell(fmt.Sprintf("Of the %d agents in %s only the first %d are used.", len(files), kinds.Escape(dir), maxAgentFiles))
		files = files[:maxAgentFiles]
	}
	for _, file := range files {
		real := realPath(file)
		if slices.ContainsFunc(found, func(a agentType) bool { return a.file == real }) {
			continue
		}
		typ, err := agentType{}, errors.New("it is a link out of the project")
		if within == "" || inFolder(within, real) {
			typ, err = readAgentType(file)
		}
		if err == nil {
			err = s.checkAgent(typ, found)
		}
		if err != nil {
			s.tell(fmt.Sprintf("The agent in %s is left out: %v.", kinds.Escape(file), err))
			continue
		}
		if unknown := s.unknownTools(typ.tools); len(unknown) > 0 {
			s.tell(fmt.Sprintf("The agent in %s names tools that there are not: %s. It has the others.", kinds.Escape(file), strings.Join(unknown, ", ")))
		}
		typ.file = real
		found = append(found, typ)
	}
	return found
}

// markdownFiles is the Markdown files of a folder, in the order of their names.
func markdownFiles(dir string) (files []string) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() { // a FIFO is not to be opened
		return nil
	}
	entries, _ := os.ReadDir(dir) // what it lists in spite of an error is there
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// checkAgent says why a type cannot join those that there are.
func (s *Session) checkAgent(typ agentType, found []agentType) error {
	if slices.ContainsFunc(found, func(a agentType) bool { return a.name == typ.name }) {
		return fmt.Errorf("there is another agent named %s already", typ.name)
	}
	if typ.model != "" {
		return s.checkModel(typ.model)
	}
	return nil
}

// unknownTools is which of the names are no tool's. Those of servers are not
// looked at, as they come later.
func (s *Session) unknownTools(names []string) (unknown []string) {
	for _, name := range names {
		if _, err := s.sessions.tools.Find(name); err != nil && !strings.HasPrefix(name, tools.MCPPrefix) {
			unknown = append(unknown, kinds.Title(kinds.Escape(name)))
		}
	}
	return unknown[:min(len(unknown), maxAgentTools)]
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
		return agentType{}, fmt.Errorf("its name %s is not made of a-z, 0-9, - and _, or longer than 64", kinds.Title(fmt.Sprintf("%q", typ.name)))
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
		line := "- " + t.name + ": " + shorten(strings.Join(strings.Fields(kinds.Escape(t.description)), " "), maxAgentHint) + "\n"
		if b.Len()+len(line) > maxAgentIndex {
			line = "- " + t.name + "\n"
		}
		b.WriteString(line)
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
