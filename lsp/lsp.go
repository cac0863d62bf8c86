// Package lsp runs language servers and asks them: definitions, references,
// symbols, calls, diagnostics, renames and code actions, over the Language Server
// Protocol 3.17 (spec: the first half of "Language servers and MCP servers").
//
// Servers has one process a language and root, shared by all sessions. A View is
// what one session sees of them: its folders, its settings, and the files as its
// agent sees them, unsaved text of the editor included. Types of the protocol come
// from go.lsp.dev/protocol where those are right, and from wire.go where they are
// wrong, silently lose data or are too old.
//
// It leaves out what a result looks like to the model and to the user, and the
// writing of files (package tools): a rename is a list of edits here. It never
// downloads a server, and starts one only below a root that is trusted.
package lsp
