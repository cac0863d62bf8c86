package sandbox

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
)

// maxIndex is how large an index of git is looked into, in bytes.
const maxIndex = 64 << 20

// checkouts tells which files git tracks, reading each index at most once.
type checkouts map[string][]byte

// tracks reports whether a file is in the index of the repository it lies in. Git
// has its content anyway, and takes what stands in for it as a change.
func (c checkouts) tracks(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if index := indexOf(dir); index != "" {
			name, err := filepath.Rel(dir, path)
			return err == nil && indexed(c.read(index), filepath.ToSlash(name))
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func (c checkouts) read(index string) []byte {
	data, known := c[index]
	if !known {
		if info, err := os.Lstat(index); err == nil && info.Mode().IsRegular() && info.Size() <= maxIndex {
			data, _ = os.ReadFile(index)
		}
		c[index] = data
	}
	return data
}

// indexOf is the index of the repository whose work tree a folder is; empty: it is
// none.
func indexOf(dir string) string {
	git := filepath.Join(dir, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return filepath.Join(git, "index")
	case !info.Mode().IsRegular() || info.Size() > 4096:
		return ""
	}
	text, _ := os.ReadFile(git) // of a linked work tree or a submodule
	pointer, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	switch {
	case !ok:
		return ""
	case !filepath.IsAbs(pointer):
		pointer = filepath.Join(dir, pointer)
	}
	return filepath.Join(pointer, "index")
}

// indexed reports whether an index in git's format, version 2 or 3, has an entry
// of that name, which its length stands before. Version 4 shortens names: nothing
// is found there.
func indexed(data []byte, name string) bool {
	const extended, length = 0x4000, 0xfff
	if !bytes.HasPrefix(data, []byte("DIRC")) || len(name) >= length {
		return false
	}
	entry := append([]byte(name), 0)
	for at := 0; ; at++ {
		i := bytes.Index(data[at:], entry)
		if i < 0 {
			return false
		}
		at += i
		if at < 4 {
			continue
		}
		flags, before := binary.BigEndian.Uint16(data[at-2:]), binary.BigEndian.Uint16(data[at-4:])
		if int(flags&length) == len(name) && flags&extended == 0 || int(before&length) == len(name) && before&extended != 0 {
			return true
		}
	}
}
