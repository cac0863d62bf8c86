package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/acp-agent/acp-agent/acp"
	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// Disk serves fs/* from the files below one folder, which links do not lead out
// of. Its methods are callbacks of a Handler.
type Disk struct{ root string }

// NewDisk serves the files below root, an absolute path.
func NewDisk(root string) *Disk { return &Disk{filepath.Clean(root)} }

// ReadTextFile reads a file, or the lines asked for. A missing file is
// jsonrpc.CodeNotFound; one outside the folder, or not UTF-8, an error too.
func (d *Disk) ReadTextFile(_ context.Context, r acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	root, name, err := d.open(r.Path)
	if err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	defer root.Close()
	b, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return acp.ReadTextFileResponse{}, &jsonrpc.Error{Code: jsonrpc.CodeNotFound, Message: "no such file: " + r.Path}
	}
	if err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	return acp.ReadTextFileResponse{Content: lines(string(b), r.Line, r.Limit)}, nil
}

// WriteTextFile creates or replaces a file, with its folders.
func (d *Disk) WriteTextFile(_ context.Context, r acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	root, name, err := d.open(r.Path)
	if err != nil {
		return acp.WriteTextFileResponse{}, err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return acp.WriteTextFileResponse{}, err
	}
	return acp.WriteTextFileResponse{}, root.WriteFile(name, []byte(r.Content), 0o666)
}

// open is the folder, to be closed, and the name of path in it.
func (d *Disk) open(path string) (*os.Root, string, error) {
	name, err := filepath.Rel(d.root, path)
	if err != nil || !filepath.IsAbs(path) || !filepath.IsLocal(name) {
		return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s is not in %s", path, d.root)}
	}
	root, err := os.OpenRoot(d.root)
	return root, name, err
}

// lines cuts limit lines out of text, from the line first on, counted from 1.
func lines(text string, first, limit *uint32) string {
	if first != nil {
		for n := *first; n > 1 && text != ""; n-- {
			_, text, _ = strings.Cut(text, "\n")
		}
	}
	if limit == nil {
		return text
	}
	end := 0
	for n := *limit; n > 0 && end < len(text); n-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}
