package tools

import "strings"

// Marks of the form of patch that some models write: sections by file, whose
// hunks are found by their lines alone.
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addFile    = "*** Add File: "
	deleteFile = "*** Delete File: "
	updateFile = "*** Update File: "
	moveTo     = "*** Move to: "
	endOfFile  = "*** End of File"
)

// isSections reports whether the patch is of that form.
func (r *patchReader) isSections() bool {
	for _, line := range r.lines {
		line = strings.TrimRight(line, " \r")
		switch {
		case line == beginPatch, strings.HasPrefix(line, addFile), strings.HasPrefix(line, deleteFile), strings.HasPrefix(line, updateFile):
			return true
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "@@"):
			return false
		}
	}
	return false
}

// sections reads the files of such a patch.
func (r *patchReader) sections() ([]*patchFile, error) {
	for r.more() && !strings.HasPrefix(r.line(0), "*** ") {
		r.at++ // what is said about it
	}
	var files []*patchFile
	for r.more() {
		line := strings.TrimRight(r.line(0), " ")
		if line == endPatch {
			break
		}
		if line == beginPatch || line == "" {
			r.at++
			continue
		}
		f, err := r.section(line)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// section reads what is done to one file.
func (r *patchReader) section(line string) (*patchFile, error) {
	f := &patchFile{line: r.at + 1}
	folded := strings.HasSuffix(r.lines[r.at], "\r")
	r.at++
	name := func(mark string) bool {
		name, ok := strings.CutPrefix(line, mark)
		f.new = strings.TrimSpace(name)
		return ok
	}
	switch {
	case name(addFile):
		return f, r.added(f, folded)
	case name(deleteFile):
		f.old, f.new, f.whole = f.new, "", true
		return f, nil
	case name(updateFile):
		f.old = f.new
		if to, ok := strings.CutPrefix(r.line(0), moveTo); ok {
			f.new = strings.TrimSpace(to)
			r.at++
		}
		return f, r.updated(f, folded)
	}
	return nil, r.wrong(f.line, `"%s", "%s" or "%s" is expected, and not %q`, strings.TrimSpace(addFile), strings.TrimSpace(updateFile), strings.TrimSpace(deleteFile), line)
}

// added reads the lines of a new file.
func (r *patchReader) added(f *patchFile, folded bool) error {
	h := &hunk{title: addFile + f.new, line: f.line, oldAt: 0, newAt: 1}
	for r.more() && strings.HasPrefix(r.lines[r.at], "+") {
		text := r.lines[r.at][1:]
		if folded {
			text = strings.TrimSuffix(text, "\r")
		}
		h.lines = append(h.lines, hunkLine{'+', text + "\n"})
		r.at++
	}
	if line := r.line(0); r.more() && line != "" && !strings.HasPrefix(line, "*** ") {
		return r.wrong(0, "each line of a new file begins with a +")
	}
	if len(h.lines) > 0 {
		f.hunks = []*hunk{h}
	}
	return nil
}

// updated reads the hunks of a file. Lines that begin with @@ say below which
// line of the file a hunk stands.
func (r *patchReader) updated(f *patchFile, folded bool) error {
	for r.more() {
		line := r.line(0)
		if strings.TrimSpace(line) == "" && (r.line(1) == "" || strings.HasPrefix(r.line(1), "*** ")) {
			r.at++
			continue
		}
		if strings.HasPrefix(line, "*** ") {
			break
		}
		h, err := r.sectionHunk(folded)
		if err != nil {
			return err
		}
		f.hunks = append(f.hunks, h)
	}
	if len(f.hunks) == 0 && f.old == f.new {
		return r.wrong(f.line, "no line is changed: give lines that begin with a space, + or -")
	}
	return nil
}

func (r *patchReader) sectionHunk(folded bool) (*hunk, error) {
	var anchors []string
	title := "@@"
	for r.more() && strings.HasPrefix(r.line(0), "@@") {
		title = r.line(0)
		anchors = append(anchors, anchor(title)...)
		r.at++
	}
	h, err := r.hunkBelow(title, folded)
	if err != nil {
		return nil, err
	}
	if h.oldAt < 0 {
		h.anchors = anchors
	}
	if strings.HasPrefix(r.line(0), endOfFile) {
		h.atEnd = true
		r.at++
	}
	return h, nil
}
