package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// What a command leaves running ends with it, and with the supervisor.
func TestJobEnds(t *testing.T) {
	const role = "TEST_PROCESS_JOB"
	switch os.Getenv(role) {
	case "child":
		grandchild := exec.Command(os.Args[0], "-test.run=^TestJobEnds$")
		grandchild.Env = append(os.Environ(), role+"=grandchild")
		if err := grandchild.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Println(grandchild.Process.Pid)
		return
	case "grandchild":
		<-time.After(time.Minute) // it is killed before
		return
	}
	s := supervisor(t)
	start := func() (*Process, windows.Handle) {
		out, next := lines(t)
		p, err := s.Start(Command{Path: os.Args[0], Args: []string{"-test.run=^TestJobEnds$"}, Dir: os.TempDir(),
			Env: append(os.Environ(), role+"=child"), Output: out})
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.ParseUint(next(), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		left, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = windows.CloseHandle(left) })
		next() // PASS
		if exit, err := p.Wait(t.Context()); err != nil || !exit.Success() {
			t.Fatal(exit, err)
		}
		return p, left
	}
	ended := func(process windows.Handle, limit time.Duration) bool {
		event, _ := windows.WaitForSingleObject(process, uint32(limit.Milliseconds()))
		return event == windows.WAIT_OBJECT_0
	}
	p, a := start()
	_, b := start()
	p.Kill()
	if !ended(a, 5*time.Second) || ended(b, 0) {
		t.Error("killing one missed what it left, or hit another's")
	}
	s.Close()
	if !ended(b, 5*time.Second) {
		t.Error("what a command left outlives its supervisor")
	}
}
