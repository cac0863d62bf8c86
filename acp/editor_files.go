package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/tools"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// readTime is how long an editor may take to give a text before the disk's is
// taken. A write has no such limit: the editor may be asking its user.
const readTime = 10 * time.Second

// maxEditorFile is the size in bytes up to which files go through the editor.
const maxEditorFile = 2 << 20

// bom is how a text's byte order mark stands in UTF-8.
const bom = "\uFEFF"

// editorFiles are files as the editor has them, unsaved changes included, with
// the disk as what it falls back on (spec/protocol.md, "Calling the editor";
// spec/clients.md, rules 20 to 22). It keeps no state and is safe for
// concurrent use.
type editorFiles struct {
	conn      *jsonrpc.Conn
	sessionID string
	can       FileSystemCapabilities
	disk      *workspace.Disk
}

// newEditorFiles is the disk alone where the editor serves neither method.
func newEditorFiles(conn *jsonrpc.Conn, sessionID string, can FileSystemCapabilities, disk *workspace.Disk) tools.Files {
	if !can.ReadTextFile && !can.WriteTextFile {
		return disk
	}
	return &editorFiles{conn, sessionID, can, disk}
}

// file is one file as it is seen on both sides. Nil is a file that does not
// exist.
type file struct {
	text []byte // what the session works with
	disk []byte
}

// unsaved reports whether the editor has another text than the disk.
func (f file) unsaved() bool { return !same(f.text, f.disk) }

// same tells a missing file from an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// ReadFile returns the editor's text where it is another than the disk's, in
// the disk's form: its line ends, its mark, its final newline.
func (e *editorFiles) ReadFile(ctx context.Context, p workspace.Path) ([]byte, error) {
	if !e.mayAsk(p) {
		return e.disk.ReadFile(ctx, p)
	}
	f, err := e.look(ctx, p)
	if err != nil {
		return nil, err
	}
	if f.text == nil {
		return nil, fmt.Errorf("reading %s: %w", p.Asked, fs.ErrNotExist)
	}
	return f.text, nil
}

// WriteFile gives the text to the editor and looks at the disk afterwards: what
// the editor did not write is written there. It returns what the disk holds
// then, which is not new where the editor changes what it saves.
func (e *editorFiles) WriteFile(ctx context.Context, p workspace.Path, old, new []byte) ([]byte, error) {
	if !p.Inside {
		return e.disk.WriteFile(ctx, p, old, new)
	}
	f, err := e.look(ctx, p)
	if err != nil {
		return nil, err
	}
	if !same(f.text, old) {
		return nil, fmt.Errorf("writing %s: %w; read it again", p.Asked, workspace.ErrChanged)
	}
	if !e.can.WriteTextFile || !editable(f.disk) || !editable(new) {
		return e.disk.WriteFile(ctx, p, f.disk, new)
	}
	refused, err := e.write(ctx, p, new)
	if err != nil {
		return nil, err
	}
	if e.refuses(p, refused) {
		return nil, fmt.Errorf("writing %s: the editor refuses: %v", p.Asked, refused)
	}
	if refused != nil && f.unsaved() {
		// The disk may be newer than the editor's text: going past the editor
		// could lose it.
		return nil, fmt.Errorf("writing %s: the editor, which has unsaved changes of it, answers: %v", p.Asked, refused)
	}
	return e.settle(context.WithoutCancel(ctx), p, f.disk, new)
}

// settle looks at what the disk holds after the editor wrote, and repairs what
// the tools promise: that the file is written, and that line ends and mark stay.
func (e *editorFiles) settle(ctx context.Context, p workspace.Path, before, new []byte) ([]byte, error) {
	now, err := e.onDisk(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case same(now, new):
		return new, nil
	case same(now, before):
		return e.disk.WriteFile(ctx, p, before, new)
	case now != nil && fold(now) == fold(new):
		if repaired, err := e.disk.WriteFile(ctx, p, now, new); err == nil {
			return repaired, nil
		}
	case now == nil:
		return nil, fmt.Errorf("writing %s: the file is gone after the editor wrote it: %w", p.Asked, fs.ErrNotExist)
	}
	return now, nil
}

// mayAsk reports whether the editor is asked for the file's text.
func (e *editorFiles) mayAsk(p workspace.Path) bool { return e.can.ReadTextFile && p.Inside }

