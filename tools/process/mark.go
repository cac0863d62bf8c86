package process

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
)

// Token is the environment variable that marks a child and all that descends
// from it, so that they are found where they left the child's group.
const Token = "ACP_AGENT_TOKEN"

// mark tells one process of a supervisor, or all of them, from any other's. What
// descends from a process has its mark in two places: in the environment, which
// programs may clear or write over, and, on Linux, as a limit that they do not
// touch, whatever session, environment or user they take on.
type mark struct {
	text  string // the value of Token; of a supervisor: how it begins, with a dot at its end
	limit uint64 // 0: none. Of a supervisor: with no number of a process
}

// The limit is a time in microseconds that is as good as none: its highest bit is
// followed by random ones and by the process's number.
const (
	limitBit    = 1 << 62
	numberBits  = 22
	numberRange = 1 << numberBits
)

// newMark is the mark of a supervisor.
func newMark() mark {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return mark{rand.Text() + ".", limitBit | binary.LittleEndian.Uint64(random[:])%limitBit&^(numberRange-1)}
}

// of is the mark of a supervisor's nth process.
func (m mark) of(n int) mark {
	m.text += strconv.Itoa(n)
	if n >= numberRange {
		m.limit = 0
	}
	m.limit |= uint64(n)
	return m
}

// all reports whether the mark is that of a supervisor.
func (m mark) all() bool { return m.text[len(m.text)-1] == '.' }

// entry is the mark as it stands in an environment.
func (m mark) entry() string { return Token + "=" + m.text }

// needle is what an environment block holds where the mark is in it.
func (m mark) needle() []byte {
	if m.all() {
		return []byte(m.entry())
	}
	return []byte(m.entry() + "\x00")
}

// is reports whether a process with that limit has the mark.
func (m mark) is(limit uint64) bool {
	if m.all() {
		limit &^= numberRange - 1
	}
	return m.limit != 0 && m.limit == limit
}

// script marks the bash that reads it. One before 5.1 does not know the limit.
func (m mark) script() string {
	return "builtin export " + m.entry() + "\nbuiltin ulimit -S -R " + strconv.FormatUint(m.limit, 10) + " 2>/dev/null\n"
}
