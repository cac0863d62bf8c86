package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// symbolName takes a name apart, as people, or servers, write it: the identifier,
// and what holds it. Type arguments, receivers' brackets and parameters are no part
// of either.
func symbolName(written string) (holder, name string) {
	written = strings.Trim(strings.TrimSpace(written), "`")
	if at := operatorIndex(written); at >= 0 { // C++: its name is of signs
		return strings.Trim(written[:at], ":. "), written[at:]
	}
	written = withoutArguments(withoutParameters(written))
	for _, separator := range [...]string{"::", "->", "#", "/", `\`} {
		written = strings.ReplaceAll(written, separator, ".")
	}
	i := strings.LastIndexByte(written, '.')
	if i < 0 {
		return "", written
	}
	return strings.Trim(written[:i], "()*&. "), written[i+1:]
}

// operatorIndex is where in a name an operator's name begins; below 0: nowhere.
func operatorIndex(name string) int {
	i := strings.LastIndex(name, "operator")
	if i < 0 || i+len("operator") == len(name) {
		return -1
	}
	before, _ := utf8.DecodeLastRuneInString(name[:i])
	after, _ := utf8.DecodeRuneInString(name[i+len("operator"):])
	if i > 0 && inWord(before) || inWord(after) || !strings.ContainsRune("=!<>+-*/%^&|~[(,", after) {
		return -1
	}
	return i
}

// withoutParameters is a function's name without the list behind it and the type
// behind that, and without a count of parameters: name(a, b), name() : T, name/2.
func withoutParameters(name string) string {
	if i := strings.LastIndexByte(name, '/'); i > 0 && i+1 < len(name) && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	open := strings.IndexByte(name, '(')
	if open == 0 { // a receiver
		if open = strings.IndexByte(name[1:], '('); open >= 0 {
			open++
		}
	}
	if open < 0 {
		return name
	}
	rest := strings.TrimSpace(name[strings.LastIndexByte(name, ')')+1:])
	if before, _ := utf8.DecodeLastRuneInString(name[:open]); !inWord(before) || rest != "" && rest[0] != ':' {
		return name
	}
	return name[:open]
}

// withoutArguments is a name without the type arguments in it.
func withoutArguments(name string) string {
	var b strings.Builder
	depth := 0
	for i, r := range name {
		switch {
		case r == '[' || r == '<':
			depth++
		case depth > 0 && (r == ']' || r == '>' && name[i-1] != '-'):
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	if depth > 0 || b.Len() == 0 { // they are no brackets
		return name
	}
	return b.String()
}

// lastName is the last identifier of what holds a symbol: of (*Store) and of "impl
// Display for Store" it is Store.
func lastName(holder string) string {
	holder = strings.TrimRightFunc(withoutArguments(holder), func(r rune) bool { return !inWord(r) })
	return holder[strings.LastIndexFunc(holder, func(r rune) bool { return !inWord(r) })+1:]
}

// byHolder divides symbols into those that a holder may mean and others: those that
// it holds, else by the letters alone, else those that nothing holds, which it may
// be the package of.
func byHolder(list []Symbol, holder string) (fit, others []Symbol) {
	if holder == "" {
		return list, nil
	}
	holder = lastName(holder)
	holds := func(s Symbol, same func(a, b string) bool) bool {
		in, _ := symbolName(s.Name)
		return same(lastName(in), holder) || same(lastName(s.In), holder)
	}
	for _, fits := range []func(Symbol) bool{
		func(s Symbol) bool { return holds(s, func(a, b string) bool { return a == b }) },
		func(s Symbol) bool { return holds(s, strings.EqualFold) },
		func(s Symbol) bool { in, _ := symbolName(s.Name); return in == "" && s.In == "" },
	} {
		others = nil
		for _, s := range list {
			if fits(s) {
				fit = append(fit, s)
			} else {
				others = append(others, s)
			}
		}
		if len(fit) > 0 {
			break
		}
	}
	return fit, others
}

// places are where a look-up may be about, the likeliest first. There is at least
// one.
func (s session) places(ctx context.Context, q Target) ([]Position, error) {
	if q.Line > s.doc.text.lines() {
		return nil, fmt.Errorf("line %d lies behind the end: the file has %s", q.Line, count(s.doc.text.lines(), "line"))
	}
	if q.Symbol == "" {
		return s.placed(q)
	}
	holder, name := symbolName(q.Symbol)
	if name == "" {
		return nil, fmt.Errorf("symbol %q names nothing", q.Symbol)
	}
	fit, others, err := s.declared(ctx, holder, name)
	if err != nil {
		return nil, err
	}
	if q.Line == 0 && len(fit) > 1 {
		return nil, &AmbiguousError{q.Symbol, fit}
	}
	var out []Position
	add := func(list ...Position) {
		for _, at := range list {
			if len(out) < maxPlaces && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	if q.Line > 0 {
		add(s.onLine(q.Line, name, holder, q.Column)...)
	}
	if i := slices.IndexFunc(fit, func(d Symbol) bool { return d.At.Line >= q.Line }); i >= 0 {
		if at, ok := s.doc.text.at(fit[i].At, s.unit); ok {
			add(at)
		}
	}
	if q.Line > 0 || len(out) == 0 {
		add(s.written(name, max(q.Line, 1), holder, others)...)
	}
	if len(out) == 0 {
		return nil, s.notFound(q, name, others)
	}
	return out, nil
}

// placed is the place that a look-up without a symbol is about.
func (s session) placed(q Target) ([]Position, error) {
	t := s.doc.text
	at, ok := t.at(Place{max(q.Line, 1), max(q.Column, 1)}, s.unit)
	if !ok {
		line := max(q.Line, 1)
		return nil, fmt.Errorf("column %d lies behind the end of line %d, which has %s", q.Column, line, count(t.length(line-1), "character"))
	}
	return []Position{at}, nil
}

// count is a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// declared are the symbols of the document with a name: those that are of a holder
// where one is given, and the others. A server that refuses to list them has none.
func (s session) declared(ctx context.Context, holder, name string) (fit, others []Symbol, err error) {
	if !s.can("documentSymbolProvider") {
		return nil, nil, nil
	}
	all, err := s.outline(ctx)
	if err != nil && !errors.Is(err, errAnswered) {
		return nil, nil, err
	}
	fit, others = byHolder(slices.DeleteFunc(all, func(d Symbol) bool { _, own := symbolName(d.Name); return own != name }), holder)
	return fit, others, nil
}

// onLine are the places of a name on a line: the one that is nearest to a column
// first, where one is given, else those behind what holds it, and last what only
// ends as it does, as $name.
func (s session) onLine(line int, name, holder string, column int) []Position {
	t := s.doc.text
	type hit struct{ at, rank int }
	var hits []hit
	body, from := t.line(line-1), t.starts[line-1]
	wanted := 0
	if column > 0 {
		wanted = t.column(line-1, column-1, utf32Units) - from
	}
	for at := 0; len(hits) < maxHits; {
		i := wordIndex(body[at:], name)
		if i < 0 {
			break
		}
		i += at
		h := hit{at: i}
		switch {
		case column > 0 && wanted < i:
			h.rank = i - wanted
		case column > 0:
			h.rank = max(wanted-i-len(name), 0)
		case strings.HasSuffix(body[:i], "$"):
			h.rank = 2
		case holder != "" && !strings.HasSuffix(strings.TrimRight(body[:i], `.:->#\`), lastName(holder)):
			h.rank = 1
		}
		hits = append(hits, h)
		at = i + len(name)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	var out []Position
	for _, h := range hits[:min(len(hits), maxPlaces)] {
		out = append(out, t.position(from+h.at, s.unit))
	}
	return out
}

