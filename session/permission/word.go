package permission

import (
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command, decoded as a shell would before the program
// sees it. Where it is not known before it runs, text is the best guess: it
// serves restrictions, never permissions.
type word struct {
	text    string
	dynamic bool         // its value is not known before it runs
	glob    bool         // it expands to the names of files
	secret  bool         // it shows a variable that is not known
	bare    bool         // what is not known stands outside of quotes, and may be several words
	fed     bool         // it is <(…): a file that holds what the commands in it print
	named   bool         // it comes from a pattern of file names, which may stand for others by then
	hint    bool         // the guess is a bold one: it serves operands, and no program's name
	odd     string       // why it is beyond what is understood
	pattern string       // where glob: the pattern, with quoted characters escaped
	src     *syntax.Word // in the tree; nil: made by an expansion
}

// static reports whether the word is known to the letter.
func (w word) static() bool { return !w.dynamic && !w.glob && w.odd == "" }

// words decodes words, with the braces in them and the patterns of file names
// expanded; raw are the words before the latter.
func (s *shell) words(list []*syntax.Word, at dirs) (out []word, raw []string) {
	for _, w := range list {
		first := len(out) == 0
		if p, ok := outputFile(w); ok && !first {
			s.nestedStmts(p.Stmts, at)
			out, raw = append(out, word{text: os.DevNull, fed: true, src: w}), append(raw, os.DevNull)
			continue
		}
		if !hasBraces(w) {
			d := s.word(w, at)
			d.src = w
			if first && d.hint {
				d.text = noGuess
			}
			for _, d := range s.several(w, d) {
				raw = append(raw, d.text)
				if first {
					out, first = append(out, d), false
				} else {
					out = append(out, s.expand(d, at)...)
				}
			}
			continue
		}
		words, all := bracedWords(w)
		if !all {
			s.opaque("braces that expand to very many words")
		}
		for _, one := range words {
			d := s.word(one, at)
			if !plainBraces(w) {
				d.odd = "braces make several words of one"
			}
			raw = append(raw, d.text)
			if len(out) == 0 {
				out = append(out, d)
			} else {
				out = append(out, s.expand(d, at)...)
			}
		}
	}
	if len(out) == 0 && len(list) > 0 {
		return []word{{odd: "braces make no word at all", src: list[0]}}, []string{""}
	}
	return out, raw
}

// outputFile is the <(…) that a word is, alone.
func outputFile(w *syntax.Word) (*syntax.ProcSubst, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	p, ok := w.Parts[0].(*syntax.ProcSubst)
	return p, ok && p.Op == syntax.CmdIn
}

var plainBrace = lazy(`^[A-Za-z0-9_./*-]*\{[A-Za-z0-9_./*-]*(,[A-Za-z0-9_./*-]*)+\}[A-Za-z0-9_./*-]*$`)

// plainSequence is a run of numbers that are written without zeros in front.
var plainSequence = lazy(`^[A-Za-z0-9_/-]*\{(0|[1-9][0-9]{0,3})\.\.(0|[1-9][0-9]{0,3})\}[A-Za-z0-9_./-]*$`)

// plainBraces reports whether a word is a list or a run of numbers in braces of the
// plainest form, which all readers expand alike.
func plainBraces(w *syntax.Word) bool {
	text := w.Lit()
	if plainSequence().MatchString(text) {
		return true
	}
	return plainBrace().MatchString(text) && !strings.Contains(text, "..")
}

// word decodes one word.
func (s *shell) word(w *syntax.Word, at dirs) word {
	var d word
	if w == nil {
		return d
	}
	var b strings.Builder
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			from := b.Len()
			s.part(part, at, &b, &d, false)
			d.pattern += quoteGlob(b.String()[from:])
			continue
		}
		text := lit.Value
		if i == 0 && strings.HasPrefix(text, "~") {
			text = s.tilde(text, len(w.Parts) > 1, &b, &d)
			d.pattern = quoteGlob(b.String())
		}
		if strings.Contains(text, "=~") || strings.Contains(text, ":~") {
			d.odd = "a ~ in the middle of a word"
		}
		unquoted(text, &b, &d)
	}
	d.text = b.String()
	if d.glob && !strings.ContainsAny(d.pattern, "*?") && !strings.Contains(d.pattern, "]") {
		d.glob = false // a bracket that is not closed, as in the command [
	}
	return d
}

