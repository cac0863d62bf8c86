package kinds

// Facts is what a call would do, as far as the permission engine judges it. The
// zero value claims nothing: not read-only, and to be run alone.
type Facts struct {
	Tool       string       // the tool's id
	Command    *Command     // a shell command; nil: none
	Paths      []PathAccess // files and folders touched by the tool itself
	URL        *URL         // what is fetched from the web; nil: nothing
	Sends      string       // text that goes to a server which the user chose, such as a search
	ReadOnly   bool         // changes nothing, neither on disk nor elsewhere
	Concurrent bool         // may run beside other calls that say the same
	Harmless   bool         // touches nothing but the conversation (todo)
	LeavesPlan bool         // ends plan mode, in the way that the user chooses
}

// Command is a shell command as it would be run.
type Command struct {
	Text string // as the model wrote it
	Dir  string // absolute
}

// Access is what is done to a path.
type Access int

// What a call does to a path. The zero value is the one that matters most.
const (
	Write Access = iota // create, change or remove
	Read                // its content would be shown
	List                // its name and those below it would be shown
)

// PathAccess is one path of a call.
type PathAccess struct {
	Access Access
	Path   string // absolute, as asked for, cleaned
	Target string // absolute, links resolved; Path where it does not exist yet
	Gone   bool   // of a Write: the name is removed, not what its file holds changed
}