// Limits of the search for a name in a text.
const (
	maxPlaces = 8    // of a name that are tried
	maxHits   = 1000 // of a name on a line that are looked at
)

// written are the first places of a name in the text from a line on, those behind
// what holds it first. Where others of that name are declared here, the rest may be
// theirs, and does not count.
func (s session) written(name string, line int, holder string, others []Symbol) []Position {
	t := s.doc.text
	var plain, held []Position
	for n := line; n <= t.lines() && len(plain) < maxPlaces && len(held) < maxPlaces; n++ {
		for _, at := range s.onLine(n, name, holder, 0) {
			before := t.body[t.starts[n-1]:t.offset(at, s.unit)]
			switch {
			case holder != "" && strings.HasSuffix(strings.TrimRight(before, `.:->#\`), lastName(holder)):
				held = append(held, at)
			case len(others) == 0:
				plain = append(plain, at)
			}
		}
	}
	return append(held, plain...)
}

// notFound says that a name does not stand where it was looked for, and where it
// does, or what is like it.
func (s session) notFound(q Target, name string, others []Symbol) error {
	if len(others) > 0 {
		var list []string
		for _, d := range others[:min(len(others), 5)] {
			list = append(list, fmt.Sprintf("%s on line %d", join(d.In, d.Name), d.At.Line))
		}
		return fmt.Errorf("no %s stands in the file from line %d on; there is %s", q.Symbol, max(q.Line, 1), strings.Join(list, ", "))
	}
	var lines []string
	for _, at := range s.written(name, 1, "", nil) {
		if n := fmt.Sprint(at.Line + 1); len(lines) == 0 || lines[len(lines)-1] != n {
			lines = append(lines, n)
		}
	}
	if len(lines) > 0 {
		return fmt.Errorf("%s does not stand on line %d or behind it; it stands on line %s", name, q.Line, strings.Join(lines[:min(5, len(lines))], ", "))
	}
	if near := s.near(name); len(near) > 0 {
		return fmt.Errorf("%s does not stand in the file as a whole word; there is %s", name, strings.Join(near, ", "))
	}
	return fmt.Errorf("%s does not stand in the file as a whole word; check the name and the path", name)
}

// near are the words of the text that are the most like a name.
func (s session) near(name string) []string {
	const most, searched, compared = 3, 1 << 20, 20_000
	body := s.doc.text.body
	type word struct {
		text string
		off  int
	}
	var list []word
	known := map[string]bool{}
	lower, limit := strings.ToLower(name), 1+utf8.RuneCountInString(name)/4
	for w := range strings.FieldsFuncSeq(body[:min(len(body), searched)], func(r rune) bool { return !inWord(r) }) {
		if known[w] || len(w) > maxName || len(known) == compared {
			continue
		}
		known[w] = true
		if off := distance(strings.ToLower(w), lower); off <= limit && off < utf8.RuneCountInString(w) {
			list = append(list, word{w, off})
		}
	}
	slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(a.off, b.off) })
	var out []string
	for _, w := range list[:min(len(list), most)] {
		out = append(out, strings.ToValidUTF8(w.text, ""))
	}
	return out
}

// wordIndex is where in s a whole word stands first; below 0: nowhere.
func wordIndex(s, word string) int {
	if word == "" {
		return -1
	}
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return -1
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		if (i == 0 || !inWord(before) || !inWord(first)) && (i+len(word) == len(s) || !inWord(after) || !inWord(last)) {
			return i
		}
		at = i + len(word)
	}
}

// inWord reports whether a rune may stand in an identifier: a letter, a digit, what
// is put onto one, and what joins them.
func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\u200c' || r == '\u200d'
}
