package kinds

import (
	"fmt"
	"strings"
)

// Part is one of the commands that a command is made of: a pipeline (policy
// section 12).
type Part struct {
	Text   string   // as it is written
	Dirs   []string // where it may run, if that is not the project's folder
	Why    string   // why it is asked about; empty: it would be silent
	Within bool     // it runs inside of the part before it, which is shown cut
}

// maxParts is how many parts are listed.
const maxParts = 100

// Parts lists the parts of a command as Markdown; empty where there is but one,
// which the title shows.
func Parts(parts []Part) string {
	if len(parts) < 2 {
		return ""
	}
	var b strings.Builder
	n := 0
	for _, p := range parts {
		if !p.Within {
			n++
		}
	}
	if n > 1 {
		fmt.Fprintf(&b, "It is made of %d parts:\n", n)
	} else {
		b.WriteString("In it runs:\n")
	}
	for i, p := range parts {
		if i == maxParts {
			fmt.Fprintf(&b, "\n- and %d more", len(parts)-i)
			break
		}
		b.WriteString("\n")
		if p.Within {
			b.WriteString("  ")
		}
		b.WriteString("- " + Code(cut(Line(afterComments(p.Text)))))
		for j, dir := range p.Dirs {
			b.WriteString([]string{" in ", " or "}[min(j, 1)] + Code(cut(Line(dir))))
		}
		if p.Why != "" {
			b.WriteString(": " + Prose(p.Why))
		}
	}
	return b.String()
}

// Prose is a sentence as Markdown in which nothing but code, between single
// back-ticks, means anything.
func Prose(s string) string {
	pieces := strings.Split(Line(s), "`")
	if len(pieces)%2 == 0 { // they do not pair
		pieces = []string{strings.ReplaceAll(Line(s), "`", "'")}
	}
	for i := range pieces {
		if i%2 == 0 {
			pieces[i] = escapeMarkdown(pieces[i])
		}
	}
	return strings.Join(pieces, "`")
}

// escapeMarkdown takes the meaning from what means something within a line.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`\*_[]<>~|&`, s[i]) >= 0 && !(s[i] == '_' && insideWord(s, i)) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// insideWord reports whether the character at i stands between letters or digits.
func insideWord(s string, i int) bool {
	plain := func(c byte) bool { return strings.IndexByte(alphanumeric, c) >= 0 }
	return i > 0 && i+1 < len(s) && plain(s[i-1]) && plain(s[i+1])
}
