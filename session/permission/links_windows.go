package permission

import (
	"os"
	"syscall"
)

// links is how many names a regular file has; 1 for anything else.
func links(path string) int {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 1
	}
	f, err := os.Open(path)
	if err != nil {
		return 1
	}
	defer f.Close()
	var data syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &data); err != nil {
		return 1
	}
	return int(data.NumberOfLinks)
}
