package kinds

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is the longest title in runes (spec, "A tool call's life").
const MaxTitle = 120

// Title makes s one visible line of at most MaxTitle runes, in which blanks and
// line ends are single spaces: it is for prose, and for what Line made of text
// that has to be seen as it is. What is too long keeps its head and its tail,
// since a command hides its sting at the end, and says how much is left out.
func Title(s string) string { return cut(strings.Join(strings.Fields(Escape(s)), " ")) }

func cut(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= MaxTitle {
		return s
	}
	runes := []rune(s)
	mark := leftOut(n) // the longest that it can be
	kept := MaxTitle - utf8.RuneCountInString(mark)
	mark = leftOut(n - kept)
	kept = MaxTitle - utf8.RuneCountInString(mark)
	head := kept * 3 / 5
	return string(runes[:head]) + leftOut(n-kept) + string(runes[n-(kept-head):])
}

// Prefix puts a name before a title. What is too long loses what stands before
// the mark of what is left out already, so that this goes on telling all of it.
func Prefix(name, title string) string {
	s := name + ": " + title
	over := utf8.RuneCountInString(s) - MaxTitle
	before, rest, ok := strings.Cut(s, leftOutMark)
	count, after, closed := strings.Cut(rest, "]…")
	n, err := strconv.Atoi(count)
	if over <= 0 || !ok || !closed || err != nil {
		return Title(s)
	}
	runes := []rune(before)
	over += 2 // the number may become longer
	if over > len(runes)/2 {
		return Title(s)
	}
	return string(runes[:len(runes)-over]) + leftOut(n+over) + after
}

const leftOutMark = "…[+"

func leftOut(n int) string { return leftOutMark + strconv.Itoa(n) + "]…" }

// Limits of blanks that are shown as they are.
const (
	maxSpaces = 3  // between the words of a line
	maxIndent = 40 // at the beginning of a line, and within one in a fence
	maxEmpty  = 2  // lines in a fence
)

// Line is s in one line in which all of it is seen: hidden characters are written
// out, so are letters that pose as others, a line end is ⏎, and a run of n blanks
// is ␣×n (policy section 12). Blanks around s, and the indent of a line that is no
// longer than usual, are left out.
func Line(s string) string {
	s = strings.Trim(s, " \t\n")
	if plainLine(s) {
		return s
	}
	var b strings.Builder
	program := true
	for s != "" {
		word := s
		if i := strings.IndexAny(s, " \t\n"); i >= 0 {
			word = s[:i]
		}
		writeWord(&b, word, program)
		rest := strings.TrimLeft(s[len(word):], " \t\n")
		blanks := s[len(word) : len(s)-len(rest)]
		program = strings.Contains(blanks, "\n") || beforeProgram(word)
		writeBlanks(&b, blanks)
		s = rest
	}
	return b.String()
}

// plainLine reports whether Line would change nothing.
func plainLine(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return !strings.Contains(s, "    ")
}

// beforeProgram reports whether what follows a word is likely to be a program.
func beforeProgram(word string) bool {
	return word != "" && strings.IndexByte(";&|({`!", word[len(word)-1]) >= 0
}

// writeBlanks shows what stands between two words.
func writeBlanks(b *strings.Builder, s string) {
	lines := strings.Count(s, "\n")
	if lines > 0 {
		b.WriteString(" ⏎" + times(lines) + " ")
		if s = s[strings.LastIndexByte(s, '\n')+1:]; len(s) <= maxIndent {
			return
		}
	}
	tabs := strings.Count(s, "\t")
	switch {
	case len(s) <= maxSpaces && tabs == 0:
		b.WriteString(s)
	case len(s) <= maxSpaces:
		b.WriteString(strings.ReplaceAll(s, "\t", `\t`))
	case tabs == 0:
		b.WriteString(" ␣" + times(len(s)) + " ")
	default: // blanks, of which some are tabs
		b.WriteString(" ␣" + times(len(s)) + `(\t) `)
	}
}

func times(n int) string {
	if n == 1 {
		return ""
	}
	return "×" + strconv.Itoa(n)
}

