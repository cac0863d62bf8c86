package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// strip leaves of a page its text, a line for each block. It works in one go
// through the page, whatever that holds.
func strip(page string) (text, title string) {
	s := stripper{tokens: html.NewTokenizer(strings.NewReader(page))}
	s.run()
	return strings.TrimSpace(s.text.String()), oneLine(s.title.String())
}

type stripper struct {
	tokens *html.Tokenizer
	text   strings.Builder
	title  strings.Builder
	within atom.Atom // an element whose text is no text of the page; 0: none
	pre    int       // elements whose blanks count
	space  bool      // a blank is due
	lines  int       // line ends that the text ends with
	hidden atom.Atom // an element that the page hides; 0: none
	depth  int       // elements of that name that are open in it, and itself
}

func (s *stripper) run() {
	for {
		switch s.tokens.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			s.add(string(s.tokens.Text()))
		case html.StartTagToken:
			s.open()
		case html.SelfClosingTagToken:
			name, _ := s.tokens.TagName()
			s.line(atom.Lookup(name))
		case html.EndTagToken:
			s.end()
		}
	}
}

func (s *stripper) add(text string) {
	switch {
	case s.within == atom.Title:
		if s.title.Len() < 1000 {
			s.title.WriteString(text)
		}
		return
	case s.within != 0 || s.hidden != 0:
		return
	case s.pre > 0:
		s.word(text)
		return
	}
	for i, word := range strings.Fields(text) {
		if i > 0 || strings.ContainsRune(" \t\r\n\f", rune(text[0])) {
			s.space = true
		}
		s.word(word)
	}
	if text != "" && strings.ContainsRune(" \t\r\n\f", rune(text[len(text)-1])) {
		s.space = true
	}
}

func (s *stripper) word(w string) {
	if w == "" {
		return
	}
	if s.space && s.lines == 0 && s.text.Len() > 0 {
		s.text.WriteByte(' ')
	}
	s.space, s.lines = false, 0
	s.text.WriteString(w)
}

func (s *stripper) open() {
	name, more := s.tokens.TagName()
	a := atom.Lookup(name)
	s.hide(a, more)
	switch a {
	case atom.Script, atom.Style, atom.Title, atom.Textarea, atom.Noscript, atom.Iframe:
		if s.within == 0 {
			s.within = a
		}
	case atom.Pre:
		s.pre++
	}
	s.line(a)
}

// hide notes where an element begins that the page hides. One whose end is
// usually left out ends where the next of its name begins.
func (s *stripper) hide(a atom.Atom, attributes bool) {
	switch a {
	case 0, atom.Br, atom.Img, atom.Input, atom.Hr, atom.Meta, atom.Link, atom.Wbr, atom.Html, atom.Body: // without an end, or all there is
		return
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Option:
		if s.hidden == a {
			s.hidden = 0
		}
	}
	if s.hidden != 0 {
		if a == s.hidden {
			s.depth++
		}
		return
	}
	for attributes {
		var key, value []byte
		key, value, attributes = s.tokens.TagAttr()
		if hides(string(key), string(value)) {
			s.hidden, s.depth = a, 1
		}
	}
}

func (s *stripper) end() {
	name, _ := s.tokens.TagName()
	a := atom.Lookup(name)
	if a == s.within {
		s.within = 0
	}
	if a == s.hidden {
		if s.depth--; s.depth <= 0 {
			s.hidden = 0
		}
	}
	if a == atom.Pre && s.pre > 0 {
		s.pre--
	}
	s.line(a)
}

// line begins a new line at the edge of a block, and leaves one empty around a
// paragraph.
func (s *stripper) line(a atom.Atom) {
	n := 0
	switch a {
	case atom.Br, atom.Div, atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Option, atom.Hr, atom.Caption:
		n = 1
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Figure:
		n = 2
	case atom.Td, atom.Th:
		s.space = true
	}
	if s.within != 0 || s.hidden != 0 || s.text.Len() == 0 {
		return
	}
	for ; s.lines < n; s.lines++ {
		s.text.WriteByte('\n')
		s.space = false
	}
}
