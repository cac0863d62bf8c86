package tools

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// patchFile is what a patch does to one file.
type patchFile struct {
	old, new string // names; empty: the file is created, or deleted
	copied   bool   // new is made as a copy of old
	whole    bool   // the file is deleted whatever it holds
	exec     execBit
	hunks    []*hunk
	line     int // of the patch, from 1, where it begins
}

// renamed reports whether the file gets another name.
func (f *patchFile) renamed() bool { return f.old != "" && f.new != "" && f.old != f.new && !f.copied }

// execBit is what becomes of a file's executable bits.
type execBit int

const (
	execKept execBit = iota
	execSet
	execCleared
)

// hunk is one place of a file that changes.
type hunk struct {
	title   string // as the patch has it
	line    int    // of the patch, from 1
	oldAt   int    // the first line in the old file, from 1; below 0: not told
	newAt   int    // and in the new one
	anchors []string
	atEnd   bool // nothing follows it
	lines   []hunkLine
}

// hunkLine is a line that stays (' '), goes ('-') or comes ('+').
type hunkLine struct {
	op   byte
	text string // with its line end, unless it has none
}

// side lists the lines that the hunk has on one side: '-' is the old one.
func (h *hunk) side(op byte) []string {
	var lines []string
	for _, l := range h.lines {
		if l.op == ' ' || l.op == op {
			lines = append(lines, l.text)
		}
	}
	return lines
}

// patchReader reads a patch line by line.
type patchReader struct {
	lines []string
	at    int
}

// maxPatchFiles is how many files one patch may name.
const maxPatchFiles = 1000

// parsePatch reads a patch: a unified diff, of git or plain, or the form that
// begins with "*** Begin Patch". What stands around it, such as the head of a
// mail, is passed over. An error names the line.
func parsePatch(text string) ([]*patchFile, error) {
	r := &patchReader{lines: strings.Split(text, "\n")}
	if n := len(r.lines); r.lines[n-1] == "" {
		r.lines = r.lines[:n-1]
	}
	read := r.unified
	if r.isSections() {
		read = r.sections
	}
	files, err := read()
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, errors.New(`the patch names no file: each file's part begins with "--- a/NAME" and "+++ b/NAME" lines, or with "diff --git a/NAME b/NAME"`)
	case len(files) > maxPatchFiles:
		return nil, fmt.Errorf("the patch names %d files, more than the %d that are changed at once: split it", len(files), maxPatchFiles)
	}
	return files, nil
}

// line is a line without a CR at its end; empty behind the last.
func (r *patchReader) line(ahead int) string {
	if r.at+ahead >= len(r.lines) {
		return ""
	}
	return strings.TrimSuffix(r.lines[r.at+ahead], "\r")
}

func (r *patchReader) more() bool { return r.at < len(r.lines) }

// wrong is an error at a line, the current one for 0.
func (r *patchReader) wrong(line int, format string, args ...any) error {
	if line == 0 {
		line = r.at + 1
	}
	return fmt.Errorf("line %d of the patch: %w", line, fmt.Errorf(format, args...))
}

// hunk reads a hunk whose title is the current line. folded says that the patch
// itself has CRLF line ends, which say nothing of the file's.
func (r *patchReader) hunk(folded bool) (*hunk, error) {
	title := r.line(0)
	if strings.HasPrefix(title, "@@@") {
		return nil, r.wrong(0, "it is a combined diff of a merge: give a plain one, against one parent")
	}
	r.at++
	return r.hunkBelow(title, folded)
}

// hunkBelow reads the hunk of a title that was read.
func (r *patchReader) hunkBelow(title string, folded bool) (*hunk, error) {
	h := &hunk{title: title, line: r.at, oldAt: -1, newAt: -1}
	counts, ok := h.parseTitle()
	if !ok {
		h.anchors = anchor(title)
	}
	begin := r.at
	if !ok || !r.counted(h, counts[0], counts[1]) {
		r.at, h.lines = begin, nil
		r.uncounted(h)
	}
	if folded {
		h.fold()
	}
	if len(h.lines) == 0 {
		return nil, r.wrong(h.line, "the hunk %q has no lines; each begins with a space, + or -", h.title)
	}
	return h, r.checkEnds(h)
}

