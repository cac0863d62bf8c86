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
	ends := session.Ends{Sink: sink{s, sessionID}, Asker: asker{s, sessionID}}
	if !c.quirks.DiskOnly {
		ends.Files = newEditorFiles(s.conn, sessionID, c.can.FS, disk)
	}
	if c.can.Terminal && c.quirks.Terminal {
		ends.Shell = newEditorShell(s.conn, sessionID, exec)
	}
	return ends
}
