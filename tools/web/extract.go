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

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// extract makes a page readable: as Markdown, or as plain text where that is
// asked for or where the page cannot be taken as a tree.
func extract(ctx context.Context, page string, at *kinds.URL, format string) (text, title string) {
	if strings.Count(page, "<") > maxNodes {
		return strip(page) // the tree would take too much memory
	}
	if len(at.String()) > maxLink { // each relative link would cost as much
		at = &kinds.URL{Scheme: at.Scheme, Host: at.Host, Addr: at.Addr, Port: at.Port, Path: "/"}
	}
	var p *pruner
	for _, whole := range []bool{false, true} { // a page may be nothing but navigation
		doc, err := html.Parse(&patient{ctx, strings.NewReader(page)})
		if err != nil {
			return strip(page) // nested too deep, or too slow
		}
		p = &pruner{at: at, nodes: maxNodes, text: maxText, whole: whole}
		p.prune(doc, 0)
		if text, err = render(p.content(doc), format); err != nil || ctx.Err() != nil {
			return strip(page)
		}
		if text != "" {
			break
		}
	}
	if p.cut {
		text += "\n\n[… the page is longer than what is converted]"
	}
	return text, p.title
}

// render writes a pruned tree in a format.
func render(doc *html.Node, format string) (string, error) {
	if format != tools.WebText {
		return toMarkdown(doc)
	}
	var b strings.Builder
	err := html.Render(&b, doc)
	text, _ := strip(b.String())
	return text, err
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
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithHeaderPromotion(true), table.WithNewlineBehavior(table.NewlineBehaviorPreserve))))
	out, err := conv.ConvertNode(doc)
	return strings.TrimSpace(string(out)), err
}
