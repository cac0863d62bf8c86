package session

import (
	"context"
	"encoding/json"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// Sink receives what a session has to tell its editor.
type Sink interface {
	// Update tells u, in order; it returns when u is on its way. It is safe
	// for concurrent use.
	Update(ctx context.Context, u Update) error
}

// Update is one thing an editor is told. Updates of one session are told in
// the order in which they happened.
type Update interface{ update() }

// Speaker is whose words a Chunk holds.
type Speaker int

// The speakers. A user's words are told only when a session is loaded.
const (
	SpeakerAgent Speaker = iota
	SpeakerThought
	SpeakerUser
)

// Chunk is a piece of a message.
type Chunk struct {
	Speaker   Speaker
	MessageID string
	Content   Content
}

// Status is how far a call is.
type Status string

// The statuses of a call. Completed and failed are final.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Call announces a tool call, or changes what was told of it, by its ID.
type Call struct {
	ID      string
	New     bool // the first of this ID
	Status  Status
	Tool    string          // the tool's id; only in the first
	Input   json.RawMessage // only in the first, and where it became known later
	Card    *kinds.Card     // nil: unchanged
	Content []Shown         // nil: unchanged; empty: cleared
	Output  *tools.Envelope // what it came to; nil: nothing yet
	Display Display         // what its terminal is told
}

// Display tells a terminal that the editor shows for a call and does not run
// itself. Its id is the call's.
type Display struct {
	Dir  string      // set: there is such a terminal, in that folder
	Text string      // what goes on in it
	Exit *tools.Exit // how what it shows ended
}

// Shown is one piece of what a call shows: exactly one field is set.
type Shown struct {
	Change     *kinds.Change `json:"change,omitzero"`
	Media      *tools.Media  `json:"-"` // stored with the call
	TerminalID string        `json:"terminalId,omitzero"`
	Text       string        `json:"text,omitzero"` // Markdown
}

// PlanChanged tells the whole plan.
type PlanChanged struct{ Plan tools.Plan }

// CommandsChanged tells the slash commands.
type CommandsChanged struct{ Commands []Command }

// ModeChanged tells the mode.
type ModeChanged struct{ Mode permission.Mode }

// SettingsChanged tells all settings and their values.
type SettingsChanged struct{ Settings []Setting }

// InfoChanged tells the session's title and when something last happened.
type InfoChanged struct {
	Title   string
	Updated time.Time
}

// UsageChanged tells how many tokens of the window are in use.
type UsageChanged struct{ Used, Size int }

// Notice is a line that the user should see, outside the conversation.
type Notice struct{ Text string }

func (Chunk) update()           {}
func (Call) update()            {}
func (PlanChanged) update()     {}
func (CommandsChanged) update() {}
func (ModeChanged) update()     {}
func (SettingsChanged) update() {}
func (InfoChanged) update()     {}
func (UsageChanged) update()    {}
func (Notice) update()          {}

// Asker asks the user for permission.
type Asker interface {
	// Ask returns the user's answer. An answer that cannot be understood and an
	// error of the editor are Rejected, a lost editor is Cancelled; the only error
	// is ctx's.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is a call that waits for permission.
type Question struct {
	CallID  string
	Tool    string
	Card    kinds.Card
	Input   json.RawMessage
	Content []Shown            // as it stands in the call's card
	Reason  string             // why it asks
	Always  []permission.Grant // what "always" would add; empty: not offered
	// Stands reports whether it still has to be asked, by the rules as they are
	// now: an answer to another one may have settled it.
	Stands func() bool
	// Keep makes an answer for good hold; nil: there is none to keep. Who asks for
	// several in turn calls it before the next one, which the answer may settle.
	Keep func(Answer)
	// Options are the answers to choose from, in place of the usual ones; empty:
	// those.
	Options []Option
}

// Option is an answer that one question offers instead of the usual ones.
type Option struct {
	ID       string
	Name     string   // as the user reads it
	Decision Decision // what it comes to: AllowedOnce, AllowedAlways, Rejected or RejectedAlways
}

// Decision is what the user answered.
type Decision int

// The answers. The zero value rejects.
const (
	Rejected Decision = iota
	AllowedOnce
	AllowedAlways
	RejectedAlways
	Cancelled // the turn is to end
)

// Answer is the user's answer to a Question.
type Answer struct {
	Decision Decision
	Grant    int              // for AllowedAlways: which of Always
	Scope    permission.Scope // for AllowedAlways: how far it goes
	Option   string           // the id of that of Question.Options; empty: none of them
	Settled  bool             // with AllowedOnce: nobody was asked, as it stood no more
}

// Setting is a choice that the editor offers for the session.
type Setting struct {
	ID          string
	Name        string
	Description string
	Category    string // mode, model or thought_level
	Value       string
	Choices     []Choice
}

// Choice is one value of a Setting.
type Choice struct{ Value, Name, Description string }

// Command is a slash command.
type Command struct {
	Name        string // without the slash
	Description string
	Hint        string // of its arguments; empty: it takes none
}
