package kinds

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// writeWord shows a word: hidden characters and letters that pose as others are
// written out. It returns how many. The first word of a command is its program.
func writeWord(b *strings.Builder, word string, program bool) (out int) {
	if plainLine(word) {
		b.WriteString(word)
		return 0
	}
	latin := strings.IndexFunc(word, isLatin) >= 0
	for word != "" {
		name := word
		if i := strings.IndexFunc(word, func(r rune) bool { return !ofName(r) }); i >= 0 {
			name = word[:i]
		}
		odd := posing(name, latin || program)
		for _, r := range name {
			out += write(b, r, odd && foreign(r) || styled(r) || program && dotless(r))
		}
		if word = word[len(name):]; word == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(word)
		if r == utf8.RuneError && size == 1 {
			b.WriteString(hex(`\x`, rune(word[0]), 2))
			out++
		} else {
			out += write(b, r, styled(r) || selects(r) && !symbolBefore(b.String()))
		}
		word = word[size:]
	}
	return out
}

func write(b *strings.Builder, r rune, odd bool) int {
	if odd || Hidden(r) {
		b.WriteString(escaped(r))
		return 1
	}
	b.WriteRune(r)
	return 0
}

// ofName reports whether a character is part of a name, so that a person reads it
// together with its neighbours.
func ofName(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && !selects(r)
}

// selects reports whether a character chooses the look of the one before it.
func selects(r rune) bool { return r == 0xfe0e || r == 0xfe0f }

// symbolBefore reports whether a text ends with a symbol, whose look a selector
// may choose.
func symbolBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSymbol(r) || r == 0x203c || r == 0x2049
}

// posing reports whether the foreign letters of a name may pose as Latin ones:
// they stand beside Latin ones, or near them, or as a program, and all look like
// them.
func posing(name string, near bool) bool {
	latin, some, all := false, false, true
	for _, r := range name {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			latin = true
		case foreign(r):
			some = true
			_, looks := LooksLatin(r)
			all = all && looks
		}
	}
	return some && (latin || near && all)
}

func isLatin(r rune) bool {
	return r < utf8.RuneSelf && unicode.IsLetter(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Latin, r)
}

// foreign reports whether a letter is of a script that has letters which look like
// Latin ones.
func foreign(r rune) bool {
	return r >= 0x370 && unicode.IsLetter(r) &&
		unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret)
}

// styled reports whether a letter or a digit is an ASCII one in another style:
// wide, or as mathematicians write them.
func styled(r rune) bool {
	return r >= 0xff10 && r <= 0xff5a && (unicode.IsLetter(r) || unicode.IsDigit(r)) ||
		r >= 0x1d400 && r <= 0x1d7ff || r == 0x2113 || r >= 0x24b6 && r <= 0x24e9
}

// dotless reports whether a letter is Latin and looks like one of ASCII.
func dotless(r rune) bool { return r == 'ı' || r == 'ȷ' || r == 'ɡ' || r == 'ɑ' || r == 'ſ' }

// lookAlikes are letters of Cyrillic and Greek, and of Latin beside ASCII, in
// lower case, each before the Latin letter that it looks like.
const lookAlikes = "аaсcԁdеeһhіiјjкkӏlмmпnоoрpԛqгrѕsтtѵvԝwхxуyνvοoρpαaιiκkυuχxεeτtвbѡwɡgıi" +
	"ԍgցgոnսuօoհhѐeёeїiќkўyάaίiόoϲcϳj"

// LooksLatin is the Latin letter that a letter, in lower case, looks like.
func LooksLatin(r rune) (rune, bool) {
	r = unicode.ToLower(r)
	if r < utf8.RuneSelf {
		return 0, false
	}
	_, rest, ok := strings.Cut(lookAlikes, string(r))
	if !ok {
		return 0, false
	}
	latin, _ := utf8.DecodeRuneInString(rest)
	return latin, true
}
