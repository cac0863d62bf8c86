package permission

import "fmt"

// Action is what a verdict or a rule says. They are ordered, the strictest
// last: Allow < Ask < ForcedAsk < Deny. The zero value asks.
type Action int

// The actions of policy section 1. ForcedAsk is a question that no mode but
// the ones of the policy's table, and no ordinary rule, answers.
const (
	Allow Action = iota - 1
	Ask
	ForcedAsk
	Deny
)

// String is the action as it is written in a configuration; ForcedAsk, which
// is never written, is "forced-ask".
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case ForcedAsk:
		return "forced-ask"
	case Deny:
		return "deny"
	}
	return fmt.Sprintf("Action(%d)", int(a))
}

// MarshalText writes the action as a configuration does.
func (a Action) MarshalText() ([]byte, error) {
	if a < Allow || a > Deny {
		return nil, fmt.Errorf("there is no action %d", int(a))
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads allow, ask or deny.
func (a *Action) UnmarshalText(text []byte) error {
	switch string(text) {
	case "allow":
		*a = Allow
	case "ask":
		*a = Ask
	case "deny":
		*a = Deny
	default:
		return fmt.Errorf("%q is not an action: write allow, ask or deny", text)
	}
	return nil
}

// Scope is where a rule comes from. A rule loosens only rules of its own or a
// lower scope (policy section 8). The zero value is the lowest.
type Scope int

// The scopes, lowest first.
const (
	Project  Scope = iota // the project's files, or an answer kept for this project
	Session               // the user's files, or an answer of this session
	Manifest              // the administrator's file and the user's capability keys
)

// String is the scope's name in policy section 8.
func (s Scope) String() string {
	switch s {
	case Project:
		return "project"
	case Session:
		return "session"
	case Manifest:
		return "manifest"
	}
	return fmt.Sprintf("Scope(%d)", int(s))
}

// Mode is how much is done without asking (policy section 1). An unknown one,
// and the empty one, is Default.
type Mode string

// The modes. Auto leaves to a classifier what would be asked; this engine only
// suspends the rules that the policy suspends there, and it is not offered.
const (
	Default           Mode = "default"
	AcceptEdits       Mode = "acceptEdits"
	Plan              Mode = "plan"
	BypassPermissions Mode = "bypassPermissions"
	DontAsk           Mode = "dontAsk"
	Auto              Mode = "auto"
)

// ModeInfo is a mode as an editor offers it.
type ModeInfo struct {
	ID          Mode
	Name        string
	Description string
}

// Modes lists the modes that are offered, the safest ways of working first.
func Modes() []ModeInfo {
	return []ModeInfo{
		{Default, "Ask", "Reading is silent; edits, commands and the network are asked about."},
		{AcceptEdits, "Accept edits", "Edits inside the project are made without asking; the rest as in Ask."},
		{Plan, "Plan", "Only reads and plans; changes nothing."},
		{DontAsk, "Don't ask", "What would be asked about is refused instead."},
		{BypassPermissions, "Bypass permissions", "Nearly nothing is asked about. For throw-away machines."},
	}
}

// Valid reports whether m is one of the modes that are offered.
func (m Mode) Valid() bool {
	for _, info := range Modes() {
		if info.ID == m {
			return true
		}
	}
	return false
}