// Whole is s in as many lines as it has, in which all of it is seen: hidden
// characters are written out, so are letters that pose as others, and what could
// push text out of sight, many blanks or many empty lines, is counted instead.
func Whole(s string) string {
	var b strings.Builder
	empty := 0
	for i, line := range strings.Split(strings.TrimRight(s, " \t\n"), "\n") {
		if strings.Trim(line, " \t") == "" {
			empty++
			continue
		}
		if i > 0 {
			writeEmpty(&b, empty)
			empty = 0
		}
		writeLine(&b, line)
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeEmpty shows empty lines, many of them as their count.
func writeEmpty(b *strings.Builder, n int) {
	if n > maxEmpty {
		b.WriteString("⏎" + times(n) + "\n")
		return
	}
	b.WriteString(strings.Repeat("\n", n))
}

// writeLine shows one line, in its own indent.
func writeLine(b *strings.Builder, line string) {
	text := strings.TrimLeft(line, " \t")
	writeLong(b, line[:len(line)-len(text)], false)
	program := true
	for text != "" {
		word := text
		if i := strings.IndexAny(text, " \t"); i >= 0 {
			word = text[:i]
		}
		writeWord(b, word, program)
		program = beforeProgram(word)
		rest := strings.TrimLeft(text[len(word):], " \t")
		if rest == "" {
			return // nobody misses blanks at the end
		}
		writeLong(b, text[len(word):len(text)-len(rest)], true)
		text = rest
	}
}

// writeLong shows blanks of which only very many would hide anything.
func writeLong(b *strings.Builder, s string, within bool) {
	switch {
	case len(s) > maxIndent:
		writeBlanks(b, s)
	case within:
		b.WriteString(strings.ReplaceAll(s, "\t", `\t`))
	default:
		b.WriteString(s)
	}
}

// afterComments is a command without the comments and empty lines before it, as a
// shell reads them; one that is nothing else stays.
func afterComments(s string) string {
	for rest := s; ; {
		line, after, more := strings.Cut(rest, "\n")
		if text := strings.TrimLeft(line, " \t"); text != "" && text[0] != '#' {
			return rest
		}
		if !more {
			return s
		}
		rest = after
	}
}

// HiddenIn is how many characters of s Line and Whole write out.
func HiddenIn(s string) int {
	n := 0
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
		if !plainLine(word) {
			var b strings.Builder
			n += writeWord(&b, word, false)
		}
	}
	return n
}

func writtenOut(n int) string {
	if n == 1 {
		return "1 character of it is hidden or poses as another, and is written out."
	}
	return strconv.Itoa(n) + " characters of it are hidden or pose as others, and are written out."
}

// Escape shows every rune of s that would not be seen as what it is: control,
// format, private and unassigned characters, and blanks other than the space.
// TAB and LF stay.
func Escape(s string) string {
	if !hasHidden(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString(hex(`\x`, rune(s[i]), 2))
		case Hidden(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escaped is a rune as it is written out.
func escaped(r rune) string {
	switch {
	case r == 0x1b:
		return `\e`
	case r == '\r':
		return `\r`
	case r > 0xffff:
		return hex(`\U`, r, 8)
	}
	return hex(`\u`, r, 4)
}

func hasHidden(s string) bool {
	if !utf8.ValidString(s) {
		return true
	}
	return strings.IndexFunc(s, Hidden) >= 0
}

// Hidden reports whether a character would not be seen, or not as what it is
// (policy section 2): controls but TAB and LF, format characters, blanks other
// than the space, fillers and selectors that show nothing, private and unassigned
// ones. The selectors that choose the look of an emoji are not hidden.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	case r == 0xfe0e || r == 0xfe0f:
		return false
	case r == 0x2800: // a Braille cell without dots
		return true
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.Zs, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func hex(prefix string, r rune, width int) string {
	const digits = "0123456789abcdef"
	out := []byte(prefix)
	for shift := (width - 1) * 4; shift >= 0; shift -= 4 {
		out = append(out, digits[r>>shift&0xf])
	}
	return string(out)
}

// Fence puts text between Markdown fences longer than any run of back-ticks in it.
func Fence(lang, text string) string {
	fence := strings.Repeat("`", max(3, longestTicks(text)+1))
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + lang + "\n" + text + fence
}

// Code is a text as code within a line of Markdown: all of it is seen, and
// nothing in it ends it.
func Code(s string) string {
	s = Line(s)
	ticks := strings.Repeat("`", longestTicks(s)+1)
	if s == "" || s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func longestTicks(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
