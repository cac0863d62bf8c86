package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// maxLine is the longest line in characters that is shown whole.
const maxLine = 2000

// showLines shows the lines that were asked for, each with its number. It looks
// at no more of the file than it needs: neither the length of a line nor that of
// the file matters to what it holds in memory.
func (r *reading) showLines(ctx context.Context, p *pager, size int64) (Result, error) {
	first := max(r.in.Offset, 1)
	if err := p.skip(ctx, first-1); err != nil {
		return Result{}, err
	}
	if p.line < first-1 || !p.more() {
		if p.err != nil {
			return Result{}, p.err
		}
		if p.line == 0 {
			return Result{Text: "[" + r.name + " is empty: it holds a byte order mark only]"}, nil
		}
		return Result{}, fmt.Errorf("%s has %d lines: offset %d lies past its end", r.name, p.line, first)
	}
	if err := p.page(r.in.Limit); err != nil {
		return Result{}, err
	}
	return p.result(first, size), nil
}

// pager makes a page of numbered lines.
type pager struct {
	r        *bufio.Reader
	line     int   // how many were read
	pos      int64 // bytes of the file before the next, where bytewise
	bytewise bool  // what is read are the file's own bytes
	err      error

	out  strings.Builder
	used int  // bytes that were read for the page
	cut  bool // the page is full
}

// newPager makes a page of text. At is where it begins in the file, or -1 where
// what is read are not the file's own bytes.
func newPager(text io.Reader, at int64) *pager {
	return &pager{r: bufio.NewReaderSize(text, 64<<10), pos: at, bytewise: at >= 0}
}

// more reports whether anything is left.
func (p *pager) more() bool {
	_, err := p.r.Peek(1)
	if err != nil && err != io.EOF {
		p.err = err
	}
	return err == nil
}

// skip reads past n lines, or to the end.
func (p *pager) skip(ctx context.Context, n int) error {
	for p.line < n {
		if p.line%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		begun, done := false, false
		for !done {
			piece, err := p.r.ReadSlice('\n')
			p.pos += int64(len(piece))
			begun = begun || len(piece) > 0
			switch {
			case err == nil:
				done = true
			case errors.Is(err, bufio.ErrBufferFull):
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
			case err == io.EOF:
				if begun {
					p.line++
				}
				return nil
			default:
				return err
			}
		}
		p.line++
	}
	return nil
}

// page reads lines, at most limit (0: as many as fit), until the page is full
// or maxRead bytes were read for it.
func (p *pager) page(limit int) error {
	for shown := 0; limit == 0 || shown < limit; shown++ {
		if !p.more() {
			return p.err
		}
		if p.used >= maxRead {
			p.cut = true
			return nil
		}
		start := p.pos
		line, whole, length, err := p.next()
		if err != nil {
			return err
		}
		text, err := p.clip(line, whole, length, start)
		if err != nil {
			return err
		}
		row := fmt.Sprintf("%6d\t%s\n", p.line+1, text)
		if shown > 0 && p.out.Len()+len(row) > maxRead-noteSpace {
			p.cut, p.pos = true, start
			return nil
		}
		p.out.WriteString(row)
		p.line++
		if !whole {
			p.cut = true
			return nil
		}
	}
	return nil
}

// next reads one line without its end. It keeps as much as may be shown, and
// tells the line's length in bytes; whole is false where it gave up before the
// line's end.
func (p *pager) next() (text []byte, whole bool, length int, err error) {
	const kept = (maxLine + 1) * utf8.UTFMax
	for {
		piece, err := p.r.ReadSlice('\n')
		p.pos += int64(len(piece))
		p.used += len(piece)
		length += len(piece)
		text = append(text, piece[:min(len(piece), max(kept-len(text), 0))]...)
		switch {
		case err == nil:
			if length == len(text) {
				text = bytes.TrimSuffix(text[:len(text)-1], []byte("\r"))
			}
			return text, true, length, nil
		case err == io.EOF:
			return text, true, length, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, 0, err
		case p.used >= maxRead:
			return text, false, length, nil
		}
	}
}

// clip makes a line fit to be shown, with a mark where it is cut.
func (p *pager) clip(line []byte, whole bool, length int, start int64) (string, error) {
	if bytes.IndexByte(line, 0) >= 0 {
		return "", workspace.ErrBinary
	}
	end, runes := 0, 0
	for end < len(line) && runes < maxLine {
		_, size := utf8.DecodeRune(line[end:])
		end += size
		runes++
	}
	text := strings.ToValidUTF8(string(line[:end]), "\ufffd")
	if end == len(line) && whole {
		return text, nil
	}
	size := fmt.Sprintf("%d bytes", length)
	if !whole {
		size = "more than " + size
	}
	if !p.bytewise {
		return text + fmt.Sprintf(" [… the line is cut: it has %s]", size), nil
	}
	return text + fmt.Sprintf(" [… the line is cut: it has %s; byte_offset %d shows the rest]", size, start+int64(end)), nil
}

// result is the page with a last line that says how to go on.
func (p *pager) result(first int, size int64) Result {
	text := strings.TrimSuffix(p.out.String(), "\n")
	if !p.cut && !p.more() {
		return Result{Text: text}
	}
	why := ""
	if p.cut {
		why = " (at most 200 KB at once)"
	}
	next := fmt.Sprintf("continue with offset %d", p.line+1)
	return Result{
		Text:      fmt.Sprintf("%s\n[lines %d to %d of a file of %d bytes%s; %s]", text, first, p.line, size, why, next),
		Truncated: p.cut,
	}
}
