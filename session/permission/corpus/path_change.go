package corpus

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/acp-agent/acp-agent/tools"
)

// change makes the call of a file tool that changes something.
func (s *scene) change(op, path string, input map[string]any) (call, error) {
	switch op {
	case "write":
		if _, ok := input["content"]; !ok {
			input["content"] = "y\n"
		}
		return s.prepare(tools.Write(), input)
	case "edit":
		old := s.text(path)
		input["old_string"], input["new_string"] = old, old+"y\n"
		return s.prepare(tools.Edit(), input)
	case "delete":
		return s.remove(path)
	case "mkdir":
		return s.makeFolder(path)
	}
	return call{}, fmt.Errorf("there is no operation %q", op)
}

// text is what a file in the roots holds, which an edit has to tell; empty where
// there is none.
func (s *scene) text(path string) string {
	p, err := s.roots.Resolve(path)
	if err != nil || !p.Inside {
		return ""
	}
	f, err := s.roots.Open(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return string(data)
}

// remove deletes a file by a patch. A link, which patches leave alone, is removed
// by the command that the tool advises.
func (s *scene) remove(path string) (call, error) {
	if info, err := os.Lstat(s.named(path)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		quoted, err := syntax.Quote(path, syntax.LangBash)
		if err != nil {
			return call{}, err
		}
		return call{verdict: s.command("rm -- " + quoted)}, nil
	}
	return s.prepare(tools.ApplyPatch(), map[string]any{"patch": "*** Begin Patch\n*** Delete File: " + path + "\n*** End Patch\n"})
}

// named is where a path stands by its letters: its last name is not resolved.
func (s *scene) named(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.roots.Dir(), path)
	}
	return path
}

// makeFolder makes a folder, as the tools do on the way to a new file. They are
// told to make the folder itself, since its name is what is judged.
func (s *scene) makeFolder(path string) (call, error) {
	path = strings.TrimRight(path, "/")
	return s.prepare(tools.Write(), map[string]any{"path": path, "content": ""})
}
