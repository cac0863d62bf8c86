package tools

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxPatchLines is how many lines a file may have that is patched.
const maxPatchLines = 2 << 20

// sheet is a text by its lines.
type sheet struct {
	text   string
	starts []int // where each begins, and the text's end
}

func newSheet(text string) *sheet {
	s := &sheet{text: text, starts: make([]int, 0, strings.Count(text, "\n")+2)}
	for at := 0; at < len(text); {
		s.starts = append(s.starts, at)
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	s.starts = append(s.starts, len(text))
	return s
}

// count is how many lines there are.
func (s *sheet) count() int { return len(s.starts) - 1 }

// line is a line with its end, from 0.
func (s *sheet) line(i int) string { return s.text[s.starts[i]:s.starts[i+1]] }

// has reports whether the lines stand at a place.
func (s *sheet) has(lines []string, at int) bool {
	if at < 0 || at+len(lines) > s.count() {
		return false
	}
	for i, line := range lines {
		if s.line(at+i) != line {
			return false
		}
	}
	return true
}

// find lists all places at which the lines stand; they may overlap. It takes
// time in proportion to the text (Knuth, Morris, Pratt), whatever repeats.
func (s *sheet) find(lines []string) []int {
	next := make([]int, len(lines)+1) // the longest border of the first i lines
	next[0] = -1
	for i, k := 1, 0; i <= len(lines); i++ {
		for k = next[i-1]; k >= 0 && lines[k] != lines[i-1]; {
			k = next[k]
		}
		next[i] = k + 1
	}
	var found []int
	k := 0
	for i := range s.count() {
		for k >= 0 && (k == len(lines) || lines[k] != s.line(i)) {
			k = next[k]
		}
		if k++; k == len(lines) {
			found = append(found, i+1-k)
		}
	}
	return found
}

// placement is where a hunk was found, or is looked for.
type placement struct {
	*hunk
	old      []string // its lines in the old text
	grows    int      // how many lines it adds
	from, to int      // of old, what lies between the context at its ends
	at       int      // the line in the old text, from 0
	off      int      // how far from where the patch says; 0 where it does not say
	others   int      // places that would have done too, farther off
}

func newPlacement(h *hunk) *placement {
	p := &placement{hunk: h, old: h.side('-')}
	p.grows = len(h.side('+')) - len(p.old)
	lead, trail := 0, 0
	for lead < len(h.lines) && h.lines[lead].op == ' ' {
		lead++
	}
	for trail < len(h.lines)-lead && h.lines[len(h.lines)-1-trail].op == ' ' {
		trail++
	}
	p.from, p.to = lead, len(p.old)-trail
	return p
}

// end is the first line behind it.
func (h *placement) end() int { return h.at + len(h.old) }

// placer finds where the hunks of one file belong.
type placer struct {
	*sheet
	done  []*placement
	grown int // lines that all of done add
	below int // the first line behind all of done
}

// errNowhere says that a hunk's lines do not stand in the text.
var errNowhere = errors.New("nowhere")

// place finds the hunk's place.
func (p *placer) place(h *placement) (err error) {
	if h.at, err = p.locate(h); err != nil {
		return err
	}
	if h.newAt >= 0 {
		h.off = p.off(h, h.at)
	}
	p.done = append(p.done, h)
	p.grown += h.grows
	p.below = max(p.below, h.end())
	return nil
}

// locate holds the hunk to what git apply demands: one that begins the old file,
// or ends it as the missing context tells, does so now, and none shares a line
// with another. Where that leads
// nowhere it may stand anywhere, and only what two hunks change must be apart.
//
// The stated place is taken where the lines stand there, else the nearest one, as
// git does. Where git finds none they must stand at one place alone.
func (p *placer) locate(h *placement) (int, error) {
	old := h.old
	if len(old) == 0 {
		return p.insertion(h)
	}
	begins := h.oldAt == 0 || h.oldAt == 1
	ends := h.atEnd || h.newAt >= 0 && h.from > 0 && h.to == len(old)
	fits := func(at int) bool {
		return (!begins || at == 0) && (!ends || at+len(old) == p.count()) && p.has(old, at) && p.free(h, at, true)
	}
	stated := p.image(h)
	if fits(stated) {
		return stated, nil
	}
	if !p.has(old, stated) || !p.free(h, stated, false) || h.atEnd {
		stated = -1
	}
	var strict, loose []int
	for _, at := range p.places(h) {
		if h.oldAt >= 0 && fits(at) {
			strict = append(strict, at)
		}
		if (!h.atEnd || at+len(old) == p.count()) && p.free(h, at, false) {
			loose = append(loose, at)
		}
	}
	switch {
	case len(strict) > 0:
		h.others = len(strict) - 1
		return p.nearest(h, strict), nil
	case stated >= 0:
		return stated, nil
	}
	return p.choose(h, loose)
}

// nearest is the place that is least far from where the hunk says; of two as far,
// the one below, where git looks first.
func (p *placer) nearest(h *placement, places []int) int {
	return slices.MinFunc(places, func(a, b int) int {
		x, y := p.off(h, a), p.off(h, b)
		return cmp.Or(cmp.Compare(abs(x), abs(y)), cmp.Compare(y, x))
	})
}

// maxHunkPlaces is how many places of a hunk are weighed, those around where it
// says, and the ones at the text's ends.
const maxHunkPlaces = 1000

// places lists where the lines stand.
func (p *placer) places(h *placement) []int {
	all := p.find(h.old)
	if len(all) <= maxHunkPlaces {
		return all
	}
	middle, _ := slices.BinarySearch(all, max(h.newAt-1, 0)-p.grown)
	from := min(max(middle-maxHunkPlaces/2, 0), len(all)-maxHunkPlaces)
	kept := all[from : from+maxHunkPlaces : from+maxHunkPlaces]
	if first := all[0]; kept[0] != first {
		kept = append(kept, first)
	}
	if last := all[len(all)-1]; !slices.Contains(kept, last) {
		kept = append(kept, last)
	}
	return kept
}

// insertion is the place of a hunk that has only lines to add: all of an empty
// file, else where it says.
func (p *placer) insertion(h *placement) (int, error) {
	switch {
	case p.count() == 0:
		return 0, nil
	case h.atEnd:
		return p.count(), nil
	case h.oldAt < 0:
		return 0, errors.New("it has only lines to add: give lines around them that the file has")
	case h.oldAt > p.count():
		return 0, errNowhere
	}
	return h.oldAt, nil
}

// choose picks one of the places.
func (p *placer) choose(h *placement, places []int) (int, error) {
	switch {
	case len(places) == 0:
		return 0, errNowhere
	case len(places) == 1:
		return places[0], nil
	case h.newAt < 0:
		return p.chooseBelow(h, places)
	}
	return 0, p.ambiguous(places)
}

// chooseBelow picks the place of a hunk without numbers: behind the hunk before
// it, and the first below the lines that it names.
func (p *placer) chooseBelow(h *placement, places []int) (int, error) {
	from := 0
	if n := len(p.done); n > 0 {
		from = p.done[n-1].end()
	}
	named := false
	for _, anchor := range h.anchors {
		for i := from; i < p.count(); i++ {
			if strings.Contains(p.line(i), anchor) {
				from, named = i, true
				break
			}
		}
	}
	var below []int
	for _, at := range places {
		if at >= from {
			below = append(below, at)
		}
	}
	if len(below) == 1 || len(below) > 0 && named {
		return below[0], nil
	}
	return 0, p.ambiguous(places)
}

// off is how far a place is from where the hunk says, by the new file's lines.
func (p *placer) off(h *placement, at int) int {
	if len(h.old) == 0 {
		return 0
	}
	line := at
	if at >= p.below {
		line += p.grown
	} else {
		for _, other := range p.done {
			if other.at < at {
				line += other.grows
			}
		}
	}
	return line - max(h.newAt-1, 0)
}

// image is the old text's line of where the hunk says, below all before it;
// below 0 where it says nothing.
func (p *placer) image(h *placement) int {
	at := max(h.newAt-1, 0) - p.grown
	if h.newAt < 0 || p.off(h, at) != 0 {
		return -1
	}
	return at
}

// free reports whether no other hunk has the lines, or, where whole is false,
// changes lines that this one does.
func (p *placer) free(h *placement, at int, whole bool) bool {
	if at >= p.below {
		return true
	}
	from, to := h.span(at, whole)
	for _, other := range p.done {
		if start, end := other.span(other.at, whole); start < to && from < end {
			return false
		}
	}
	return true
}

func (h *placement) span(at int, whole bool) (from, to int) {
	if whole {
		return at, at + len(h.old)
	}
	return at + h.from, at + h.to
}

// ambiguousError says that a hunk's lines stand at several places.
type ambiguousError struct{ lines []int }

func (e *ambiguousError) Error() string {
	const most = 10
	var names []string
	for _, line := range e.lines[:min(len(e.lines), most)] {
		names = append(names, strconv.Itoa(line))
	}
	list := strings.Join(names, ", ")
	if more := len(e.lines) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "its lines stand at several places, at lines " + list + ", and none is where it says: give more lines around the change"
}

func (p *placer) ambiguous(places []int) error {
	e := &ambiguousError{}
	for _, at := range places {
		e.lines = append(e.lines, at+1)
	}
	slices.Sort(e.lines)
	return e
}

func abs(n int) int { return max(n, -n) }
