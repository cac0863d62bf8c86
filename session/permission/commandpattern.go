package permission

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commandPattern is the pattern of a bash rule: words that are compared one by
// one with those of a simple command (policy section 7, "Matching").
type commandPattern struct {
	text    string // as written, trimmed
	whole   bool   // not one plain simple command: only the same text matches
	starred bool   // there is a star that would expand
	assigns []string
	words   []patternWord
	rest    bool // zero or more further words
}

// patternWord is one word of a pattern; a star in it is the rune wild.
type patternWord struct {
	text string
	glob bool // holds a star that stands for characters
	any  bool // is a star alone, in the middle
	star bool // held a star of any kind
	ends bool // that star ends the pattern, and means further words
}

const wild = '\x00'

// parseCommand reads a pattern. Quotes and backslashes are taken away as a
// shell would; a star in quotes is itself.
func parseCommand(pattern string) *commandPattern {
	p := &commandPattern{text: strings.TrimSpace(pattern)}
	words, plain := splitPattern(p.text)
	if !plain {
		p.whole, p.starred = true, strings.Contains(p.text, "*")
		return p
	}
	for i, w := range words {
		if len(p.words) == 0 && isAssignment(w) && !strings.ContainsRune(w, wild) {
			p.assigns = append(p.assigns, w)
			continue
		}
		p.add(w, i == len(words)-1)
	}
	return p
}

func (p *commandPattern) add(w string, last bool) {
	star := strings.ContainsRune(w, wild)
	p.starred = p.starred || star
	switch {
	case w == string(wild) && last:
		p.rest = true
	case w == string(wild):
		p.words = append(p.words, patternWord{any: true, star: true})
	case star && endsWord(w):
		p.words = append(p.words, patternWord{text: strings.TrimSuffix(w, string(wild)), star: true, ends: last})
		p.rest = p.rest || last
	default:
		p.words = append(p.words, patternWord{text: w, glob: star, star: star})
	}
}

// endsWord reports whether the only star of w stands at its end, directly after
// a letter or digit: it then means the end of the word.
func endsWord(w string) bool {
	head, ok := strings.CutSuffix(w, string(wild))
	if !ok || strings.ContainsRune(head, wild) {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(head)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// splitPattern cuts a pattern into words; plain is false where it holds
// anything that a shell would not take as words of one simple command.
func splitPattern(s string) (words []string, plain bool) {
	var b strings.Builder
	in := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t':
			if in {
				words, in = append(words, b.String()), false
				b.Reset()
			}
			continue
		case strings.IndexByte(";&|<>()$`\n\r\x00", c) >= 0, c == '#' && !in:
			return nil, false
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			b.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case c == '"':
			end, text, ok := doubleQuoted(s[i+1:])
			if !ok {
				return nil, false
			}
			b.WriteString(text)
			i += end + 1
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '*':
			b.WriteRune(wild)
		default:
			b.WriteByte(c)
		}
		in = true
	}
	if in {
		words = append(words, b.String())
	}
	return words, true
}

// doubleQuoted reads up to the closing quote, and gives its offset.
func doubleQuoted(s string) (end int, text string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return i, b.String(), true
		case '$', '`':
			return 0, "", false
		case '\\':
			if i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0 {
				i++
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return 0, "", false
}

// isAssignment reports whether a shell would take the word as NAME=value.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		return false
	}
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// check says what is wrong with the pattern. A pattern that allows is held to
// more: what it stands for must be plain from its words.
func (p *commandPattern) check(allows bool) error {
	if p.whole {
		if p.starred {
			return errors.New("a pattern with a shell operator or an expansion cannot have a star: write one rule for each command")
		}
		return nil
	}
	if len(p.words) == 0 {
		return errors.New("the pattern names no program")
	}
	if !allows {
		return nil
	}
	for i, w := range p.words {
		switch {
		case w.any:
			return errors.New("a star may stand alone only at the end")
		case i == 0 && w.star:
			return fmt.Errorf("the program's name cannot have a star: write `%s *`", strings.Trim(p.words[0].text, string(wild)))
		case i == 1 && w.star && !w.ends && !strings.Contains(w.text, "/"):
			return errors.New("the word after the program cannot have a star in it: write it out, and end the pattern in a star of its own")
		}
	}
	return nil
}

// matches reports whether the pattern covers the words of a simple command;
// fold compares without case, as restrictions do. The program is compared as it
// is given: the caller takes its base name where that may count.
func (p *commandPattern) matches(argv []string, fold bool) bool {
	if p.whole || len(p.words) == 0 {
		return false
	}
	return matchWords(p.words, argv, p.rest, fold)
}

func matchWords(want []patternWord, argv []string, rest, fold bool) bool {
	for i, w := range want {
		if w.any {
			for skip := i; skip <= len(argv); skip++ {
				if matchWords(want[i+1:], argv[skip:], rest, fold) {
					return true
				}
			}
			return false
		}
		if i >= len(argv) || !w.matches(argv[i], fold) {
			return false
		}
	}
	return rest || len(argv) == len(want)
}

func (w patternWord) matches(s string, fold bool) bool {
	text := w.text
	if fold {
		text, s = strings.ToLower(text), strings.ToLower(s)
	}
	if !w.glob {
		return text == s
	}
	parts := strings.Split(text, string(wild))
	head, tail := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(s, head) || len(s) < len(head)+len(tail) || !strings.HasSuffix(s, tail) {
		return false
	}
	s = s[len(head) : len(s)-len(tail)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(s, part)
		if !ok {
			return false
		}
		s = after
	}
	return true
}

// weight is how specific the pattern is.
func (p *commandPattern) weight() weight {
	w := weight{exact: !p.starred}
	for _, word := range p.words {
		if !word.glob && !word.any {
			w.words++
		}
		w.chars += len(strings.ReplaceAll(word.text, string(wild), ""))
	}
	for _, a := range p.assigns {
		w.words++
		w.chars += len(a)
	}
	if p.whole {
		w.words, w.chars = len(strings.Fields(p.text)), len(p.text)
	}
	return w
}
