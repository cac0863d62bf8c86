package kinds

import (
	"html"
	"slices"
	"strings"
)

// Markdown takes from the text of a model what an editor would load or start by
// itself (policy section 11): images from elsewhere become links, HTML that has
// attributes becomes text, and so do links to commands, to files and to what is
// no URL of the web. Code is left as it is. The text may come in pieces; what
// cannot be judged yet is kept until more is there. The zero value is ready.
//
// Where editors may read a text in two ways, it counts as code only if it is code
// in both: a backslash too many is better than a picture too many.
type Markdown struct {
	rest   string // not judged yet
	inLine bool   // rest does not begin a line
	block  blocks
	data   bool // rest goes on with the target of an image that holds its data
	cr     bool // the text so far ended with a carriage return
}

// maxHeld is how much text is kept back at most for what might come of it.
const maxHeld = 8 << 10

// maxTarget is the longest target of a link that is passed on, in bytes.
const maxTarget = 2 << 10

// Add takes more of the text and returns what can be shown.
func (m *Markdown) Add(text string) string {
	if m.cr {
		text = strings.TrimPrefix(text, "\n")
	}
	m.cr = strings.HasSuffix(text, "\r")
	m.rest += strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) // each of which ends a line
	return m.run(false)
}

// End returns what was kept back.
func (m *Markdown) End() string { return m.run(true) }

// SafeMarkdown is a whole text, as Markdown leaves it.
func SafeMarkdown(text string) string {
	var m Markdown
	return m.Add(text) + m.End()
}

// run judges as much as can be judged. At the end all can be.
func (m *Markdown) run(end bool) string {
	var out strings.Builder
	for m.rest != "" {
		view, final := m.rest, end
		if len(view) > maxHeld {
			view, final = view[:maxHeld], true
		}
		n, shown, ok := m.step(view, final)
		if !ok && !final {
			break
		}
		out.WriteString(shown)
		m.rest = m.rest[n:]
	}
	if end {
		*m = Markdown{}
	}
	return out.String()
}

// step judges what a text begins with: n bytes are shown as they are returned. It
// is not ok where more text is needed; where that is final there is none.
func (m *Markdown) step(s string, final bool) (n int, shown string, ok bool) {
	switch {
	case m.data:
		return m.imageData(s)
	case !m.inLine:
		return m.beginLine(s, final)
	case m.block.fence != "":
		return m.plain(s, lineEnd(s))
	}
	switch s[0] {
	case '\n':
		return m.plain(s, 1)
	case '\\':
		return m.escaped(s, final)
	case '`':
		return m.codeSpan(s, final)
	case '!':
		return m.image(s, final)
	case ']':
		return m.target(s, final)
	case '<':
		return m.tag(s, final)
	}
	if next := strings.IndexAny(s, "\n\\`!]<"); next > 0 {
		return m.plain(s, next)
	}
	return m.plain(s, len(s))
}

