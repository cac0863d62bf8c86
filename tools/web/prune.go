package web

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/acp-agent/acp-agent/kinds"
)

// Bounds of what is converted: beyond them time and memory would be the page's
// to choose.
const (
	maxNodes = 150_000
	maxText  = 1 << 20 // bytes
	maxLink  = 2 << 10 // bytes; relative ones grow by what they are relative to
	maxDepth = 120     // of elements
	maxLists = 12      // of lists and quotations, which indent every line below
)

// pruner leaves of a tree what a reader would see, and makes its links absolute.
type pruner struct {
	at            *kinds.URL
	nodes         int // that may still be kept
	text          int // bytes that may still be kept
	lists         int // around the current node
	tables        int // that were pruned
	cut           bool
	title         string
	main, article sole
	parts         int  // sections, articles, … around the current node
	whole         bool // navigation and the page's foot stay
	base          bool
}

// prune goes through the children of a node.
func (p *pruner) prune(n *html.Node, depth int) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		if !p.keep(child, depth) {
			n.RemoveChild(child)
		}
		child = next
	}
}

// keep reports whether a node stays, after what lies below it was pruned.
func (p *pruner) keep(n *html.Node, depth int) bool {
	if p.nodes--; p.nodes < 0 || p.text < 0 {
		p.cut = true
		return false
	}
	switch n.Type {
	case html.TextNode:
		p.text -= len(n.Data)
		return true
	case html.ElementNode:
	case html.DoctypeNode:
		return true
	default: // comments, which no reader sees
		return false
	}
	if n.DataAtom == atom.Title && p.title == "" {
		p.title = oneLine(textOf(n))
	}
	if unseen(n) || !p.whole && p.around(n) {
		return false
	}
	if depth > maxDepth {
		flatten(n)
		return true
	}
	p.element(n)
	tables := p.tables
	inner := indents(n)
	if inner {
		if p.lists++; p.lists > maxLists {
			n.Data, n.DataAtom = "div", atom.Div
		}
	}
	part := isPart(n)
	if part {
		p.parts++
	}
	p.prune(n, depth+1)
	if part {
		p.parts--
	}
	if inner {
		p.lists--
	}
	if n.DataAtom == atom.A && !says(n) {
		return false
	}
	if n.DataAtom == atom.Table {
		tidyTable(n, p.tables > tables)
		p.tables++
	}
	return true
}

// content is what is converted: the one element that says that it is what the
// page is for, where it holds something, else all.
func (p *pruner) content(doc *html.Node) *html.Node {
	at := p.main.only()
	if at == nil {
		at = p.article.only()
	}
	if at == nil || len(strings.TrimSpace(textOf(at))) < 200 {
		return doc
	}
	at.Parent.RemoveChild(at)
	root := &html.Node{Type: html.DocumentNode}
	root.AppendChild(at)
	return root
}

// sole is an element that means something only where it is the one of its kind.
type sole struct {
	node  *html.Node
	count int
}

func (s *sole) add(n *html.Node) { s.node, s.count = n, s.count+1 }

func (s *sole) only() *html.Node {
	if s.count != 1 {
		return nil
	}
	return s.node
}

// indents reports whether an element moves all lines below it to the right.
func indents(n *html.Node) bool {
	return n.DataAtom == atom.Ul || n.DataAtom == atom.Ol || n.DataAtom == atom.Blockquote || n.DataAtom == atom.Table
}

// unseen reports whether an element is not what a reader sees: programs, styles,
// forms' insides, and what the page hides.
func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head:
		return false // for the title
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Math, atom.Canvas,
		atom.Audio, atom.Video, atom.Select, atom.Textarea, atom.Input, atom.Button, atom.Link, atom.Meta, atom.Dialog, atom.Frameset, atom.Title:
		return true
	}
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return hides(a.Key, a.Val) })
}

// hides reports whether an attribute hides its element from readers.
func hides(key, value string) bool {
	switch key {
	case "hidden":
		return !strings.EqualFold(value, "until-found")
	case "aria-hidden":
		return strings.EqualFold(value, "true")
	case "style":
		style := strings.ToLower(strings.Join(strings.Fields(value), ""))
		return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
	}
	return false
}

