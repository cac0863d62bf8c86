package workspace

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// automaton runs a program over a text, one step a byte, and tells where a match
// ends first. Its states are made when they are first met, at most as many as
// maxTable and maxSets have room for; then it forgets them all and goes on. It
// is for one goroutine.
//
// It says whether and where something matches, not where the match begins: for
// that see package regexp, whose decisions it makes.
type automaton struct {
	*program
	table  []transition // a row for each state, of a column each
	states []dfaState   // by row
	ids    map[string]transition
	begin  transition // the state at the beginning
	idle   transition // the same where the automaton falls back into it; else unknown
	idles  [256]bool  // bytes that lead from idle to idle
	sets   int        // members of all states together
	made   int        // states since the table was emptied
	ran    int        // bytes since then
	broken bool       // it forgets more than it runs

	now, next sparseSet
	key       []byte
}

// transition is where a step leads: a state, which is the place of its row in
// the table, or one of the special values.
type transition uint32

const (
	special transition = 1 << 31
	unknown            = special     // the step was not taken yet
	matched            = special | 1 // what was read ends in a match
	dead               = special | 2 // nothing that follows makes a match
	decode             = special | 3 // the byte belongs to a longer character
)

// Limits of what an automaton keeps.
const (
	maxTable = 1 << 18 // transitions: a megabyte
	maxSets  = 1 << 18 // members of states
	// minRun is how many bytes are to be read for each state that is made; else
	// package regexp is faster.
	minRun = 10
)

// dfaState is a set of instructions at which a match may go on, and what came
// before.
type dfaState struct {
	insts []uint32 // those that take a character, look at what surrounds the place, or match
	prev  before
}

// before is what stands before a place in the text.
type before uint8

const (
	beforeOther before = iota
	beforeWord         // a character of words
	beforeLine         // a line end
	beforeAll          // nothing
)

func newAutomaton(p *program) *automaton {
	a := &automaton{program: p, ids: map[string]transition{}}
	a.now.size(len(p.insts))
	a.next.size(len(p.insts))
	a.forget()
	return a
}

// forget drops all states but that of the beginning.
func (a *automaton) forget() {
	a.table, a.states = a.table[:0], a.states[:0]
	clear(a.ids)
	a.sets, a.made, a.ran = 0, 0, 0
	a.idle, a.idles = unknown, [256]bool{}
	a.next.clear()
	a.follow(&a.next, a.start, 0)
	if a.asserts&^(syntax.EmptyEndText|syntax.EmptyEndLine) != 0 {
		a.begin = a.state(beforeAll)
		return
	}
	a.begin = a.state(beforeOther)
	a.idle = a.begin
}

// after is the state behind a character, where no match has begun.
func (a *automaton) after(r rune) transition {
	c := column{word: syntax.IsWordChar(r), newline: r == '\n'}
	a.next.clear()
	a.follow(&a.next, a.start, 0)
	return a.state(a.prune(&c))
}

// run goes on from a state over text[i:end] and returns where it stopped, and in
// what state: matched at the character that made it sure, which is in the line
// that matches or its end; dead where nothing that follows makes a match; else
// what was reached at the end.
//
// In the mode of lines it goes on behind a line that is dead; then dead means
// the rest of the last line. It ends early where it gets broken.
func (a *automaton) run(s transition, text []byte, i, end int) (transition, int) {
	table, columns, from := a.table, &a.bytes, i
	idle, idles := a.idle, &a.idles
	text = text[:end:len(text)]
	if s == dead {
		s, i = a.revive(text, i)
	}
	if s >= special {
		return s, i
	}
	for i < len(text) {
		next := table[s+transition(columns[text[i]])]
		if next < special {
			s = next
			i++
			if s == idle {
				for i < len(text) && idles[text[i]] {
					i++
				}
			}
			continue
		}
		a.ran += i - from
		from = i
		var size int
		next, size = a.slow(s, next, text, i)
		table = a.table
		switch {
		case next == dead:
			next, i = a.revive(text, i)
			if next == dead {
				return dead, i
			}
		case next == matched:
			return matched, i
		default:
			i += size
		}
		s = next
		if a.broken {
			return s, i
		}
	}
	a.ran += i - from
	return s, i
}

// slow takes the step that the table does not give; size is the character's.
func (a *automaton) slow(s, next transition, text []byte, i int) (to transition, size int) {
	col := a.bytes[text[i]]
	size = 1
	if next == decode {
		var r rune
		r, size = utf8.DecodeRune(text[i:cap(text)])
		col = a.wideColumnOf(r)
		next = a.table[s+transition(col)]
	}
	if next == unknown {
		next = a.step(s, col)
	}
	return next, size
}

// revive goes on behind a line that is dead.
func (a *automaton) revive(text []byte, i int) (transition, int) {
	if !a.lines {
		return dead, i
	}
	n := bytes.IndexByte(text[i:], '\n')
	if n < 0 {
		return dead, len(text)
	}
	return a.begin, i + n + 1
}

// ends reports whether the end of the text, or line, makes a match of a state.
func (a *automaton) ends(s transition) bool {
	if s >= special {
		return s == matched
	}
	next := a.table[s+endColumn]
	if next == unknown {
		next = a.step(s, endColumn)
	}
	return next == matched
}

// step finds out where a state leads by a column, and notes it.
func (a *automaton) step(s transition, col uint8) transition {
	row := int(s) / len(a.columns)
	next := a.compute(&a.states[row], &a.columns[col])
	if next != unknown {
		a.note(s, col, next)
		return next
	}
	prev := a.prune(&a.columns[col])
	if len(a.next.dense) == 0 {
		a.note(s, col, dead)
		return dead
	}
	if len(a.table)+len(a.columns) > maxTable || a.sets > maxSets {
		a.forgetBut()
		return a.state(prev) // the row of s is gone
	}
	next = a.state(prev)
	a.note(s, col, next)
	return next
}