// tilde expands a leading ~ and returns what is left of the literal.
func (s *shell) tilde(text string, more bool, b *strings.Builder, d *word) string {
	prefix, rest, slash := strings.Cut(text, "/")
	switch {
	case prefix != "~" || more && !slash:
		d.odd = "the folder " + visible(prefix) + " is not known"
		return text
	case s.Home == "" || s.set["HOME"]:
		d.odd = "the home folder is not known"
		return text
	}
	b.WriteString(s.Home)
	if slash {
		return "/" + rest
	}
	return ""
}

// unquoted decodes a literal outside of quotes.
func unquoted(text string, b *strings.Builder, d *word) {
	var pattern strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
			if i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
				pattern.WriteString(quoteGlob(text[i : i+1]))
			}
		case '*', '?', '[':
			d.glob = true
			fallthrough
		default:
			b.WriteByte(c)
			pattern.WriteByte(c)
		}
	}
	d.pattern += pattern.String()
}

// quoteGlob escapes what would be special in a pattern.
func quoteGlob(s string) string {
	if !strings.ContainsAny(s, `*?[\`) {
		return s
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(s)
}

// part decodes a part of a word that is not a plain literal.
func (s *shell) part(part syntax.WordPart, at dirs, b *strings.Builder, d *word, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit: // in double quotes
		inDouble(p.Value, b)
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			decoded, ok := ansiC(text)
			if !ok {
				d.odd = "an escape in $'…' that is not understood"
			}
			text = decoded
		}
		b.WriteString(text)
	case *syntax.DblQuoted:
		if p.Dollar {
			d.odd = `$"…" is translated before it is used`
		}
		for _, in := range p.Parts {
			s.part(in, at, b, d, true)
		}
	case *syntax.ParamExp:
		s.param(p, at, b, d, quoted)
	case *syntax.CmdSubst:
		if p.Backquotes && holdsDocument(p) {
			d.odd = "a here-document between back-quotes"
		}
		s.nestedStmts(p.Stmts, at)
		if text, ok := hereText(p); ok && quoted {
			b.WriteString(text)
			return
		}
		d.dynamic, d.bare = true, d.bare || !quoted
		d.hint = true
		b.WriteString(s.printedBy(p, at))
		if p.TempFile || p.ReplyVar {
			d.odd = "a substitution of an uncommon form"
		}
	default: // arithmetic, <( ), extended globs
		d.dynamic = true
		d.odd = "an expansion that can run code"
		if a, ok := part.(*syntax.ArithmExp); ok && digitsOnly(a.X) {
			d.odd = ""
		}
		s.inner(part, at)
	}
}

// holdsDocument reports whether there is a here-document in a substitution:
// between back-quotes, shells find different ends of it.
func holdsDocument(c *syntax.CmdSubst) (found bool) {
	syntax.Walk(c, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		found = found || ok && r.Hdoc != nil
		return !found
	})
	return found
}

// hereText is the text of "$(cat <<'EOF' … EOF)", which is known to the letter:
// commit messages are written so.
func hereText(c *syntax.CmdSubst) (string, bool) {
	if len(c.Stmts) != 1 || c.Backquotes || c.TempFile || c.ReplyVar {
		return "", false
	}
	st := c.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || st.Coprocess || len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || len(st.Redirs) != 1 {
		return "", false
	}
	r := st.Redirs[0]
	if r.Op != syntax.Hdoc || r.N != nil || r.Hdoc == nil || !quotedWord(r.Word) {
		return "", false
	}
	text := r.Hdoc.Lit()
	if text == "" && len(r.Hdoc.Parts) > 0 {
		return "", false
	}
	return strings.TrimRight(text, "\n"), true
}

// inDouble decodes a literal in double quotes.
func inDouble(text string, b *strings.Builder) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
}

// param decodes $x and ${x}; every other form can run code, or set variables.
func (s *shell) param(p *syntax.ParamExp, at dirs, b *strings.Builder, d *word, quoted bool) {
	if s.trims(p) {
		d.dynamic, d.bare, d.hint = true, d.bare || !quoted, true
		b.WriteString(s.guessed(p, at))
		return
	}
	if !plainParam(p) {
		d.dynamic, d.secret = true, true
		d.odd = "an expansion ${…} that can run code"
		d.hint = true
		b.WriteString(s.guessed(p, at))
		return
	}
	switch name := p.Param.Value; {
	case name == "HOME" && !s.set["HOME"] && s.Home != "" && (quoted || !splits(s.Home)):
		b.WriteString(s.Home)
	case name == "PWD" && !s.set["PWD"] && len(at) == 1:
		b.WriteString(at[0])
		if !quoted && splits(at[0]) {
			d.dynamic, d.bare = true, true
		}
	case name == "?" || name == "#" || name == "$" || name == "!":
		d.dynamic = true
	case !s.set[name] && (name == "PATH" || name == "SHELL" || name == "USER" || name == "PWD" || name == "HOME"):
		d.dynamic, d.bare = true, d.bare || !quoted
	case s.known[name] && (quoted || s.vars[name] != "" && !splits(s.vars[name])):
		b.WriteString(s.vars[name])
	default:
		d.dynamic, d.bare = true, d.bare || !quoted
		d.secret = !s.set[name]
		if value, ok := s.vars[name]; ok {
			d.hint = d.hint || strings.ToLower(name) != name
			b.WriteString(value)
		} else {
			b.WriteString(noGuess)
		}
	}
}

// trims reports whether an expansion is the length of a variable that the command
// sets, or its value without a beginning or an end that is written out: neither can
// run code.
func (s *shell) trims(p *syntax.ParamExp) bool {
	if p.Param == nil || !s.known[p.Param.Value] && !s.set[p.Param.Value] {
		return false
	}
	bare := *p
	bare.Length, bare.Exp = false, nil
	if !plainParam(&bare) {
		return false
	}
	if p.Exp == nil {
		return p.Length
	}
	switch p.Exp.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return !p.Length && p.Exp.Word.Lit() != ""
	}
	return false
}

func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet &&
		p.Split == syntax.OptUnset && p.GlobSubst == syntax.OptUnset && p.RcExpand == syntax.OptUnset &&
		p.NestedParam == nil && p.Index == nil && len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil &&
		p.Names == 0 && p.Exp == nil
}

// splits reports whether a value outside of quotes would not stay one word.
func splits(value string) bool { return strings.ContainsAny(value, " \t\n*?[\\") }

// digitsOnly reports whether an arithmetic expression is of digits and
// operators alone: any name in one is evaluated again, and can run code.
func digitsOnly(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case *syntax.Word:
		lit := x.Lit()
		return lit != "" && strings.Trim(lit, "0123456789") == ""
	case *syntax.BinaryArithm:
		return digitsOnly(x.X) && digitsOnly(x.Y)
	case *syntax.UnaryArithm:
		return digitsOnly(x.X)
	case *syntax.ParenArithm:
		return digitsOnly(x.X)
	}
	return false
}

// ansiC decodes the inside of $'…'; ok is false where it holds an escape that is
// not understood.
func ansiC(text string) (out string, ok bool) {
	var b strings.Builder
	ok = true
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if n := strings.IndexByte(`abefnrtvE\'"?`, c); n >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[n])
			continue
		}
		digits, base, limit := "", 16, 0
		switch {
		case c == 'x':
			limit = 2
		case c == 'u':
			limit = 4
		case c == 'U':
			limit = 8
		case c >= '0' && c <= '7':
			digits, base, limit = string(c), 8, 3
		}
		for len(digits) < limit && i+1 < len(text) && isDigit(text[i+1], base) {
			i++
			digits += string(text[i])
		}
		v, err := strconv.ParseUint(digits, base, 32)
		if err != nil || v == 0 || v > utf8.MaxRune || base == 8 && v > 0xff {
			ok = false
			b.WriteByte(c)
			continue
		}
		if c == 'u' || c == 'U' {
			b.WriteRune(rune(v))
		} else {
			b.WriteByte(byte(v))
		}
	}
	return b.String(), ok && utf8.ValidString(b.String())
}

func isDigit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// visible is text as it may stand in a reason: nothing hidden, not long.
func visible(s string) string {
	const most = 80
	s = strings.ReplaceAll(kinds.Line(s), "`", "'") // the reason's own back-ticks pair
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return s
}
