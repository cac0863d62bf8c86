//go:build unix && !linux

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

const openFlags = os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW

// openBeneath opens a resolved name below a root, out of which no link leads.
func openBeneath(one *root, rel string) (*os.File, error) {
	return one.held.OpenFile(rel, openFlags, 0)
}

// openTarget opens a resolved path outside the roots.
func openTarget(target string) (*os.File, error) {
	return os.OpenFile(target, openFlags, 0)
}
