package acp

import (
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// Connect makes the editor's ends of a session: its files and terminals where it
// offers them and does them well, else nothing, which is the disk and child
// processes. What the editor can do is asked here and nowhere else.
func (s *server) Connect(sessionID string, disk *workspace.Disk, exec *tools.ExecShell) session.Ends {
	c := s.client.Load()
	ends := session.Ends{Sink: sink{s, sessionID}, Asker: asker{s, sessionID}, Questioner: s.questioner(sessionID)}
	_, ends.Forms = ends.Questioner.(forms)
	ends.TurnsOnly = c.quirks.TurnsOnly
	if !c.quirks.DiskOnly {
		ends.Files = newEditorFiles(s.conn, sessionID, c.can.FS, disk)
	}
	display, _ := c.can.Meta["terminal_output"].(bool)
	switch {
	case display:
		ends.Display = true
	case c.can.Terminal && c.quirks.Terminal:
		ends.Shell = newEditorShell(s.conn, sessionID, exec)
	}
	return ends
}

// questioner asks by forms where the editor has them, else by permission
// requests where a person sees them; nil: nobody is there.
func (s *server) questioner(sessionID string) session.Questioner {
	c := s.client.Load()
	switch can := c.can.Elicitation; {
	case can != nil && can.Form != nil:
		return forms{s, sessionID}
	case c.quirks.FormsOnly:
		return nil
	}
	return optionForms{s, sessionID}
}
