package tools

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalike says where a text that does not occur does but for characters that
// look the same, or for its last line end; empty where it does not.
func lookalike(text, old string) string {
	if bare, ended := strings.CutSuffix(old, "\n"); ended && bare != "" && strings.HasSuffix(text, bare) {
		return "It stands at the end of the file, whose last line has no line end: leave out the line end that old_string ends with."
	}
	text = text[:min(len(text), closestText)]
	folded, wanted := foldLooks(text), foldLooks(old)
	at := strings.Index(folded, wanted)
	if at < 0 || strings.TrimSpace(wanted) == "" {
		return ""
	}
	line := strings.Count(folded[:at], "\n")
	rows := strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
	end := min(line+strings.Count(wanted, "\n")+1, len(rows))
	have := strings.Join(rows[line:end], "\n")
	if strings.ContainsRune(text, '\r') { // which looks like a line end
		have = strings.ReplaceAll(have, "\n", "\r")
	}
	return fmt.Sprintf("At line %d it stands but for characters that look alike: the file has %s, and old_string has %s. Copy the text exactly.\n%6d\t%s",
		line+1, lacks(have, old), lacks(old, have), line+1, clip(rows[line], closestShown))
}

// lacks names the first character that stands in one text and not in another, of
// those beside ASCII where there is one.
func lacks(one, other string) string {
	found := rune(-1)
	for _, r := range one {
		if strings.ContainsRune(other, r) {
			continue
		}
		if found < 0 || found < utf8.RuneSelf && r >= utf8.RuneSelf {
			found = r
		}
	}
	switch {
	case found < 0:
		return "none that the other has not"
	case unicode.IsGraphic(found) && !unicode.IsMark(found) && !unicode.IsSpace(found):
		return fmt.Sprintf("%c (%U)", found, found)
	}
	return fmt.Sprintf("%U", found)
}

// foldLooks gives characters that look the same the same form: those that Unicode
// holds compatible, quotes, dashes, letters of other scripts; and leaves out what
// is not seen. Lines stay lines.
func foldLooks(text string) string {
	looks := map[rune]rune{}
	for from, to := range map[string]string{
		"‘’‚‛`´′":         "'",
		"“”„‟″":           `"`,
		"‐‑‒–—―−":         "-",
		"\r\u2028\u2029":  "\n",
		"аАеЕоОрРсСхХуіІ": "aAeEoOpPcCxXyiI",
		"јЈВКМНТѕЅΑΒΕΖΗΙ": "jJBKMHTsSABEZHI",
		"ΚΜΝΟΡΤΥΧονᴏ":     "KMNOPTYXovo",
	} {
		forms := []rune(to)
		for i, r := range []rune(from) {
			looks[r] = forms[min(i, len(forms)-1)]
		}
	}
	return strings.Map(func(r rune) rune {
		switch like, ok := looks[r]; {
		case ok:
			return like
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r): // zero width, marks of direction
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// spaceHint says in which white space a line differs from the wanted one.
func spaceHint(have, want string) string {
	switch {
	case strings.Contains(have, "\t") && !strings.Contains(want, "\t"):
		return " The file has tabs where old_string has blanks."
	case !strings.Contains(have, "\t") && strings.Contains(want, "\t"):
		return " The file has blanks where old_string has tabs."
	case strings.TrimRight(have, " \t") == strings.TrimRight(want, " \t"):
		return " Blanks at its end differ."
	}
	return ""
}
