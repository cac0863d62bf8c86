//go:build linux

package permission

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// opened is a file that is opened.
type opened struct {
	path    string // from the string's folder
	written bool
}

// recordedOpen is a file that bash opened.
type recordedOpen struct {
	string int // its number
	opened
}

// folderWatch notes the files that are opened in folders, by whatever process.
type folderWatch struct {
	file    *os.File
	end     string // a file that ends the notes when it is made; nothing else is made beside it
	endsIn  int32
	folders map[int32]watched
	events  []folderEvent
	ended   chan error
}

// watched is a folder: of which string, and where below the string's own.
type watched struct {
	string int
	below  string
}

// folderEvent is a file that was closed, as the kernel tells it.
type folderEvent struct {
	folder  int32
	name    string
	written bool
}

func watchFolders(t *testing.T) *folderWatch {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	w := &folderWatch{file: os.NewFile(uintptr(fd), "inotify"), end: filepath.Join(t.TempDir(), "end"), folders: map[int32]watched{}, ended: make(chan error, 1)}
	t.Cleanup(func() { w.file.Close() })
	w.endsIn = w.watch(t, filepath.Dir(w.end))
	go func() { w.ended <- w.read() }()
	return w
}

func (w *folderWatch) watch(t *testing.T, dir string) int32 {
	t.Helper()
	var wd int
	conn, err := w.file.SyscallConn()
	if err == nil {
		controlled := conn.Control(func(fd uintptr) {
			wd, err = unix.InotifyAddWatch(int(fd), dir, unix.IN_CLOSE_WRITE|unix.IN_CLOSE_NOWRITE)
		})
		err = cmp.Or(err, controlled)
	}
	if err != nil {
		t.Fatalf("watching a folder: %v", err)
	}
	return int32(wd)
}

// errDropped is what comes of a string that opens files faster than they are noted.
var errDropped = errors.New("the kernel dropped events")

// read gathers events until the end is made.
func (w *folderWatch) read() error {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(buf)
		if err != nil {
			return err
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask, size := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			name := string(bytes.TrimRight(b[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], "\x00"))
			b = b[unix.SizeofInotifyEvent+size:]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				return errDropped
			case wd == w.endsIn:
				return nil
			case mask&unix.IN_ISDIR == 0:
				w.events = append(w.events, folderEvent{wd, name, mask&unix.IN_CLOSE_WRITE != 0})
			}
		}
	}
}

// done returns what was opened until now; false where some of it is not known.
func (w *folderWatch) done(t *testing.T) (opens []recordedOpen, all bool) {
	t.Helper()
	if err := os.WriteFile(w.end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	switch err := <-w.ended; {
	case errors.Is(err, errDropped):
		return nil, false
	case err != nil:
		t.Fatalf("watching folders: %v", err)
	}
	for _, e := range w.events {
		in := w.folders[e.folder]
		opens = append(opens, recordedOpen{in.string, opened{filepath.Join(in.below, e.name), e.written}})
	}
	return opens, true
}