// look finds out what the file is on both sides.
func (e *editorFiles) look(ctx context.Context, p workspace.Path) (file, error) {
	disk, err := e.onDisk(ctx, p)
	if err != nil {
		return file{}, err
	}
	f := file{text: disk, disk: disk}
	if !e.mayAsk(p) || !editable(disk) {
		return f, nil
	}
	text, err := e.read(ctx, p)
	if ctx.Err() != nil {
		return file{}, context.Cause(ctx)
	}
	if disk != nil && e.refuses(p, err) {
		return file{}, fmt.Errorf("reading %s: the editor refuses: %w", p.Asked, err)
	}
	// Some editors answer "" for a file that they cannot read.
	if err == nil && text != "" && (disk == nil || plainForm(text) != plainForm(string(disk))) {
		f.text = []byte(inForm(text, string(disk)))
	}
	return f, nil
}

// refuses reports whether an error is the editor's no, past which the disk must
// not be used. Of files outside of its project, those that it does not find and
// methods that it lacks after all, it knows nothing.
func (e *editorFiles) refuses(p workspace.Path, err error) bool {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || !e.disk.InDir(p) {
		return false
	}
	return said.Code != jsonrpc.CodeMethodNotFound && said.Code != jsonrpc.CodeNotFound
}

// onDisk is the file's content on disk; nil where there is none.
func (e *editorFiles) onDisk(ctx context.Context, p workspace.Path) ([]byte, error) {
	data, err := e.disk.ReadFile(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// read asks the editor for the whole text. An odd answer is an error.
func (e *editorFiles) read(ctx context.Context, p workspace.Path) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	var answer *struct {
		Content *string `json:"content"`
	}
	err := e.conn.Call(ctx, MethodReadTextFile, ReadTextFileRequest{SessionID: e.sessionID, Path: wirePath(p)}, &answer)
	if err != nil {
		return "", err
	}
	if answer == nil || answer.Content == nil {
		return "", errors.New("the editor answers no text")
	}
	return *answer.Content, nil
}

// write gives the editor the text. Refused is what it says against it; err is
// the end of ctx or of the connection.
func (e *editorFiles) write(ctx context.Context, p workspace.Path, new []byte) (refused, err error) {
	request := WriteTextFileRequest{SessionID: e.sessionID, Path: wirePath(p), Content: strings.TrimPrefix(string(new), bom)}
	var answer json.RawMessage
	err = e.conn.Call(ctx, MethodWriteTextFile, request, &answer)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, jsonrpc.ErrClosed):
		return nil, err
	case err != nil:
		return err, nil
	}
	var text string
	if json.Unmarshal(answer, &text) == nil && text != "" { // null is no string, and leaves it empty
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: text}, nil // the way of some to say no
	}
	return nil, nil
}

// editable reports whether content is text that an editor keeps as it is.
func editable(data []byte) bool {
	return len(data) <= maxEditorFile && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// fold is a text without what an editor may have lost of its form, but for the
// final newline: a mark and the kind of line ends.
func fold(data []byte) string {
	return workspace.FoldLineEnds(strings.TrimPrefix(string(data), bom))
}

// plainForm is a text without all that an editor may have lost of its form.
func plainForm(text string) string {
	return strings.TrimRight(workspace.FoldLineEnds(strings.TrimPrefix(text, bom)), "\n")
}

// inForm puts the editor's text into the form of the disk's.
func inForm(text, disk string) string {
	if strings.Contains(disk, "\r\n") && !strings.Contains(text, "\r\n") && strings.Count(disk, "\r\n") == strings.Count(disk, "\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if strings.HasPrefix(disk, bom) && !strings.HasPrefix(text, bom) {
		text = bom + text
	}
	if strings.HasSuffix(disk, "\n") && !strings.HasSuffix(text, "\n") {
		end := "\n"
		if strings.HasSuffix(disk, "\r\n") {
			end = "\r\n"
		}
		text += end
	}
	return text
}

// wirePath is the path as the client spells it, unless that, cleaned, leads
// elsewhere than what was asked for: `link/..`.
func wirePath(p workspace.Path) string {
	if p.Asked == p.Target || real(p.Asked) == p.Target {
		return p.Asked
	}
	return p.Target
}

// real resolves the links of a path as far as it exists.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(real(parent), filepath.Base(path))
}