// anchor is the line of the file that a title without numbers names.
func anchor(title string) []string {
	heading := strings.TrimSpace(strings.Trim(title, "@"))
	if strings.Trim(heading, ".-+, 0123456789") == "" {
		return nil
	}
	return []string{heading}
}

// fold takes the CR off each line.
func (h *hunk) fold() {
	for i, l := range h.lines {
		body, ended := strings.CutSuffix(l.text, "\n")
		h.lines[i].text = strings.TrimSuffix(body, "\r")
		if ended {
			h.lines[i].text += "\n"
		}
	}
}

// parseTitle reads "@@ -1,2 +3,4 @@" and returns how many lines there are on
// each side.
func (h *hunk) parseTitle() (counts [2]int, ok bool) {
	rest, ok := strings.CutPrefix(h.title, "@@ -")
	if !ok {
		return counts, false
	}
	before, rest, ok := strings.Cut(rest, " +")
	if !ok {
		return counts, false
	}
	after, _, ok := strings.Cut(rest, " @@")
	if !ok {
		return counts, false
	}
	var at [2]int
	for i, span := range []string{before, after} {
		first, count, given := strings.Cut(span, ",")
		counts[i] = 1
		var err, err2 error
		if at[i], err = strconv.Atoi(first); given {
			counts[i], err2 = strconv.Atoi(count)
		}
		const most = 1 << 30
		if err != nil || err2 != nil || min(at[i], counts[i]) < 0 || max(at[i], counts[i]) > most {
			return [2]int{}, false
		}
	}
	h.oldAt, h.newAt = at[0], at[1]
	return counts, true
}

// counted reads as many lines as the title says; false where they are not there,
// or more stand behind them.
func (r *patchReader) counted(h *hunk, old, new int) bool {
	for old > 0 || new > 0 {
		if !r.more() || !r.take(h) {
			return false
		}
		if r.lines[r.at-1] != "" && r.lines[r.at-1][0] == '\\' {
			continue
		}
		switch h.lines[len(h.lines)-1].op {
		case ' ':
			old, new = old-1, new-1
		case '-':
			old--
		case '+':
			new--
		}
		if old < 0 || new < 0 {
			return false
		}
	}
	if r.more() && strings.HasPrefix(r.lines[r.at], `\ `) {
		r.take(h)
	}
	return r.ends() || r.lines[r.at] == "" || !strings.Contains(" +-", r.lines[r.at][:1])
}

// uncounted reads lines as long as they look like a hunk's. Empty ones at its
// end do not belong to it.
func (r *patchReader) uncounted(h *hunk) {
	kept := 0
	for !r.ends() && r.take(h) {
		if line := strings.TrimSuffix(r.lines[r.at-1], "\r"); line != "" {
			kept = len(h.lines)
		}
	}
	h.lines = h.lines[:kept]
}

// take reads a line of a hunk; false where it is none. An empty line is one that
// lost its space.
func (r *patchReader) take(h *hunk) bool {
	line := r.lines[r.at]
	switch {
	case line == "" || line == "\r":
		h.lines = append(h.lines, hunkLine{' ', line + "\n"})
	case strings.Contains(" +-", line[:1]):
		h.lines = append(h.lines, hunkLine{line[0], line[1:] + "\n"})
	case line[0] == '\\' && len(h.lines) > 0:
		last := &h.lines[len(h.lines)-1]
		last.text = strings.TrimSuffix(last.text, "\n")
	default:
		return false
	}
	r.at++
	return true
}

// ends reports whether a hunk cannot go on: the patch ends, or the next hunk,
// the next file or the signature of a mail begins.
func (r *patchReader) ends() bool {
	line := r.line(0)
	return !r.more() || strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff --git ") || line == "-- " ||
		strings.HasPrefix(line, "--- ") && strings.HasPrefix(r.line(1), "+++ ") || strings.HasPrefix(line, "*** ")
}

// checkEnds sees to it that a line without an end is the last of its side.
func (r *patchReader) checkEnds(h *hunk) error {
	for _, op := range []byte{'-', '+'} {
		lines := h.side(op)
		for i, line := range lines {
			if strings.HasSuffix(line, "\n") {
				continue
			}
			if i < len(lines)-1 {
				return r.wrong(h.line, `in the hunk %q a line follows one with "\ No newline at end of file"`, h.title)
			}
			h.atEnd = true
		}
	}
	return nil
}
