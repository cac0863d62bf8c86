//go:build unix

package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
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

// TestReadHuge reads a file of a gigabyte, most of which is a hole, in no more
// memory than what it shows needs.
func TestReadHuge(t *testing.T) {
	const size = 1 << 30
	begin, end := strings.Repeat("begin\n", 4<<10), "the end ä\nlast\n"
	ws := diskWorkspace(t, map[string]string{"huge.log": begin})
	f, err := os.OpenFile(at(ws, "huge.log"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(end), size-int64(len(end))); err != nil {
		t.Skip("no file of a gigabyte can be made here: ", err)
	}
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range []struct{ in, want string }{
		{`{"limit": 2}`, "     1\tbegin\n     2\tbegin\n[lines 1 to 2 of a file of 1073741824 bytes; continue with offset 3]"},
		{fmt.Sprintf(`{"byte_offset": %d}`, size-len(end)), end},
		{fmt.Sprintf(`{"byte_offset": %d, "byte_limit": 2}`, size-7), "ä\n\n[bytes 1073741816 to 1073741819 of 1073741824; continue with byte_offset 1073741819]"},
		{`{"byte_offset": 24000, "byte_limit": 6}`, "begin\n\n[bytes 24000 to 24006 of 1073741824; continue with byte_offset 24006]"},
		{fmt.Sprintf(`{"byte_offset": %d}`, size/2), ""},
		{fmt.Sprintf(`{"byte_offset": %d}`, size), ""},
		{`{"offset": 4097}`, ""},
	} {
		in := args{}
		if err := json.Unmarshal([]byte(c.in), &in); err != nil {
			t.Fatal(err)
		}
		in["path"] = "huge.log"
		r, err := call(t, ws, Read(), in)
		if r.Text != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %.200q, %v", c.in, r.Text, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("it took %d bytes of memory", used)
	}
}
