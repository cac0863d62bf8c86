package web

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// extract makes a page readable: as Markdown, or as plain text where that is
// asked for or where the page cannot be taken as a tree.
func extract(ctx context.Context, page string, at *kinds.URL, format string) (text, title string) {
	if format == tools.WebText {
		return strip(page)
	}
	if strings.Count(page, "<") > maxNodes {
		return strip(page) // the tree would take too much memory
	}
	doc, err := html.Parse(&patient{ctx, strings.NewReader(page)})
	if err != nil {
		return strip(page) // nested too deep, or too slow
	}
	if len(at.String()) > maxLink { // each relative link would cost as much
		at = &kinds.URL{Scheme: at.Scheme, Host: at.Host, Addr: at.Addr, Port: at.Port, Path: "/"}
	}
	p := &pruner{at: at, nodes: maxNodes, text: maxText}
	p.prune(doc, 0)
	markdown, err := toMarkdown(p.content(doc))
	if err != nil || ctx.Err() != nil {
		return strip(page)
	}
	if p.cut {
		markdown += "\n\n[… the page is longer than what is converted]"
	}
	return markdown, p.title
}

// patient reads as long as there is time: the parser asks for a few kilobytes
// at once, so that no page keeps it for long beyond.
type patient struct {
	ctx context.Context
	r   io.Reader
}

func (p *patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// toMarkdown converts a tree whose size is bounded. A fault of the converter is
// an error like any.
func toMarkdown(doc *html.Node) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the converter broke: %v", p)
		}
	}()
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithHeaderPromotion(true))))
	out, err := conv.ConvertNode(doc)
	return strings.TrimSpace(string(out)), err
}

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
	at    *kinds.URL
	nodes int // that may still be kept
	text  int // bytes that may still be kept
	lists int // around the current node
	cut   bool
	title string
	main  *html.Node // the one main element; nil: none, or several
	mains int
	base  bool
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
	if unseen(n) {
		return false
	}
	if depth > maxDepth {
		flatten(n)
		return true
	}
	p.element(n)
	inner := indents(n)
	if inner {
		if p.lists++; p.lists > maxLists {
			n.Data, n.DataAtom = "div", atom.Div
		}
	}
	p.prune(n, depth+1)
	if inner {
		p.lists--
	}
	return true
}

// content is what is converted: the one main element where there is one that
// holds something, else all.
func (p *pruner) content(doc *html.Node) *html.Node {
	if p.mains != 1 || len(strings.TrimSpace(textOf(p.main))) < 200 {
		return doc
	}
	p.main.Parent.RemoveChild(p.main)
	root := &html.Node{Type: html.DocumentNode}
	root.AppendChild(p.main)
	return root
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
		atom.Audio, atom.Video, atom.Select, atom.Textarea, atom.Input, atom.Button, atom.Link, atom.Meta, atom.Nav, atom.Dialog, atom.Frameset, atom.Title:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return strings.EqualFold(a.Val, "true")
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
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
	case atom.Main:
		p.main = n
		p.mains++
	}
	attrs := n.Attr[:0]
	for _, a := range n.Attr {
		if a.Key == "href" || a.Key == "class" || a.Key == "start" && len(a.Val) < 7 || a.Key == "title" && n.DataAtom != atom.A {
			attrs = append(attrs, a)
		}
	}
	n.Attr = attrs
}

// link makes a link absolute. One that the web tool would refuse to fetch is
// left as its text.
func (p *pruner) link(n *html.Node) {
	href := strings.TrimSpace(attribute(n, "href"))
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
