// Package acp is the Agent Client Protocol: its types as they stand on the wire,
// the table of methods, decoding and encoding, and the editor's files and
// terminals as the session sees them.
//
// The types are those of version 1 of the protocol's schema, both ways, and are
// named as there. A union is an interface that only types of this package
// implement; each variant writes its own tag; a tag that this version does not
// know becomes an Unknown… variant, which keeps its JSON. Members that may be
// absent are left out when zero and are never null; a list that may be absent is
// left out when nil and is [] when empty; a required list is never null. Decode
// says what is accepted.
//
// The package leaves out the connection (package jsonrpc), the editor's side
// (package client) and everything that a session does (package session).
package acp
