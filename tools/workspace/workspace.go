// Package workspace is the project on disk: the roots a session works in, the
// resolution of paths that opens what it checked, atomic writes, encodings and
// line ends, ignore rules, the walker and the searcher.
//
// It leaves out what may be touched (package session/permission) and files
// that only an editor knows (package acp).
package workspace

import "errors"

// ErrChanged says that a file holds something else than what a change was made
// from.
var ErrChanged = errors.New("the file changed in the meantime")

// Path is a path that was resolved against the roots.
type Path struct {
	Asked  string // absolute, as asked for, cleaned
	Target string // absolute, links resolved as the kernel does
	Inside bool   // Target lies in one of the roots, by components
	Exists bool

	names uint64 // of the file when it was resolved (hard links); 0: not known
}
