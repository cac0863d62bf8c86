package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
	"golang.org/x/text/unicode/norm"
)

// target is a file that a tool works on, and what it is called.
type target struct {
	workspace.Path
	ws   *Workspace
	name string // for the model: relative where it lies in the working directory
}

func resolve(ws *Workspace, name string) (target, error) {
	p, err := ws.Resolve(name)
	if err != nil {
		return target{}, err
	}
	if !p.Exists && os.IsPathSeparator(name[len(name)-1]) {
		return target{}, fmt.Errorf("%s names a folder, and there is none: name a file", unmistakable(name))
	}
	return target{p, ws, ws.Name(p.Asked)}, nil
}

// root makes the cards of the workspace.
func (t target) root() kinds.Root { return kinds.Root(t.ws.Dir()) }

// access is what the permission engine is told of the file.
func (t target) access(what kinds.Access) []kinds.PathAccess {
	return []kinds.PathAccess{{Access: what, Path: t.Asked, Target: t.Target}}
}

// read returns the whole file; an error that wraps fs.ErrNotExist where there is
// none.
func (t target) read(ctx context.Context) ([]byte, error) {
	data, err := t.ws.Files.ReadFile(ctx, t.Path)
	if err == nil && data == nil {
		data = []byte{} // nil means that there is no file
	}
	return data, err
}

// decode reads the file's bytes as text.
func (t target) decode(data []byte) (*workspace.Text, error) {
	text, err := workspace.Decode(data)
	if err != nil {
		return nil, t.noText(err, data, int64(len(data)))
	}
	return text, nil
}

// noText words why a file that begins with data is not handled as text.
func (t target) noText(err error, data []byte, size int64) error {
	if errors.Is(err, workspace.ErrBinary) {
		return fmt.Errorf("%s %w (%d bytes, %s)", t.name, err, size, kindOf(data))
	}
	return fmt.Errorf("%s %w (%d bytes)", t.name, err, size)
}

// kindOf names what a file is that begins with data and is not read as text.
func kindOf(data []byte) string {
	kind := workspace.ContentType(data)
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")):
		return "text in UTF-32: make it UTF-8 with a command, as iconv does"
	case strings.HasPrefix(kind, "text/plain; charset=utf-16"):
		return "text in UTF-16 with errors: repair it with a command"
	case strings.HasPrefix(kind, "text/"): // by how it begins
		return "with NUL or other characters that no text has"
	}
	return kind
}

// stale is the error where the session knows the file as something else.
func (t target) stale(data []byte) error {
	if !t.ws.Seen.Stale(t.Target, data) {
		return nil
	}
	return fmt.Errorf("%s changed since this session read it: read it again, then make the change", t.name)
}

// changed words an error of writing for the model.
func (t target) changed(err error) error {
	if errors.Is(err, workspace.ErrChanged) {
		return fmt.Errorf("nothing was written: %w; read %s again, then make the change", err, t.name)
	}
	return err
}

// missing is the error where there is no such file. It offers the names that
// are nearest: beside it, else like it anywhere in the workspace. Outside the
// roots nothing is looked up.
func (t target) missing(ctx context.Context) error {
	var near []string
	if t.Inside {
		near = t.near(ctx)
	}
	name := unmistakable(t.name)
	if len(near) == 0 {
		return fmt.Errorf("%s does not exist: find it with glob%w", name, quiet{fs.ErrNotExist})
	}
	for i, other := range near {
		near[i] = unmistakable(other)
	}
	return fmt.Errorf("%s does not exist; did you mean %s?%w", name, strings.Join(near, ", "), quiet{fs.ErrNotExist})
}

// unmistakable is a name as it is, or quoted where that hides how it is spelled:
// blanks at its ends, control characters, bytes that are no text, characters that
// are written in parts.
func unmistakable(name string) string {
	if strings.TrimSpace(name) == name && strconv.Quote(name) == `"`+name+`"` && norm.NFC.IsNormalString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}

// quiet wraps an error that has been put in other words.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

func (t target) near(ctx context.Context) []string {
	const most = 3
	base := filepath.Base(t.Target)
	names := nearest(base, t.ws.Siblings(t.Path), most)
	for i, name := range names {
		names[i] = t.ws.Name(filepath.Join(filepath.Dir(t.Asked), name))
	}
	if len(names) > 0 {
		return names
	}
	limit := slips(base)
	found := t.ws.Elsewhere(ctx, func(rel string) bool {
		return distance(strings.ToLower(base), strings.ToLower(path.Base(rel)), limit) <= limit
	})
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(distance(base, path.Base(a), limit), distance(base, path.Base(b), limit)),
			cmp.Compare(len(a), len(b)))
	})
	return found[:min(most, len(found))]
}