// plain shows the next n bytes as they are.
func (m *Markdown) plain(s string, n int) (int, string, bool) {
	if s[n-1] == '\n' {
		m.inLine = false
	}
	return n, s[:n], true
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// beginLine takes in what the beginning of a line says of it.
func (m *Markdown) beginLine(s string, final bool) (int, string, bool) {
	text := strings.TrimLeft(s, " \t")
	blank := len(s) - len(text)
	line, _, whole := strings.Cut(s, "\n")
	if !whole && !final && !tellsBlock(text) {
		return 0, "", false
	}
	m.inLine = true
	if code := m.block.line(line, whole); code {
		return m.plain(s, lineEnd(s))
	}
	if blank == 0 {
		return m.step(s, final)
	}
	return blank, s[:blank], true
}

// tellsBlock reports whether the beginning of a line is enough to know what it is.
func tellsBlock(text string) bool {
	inner := strings.TrimLeft(text, markers)
	if inner == "" {
		return false
	}
	switch mark := markOf(inner); {
	case mark != "":
		return len(mark) < 3 && mark != inner
	case inner[0] == '<':
		return len(inner) > 1 && strings.TrimLeft(inner[1:], "/"+alphanumeric+"-") != ""
	}
	return true
}

// escaped shows a backslash and what it takes its meaning from.
func (m *Markdown) escaped(s string, final bool) (int, string, bool) {
	if len(s) < 2 {
		return 1, s[:1], final
	}
	if strings.IndexByte(punctuation, s[1]) < 0 {
		return m.plain(s, 1)
	}
	return m.plain(s, 2)
}

// codeSpan shows code within a line. What begins like it and is none is text: so
// is what goes on in another line, or may be cut by the edge of a table's cell.
// From there on it cannot be known what pairs with what, up to an empty line.
func (m *Markdown) codeSpan(s string, final bool) (int, string, bool) {
	text := strings.TrimLeft(s, "`")
	ticks := len(s) - len(text)
	line, _, whole := strings.Cut(text, "\n")
	if m.block.noCode {
		return m.plain(s, ticks)
	}
	for at := 0; at < len(line); {
		i := strings.IndexByte(line[at:], '`')
		if i < 0 {
			break
		}
		at += i
		run := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if at+run == len(line) && !whole && !final {
			return 0, "", false // there may be more of them
		}
		if run == ticks && !strings.Contains(line[:at], "|") && !m.block.html {
			return m.plain(s, ticks+at+run)
		}
		if run == ticks {
			whole = true
			break
		}
		at += run
	}
	if !whole && !final {
		return 0, "", false
	}
	m.block.noCode = true
	return m.plain(s, ticks)
}

// image makes a link of an image that would be loaded from elsewhere.
func (m *Markdown) image(s string, final bool) (int, string, bool) {
	text := strings.TrimLeft(s, "!")
	marks := len(s) - len(text)
	switch {
	case text == "" && !final:
		return 0, "", false
	case !strings.HasPrefix(text, "["):
		return m.plain(s, marks)
	}
	end := strings.IndexAny(text[1:], "]\n`<![\\") + 1
	if (end == 0 || end+1 == len(text)) && !final {
		return 0, "", false
	}
	if alt, ahead, found := strings.Cut(text, "]("); found && len(alt) == end {
		begin := marks + end + 2
		switch picture, sure := holdsPicture(ahead); {
		case picture:
			m.data = true
			return begin, s[:begin], true
		case !sure && !final:
			return 0, "", false
		}
		to, ok := targetOf(ahead, ')', final)
		switch {
		case !ok:
			return 0, "", false
		case to.sure() && !remote(to.url) && !strings.Contains(ahead[:to.size], "\n"):
			return m.plain(s, begin+to.size)
		}
	}
	return marks + 1, s[:marks-1] + "(image) [", true
}

// holdsPicture reports whether a target begins as one that holds a picture of
// pixels. A drawing (image/svg+xml) is none: it may load and run more. It is not sure
// where more of the text is needed.
func holdsPicture(target string) (is, sure bool) {
	rest, ok := strings.CutPrefix(target, "data:image/")
	if !ok {
		return false, true // what is too short to tell, targetOf waits for
	}
	end := strings.IndexAny(rest, ";,")
	if end < 0 {
		return false, len(rest) > len("jpeg")
	}
	switch rest[:end] {
	case "png", "jpeg", "jpg", "gif", "webp", "avif", "bmp":
		return true, true
	}
	return false, true
}

// imageData shows the target of an image that holds its data, which may be long.
func (m *Markdown) imageData(s string) (int, string, bool) {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune(alphanumeric+"+/=;,:%.-_", r)
	})
	switch {
	case end < 0:
		return len(s), s, true
	case end > 0:
		return end, s[:end], true
	}
	m.data = false
	if s[0] == ')' {
		return m.plain(s, 1)
	}
	return 0, ")", true // what does not belong there ends it
}

// target judges where a link, or the definition of one, leads.
func (m *Markdown) target(s string, final bool) (int, string, bool) {
	if len(s) < 2 {
		return 1, s[:1], final
	}
	sign := s[1]
	if sign != '(' && sign != ':' {
		return m.plain(s, 1)
	}
	closing := byte(')')
	if sign == ':' {
		closing = 0
	}
	to, ok := targetOf(s[2:], closing, final)
	switch {
	case !ok:
		return 0, "", false
	case !to.sure() || !harmless(to.url):
		return 2, "]\\" + string(sign), true
	case strings.Contains(s[:2+to.size], "\n"): // what a line begins with counts
		return m.plain(s, 2)
	}
	return m.plain(s, 2+to.size)
}

