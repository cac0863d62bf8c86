// Package editors knows the editors that launch this agent, one small file an
// editor: where its configuration lives, what has to stand there, how to tell
// whether it is installed. How an editor differs from the protocol is data too,
// see QuirksOf.
//
// It leaves out what goes over the wire (package acp), and it writes nothing.
package editors
