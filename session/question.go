package session

import (
	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
)

// question is what the user is asked about a call: all that its card says, then
// why it asks, what a command is made of, and where it acts (policy section 12).
func (s *Session) question(c *call, v permission.Verdict) Question {
	content := append([]Shown{}, c.rec.Content...)
	if v.Reason != "" {
		content = append(content, shownText("Why this asks: "+kinds.Prose(v.Reason)+".")...)
	}
	content = append(content, shownText(kinds.Parts(v.Parts))...)
	if c.action != nil {
		content = append(content, shownText(s.place(c.action.Facts))...)
	}
	return Question{CallID: c.rec.ID, Tool: c.rec.Tool, Card: c.rec.Card, Input: rawInput(c.rec.input()),
		Content: content, Reason: v.Reason, Always: v.Always}
}

// place says where a command runs, and where links lead that a call goes through.
func (s *Session) place(f kinds.Facts) string {
	text := ""
	if f.Command != nil {
		text = "It runs in " + kinds.Code(f.Command.Dir) + ", " + s.sandboxed(f) + "."
	}
	for _, p := range f.Paths {
		if p.Target != "" && p.Target != p.Path {
			text = joinText(text, kinds.Code(s.workspace.Name(p.Path))+" leads to "+kinds.Code(p.Target)+".")
		}
	}
	return text
}
