package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

type readInput struct {
	Path       string `json:"path"`
	Offset     int    `json:"offset"`
	Limit      int    `json:"limit"`
	ByteOffset *int64 `json:"byte_offset"`
	ByteLimit  *int64 `json:"byte_limit"`
}

// Limits of read, in bytes.
const (
	maxRead  = 200 << 10 // of one result (spec/tools.md, "The envelope")
	wholeMax = 2 << 20   // of a file that is read whole, and through the editor
)

// Read is the tool that shows a file: text with line numbers, or a range of
// bytes as it stands; an image as one; a notebook by its cells; a PDF file by its
// pages. Text longer than maxRead ends with a line that says how to go on.
//
// A file of at most wholeMax is read through Files, so that what is unsaved in
// an editor is what is read, and the session remembers it. A larger one is read
// from the disk, as far as it is shown; a change to it is then not noticed by
// the tools that change files, which compare with the text as it is anyway.
func Read() Tool {
	return Func(Spec{
		ID:      "read",
		Title:   "Read {path}",
		Aliases: []string{"Read"},
		Description: "Reads a file. Text is shown with line numbers (number, tab, line), whatever its encoding. offset is the first line, from 1, limit the number of lines. " +
			"At most 200 KB are shown at once; the end says which offset continues. A line over 2000 characters is cut; " +
			"byte_offset and byte_limit show a range of bytes as it stands. Of a notebook the cells are shown, with their outputs. " +
			"Of a PDF file the text is shown, and offset and limit count its pages. An image (PNG, JPEG, GIF, WebP) is shown as one. It reads no folders: use glob.",
		SearchHint: "open show view cat file text image picture screenshot notebook jupyter pdf page",
		Parameters: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "minLength": 1, "description": "The file, relative to the workspace or absolute"},
				"offset": {"type": "integer", "minimum": 0, "description": "The first line to show, from 1"},
				"limit": {"type": "integer", "minimum": 0, "description": "How many lines to show (default: all that fit)"},
				"byte_offset": {"type": "integer", "minimum": 0, "description": "The first byte to show, from 0, instead of lines"},
				"byte_limit": {"type": "integer", "minimum": 1, "description": "How many bytes to show"}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		Kind:      kinds.KindRead,
		ReadOnly:  true,
		Requires:  Requires{Read: append([]string{"{user-data}/**"}, fileSurface...)},
		MaxOutput: maxRead,
	}, (&reader{make(chan struct{}, 1)}).prepare)
}

// reading is one call of read.
type reading struct {
	target
	in readInput
	*reader
}

// reader is the tool: what its calls share.
type reader struct {
	decoding chan struct{} // holds a value while an image or a PDF file is being decoded
}

