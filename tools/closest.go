package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Bounds of the search for the lines that come closest.
const (
	closestText  = 4 << 20 // bytes of the file that are looked at
	closestLine  = 400     // bytes of a line that are compared
	closestShown = 160     // runes of a line that are shown
	closestRows  = 8       // lines of a place that are shown
)

// closest says where a text that does not occur comes closest to occurring, and
// what the difference may be. It is never applied: only shown.
func closest(ctx context.Context, text, old string) string {
	lines := strings.Split(text[:min(len(text), closestText)], "\n")
	wanted := strings.Split(strings.Trim(old, "\n"), "\n")
	if allNumbered(wanted) {
		return "Its lines begin with the numbers that read shows: leave the number and the tab out."
	}
	if hint := lookalike(text, old); hint != "" {
		return hint
	}
	places := likely(ctx, lines, wanted)
	if len(places) == 0 {
		return "No line is like it: read the file and copy the text exactly."
	}
	rows := min(len(wanted), closestRows)
	if rows > 1 {
		places = places[:1]
	}
	var b strings.Builder
	b.WriteString("The closest lines are:\n")
	for _, p := range places {
		for i := p.line; i < min(p.line+rows, len(lines)); i++ {
			fmt.Fprintf(&b, "%6d\t%s\n", i+1, clip(strings.TrimSuffix(lines[i], "\r"), closestShown))
		}
	}
	if sameButSpace(lines, places[0].line, wanted) {
		b.WriteString("The first differs in white space only.")
		for i, want := range wanted {
			if have := strings.TrimSuffix(lines[places[0].line+i], "\r"); have != want {
				b.WriteString(spaceHint(have, want))
				break
			}
		}
		b.WriteByte(' ')
	}
	b.WriteString("Copy the text exactly as it stands, without the line numbers.")
	return b.String()
}

// allNumbered reports whether the lines are as read shows them.
func allNumbered(lines []string) bool {
	for _, line := range lines {
		digits, _, tab := strings.Cut(strings.TrimLeft(line, " "), "\t")
		if !tab || digits == "" || strings.Trim(digits, "0123456789") != "" {
			return false
		}
	}
	return true
}

// likeness is how like a place is to what is wanted: 0 to 1.
type likeness struct {
	line  int // the place's first, from 0
	score float64
}

// likely ranks places by how like their lines are to the wanted ones, at most
// three. The longest wanted line is looked for first; the others count where it
// was found.
func likely(ctx context.Context, lines, wanted []string) []likeness {
	anchor := 0
	for i, line := range wanted {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(wanted[anchor])) {
			anchor = i
		}
	}
	pairs := pairsOf(wanted[anchor])
	if len(pairs) == 0 {
		return nil
	}
	const least = 0.4
	var found []likeness
	for i, line := range lines {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil
		}
		if score := dice(pairs, line); score >= least {
			found = append(found, likeness{max(i-anchor, 0), score})
		}
	}
	rank(found)
	found = found[:min(len(found), 20)]
	for i, p := range found {
		found[i].score += alike(lines, p.line, wanted)
	}
	rank(found)
	return found[:min(len(found), 3)]
}

func rank(places []likeness) {
	slices.SortStableFunc(places, func(a, b likeness) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.line, b.line))
	})
}

// alike is the mean likeness of the first wanted lines to those at a place.
func alike(lines []string, at int, wanted []string) float64 {
	sum, n := 0.0, min(len(wanted), closestRows)
	for i := range n {
		if at+i < len(lines) {
			sum += dice(pairsOf(wanted[i]), lines[at+i])
		}
	}
	return sum / float64(n)
}

// pairsOf counts the pairs of neighbouring bytes of a line, white space aside.
// A line of one byte counts as that byte.
func pairsOf(line string) map[[2]byte]int {
	line = squeeze(line)
	pairs := map[[2]byte]int{}
	if len(line) == 1 {
		pairs[[2]byte{line[0]}]++
	}
	for i := 1; i < len(line); i++ {
		pairs[[2]byte{line[i-1], line[i]}]++
	}
	return pairs
}

// dice is the share of pairs that two lines have in common.
func dice(pairs map[[2]byte]int, line string) float64 {
	total := 0
	for _, n := range pairs {
		total += n
	}
	others := pairsOf(line)
	common := 0
	for pair, n := range others {
		common += min(n, pairs[pair])
		total += n
	}
	if total == 0 {
		return 1
	}
	return 2 * float64(common) / float64(total)
}

// squeeze leaves out white space.
func squeeze(line string) string {
	return strings.Join(strings.Fields(line[:min(len(line), closestLine)]), "")
}

func sameButSpace(lines []string, at int, wanted []string) bool {
	for i, want := range wanted {
		if at+i >= len(lines) || strings.Join(strings.Fields(lines[at+i]), "") != strings.Join(strings.Fields(want), "") {
			return false
		}
	}
	return true
}

// clip cuts a line after n runes, visibly.
func clip(line string, n int) string {
	for i := range line {
		if n--; n < 0 {
			return line[:i] + "…"
		}
	}
	return line
}
