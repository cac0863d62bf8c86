package tools

import (
	"encoding/json"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// TitleOf is the title of a call whose arguments are no good, or that could not
// be prepared with them: what they say of it as far as Title asks for it, else
// the tool's ID.
func (s *Spec) TitleOf(input string) string {
	var args map[string]any
	_ = json.Unmarshal([]byte(input), &args) // what is no object says nothing
	var b strings.Builder
	for rest := s.Title; rest != ""; {
		plain, name, found := strings.Cut(rest, "{")
		b.WriteString(plain)
		if !found {
			break
		}
		name, rest, _ = strings.Cut(name, "}")
		value, _ := args[name].(string)
		if strings.TrimSpace(value) == "" {
			return s.ID
		}
		if s.Kind != kinds.KindThink { // which is prose
			value = kinds.Line(value)
		}
		b.WriteString(value)
	}
	if title := kinds.Title(b.String()); title != "" {
		return title
	}
	return s.ID
}