// note keeps where a step led.
func (a *automaton) note(s transition, col uint8, to transition) {
	a.table[s+transition(col)] = to
	if s != a.idle || to != a.idle {
		return
	}
	for b, c := range a.bytes {
		if c == col {
			a.idles[b] = true
		}
	}
}

// forgetBut makes room, but keeps the set that is in next.
func (a *automaton) forgetBut() {
	kept := slices.Clone(a.next.dense)
	a.broken = a.ran < minRun*a.made
	a.forget()
	a.next.clear()
	for _, pc := range kept {
		a.next.add(pc)
	}
}

// compute takes a step from a state: unknown means that the set of the next state
// is in a.next.
func (a *automaton) compute(from *dfaState, c *column) transition {
	a.now.clear()
	for _, pc := range from.insts {
		if a.follow(&a.now, pc, emptyOps(from.prev, c)|resolve) {
			return matched
		}
	}
	if c.end {
		if a.lines {
			return a.begin
		}
		return dead
	}
	a.next.clear()
	for _, pc := range a.now.dense {
		in := &a.insts[pc]
		if takes(in, c.one) && a.follow(&a.next, in.Out, 0) {
			return matched
		}
	}
	a.follow(&a.next, a.start, 0) // a match may begin anywhere
	return unknown
}

func takes(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1:
		return in.MatchRune(r)
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return false
}

// resolve makes follow decide about what surrounds a place; else it stops there.
const resolve = syntax.EmptyNoWordBoundary << 1

// emptyOps are the assertions that hold between what came before and a column.
func emptyOps(prev before, c *column) syntax.EmptyOp {
	var ops syntax.EmptyOp
	switch prev {
	case beforeAll:
		ops = syntax.EmptyBeginText | syntax.EmptyBeginLine
	case beforeLine:
		ops = syntax.EmptyBeginLine
	}
	switch {
	case c.end:
		ops |= syntax.EmptyEndText | syntax.EmptyEndLine
	case c.newline:
		ops |= syntax.EmptyEndLine
	}
	if (prev == beforeWord) != c.word {
		return ops | syntax.EmptyWordBoundary
	}
	return ops | syntax.EmptyNoWordBoundary
}

// follow adds to a set what can be reached from an instruction without taking a
// character, and reports whether that is a match.
func (a *automaton) follow(set *sparseSet, pc uint32, ops syntax.EmptyOp) bool {
	base := len(set.stack)
	set.stack = append(set.stack, pc)
	for len(set.stack) > base {
		pc := set.stack[len(set.stack)-1]
		set.stack = set.stack[:len(set.stack)-1]
		if !set.visit(pc) {
			continue
		}
		in := &a.insts[pc]
		switch in.Op {
		case syntax.InstMatch:
			set.add(pc)
			set.stack = set.stack[:base]
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			set.stack = append(set.stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			set.stack = append(set.stack, in.Out)
		case syntax.InstEmptyWidth:
			if ops&resolve == 0 {
				set.add(pc)
			} else if syntax.EmptyOp(in.Arg)&^ops == 0 {
				set.stack = append(set.stack, in.Out)
			}
		case syntax.InstFail:
		default:
			set.add(pc)
		}
	}
	return false
}

// prune takes out of a.next the assertions that can no longer hold behind a
// column, and says what of that column the others may depend on.
func (a *automaton) prune(c *column) before {
	asserts := false
	a.next.dense = slices.DeleteFunc(a.next.dense, func(pc uint32) bool {
		in := &a.insts[pc]
		if in.Op != syntax.InstEmptyWidth {
			return false
		}
		ops := syntax.EmptyOp(in.Arg)
		never := ops&syntax.EmptyBeginText != 0 || ops&syntax.EmptyBeginLine != 0 && a.lines
		asserts = asserts || !never
		return never
	})
	switch {
	case !asserts:
	case c.newline && a.asserts&syntax.EmptyBeginLine != 0:
		return beforeLine
	case c.word && a.asserts&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
		return beforeWord
	}
	return beforeOther
}

// state finds or adds the state of the set in a.next.
func (a *automaton) state(prev before) transition {
	slices.Sort(a.next.dense)
	a.key = append(a.key[:0], byte(prev))
	for _, pc := range a.next.dense {
		a.key = binary.AppendUvarint(a.key, uint64(pc))
	}
	if id, ok := a.ids[string(a.key)]; ok {
		return id
	}
	id := transition(len(a.table))
	a.ids[string(a.key)] = id
	a.states = append(a.states, dfaState{insts: slices.Clone(a.next.dense), prev: prev})
	a.sets += len(a.next.dense)
	a.made++
	for range a.columns {
		a.table = append(a.table, unknown)
	}
	a.table[id+wideColumn] = decode
	return id
}

// sparseSet is a set of instructions that is emptied at once. The visited ones
// are more than the members: those in between are only passed through.
type sparseSet struct {
	dense []uint32 // the members
	seen  []uint32 // when each was last visited
	round uint32
	stack []uint32 // of follow
}

func (s *sparseSet) size(n int) { s.seen, s.round = make([]uint32, n), 1 }

func (s *sparseSet) clear() {
	s.dense = s.dense[:0]
	if s.round++; s.round == 0 {
		clear(s.seen)
		s.round = 1
	}
}

// visit reports whether an instruction is met for the first time.
func (s *sparseSet) visit(pc uint32) bool {
	if s.seen[pc] == s.round {
		return false
	}
	s.seen[pc] = s.round
	return true
}

func (s *sparseSet) add(pc uint32) { s.dense = append(s.dense, pc) }
