package cases

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Tree is a tree of files in a temporary folder of its own. Nothing outside of
// it is changed, whatever its links lead to.
type Tree struct {
	Root   string // absolute, links resolved
	held   *os.Root
	tokens *strings.Replacer
}

// NewTree builds the files of the lists, the later ones over the earlier, and
// the folders that every tree has. Close removes it.
func NewTree(lists ...[]File) (*Tree, error) {
	root, err := os.MkdirTemp("", "acp-agent-case-")
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root}
	if err := t.build(lists); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tree) build(lists [][]File) (err error) {
	if t.Root, err = filepath.EvalSymlinks(t.Root); err != nil {
		return err
	}
	if t.held, err = os.OpenRoot(t.Root); err != nil {
		return err
	}
	t.tokens = strings.NewReplacer("@ROOT@", t.Root, "@WS@", t.At("ws"), "@HOME@", t.At("home"), "@EXTRA@", t.At("extra"), "@WS_UPPER@", t.At("WS"))
	for _, dir := range []string{"ws", "home", "outside"} {
		if err := t.held.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, list := range lists {
		for _, f := range list {
			if err := t.Add(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close removes the tree.
func (t *Tree) Close() error {
	if t.held != nil {
		t.held.Close()
	}
	return os.RemoveAll(t.Root)
}

// At is the absolute path of what is called name from the top of the tree.
func (t *Tree) At(name string) string { return filepath.Join(t.Root, filepath.FromSlash(name)) }

// Expand replaces the tokens such as @WS@ in a text.
func (t *Tree) Expand(text string) string { return t.tokens.Replace(text) }

// Add puts an entry into the tree, in the place of what has its name.
func (t *Tree) Add(f File) error {
	if err := t.add(f); err != nil {
		return fmt.Errorf("the tree's %s: %w", f.Path, err)
	}
	return nil
}

func (t *Tree) add(f File) error {
	name := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(name) {
		return errors.New("it does not lie in the tree: give a path from its top, without dots")
	}
	if f.Type == "dir" {
		return t.held.MkdirAll(name, 0o755)
	}
	if err := t.held.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := t.held.RemoveAll(name); err != nil {
		return err
	}
	switch f.Type {
	case "", "file":
		return t.write(name, f)
	case "symlink":
		return t.held.Symlink(t.Expand(f.To), name)
	case "hardlink":
		return t.held.Link(filepath.FromSlash(f.To), name)
	case "socket":
		return t.special(name, listen)
	case "fifo":
		return t.special(name, mkfifo)
	}
	return fmt.Errorf("%q is no type: write file, dir, symlink, hardlink, socket or fifo", f.Type)
}

func (t *Tree) write(name string, f File) error {
	mode := fs.FileMode(0o644)
	if f.Mode != "" {
		bits, err := strconv.ParseUint(f.Mode, 8, 9)
		if err != nil {
			return fmt.Errorf("its mode %q is no octal number", f.Mode)
		}
		mode = fs.FileMode(bits)
	}
	if err := t.held.WriteFile(name, []byte(f.Content), 0o644); err != nil {
		return err
	}
	return t.held.Chmod(name, mode)
}

// Rename gives an entry another name in the tree. The folder that was the tree's
// ws can be renamed too.
func (t *Tree) Rename(from, to string) error {
	return t.held.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

// Remove takes an entry out of the tree, with all below it.
func (t *Tree) Remove(name string) error { return t.held.RemoveAll(filepath.FromSlash(name)) }

// special makes what os.Root cannot, in a folder beside, and moves it into the
// tree.
func (t *Tree) special(name string, make func(path string) error) error {
	beside, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(beside)
	made := filepath.Join(beside, "s") // short: a socket's name has a limit
	if err := make(made); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(t.At(name)))
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(t.Root, dir); err != nil || !filepath.IsLocal(rel) {
		return errors.New("a link leads out of the tree")
	}
	return os.Rename(made, filepath.Join(dir, filepath.Base(name)))
}

func listen(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	return l.Close()
}