// around reports whether an element leads about the site and is not what the page
// is for: navigation, and the page's own foot.
func (p *pruner) around(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav:
		return true
	case atom.Footer:
		return p.parts == 0
	}
	switch strings.ToLower(attribute(n, "role")) {
	case "navigation", "search", "contentinfo", "dialog", "alertdialog":
		return true
	}
	return false
}

// isPart reports whether a footer in an element is that element's, not the page's.
func isPart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Article, atom.Section, atom.Main, atom.Aside, atom.Blockquote, atom.Figure, atom.Td:
		return true
	}
	return false
}

// says reports whether there is any text below a node.
func says(n *html.Node) bool {
	for at := range n.Descendants() {
		if at.Type == html.TextNode && strings.TrimSpace(at.Data) != "" {
			return true
		}
	}
	return false
}

// raise writes a power as one: without its place 10 and 6 would be 106.
func raise(n *html.Node) {
	text := n.FirstChild
	if text == nil || text.NextSibling != nil || text.Type != html.TextNode || len(text.Data) > 10 || strings.TrimSpace(text.Data) == "" {
		return
	}
	if strings.Trim(text.Data, "0123456789+-−n") == "" {
		text.Data = "^" + text.Data
	}
}

// element rewrites what would lead elsewhere: links are absolute and of the web,
// or no links; images are their description.
func (p *pruner) element(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		p.link(n)
	case atom.Img:
		image(n)
	case atom.Base:
		if to, err := p.at.Resolve(attribute(n, "href")); err == nil && !p.base && len(to.String()) <= maxLink {
			p.at, p.base = to, true
		}
	case atom.Article:
		p.article.add(n)
	case atom.Sup:
		raise(n)
	case atom.Del, atom.S, atom.Strike:
		if says(n) {
			n.InsertBefore(&html.Node{Type: html.TextNode, Data: "~~"}, n.FirstChild)
			n.AppendChild(&html.Node{Type: html.TextNode, Data: "~~"})
		}
	}
	if n.DataAtom == atom.Main || strings.EqualFold(attribute(n, "role"), "main") {
		p.main.add(n)
	}
	attrs := n.Attr[:0]
	for _, a := range n.Attr {
		spans := (a.Key == "colspan" || a.Key == "rowspan") && len(a.Val) < 3
		if spans || a.Key == "href" || a.Key == "class" || a.Key == "start" && len(a.Val) < 7 || a.Key == "title" && n.DataAtom != atom.A {
			attrs = append(attrs, a)
		}
	}
	n.Attr = attrs
}

// link makes a link absolute. One that the web tool would refuse to fetch is
// left as its text.
func (p *pruner) link(n *html.Node) {
	href := strings.TrimSpace(attribute(n, "href"))
	if strings.HasPrefix(href, "#") && strings.Trim(textOf(n), " #¶§🔗\n") == "" { // leads to where it stands
		for n.FirstChild != nil {
			n.RemoveChild(n.FirstChild)
		}
	}
	href = hrefs().Replace(href)
	to, err := p.at.Resolve(href)
	if href == "" || strings.HasPrefix(href, "#") || err != nil {
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
		return
	}
	target := to.String()
	if len(target) > maxLink {
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
		return
	}
	if _, fragment, ok := strings.Cut(href, "#"); ok && len(fragment) < 200 && kinds.Escape(fragment) == fragment {
		target += "#" + strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(fragment)
	}
	p.text -= len(target)
	n.Attr = []html.Attribute{{Key: "href", Val: target}}
}

// hrefs writes what a browser takes in a link, and a URL has not.
var hrefs = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("\n", "", "\r", "", "\t", "", " ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", "`", "%60")
})

// image puts an image's description in its place.
func image(n *html.Node) {
	alt := oneLine(attribute(n, "alt"))
	n.Type, n.DataAtom, n.Attr, n.Data = html.TextNode, 0, nil, ""
	if alt != "" {
		n.Data = "(image: " + alt + ")"
	}
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
}

// flatten leaves of an element its text.
func flatten(n *html.Node) {
	text := textOf(n)
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
	n.Attr = nil
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf is the text below a node, without programs and styles.
func textOf(n *html.Node) string {
	var b strings.Builder
	for at := range n.Descendants() {
		if at.Type == html.TextNode && (at.Parent == nil || at.Parent.DataAtom != atom.Script && at.Parent.DataAtom != atom.Style) {
			b.WriteString(at.Data)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
