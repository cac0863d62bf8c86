//go:build unix

package permission

import (
	"io/fs"
	"os"
	"syscall"
)

// links is how many names a regular file has; 1 for anything else.
func links(path string) int {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 1
	}
	return linksOf(info)
}

func linksOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}
