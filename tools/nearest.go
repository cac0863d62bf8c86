package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// nearest ranks names by their likeness to one that does not exist and returns
// at most n: those a few slips of the keyboard away first, then those that
// hold its letters in order.
func nearest(name string, names []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	var close []scored
	limit := slips(name)
	for _, other := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(other), limit); d <= limit {
			close = append(close, scored{other, d})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var best []string
	for _, s := range close {
		best = append(best, s.name)
	}
	for _, match := range fuzzy.Find(name, names) {
		if !slices.Contains(best, match.Str) {
			best = append(best, match.Str)
		}
	}
	return best[:min(n, len(best))]
}

// slips is how many slips of the keyboard a name of this length may have.
func slips(name string) int { return 1 + utf8.RuneCountInString(name)/6 }

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that make b of a. It stops at more than limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}
