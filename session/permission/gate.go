package permission

import (
	"strings"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
)

// Limits of a command that is judged silently (policy section 2).
const (
	maxCommandBytes = 10_000
	maxParsedBytes  = 64 << 10
	maxCommands     = 100
	maxNesting      = 20
	maxOpeners      = 1500 // more brackets than this are not even parsed: time
)

// gate is the input gate of policy section 2, passed before anything is parsed.
// It returns false where the text must not be parsed at all.
func (s *shell) gate(text string) bool {
	switch {
	case strings.ContainsRune(text, 0):
		s.deny("it holds a NUL character, which no command can have")
	case !utf8.ValidString(text):
		s.deny("it is not valid UTF-8")
	}
	if strings.ContainsRune(text, '\r') {
		s.floor("it holds a carriage return, which shells read in different ways")
	}
	if r, ok := firstSuspicious(text); ok {
		s.floor("it holds the hidden or look-alike character " + escaped(r))
	}
	if strings.HasSuffix(text, `\`) {
		s.floor("it ends in a backslash, which shells read in different ways")
	}
	if commentBackslash(text) {
		s.floor("a line with a # ends in a backslash, which shells read in different ways")
	}
	if strings.Contains(text, "<<") && continuedLine(text) {
		s.floor("a line near a here-document ends in a backslash, which shells read in different ways")
	}
	if documentHash().MatchString(text) {
		s.floor("a # stands in the word that ends a here-document, which shells read in different ways")
	}
	if len(text) > maxCommandBytes {
		s.floor("it is longer than 10,000 bytes")
	}
	return len(text) <= maxParsedBytes && openers(text) <= maxOpeners
}

func firstSuspicious(text string) (rune, bool) {
	for _, r := range text {
		if suspicious(r) && r != '\r' {
			return r, true
		}
	}
	return 0, false
}

// suspicious reports whether a character is hidden, or looks like another.
func suspicious(r rune) bool { return kinds.Hidden(r) }

func escaped(r rune) string {
	const digits = "0123456789abcdef"
	out := []byte("U+")
	width := 4
	if r > 0xffff {
		width = 6
	}
	for shift := (width - 1) * 4; shift >= 0; shift -= 4 {
		out = append(out, digits[r>>shift&0xf])
	}
	return string(out)
}

// commentBackslash finds a line that holds a # and ends in a backslash: the
// parser joins it with the next where bash ends the comment (policy section 3).
func commentBackslash(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasSuffix(strings.TrimRight(line, "\r"), `\`) && strings.Contains(line, "#") {
			return true
		}
	}
	return false
}

// continuedLine finds a line that ends in a backslash: inside a here-document it
// may hide where that ends.
func continuedLine(text string) bool { return strings.Contains(text, "\\\n") }

// documentHash finds a # within the word that says where a here-document ends: bash
// takes it for a part of the word, the parser for a comment behind a quote.
var documentHash = lazy(`(^|[^<])<<-?[ \t]*[^\s<]*#`)

// openers counts what can nest, so that the time to parse stays bounded.
func openers(text string) int {
	n := strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "`")
	for _, word := range []string{"if", "while", "until", "for", "case", "do", "!"} {
		n += strings.Count(text, word+" ") + strings.Count(text, word+"\n") + strings.Count(text, word+"\t")
	}
	return n
}

// roughCommands cuts text into commands without understanding it: at every line
// end and operator, with quotes taken away. Deny rules are held against them
// where the text cannot be parsed, or is parsed by shells in different ways.
func roughCommands(text string) [][]string {
	var all [][]string
	cut := func(r rune) bool { return strings.ContainsRune("\n\r;&|(){}`<>\x00", r) }
	for part := range strings.FieldsFuncSeq(text, cut) {
		words := strings.Fields(strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(part))
		for len(words) > 0 && (isAssignment(words[0]) || strings.Trim(words[0], "$!#") == "" || isKeyword(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 {
			all = append(all, words)
		}
		if len(all) >= 4000 {
			break
		}
	}
	return all
}

func isKeyword(w string) bool {
	switch w {
	case "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "case", "esac", "in", "time", "coproc", "function", "select":
		return true
	}
	return false
}
