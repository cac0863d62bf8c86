package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// maxNotebook is the longest notebook in bytes that is shown by its cells.
const maxNotebook = 64 << 20

// maxCellOutput is how many bytes of one output are shown: what follows it is to
// be found.
const maxCellOutput = 16 << 10

// notebook is a Jupyter notebook, as far as it is shown: of nbformat 4, and 3,
// which has sheets and other names.
type notebook struct {
	Cells  []cell `json:"cells"`
	Sheets []struct {
		Cells []cell `json:"cells"`
	} `json:"worksheets"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
			Name     string `json:"display_name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type cell struct {
	Type    string   `json:"cell_type"`
	Source  lines    `json:"source"`
	Input   lines    `json:"input"`           // nbformat 3, of code
	Count   number   `json:"execution_count"` // 0: not run
	Prompt  number   `json:"prompt_number"`   // nbformat 3
	Outputs []output `json:"outputs"`
}

// output is what a cell came to. Which fields are meant, Type says.
type output struct {
	Type      string                     `json:"output_type"`
	Name      remark                     `json:"name"`   // stream: stdout or stderr
	Stream    remark                     `json:"stream"` // the same in nbformat 3
	Text      lines                      `json:"text"`   // stream; in nbformat 3 of results too
	Data      map[string]json.RawMessage `json:"data"`   // results, by media type
	Error     remark                     `json:"ename"`
	Value     remark                     `json:"evalue"`
	Traceback remark                     `json:"traceback"`
	PNG       lines                      `json:"png"` // nbformat 3
	JPEG      lines                      `json:"jpeg"`
	HTML      lines                      `json:"html"`
	SVG       lines                      `json:"svg"`
}

// lines is a text that is stored as one string or as a list of lines.
type lines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = lines(one)
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return err
	}
	*l = lines(strings.Join(many, ""))
	return nil
}

// remark is a text without which the rest is shown too: what is none is kept as
// it stands.
type remark string

// UnmarshalJSON implements json.Unmarshaler.
func (r *remark) UnmarshalJSON(data []byte) error {
	var one string
	var many []string
	switch {
	case json.Unmarshal(data, &one) == nil: // null leaves it empty
		*r = remark(one)
	case json.Unmarshal(data, &many) == nil:
		*r = remark(strings.Join(many, "\n"))
	default:
		*r = remark(data)
	}
	return nil
}

// number is one that counts; what is none is 0.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	var f float64
	if json.Unmarshal(data, &f) == nil && f >= 1 && f < 1<<31 {
		*n = number(f)
	}
	return nil
}

// errNoNotebook says that a file that is named as a notebook is none that is
// known.
var errNoNotebook = errors.New("it has no cells of nbformat 3 or 4")

// isNotebook reports whether a file is named as a notebook.
func isNotebook(name string) bool { return strings.EqualFold(filepath.Ext(name), ".ipynb") }

// showNotebook shows the cells of a notebook, by lines of that rendering. One
// that cannot be read is shown as the text that it is, so that it can be
// repaired.
func (r *reading) showNotebook(ctx context.Context, src source, size int64) (Result, error) {
	text, cells := "", 0
	data, err := io.ReadAll(io.NewSectionReader(src, 0, min(size, maxNotebook+1)))
	if err != nil {
		return Result{}, err
	}
	if len(data) > maxNotebook {
		err = fmt.Errorf("it has more than %d bytes", maxNotebook)
	} else {
		text, cells, err = renderNotebook(data)
	}
	if err != nil {
		result, failed := r.showText(ctx, src, size)
		result.Text += fmt.Sprintf("\n[shown as text, not by its cells: %v]", err)
		return result, failed
	}
	p := newPager(strings.NewReader(text), -1)
	result, err := r.showLines(ctx, p, int64(len(text)))
	result.Metadata = map[string]any{"cells": cells}
	return result, err
}

