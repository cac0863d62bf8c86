package workspace

// Roots is the set of folders a session works in; the first is its working
// directory.
type Roots struct {
	dirs []string
}
