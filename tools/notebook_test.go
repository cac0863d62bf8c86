package tools

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const aNotebook = `{
 "nbformat": 4, "nbformat_minor": 5,
 "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Sales\n", "by month"]},
  {"cell_type": "code", "execution_count": 3, "metadata": {}, "source": "plot(x)\nx\n", "outputs": [
   {"output_type": "stream", "name": "stderr", "text": ["10%\r100%\n", "\u001b[31mred\u001b[0m\n"]},
   {"output_type": "display_data", "data": {"image/png": "aGVsbG8=\n", "text/plain": ["<Figure>"]}, "metadata": {}},
   {"output_type": "execute_result", "execution_count": 3, "data": {"text/html": "<b>1</b>", "text/plain": "1"}, "metadata": {}},
   {"output_type": "display_data", "data": {"application/json": {"a": 1}}, "metadata": {}},
   {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\u001b[0;31mline 1\u001b[0m", "line 2"]}
  ]},
  {"cell_type": "code", "execution_count": null, "metadata": {}, "source": [], "outputs": []},
  {"cell_type": "raw", "source": "a\u0000b"}
 ]
}`

const aNotebookShown = `[notebook of 4 cells, python; this is a rendering: byte_offset 0 shows the JSON, which is what edit changes]

[cell 1: markdown]
# Sales
by month

[cell 2: code, run as 3]
plot(x)
x
[output: stderr]
100%
red
[output: image/png, 5 bytes, not shown]
[output]
<Figure>
[output]
1
[output: application/json, 8 bytes, not shown]
[error: ValueError: no]
line 1
line 2

[cell 3: code]

[cell 4: raw]
a` + "\ufffd" + `b
`

func TestRenderNotebook(t *testing.T) {
	got, cells, err := renderNotebook([]byte("\ufeff" + aNotebook))
	if err != nil || got != aNotebookShown || cells != 4 {
		t.Errorf("%d cells, %v:\n%s", cells, err, got)
	}
}

func TestReadNotebook(t *testing.T) {
	big := strings.Replace(aNotebook, "aGVsbG8=", strings.Repeat("aGVsbG8h", wholeMax/8+1), 1)
	ws := diskWorkspace(t, map[string]string{
		"n.ipynb": aNotebook, "BIG.IPYNB": big, "broken.ipynb": "{\"cells\": [\n<<<<<<< ours\n", "old.ipynb": `{"worksheets": []}`,
		"cell.ipynb": `{"cells": [{"source": 1}]}`, "u.ipynb": "\x00\x01", "none.ipynb": `{"cells": []}`,
	})
	r := must(t, ws, Read(), args{"path": "n.ipynb", "offset": 3, "limit": 3})
	if r.Text != "     3\t[cell 1: markdown]\n     4\t# Sales\n     5\tby month\n[lines 3 to 5 of a file of "+strconv.Itoa(len(aNotebookShown))+" bytes; continue with offset 6]" || r.Metadata["cells"] != 4 {
		t.Errorf("%q %v", r.Text, r.Metadata)
	}
	if r := must(t, ws, Read(), args{"path": "BIG.IPYNB"}); !strings.Contains(r.Text, "[output: image/png, "+strconv.Itoa(6*(wholeMax/8+1))+" bytes, not shown]") {
		t.Errorf("%q", r.Text)
	}
	if r := must(t, ws, Read(), args{"path": "n.ipynb", "byte_offset": 0, "byte_limit": 15}); !strings.HasPrefix(r.Text, "{\n \"nbformat\": ") {
		t.Errorf("%q", r.Text)
	}
	if r := must(t, ws, Read(), args{"path": "none.ipynb"}); !strings.HasPrefix(r.Text, "     1\t[notebook of 0 cells; ") {
		t.Errorf("%q", r.Text)
	}
	for path, want := range map[string]string{"broken.ipynb": "2\t<<<<<<< ours\n[shown as text, not by its cells: ", "old.ipynb": "no cells of nbformat 3 or 4", "cell.ipynb": "shown as text"} {
		if r := must(t, ws, Read(), args{"path": path}); !strings.Contains(r.Text, want) {
			t.Errorf("%q", r.Text)
		}
	}
	_, err := call(t, ws, Read(), args{"path": "u.ipynb"})
	wants(t, err, "binary")
	_, err = call(t, ws, Read(), args{"path": "n.ipynb", "offset": 1000})
	wants(t, err, "n.ipynb has 26 lines")
}

// FuzzNotebook: whatever the bytes, what is shown is text.
func FuzzNotebook(f *testing.F) {
	f.Add([]byte(aNotebook))
	f.Add([]byte(`{"cells": [{"cell_type": "code", "source": null, "outputs": [{"data": {"image/png": "=", "text/plain": null}}, {}]}]}`))
	f.Add([]byte(`{"cells": [{"cell_type": "\u001b[2J", "outputs": [{"output_type": "error", "ename": "\u0000", "traceback": null}]}]}`))
	f.Add([]byte(`{"cells": [{"cell_type": "\u0000", "source": "\u0000"}], "metadata": {"language_info": {"name": "\u0000"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, _, err := renderNotebook(data)
		if err == nil && (!utf8.ValidString(text) || strings.Contains(text, "\x00")) {
			t.Fatalf("%q", text)
		}
	})
}

// TestRenderOldNotebook: nbformat 3 has sheets and other names.
func TestRenderOldNotebook(t *testing.T) {
	const old = `{"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": [
		{"cell_type": "heading", "level": 1, "source": ["Title"]},
		{"cell_type": "code", "language": "python", "input": ["x = 1\n", "x"], "prompt_number": 2, "outputs": [
			{"output_type": "stream", "stream": "stderr", "text": "warned\n"},
			{"output_type": "pyout", "prompt_number": 2, "text": ["1"], "html": ["<b>1</b>"]},
			{"output_type": "display_data", "png": "aGVsbG8="},
			{"output_type": "pyerr", "ename": "E", "evalue": null, "traceback": ["line"]}]}]},
		{"cells": [{"cell_type": "markdown", "source": "second sheet"}]}]}`
	const want = "\n[cell 1: heading]\nTitle\n\n[cell 2: code, run as 2]\nx = 1\nx\n[output: stderr]\nwarned\n[output]\n1\n" +
		"[output: image/png, 5 bytes, not shown]\n[error: E: ]\nline\n\n[cell 3: markdown]\nsecond sheet\n"
	got, cells, err := renderNotebook([]byte(old))
	if _, shown, _ := strings.Cut(got, "\n"); err != nil || shown != want || cells != 3 {
		t.Errorf("%d cells, %v:\n%s", cells, err, got)
	}
}

// TestRenderNotebookOfMuchOutput: a cell behind a huge output is found.
func TestRenderNotebookOfMuchOutput(t *testing.T) {
	much, err := json.Marshal(strings.Repeat("a line of text\n", 1<<16))
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{`{"output_type": "stream", "text": ` + string(much) + `}`, `{"output_type": "execute_result", "data": {"text/plain": ` + string(much) + `}}`,
		`{"output_type": "error", "ename": 1, "traceback": [` + string(much) + `]}`} {
		got, _, err := renderNotebook([]byte(`{"cells": [{"cell_type": "code", "execution_count": 1.0, "source": "x", "outputs": [` + output + `]}, {"source": "behind it"}]}`))
		if err != nil || len(got) > 2*maxCellOutput || !strings.Contains(got, "bytes of this output are not shown") || !strings.Contains(got, "behind it") {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}
