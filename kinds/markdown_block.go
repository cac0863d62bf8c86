package kinds

import "strings"

// blocks knows of the lines of a text which are code in a fence, and only those
// that are it for sure.
type blocks struct {
	fence   string // the mark of the open fence; empty: none
	indent  int    // of its mark
	unsure  bool   // from here on nothing is known to be code
	html    bool   // within HTML, up to an empty line
	noCode  bool   // no code within lines is known to be it, up to an empty line
	list    int    // where the text of the innermost item of a list begins; 0: no list
	wasText bool   // the line before was text, which a number does not interrupt
}

// markers begin lines of lists and quotations.
const markers = " \t>-*+0123456789.)"

// line takes in the next line, or where that is not whole its beginning, and
// reports whether it is code or the edge of it.
func (b *blocks) line(s string, whole bool) bool {
	indent, text := indentOf(s)
	if b.fence != "" {
		return b.within(indent, text, whole)
	}
	if text == "" {
		b.html, b.noCode, b.wasText = false, false, false
		return false
	}
	if indent < b.list {
		b.list = 0
	}
	inner := strings.TrimLeft(text, markers)
	mark := markOf(inner)
	switch {
	case len(mark) >= 3 && strings.Contains(inner[len(mark):], "`") && mark[0] == '`': // is code within a line
	case len(mark) < 3:
	case whole && inner == text && !b.unsure && !b.html && indent-b.list <= 3:
		b.fence, b.indent, b.noCode = mark, indent, false
		return true
	default:
		b.unsure = true
	}
	b.html = b.html || beginsTag(inner)
	if indent <= b.list+3 {
		b.item(text, indent)
	}
	b.wasText = true
	return false
}

// within takes in a line while a fence is open.
func (b *blocks) within(indent int, text string, whole bool) bool {
	mark := markOf(text)
	closes := len(mark) >= len(b.fence) && mark == text && mark[0] == b.fence[0]
	switch {
	case text == "" || indent >= b.indent && !closes:
		return true
	case closes && whole && (indent == b.indent || b.indent == 0 && indent <= 3):
		b.fence = ""
		return true
	case closes && b.indent == 0 && indent > 3:
		return true
	}
	b.fence, b.unsure = "", true // the list that the fence stands in may end here
	return false
}

// beginsTag reports whether a line begins with HTML, and not with an address.
func beginsTag(text string) bool {
	if !strings.HasPrefix(text, "<") {
		return false
	}
	after := strings.TrimLeft(strings.TrimPrefix(text[1:], "/"), alphanumeric+"-")
	return after == "" || strings.IndexByte(" \t/>!?", after[0]) >= 0
}

// markOf is the run of the marks of a fence that a text begins with.
func markOf(text string) string {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	return text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
}

// item notes where the text of a list's item begins.
func (b *blocks) item(text string, indent int) {
	marker := 1
	if strings.IndexByte("-*+", text[0]) < 0 {
		marker = len(text) - len(strings.TrimLeft(text, "0123456789"))
		if marker == 0 || marker > 9 || marker == len(text) || text[marker] != '.' && text[marker] != ')' {
			return
		}
		if b.wasText && b.list == 0 && text[:marker] != "1" {
			return
		}
		marker++
	}
	after := strings.TrimLeft(text[marker:], " ")
	blanks := len(text) - marker - len(after)
	if blanks == 0 || after == "" || after[0] == '\t' {
		return
	}
	if blanks > 4 {
		blanks = 1
	}
	b.list = indent + marker + blanks
}

// indentOf is how far a line is indented, and the line without that and without
// blanks at its end.
func indentOf(s string) (int, string) {
	column := 0
	for i := range len(s) {
		switch s[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column, strings.TrimRight(s[i:], " \t")
		}
	}
	return column, ""
}
