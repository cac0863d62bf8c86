package tools

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// TurnBudget is how many bytes all results of one model reply may have together.
const TurnBudget = 400 << 10

// noteSpace is what is kept free for the note that stands where text was cut.
const noteSpace = 512

// Fit holds a result to its tool's limit. Of a longer one the model gets the
// head (and as much of the end as Spec.Tail says), a note that says what is
// missing and where all of it is, and the whole goes to the spool unless the
// tool has put it somewhere already. A nil spool keeps nothing.
func Fit(r Result, spec *Spec, spool Spool) Result {
	limit := cmp.Or(spec.MaxOutput, DefaultMaxOutput)
	if len(r.Text) <= limit {
		return r
	}
	var note string
	r.OutputPath, note = keep(r.Text, r.OutputPath, spool)
	r.Text = cut(r.Text, limit, spec.Tail, note)
	r.Truncated = true
	return r
}

// Budget holds what the model is about to read of one reply's calls to
// TurnBudget, by cutting the largest texts, all to the same size. What is cut
// goes to the spool. It returns the indices of the texts that it cut.
func Budget(texts []*string, spool Spool) []int {
	sizes := make([]int, len(texts))
	for i, text := range texts {
		sizes[i] = len(*text)
	}
	level, over := waterLevel(sizes, TurnBudget)
	if !over {
		return nil
	}
	var done []int
	for i, text := range texts {
		if len(*text) <= level {
			continue
		}
		_, note := keep(*text, "", spool)
		*text = cut(*text, level, level/4, note)
		done = append(done, i)
	}
	return done
}

// waterLevel is the size to which the larger ones must be cut so that the sum
// is at most total; over is false where it is already.
func waterLevel(sizes []int, total int) (level int, over bool) {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if share := total / (len(sizes) - i); size > share {
			return share, true
		}
		total -= size
	}
	return 0, false
}

// cut leaves of text its head and its last bytes, with a note between them, in
// at most limit bytes.
func cut(text string, limit, last int, note string) string {
	last = min(last, limit/2)
	first := head(text, limit-last-noteSpace)
	end := ""
	if last > 0 {
		end = tail(text[len(first):], last)
	}
	missing := len(text) - len(first) - len(end)
	whole := fmt.Sprintf("%s\n[%d bytes are cut here; %s]\n%s", first, missing, head(note, noteSpace-64), end)
	return head(whole, limit) // where the limit is too small for the note
}

// keep sees to it that the whole text is in a file, by default at path, and
// says so.
func keep(text, path string, spool Spool) (kept, note string) {
	if path == "" {
		var err error
		if path, err = spill(text, spool); err != nil {
			return "", "the rest could not be kept: " + err.Error()
		}
	}
	if path == "" {
		return "", "the rest was not kept"
	}
	return path, "all of it is in " + path + ": read that with offset and limit"
}

// spill writes text to a new file of the spool and returns its path.
func spill(text string, spool Spool) (string, error) {
	if spool == nil {
		return "", nil
	}
	w, path, err := spool.Create()
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	return path, nil
}
