package web

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a table that is written as one: beyond them it lays a page out, or
// is made to become much more than it is.
const (
	maxCell = 2000 // bytes of a cell's text
	maxGrid = 8    // places of the grid for each cell that there is
)

// tidyTable makes a pruned table fit for Markdown, where a cell is one line: lists in
// it become lines. One that holds what no line can, or whose grid is mostly
// empty, becomes the blocks that it holds.
func tidyTable(n *html.Node, nested bool) {
	g := gridOf(n)
	if !g.fits() {
		g.dropSpans()
	}
	if nested || !g.fits() || g.blocks || withinText(n) {
		unwrap(n)
		return
	}
	for _, cell := range g.cells {
		oneLineCell(cell)
	}
}

// oneLineCell joins the blocks of a cell by breaks.
func oneLineCell(cell *html.Node) {
	for at := range cell.Descendants() {
		switch at.DataAtom {
		case atom.Li:
			at.InsertBefore(&html.Node{Type: html.TextNode, Data: "• "}, at.FirstChild)
			fallthrough
		case atom.Ul, atom.Ol, atom.Blockquote, atom.Hr, atom.P, atom.Div, atom.Section, atom.Figure, atom.Dl, atom.Dt, atom.Dd, atom.Details, atom.Summary:
			rename(at, atom.Span)
			if before := at.PrevSibling; before != nil && !(before.Type == html.TextNode && before.PrevSibling == nil && strings.TrimSpace(before.Data) == "") {
				at.Parent.InsertBefore(&html.Node{Type: html.ElementNode, Data: "br", DataAtom: atom.Br}, at)
			}
		}
	}
}

// grid is what a table spans.
type grid struct {
	rows, columns int
	cells         []*html.Node
	area          int  // of all cells, with what they span
	blocks        bool // a cell holds what is no line
}

func gridOf(n *html.Node) *grid {
	g := &grid{}
	row, width := 0, 0
	for at := range n.Descendants() {
		switch at.DataAtom {
		case atom.Tr:
			row++
			width = 0
		case atom.Td, atom.Th:
			g.cells = append(g.cells, at)
			across, down := span(at, "colspan"), span(at, "rowspan")
			width += across
			g.columns = max(g.columns, width)
			g.rows = max(g.rows, row+down-1)
			g.area += across * down
		case atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			g.blocks = true
		}
	}
	for _, cell := range g.cells {
		size := 0
		for at := range cell.Descendants() {
			if at.Type == html.TextNode {
				size += len(at.Data)
			}
		}
		g.blocks = g.blocks || size > maxCell
	}
	return g
}

// fits reports whether the whole grid is not much more than the cells that there
// are: what is missing in a row is filled up.
func (g *grid) fits() bool {
	most := maxGrid * len(g.cells)
	return g.area <= most && g.columns <= most/max(g.rows, 1)
}

// dropSpans makes every cell one place wide and high.
func (g *grid) dropSpans() {
	g.area, g.rows, g.columns = len(g.cells), 0, 0
	width, row := 0, (*html.Node)(nil)
	for _, cell := range g.cells {
		cell.Attr = nil
		if cell.Parent != row {
			g.rows++
			width, row = 0, cell.Parent
		}
		width++
		g.columns = max(g.columns, width)
	}
}

func span(n *html.Node, key string) int {
	v, err := strconv.Atoi(attribute(n, key))
	if err != nil || v < 1 {
		return 1
	}
	return v
}

// withinText reports whether a table stands in what Markdown keeps on a line.
func withinText(n *html.Node) bool {
	for at := n.Parent; at != nil; at = at.Parent {
		switch at.DataAtom {
		case atom.A, atom.B, atom.Strong, atom.I, atom.Em, atom.S, atom.Del, atom.Strike, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			return true
		}
	}
	return false
}

// unwrap makes blocks of a table's rows and cells; tables in them stay.
func unwrap(n *html.Node) {
	rename(n, atom.Div)
	for child := range n.ChildNodes() {
		switch child.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Colgroup, atom.Col:
			unwrap(child)
		}
	}
}

func rename(n *html.Node, to atom.Atom) {
	n.Data, n.DataAtom, n.Attr = to.String(), to, nil
}
