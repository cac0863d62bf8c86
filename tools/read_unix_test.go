//go:build unix

package tools

import (
	"os"
	"syscall"
	"testing"
)

func TestReadNeverBlocks(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n"})
	if err := syscall.Mkfifo(at(ws, "fifo"), 0o600); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	if err := os.Symlink("fifo", at(ws, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"fifo": "FIFO", "link": "FIFO", "/dev/zero": "kernel", "/dev/null": "kernel"} {
		_, err := call(t, ws, Read(), args{"path": path})
		wants(t, err, want)
		_, err = call(t, ws, Write(), args{"path": path, "content": "x"})
		wants(t, err, want)
		_, err = call(t, ws, Edit(), args{"path": path, "old_string": "a", "new_string": "b"})
		wants(t, err, want)
	}
}
