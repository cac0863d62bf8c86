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

// notebook is a Jupyter notebook, as far as it is shown (nbformat 4).
type notebook struct {
	Cells    []cell `json:"cells"`
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
	Count   *int     `json:"execution_count"` // nil: not run
	Outputs []output `json:"outputs"`
}

// output is what a cell came to. Which fields are meant, Type says.
type output struct {
	Type      string                     `json:"output_type"`
	Name      string                     `json:"name"` // stream: stdout or stderr
	Text      lines                      `json:"text"` // stream
	Data      map[string]json.RawMessage `json:"data"` // results, by media type
	Error     string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
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

// errNoNotebook says that a file that is named as a notebook is none that is
// known.
var errNoNotebook = errors.New("it has no cells of nbformat 4")

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
		return "", 0, err
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
		if c.Count != nil {
			fmt.Fprintf(&b, ", run as %d", *c.Count)
		}
		b.WriteString("]\n")
		writeBlock(&b, string(c.Source))
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
	switch {
	case o.Type == "stream":
		fmt.Fprintf(b, "[output: %s]\n", cmp.Or(o.Name, "stdout"))
		writeBlock(b, forTerminal(string(o.Text)))
	case o.Type == "error":
		fmt.Fprintf(b, "[error: %s: %s]\n", forTerminal(o.Error), forTerminal(o.Value))
		writeBlock(b, forTerminal(strings.Join(o.Traceback, "\n")))
	default:
		o.renderData(b)
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
		writeBlock(b, forTerminal(string(text)))
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
