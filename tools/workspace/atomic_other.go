//go:build !unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// nonblock is not needed where a FIFO has no place among files.
const nonblock = 0

// links is not known: a file with several names is replaced like others.
func links(fs.FileInfo) uint64 { return 1 }

// keepOwner has nothing to do: a new file gets owner and rights of its folder.
func keepOwner(*os.File, fs.FileInfo) bool { return true }

// sync is done by the system itself where folders cannot be opened for it.
func (f *parent) sync() {}

// linkTo is left to copying.
func (f *parent) linkTo(*parent) error { return errors.ErrUnsupported }
