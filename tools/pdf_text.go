package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/acp-agent/acp-agent/tools/pdf"
)

// PDF reads the text of PDF files where they cannot harm the process.
type PDF interface {
	// Pages reads count pages from first on, or all that follow where count is
	// 0, and stops after limit bytes. Its error says what is wrong with the
	// file, as in "it is encrypted".
	Pages(ctx context.Context, file *os.File, first, count, limit int) (pdf.Pages, error)
}

// showPDF shows the text of a PDF file by pages, which offset and limit count.
func (r *reading) showPDF(ctx context.Context, size int64) (Result, error) {
	if r.ws.PDF == nil {
		return Result{}, fmt.Errorf("%s (application/pdf, %d bytes) cannot be read: there is nothing to read PDF files with; use a command", r.name, size)
	}
	f, err := r.ws.Open(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, r.missing(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	if err := r.begin(ctx); err != nil {
		return Result{}, err
	}
	defer r.end()
	first := max(r.in.Offset, 1)
	pages, err := r.ws.PDF.Pages(ctx, f, first, r.in.Limit, maxRead)
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case err != nil:
		return Result{}, fmt.Errorf("%s (application/pdf, %d bytes) cannot be read: %w", r.name, size, err)
	case len(pages.Texts) == 0:
		return Result{}, fmt.Errorf("%s has %d pages: offset %d lies past its end", r.name, pages.Count, first)
	case strings.Join(pages.Texts, "") == "" && pages.Lost:
		return Result{}, fmt.Errorf("%s has %d pages, and of the text on %s its fonts do not tell which characters it has; read them with a command that recognizes text",
			r.name, pages.Count, pagesName(first, first+len(pages.Texts)-1))
	case strings.Join(pages.Texts, "") == "":
		return Result{}, fmt.Errorf("%s has %d pages, and no text on %s: they are pictures, as of a scanner; read them with a command that recognizes text",
			r.name, pages.Count, pagesName(first, first+len(pages.Texts)-1))
	}
	return r.pagesShown(pages, first), nil
}

// pagesShown is as many whole pages as fit, at least one, and how to go on.
func (r *reading) pagesShown(pages pdf.Pages, first int) Result {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s: PDF of %s; offset and limit count pages]\n", r.name, count(pages.Count, "page"))
	next, cut := first, false
	for i, text := range pages.Texts {
		if text == "" {
			text = "[no text]"
		}
		page := fmt.Sprintf("\n[page %d]\n%s\n", next, text)
		room := maxRead - noteSpace - b.Len()
		if cut || len(page) > room && i > 0 {
			break
		}
		cut = len(page) > room || pages.Cut && i == len(pages.Texts)-1
		b.WriteString(head(page, room))
		next++
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if cut {
		text += fmt.Sprintf("\n[page %d is cut]", next-1)
	}
	if pages.Lost {
		text += "\n[some characters are missing: their fonts do not tell which they are]"
	}
	if next <= pages.Count {
		text += fmt.Sprintf("\n[%s of %d; continue with offset %d]", pagesName(first, next-1), pages.Count, next)
	}
	asked := r.in.Limit > 0 && next == first+r.in.Limit // for no more than that
	return Result{Text: text, Truncated: cut || next <= pages.Count && !asked, Metadata: map[string]any{"pages": pages.Count}}
}

func pagesName(first, last int) string {
	if first == last {
		return fmt.Sprintf("page %d", first)
	}
	return fmt.Sprintf("pages %d to %d", first, last)
}