// renderNotebook is the notebook as text: each cell with its number, its type,
// its source and its outputs. Images are named with their size.
func renderNotebook(data []byte) (text string, cells int, err error) {
	var n notebook
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &n); err != nil {
		return "", 0, misfitJSON(err)
	}
	for _, sheet := range n.Sheets {
		n.Cells = append(n.Cells, sheet.Cells...)
	}
	if n.Cells == nil {
		return "", 0, errNoNotebook
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[notebook of %d cells", len(n.Cells))
	if name := cmp.Or(n.Metadata.Language.Name, n.Metadata.Kernel.Language, n.Metadata.Kernel.Name); name != "" {
		b.WriteString(", " + name)
	}
	b.WriteString("; this is a rendering: byte_offset 0 shows the JSON, which is what edit changes]\n")
	for i, c := range n.Cells {
		fmt.Fprintf(&b, "\n[cell %d: %s", i+1, cmp.Or(c.Type, "of no type"))
		if n := cmp.Or(c.Count, c.Prompt); n > 0 {
			fmt.Fprintf(&b, ", run as %d", n)
		}
		b.WriteString("]\n")
		writeBlock(&b, string(cmp.Or(c.Source, c.Input)))
		for _, o := range c.Outputs {
			o.render(&b)
		}
	}
	shown := strings.ReplaceAll(b.String(), "\x00", "\ufffd") // which no text has
	return strings.ToValidUTF8(shown, "\ufffd"), len(n.Cells), nil
}

// writeBlock writes text that ends its last line.
func writeBlock(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

func (o *output) render(b *strings.Builder) {
	switch o.Type {
	case "stream":
		fmt.Fprintf(b, "[output: %s]\n", forTerminal(string(cmp.Or(o.Name, o.Stream, "stdout"))))
		writeOutput(b, string(o.Text))
	case "error", "pyerr":
		fmt.Fprintf(b, "[error: %s: %s]\n", forTerminal(string(o.Error)), forTerminal(string(o.Value)))
		writeOutput(b, string(o.Traceback))
	default:
		o.adopt()
		o.renderData(b)
	}
}

// writeOutput writes what a program wrote, as text, as far as it is shown.
func writeOutput(b *strings.Builder, text string) {
	shown := head(text, maxCellOutput)
	writeBlock(b, forTerminal(shown))
	if more := len(text) - len(shown); more > 0 {
		fmt.Fprintf(b, "[%d bytes of this output are not shown: byte_offset shows them in the JSON]\n", more)
	}
}

// adopt gives a result of nbformat 3 the form of today's.
func (o *output) adopt() {
	for mime, text := range map[string]lines{"text/plain": o.Text, "image/png": o.PNG, "image/jpeg": o.JPEG, "text/html": o.HTML, "image/svg+xml": o.SVG} {
		raw, err := json.Marshal(text)
		if text == "" || o.Data[mime] != nil || err != nil {
			continue
		}
		if o.Data == nil {
			o.Data = map[string]json.RawMessage{}
		}
		o.Data[mime] = raw
	}
}

// renderData writes a result's plain text and names what else it has, but for
// other forms of that text.
func (o *output) renderData(b *strings.Builder) {
	plain, hasPlain := o.Data["text/plain"]
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
		raw := o.Data[mime]
		if mime == "text/plain" || hasPlain && !strings.HasPrefix(mime, "image/") {
			continue
		}
		fmt.Fprintf(b, "[output: %s, %d bytes, not shown]\n", forTerminal(mime), dataSize(mime, raw))
	}
	if hasPlain {
		var text lines
		_ = json.Unmarshal(plain, &text) // what is no text is shown as none
		b.WriteString("[output]\n")
		writeOutput(b, string(text))
	}
}

// dataSize is how many bytes a piece of data has, which is in base64 for images
// but SVG.
func dataSize(mime string, raw json.RawMessage) int {
	var text lines
	if json.Unmarshal(raw, &text) != nil {
		return len(raw)
	}
	if strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" {
		return base64.StdEncoding.DecodedLen(len(text)) - strings.Count(string(text[max(len(text)-3, 0):]), "=")
	}
	return len(text)
}

// forTerminal is what a program wrote for a terminal, as text.
func forTerminal(s string) string {
	var out bytes.Buffer
	w := plainText{emit: func(p []byte) { out.Write(p) }}
	_, _ = w.Write([]byte(s))
	w.Flush()
	return out.String()
}
