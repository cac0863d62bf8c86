package editors

// Quirks is how an editor's side of the protocol differs from what the protocol
// says, as far as the agent must know.
type Quirks struct {
	// LineBase0: it takes the lines of locations as counted from 0.
	LineBase0 bool
	// OneOptionPerKind: of several permission options of a kind it shows only
	// the first, or gives all the same key. So of every editor that is not
	// known to show several.
	OneOptionPerKind bool
	// DiskOnly: its fs methods lose more than they give (they read the disk
	// anyway, drop final newlines, write nothing), so files are read and
	// written on the disk even where it offers them.
	DiskOnly bool
	// Terminal: the terminals that it offers may be used.
	Terminal bool
	// FormsOnly: a question of a tool is asked by a form or not at all: where it
	// has no forms nobody is there.
	FormsOnly bool
	// TitleOnly: of a call that it asks about it shows nothing but the title.
	TitleOnly bool
	// TurnsOnly: between turns it drops what it is told, or reports it as an error,
	// and may leave a question without an answer.
	TurnsOnly bool
}

// CommandLine is the name under which the agent's own subcommands drive it.
const CommandLine = "acp-agent-cli"

// QuirksOf returns the quirks of the editor that calls itself name in its
// clientInfo; name is empty where it gives none. Where each quirk was seen,
// spec/clients.md says in parts 1 and 3.
func QuirksOf(name string) Quirks {
	switch name {
	case "zed":
		return Quirks{LineBase0: true, Terminal: true}
	case CommandLine:
		return Quirks{OneOptionPerKind: true, Terminal: true, FormsOnly: true}
	case "vscode-acp-client":
		return Quirks{Terminal: true, TitleOnly: true}
	case "acpx":
		return Quirks{Terminal: true}
	case "CodeCompanion.nvim", "": // avante.nvim gives no name
		return Quirks{OneOptionPerKind: true, DiskOnly: true, Terminal: true, TurnsOnly: true}
	case "toad":
		return Quirks{OneOptionPerKind: true, DiskOnly: true, Terminal: true}
	case "agent-shell":
		return Quirks{OneOptionPerKind: true, Terminal: true, TurnsOnly: true}
	case "openclaw-acp-client": // its terminals answer null
		return Quirks{OneOptionPerKind: true, DiskOnly: true}
	default:
		return Quirks{OneOptionPerKind: true, Terminal: true}
	}
}