// tag makes text of HTML that says more than its name, and of what hides text.
func (m *Markdown) tag(s string, final bool) (int, string, bool) {
	const asText = "&lt;"
	end := strings.IndexAny(s[1:], "<>\n") + 1
	switch {
	case len(s) == 1:
		return 1, "<", final
	case strings.IndexByte("!?", s[1]) >= 0:
		return 1, asText, true
	case s[1] != '/' && !letter(s[1]):
		return m.plain(s, 1)
	case end == 0 && !final:
		return 0, "", false
	}
	inner := ""
	if end > 0 && s[end] == '>' {
		inner = s[1:end]
	}
	scheme, _, isLink := strings.Cut(inner, ":")
	switch name := strings.TrimPrefix(strings.TrimRight(strings.TrimSuffix(inner, "/"), " "), "/"); {
	case tagName(name, "-"):
		if slices.Contains(rawTags, strings.ToLower(name)) {
			return 1, asText, true
		}
		return m.plain(s, end+1)
	case m.block.html: // which goes past all of Markdown's rules
		return 1, asText, true
	case isLink && tagName(scheme, "+-."):
		if harmless(inner) && !strings.ContainsAny(inner, "`![] \t") {
			return m.plain(s, end+1)
		}
		return 1, asText, true
	}
	after := strings.TrimLeft(strings.TrimPrefix(s[1:], "/"), alphanumeric+"-")
	if after == "" || strings.IndexByte(" \t\n/>", after[0]) >= 0 {
		return 1, asText, true
	}
	return m.plain(s, 1) // no browser takes it for a tag
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// The characters of ASCII that are letters and digits, and those that a backslash
// takes the meaning from.
const (
	alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	punctuation  = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

// tagName reports whether a text is made of letters, digits and the marks, and
// begins with a letter.
func tagName(s, marks string) bool {
	return s != "" && letter(s[0]) && strings.Trim(s, alphanumeric+marks) == ""
}

// rawTags are the elements of which Markdown takes what follows as HTML beyond an
// empty line, or browsers take as no HTML.
var rawTags = []string{"iframe", "noembed", "noframes", "noscript", "plaintext", "pre", "script", "style", "template", "textarea", "title", "xmp"}

// aim is where a link leads.
type aim struct {
	url    string // decoded
	size   int    // bytes, with what closes it
	closed bool
	odd    bool // it holds what means something else where it is no link after all
}

// sure reports whether it is a link whatever stands around it.
func (a aim) sure() bool { return a.closed && !a.odd }

// targetOf reads the target of a link that is closed by a bracket, or by nothing
// as in a definition. It is not ok where more text is needed.
func targetOf(s string, closing byte, final bool) (a aim, ok bool) {
	if len(s) > maxTarget {
		s, final = s[:maxTarget], true
	}
	text := strings.TrimLeft(s, " \t\n")
	if text == "" {
		return a, final
	}
	raw, rest, ok := cutTarget(text, closing)
	if !ok && !final {
		return a, false
	}
	a.url = decodeTarget(raw)
	a.odd = strings.ContainsAny(raw, "`<![]")
	if closing == 0 {
		a.closed, a.size = true, len(s)-len(rest)
		return a, true
	}
	title := strings.TrimLeft(rest, " \t\n")
	if title == "" {
		return a, final
	}
	if i := strings.IndexByte("\"'(", title[0]); i >= 0 && len(title) < len(rest) {
		inner, after, found := strings.Cut(title[1:], "\"')"[i:i+1])
		if !found {
			return a, final
		}
		a.odd = a.odd || strings.ContainsAny(inner, "`<![]\\")
		if title = strings.TrimLeft(after, " \t\n"); title == "" {
			return a, final
		}
	}
	if title[0] == closing {
		a.closed, a.size = true, len(s)-len(title)+1
	}
	return a, true
}

// cutTarget cuts a link's target off: between angle brackets, or up to a blank or
// the closing bracket. It is not ok where its end is not there yet.
func cutTarget(s string, closing byte) (raw, rest string, ok bool) {
	if strings.HasPrefix(s, "<") {
		if i := strings.IndexAny(s, ">\n"); i > 0 {
			return s[1:i], s[i+1:], true
		}
		return s[1:], "", false
	}
	open := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c == 0x7f:
			return s[:i], s[i:], true
		case c == '\\' && i+1 < len(s):
			i++
		case c == '(':
			open++
		case c == ')' && closing == ')':
			if open == 0 {
				return s[:i], s[i:], true
			}
			open--
		}
	}
	return s, "", false
}

// decodeTarget is what editors make of a target: without escapes and entities, and
// without the characters that browsers drop.
func decodeTarget(raw string) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) && strings.IndexByte(punctuation, raw[i+1]) >= 0 {
			i++
		}
		b.WriteByte(raw[i])
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, html.UnescapeString(b.String()))
}

// schemeOf is a target's scheme in lower case; empty: it is relative. A file with
// a line (main.go:12) is no scheme.
func schemeOf(to string) string {
	scheme, rest, ok := strings.Cut(to, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#\\") {
		return ""
	}
	if rest != "" && strings.Trim(rest, "0123456789:-,L#") == "" && strings.Contains(scheme, ".") {
		return ""
	}
	return strings.ToLower(scheme)
}

// harmless reports whether a link may be passed on: into the project, into the
// page, by mail, or to what web_fetch would take for a URL.
func harmless(to string) bool {
	switch schemeOf(to) {
	case "":
		if isNetworkPath(to) {
			_, err := ParseURL("https:" + to)
			return err == nil
		}
		return true
	case "http", "https":
		_, err := ParseURL(to)
		return err == nil
	case "mailto":
		return true
	}
	return false
}

// remote reports whether an image would be loaded from elsewhere.
func remote(to string) bool { return schemeOf(to) != "" || isNetworkPath(to) }

// isNetworkPath reports whether a relative target names a host.
func isNetworkPath(to string) bool {
	return len(to) > 1 && strings.IndexByte(`/\`, to[0]) >= 0 && strings.IndexByte(`/\`, to[1]) >= 0
}