// begin waits until no other call decodes: each may take some hundred megabytes.
func (t *reader) begin(ctx context.Context) error {
	select {
	case t.decoding <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *reader) end() { <-t.decoding }

func (t *reader) prepare(ctx context.Context, ws *Workspace, in readInput) (*Action, error) {
	if in.bytes() && (in.Offset > 0 || in.Limit > 0) {
		return nil, errors.New("give either lines (offset, limit) or bytes (byte_offset, byte_limit), not both")
	}
	file, err := resolve(ws, in.Path)
	if err != nil {
		return nil, err
	}
	r := &reading{file, in, t}
	if r.Inside {
		if err := r.check(ctx); err != nil {
			return nil, err
		}
	}
	return &Action{
		Card:  r.root().Read(r.Asked, r.part(), r.line()),
		Facts: kinds.Facts{Paths: r.access(kinds.Read), ReadOnly: true, Concurrent: true},
		Run:   func(ctx context.Context, _ func(Output)) (Result, error) { return r.run(ctx) },
	}, nil
}

// line is the line of the file that is read first, where offset means one.
func (r *reading) line() int {
	if isNotebook(r.Target) || r.hasPages() {
		return 0
	}
	return r.in.Offset
}

// hasPages reports whether the file's name says that offset and limit count pages.
func (r *reading) hasPages() bool { return strings.EqualFold(filepath.Ext(r.Target), ".pdf") }

// part says which part of the file is read; empty: all of it.
func (r *reading) part() string {
	if r.in.bytes() {
		var from, limit int64
		if r.in.ByteOffset != nil {
			from = *r.in.ByteOffset
		}
		if r.in.ByteLimit != nil {
			limit = *r.in.ByteLimit
		}
		return span("byte", from, limit, 0)
	}
	if r.hasPages() {
		return span("page", int64(r.in.Offset), int64(r.in.Limit), 1)
	}
	return span("line", int64(r.in.Offset), int64(r.in.Limit), 1)
}

// span names a range of units, of which the first has the number base. A limit
// of 0 is none.
func span(unit string, from, limit, base int64) string {
	from = max(from, base)
	switch {
	case limit <= 0 && from == base:
		return ""
	case limit <= 0:
		return fmt.Sprintf("from %s %d", unit, from)
	case limit == 1:
		return fmt.Sprintf("%s %d", unit, from)
	}
	return fmt.Sprintf("%ss %d-%d", unit, from, max(from, from+limit-1))
}

func (in readInput) bytes() bool { return in.ByteOffset != nil || in.ByteLimit != nil }

// check refuses before anybody is asked what would fail anyway: a file that is
// missing, or is no file.
func (r *reading) check(ctx context.Context) error {
	f, err := r.ws.Open(r.Path)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := r.read(ctx); err == nil {
		return nil // the editor knows it, though the disk does not
	}
	return r.missing(ctx)
}

func (r *reading) run(ctx context.Context) (Result, error) {
	f, size, err := r.large()
	if err != nil {
		return Result{}, err
	}
	if f != nil {
		defer f.Close()
		return r.show(ctx, f, size)
	}
	data, err := r.read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, r.missing(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	r.ws.Seen.Saw(r.Target, data)
	return r.show(ctx, bytes.NewReader(data), int64(len(data)))
}

// large opens the file where it is larger than wholeMax; else it is nil.
func (r *reading) large() (*os.File, int64, error) {
	f, err := r.ws.Open(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > wholeMax {
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

// source is a file's bytes: all of them in memory, or on the disk.
type source interface {
	io.ReadSeeker
	io.ReaderAt
}

func (r *reading) show(ctx context.Context, src source, size int64) (Result, error) {
	if size == 0 {
		return Result{Text: "[" + r.name + " is empty: 0 bytes]"}, nil
	}
	if r.in.bytes() {
		return r.showText(ctx, src, size)
	}
	begin := make([]byte, 1024)
	n, _ := src.ReadAt(begin, 0)
	mime := workspace.ContentType(begin[:n])
	if imageFormatOf(mime) != nil {
		return r.showImage(ctx, mime, src, size)
	}
	padded := strings.EqualFold(filepath.Ext(r.Target), ".pdf") && bytes.Contains(begin[:n], []byte("%PDF-"))
	if mime == "application/pdf" || padded {
		return r.showPDF(ctx, size)
	}
	if isNotebook(r.Target) {
		return r.showNotebook(ctx, src, size)
	}
	return r.showText(ctx, src, size)
}

// showText shows lines or bytes of a text, and says which encoding it was read
// in where that is not UTF-8.
func (r *reading) showText(ctx context.Context, src source, size int64) (Result, error) {
	e, err := encodingOf(src, size)
	if err != nil {
		begin := make([]byte, 512)
		n, _ := src.ReadAt(begin, 0)
		return Result{}, r.noText(err, begin[:n], size)
	}
	var result Result
	if r.in.bytes() {
		result, err = r.showBytes(src, e, size)
	} else {
		result, err = r.showDecoded(ctx, src, e, size)
	}
	if errors.Is(err, workspace.ErrBinary) {
		err = r.noText(err, []byte{0}, size)
	}
	if err != nil || e == workspace.UTF8 {
		return result, err
	}
	result.Metadata = map[string]any{"encoding": e.String()}
	if e == workspace.DamagedUTF8 {
		result.Text += "\n[not all of it is UTF-8: bytes that are not show as \ufffd; a change keeps them]"
	}
	if e.Legacy() {
		result.Text += fmt.Sprintf("\n[not UTF-8: read as %s, which is a guess; a change keeps the encoding]", e)
	}
	return result, nil
}

func (r *reading) showDecoded(ctx context.Context, src source, e workspace.Encoding, size int64) (Result, error) {
	text, at, err := workspace.DecodeStream(src, e)
	if err != nil {
		return Result{}, err
	}
	return r.showLines(ctx, newPager(text, at), size)
}

// encodingOf tells a text's encoding: by all of it, as the tools that change it
// do, or by how it begins where it is too large for them.
func encodingOf(src source, size int64) (workspace.Encoding, error) {
	if size > wholeMax {
		return workspace.Sniff(src)
	}
	data := make([]byte, size)
	if _, err := src.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	text, err := workspace.Decode(data)
	if err == nil {
		return text.Encoding(), nil
	}
	// Units of UTF-16 that are broken, as at the end of what is being written, do
	// not keep the rest from being read.
	if e, sniffed := workspace.Sniff(src); sniffed == nil && (e == workspace.UTF16LE || e == workspace.UTF16BE) {
		return e, nil
	}
	return 0, err
}

// showBytes shows a range of the file's bytes, moved to whole characters.
func (r *reading) showBytes(src source, e workspace.Encoding, size int64) (Result, error) {
	var from, length int64 = 0, maxRead - noteSpace
	if r.in.ByteOffset != nil {
		from = *r.in.ByteOffset
	}
	if r.in.ByteLimit != nil {
		length = min(length, *r.in.ByteLimit)
	}
	if from >= size {
		return Result{}, fmt.Errorf("%s has %d bytes: byte_offset %d lies past its end", r.name, size, from)
	}
	piece, err := workspace.DecodeRange(src, e, from, length)
	if err != nil {
		return Result{}, err
	}
	text := piece.Text
	if piece.End < size {
		text += fmt.Sprintf("\n[bytes %d to %d of %d; continue with byte_offset %d]", piece.Start, piece.End, size, piece.End)
	}
	return Result{Text: text, Truncated: piece.End < size && r.in.ByteLimit == nil}, nil
}
