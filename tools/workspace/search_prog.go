package workspace

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// program is a regular expression made ready for an automaton: its instructions,
// and the alphabet on which they tell characters apart. It is not changed once
// it is made.
//
// In the mode of lines a line end is no character: it ends a line, behind which
// the automaton begins anew.
type program struct {
	insts   []syntax.Inst
	start   uint32
	lines   bool
	asserts syntax.EmptyOp // all that the instructions ask about what surrounds a place
	columns []column
	bytes   [256]uint8 // the column of an ASCII byte; that of any other is wideColumn
	// Characters beyond ASCII from bounds[i] up to the next bound are of the
	// column wide[i]. The first bound is utf8.RuneSelf.
	bounds []rune
	wide   []uint8
}

// column is a set of characters that the expression does not tell apart.
type column struct {
	one     rune // of the set
	word    bool
	newline bool
	end     bool // no character: the end of the text, or of the line
}

// Columns that every program has.
const (
	endColumn  = iota // behind the last character
	wideColumn        // of a byte that begins a character beyond ASCII, which is to be decoded
	firstColumn
)

// Limits beyond which there is no program: building it would take long, and the
// states be large.
const (
	maxInsts   = 20_000
	maxColumns = 250
	maxBounds  = 1 << 16 // sets of characters times their ends
)

// newProgram makes a compiled expression ready; nil where it is too large.
func newProgram(compiled *syntax.Prog, lines bool) *program {
	if len(compiled.Inst) > maxInsts {
		return nil
	}
	p := &program{insts: compiled.Inst, start: uint32(compiled.Start), lines: lines,
		columns: []column{endColumn: {end: true}, wideColumn: {}}}
	for _, in := range p.insts {
		if in.Op == syntax.InstEmptyWidth {
			p.asserts |= syntax.EmptyOp(in.Arg)
		}
	}
	sets := p.sets()
	seen := map[string]uint8{}
	for b := range p.bytes {
		switch {
		case b >= utf8.RuneSelf:
			p.bytes[b] = wideColumn
		case b == '\n' && lines:
			p.bytes[b] = endColumn
		default:
			var ok bool
			if p.bytes[b], ok = p.column(rune(b), sets, seen); !ok {
				return nil
			}
		}
	}
	if !p.addWide(sets, seen) {
		return nil
	}
	return p
}

// sets are the instructions that take a character, one for each set of these.
func (p *program) sets() []*syntax.Inst {
	var sets []*syntax.Inst
	seen := map[string]bool{}
	for i := range p.insts {
		in := &p.insts[i]
		if in.Op != syntax.InstRune && in.Op != syntax.InstRune1 {
			continue // of the others each matches all but perhaps the line end
		}
		key := []byte{byte(in.Arg)}
		for _, r := range in.Rune {
			key = binary.AppendUvarint(key, uint64(r))
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			sets = append(sets, in)
		}
	}
	return sets
}

// column finds or adds the column of a character by which sets it is in; not ok
// where there would be too many.
func (p *program) column(r rune, sets []*syntax.Inst, seen map[string]uint8) (uint8, bool) {
	c := column{one: r, word: syntax.IsWordChar(r), newline: r == '\n'}
	var key strings.Builder
	if c.word {
		key.WriteByte('w')
	}
	if c.newline {
		key.WriteByte('n')
	}
	for i, in := range sets {
		if in.MatchRune(r) {
			key.Write(binary.AppendUvarint(nil, uint64(i)))
			key.WriteByte(',')
		}
	}
	if i, ok := seen[key.String()]; ok {
		return i, true
	}
	if len(p.columns) == maxColumns {
		return 0, false
	}
	i := uint8(len(p.columns))
	seen[key.String()] = i
	p.columns = append(p.columns, c)
	return i, true
}

// addWide sorts the characters beyond ASCII into columns.
func (p *program) addWide(sets []*syntax.Inst, seen map[string]uint8) bool {
	bounds := []rune{utf8.RuneSelf}
	add := func(r rune) {
		if r > utf8.RuneSelf && r <= unicode.MaxRune {
			bounds = append(bounds, r)
		}
	}
	for _, in := range sets {
		if len(in.Rune) == 1 {
			add(in.Rune[0])
			add(in.Rune[0] + 1)
			for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
				add(r)
				add(r + 1)
			}
			continue
		}
		for i := 0; i+1 < len(in.Rune); i += 2 {
			add(in.Rune[i])
			add(in.Rune[i+1] + 1)
		}
	}
	slices.Sort(bounds)
	p.bounds = slices.Compact(bounds)
	if len(p.bounds)*max(1, len(sets)) > maxBounds {
		return false
	}
	p.wide = make([]uint8, len(p.bounds))
	for i, r := range p.bounds {
		var ok bool
		if p.wide[i], ok = p.column(r, sets, seen); !ok {
			return false
		}
	}
	return true
}

// crosses reports whether a match may have a line end in it.
func crosses(prog *syntax.Prog) bool {
	return slices.ContainsFunc(prog.Inst, func(in syntax.Inst) bool { return takes(&in, '\n') })
}

// wideColumnOf is the column of a character beyond ASCII.
func (p *program) wideColumnOf(r rune) uint8 {
	i, found := slices.BinarySearch(p.bounds, r)
	if !found {
		i--
	}
	return p.wide[i]
}
