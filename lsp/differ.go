package lsp

import (
	"math"
	"strings"
)

// lineMap maps the lines of a text, from 0, to those of its next version.
type lineMap struct {
	head, tail int // lines that are the same at the beginning and at the end
	old, new   int // lines that there are
}

// unmoved is the map of a text that did not change.
func unmoved() lineMap { return lineMap{head: math.MaxInt} }

// moved is the map between two texts.
func moved(old, new string) lineMap {
	a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
	m := lineMap{old: len(a), new: len(b)}
	for m.head < len(a) && m.head < len(b) && a[m.head] == b[m.head] {
		m.head++
	}
	for m.tail < len(a)-m.head && m.tail < len(b)-m.head && a[len(a)-1-m.tail] == b[len(b)-1-m.tail] {
		m.tail++
	}
	return m
}

// to is where an old line is now; false: it is among those that changed.
func (m lineMap) to(line int) (int, bool) {
	switch {
	case line < m.head:
		return line, true
	case line >= m.old-m.tail:
		return line + m.new - m.old, true
	}
	return 0, false
}

// changed reports whether a new line is among those that changed.
func (m lineMap) changed(line int) bool { return line >= m.head && line < m.new-m.tail }

// sense is what a diagnostic says, wherever it says it.
type sense struct {
	severity              Severity
	source, code, message string
}

func (d *wireDiagnostic) sense() sense {
	message := string(d.Message)
	for _, more := range fixCounts {
		message = strings.TrimSuffix(message, more)
	}
	return sense{severityOf(d.Severity), d.Source, string(d.Code), message}
}

// fixCounts are what clangd ends a message with where it knows fixes, which depends on
// what else there is.
var fixCounts = []string{" (fix available)", " (fixes available)"}

// roughly is a sense without what changes where lines move, or where the same is
// meant more or less gravely.
func (s sense) roughly() sense {
	var b strings.Builder
	digits := false
	for _, r := range s.message {
		if digit := r >= '0' && r <= '9'; !digit || !digits {
			if digits = digit; digit {
				r = '0'
			}
			b.WriteRune(r)
		}
	}
	return sense{0, s.source, s.code, b.String()}
}

// spot is a sense at a line; below 0: at any of those that changed.
type spot struct {
	sense sense
	line  int
}

// pairing finds, for each diagnostic of now, the one of before that it continues.
type pairing struct {
	past, present []wireDiagnostic
	lines         lineMap
	goneFrom      []bool // of past: it has no continuation yet
	fresh         []bool // of present: it continues nothing yet
}

// differ tells what is new among a file's diagnostics, and what is gone. One that
// says the same at the same line, wherever that was moved to, or among the lines
// that changed, is neither. One that became graver is new, one that became less so
// is gone.
func differ(past, present []wireDiagnostic, lines lineMap) (fresh, gone []wireDiagnostic) {
	p := pairing{past: past, present: present, lines: lines, goneFrom: make([]bool, len(past)), fresh: make([]bool, len(present))}
	for i := range past {
		p.goneFrom[i] = true
	}
	for i := range present {
		p.fresh[i] = true
	}
	p.inOrder()
	p.pair(func(s sense) sense { return s }, func(int, int) {})
	p.pair(sense.roughly, func(was, is int) {
		before, now := severityOf(past[was].Severity), severityOf(present[is].Severity)
		p.fresh[is] = now < before
		p.goneFrom[was] = now > before
	})
	for i, d := range present {
		if p.fresh[i] {
			fresh = append(fresh, d)
		}
	}
	for i, d := range past {
		if p.goneFrom[i] {
			gone = append(gone, d)
		}
	}
	return fresh, gone
}

// inOrder pairs what has the same sense at the same line as far as both lists have
// the same order, which most have and which takes least time.
func (p *pairing) inOrder() {
	for i := range min(len(p.past), len(p.present)) {
		was, is := &p.past[i], &p.present[i]
		to, ok := p.lines.to(int(was.Range.Start.Line))
		if !ok || to != int(is.Range.Start.Line) || was.sense() != is.sense() {
			return
		}
		p.goneFrom[i], p.fresh[i] = false, false
	}
}

// pair pairs what has the same sense at the same line, or among those that changed.
func (p *pairing) pair(of func(sense) sense, met func(was, is int)) {
	waiting := map[spot][]int{}
	for i := range p.past {
		if !p.goneFrom[i] {
			continue
		}
		line, ok := p.lines.to(int(p.past[i].Range.Start.Line))
		if !ok {
			line = -1
		}
		at := spot{of(p.past[i].sense()), line}
		waiting[at] = append(waiting[at], i)
	}
	if len(waiting) == 0 {
		return
	}
	for i := range p.present {
		if !p.fresh[i] {
			continue
		}
		at := spot{of(p.present[i].sense()), int(p.present[i].Range.Start.Line)}
		if p.lines.changed(at.line) {
			at.line = -1
		}
		if list := waiting[at]; len(list) > 0 {
			waiting[at] = list[1:]
			p.goneFrom[list[0]], p.fresh[i] = false, false
			met(list[0], i)
		}
	}
}
